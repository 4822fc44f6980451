//! Compressed files, and compressed parts of Arrow files, where the feature `compression` is on.

use std::io::{self, Read};

use crate::detect::Format;

/// Whether this build reads files that are compressed.
pub(crate) const IS_READ: bool = cfg!(feature = "compression");

/// What is in a compressed file; any other file as it is.
pub(crate) fn decoded<'a>(
    format: Format,
    input: Box<dyn Read + Send + 'a>,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    match format {
        #[cfg(feature = "compression")]
        Format::Gzip => Ok(Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(input)))),
        #[cfg(feature = "compression")]
        Format::Bzip2 => Ok(Box::new(bzip2::read::MultiBzDecoder::new(input))),
        #[cfg(feature = "compression")]
        Format::Zstd => Ok(Box::new(zstd::stream::read::Decoder::new(input)?)),
        _ => Ok(input),
    }
}

/// The bytes of a part of an Arrow file, if they are `size`.
#[cfg(feature = "compression")]
pub(crate) fn part(codec: u8, bytes: &[u8], size: u64) -> Option<Vec<u8>> {
    let mut grown = Vec::new();
    // One byte more shows that there would be more.
    match codec {
        0 => lz4_flex::frame::FrameDecoder::new(bytes).take(size + 1).read_to_end(&mut grown).ok()?,
        1 => zstd::stream::read::Decoder::new(bytes).ok()?.take(size + 1).read_to_end(&mut grown).ok()?,
        _ => return None,
    };
    (grown.len() as u64 == size).then_some(grown)
}

/// Nothing: this build reads no compressed parts.
#[cfg(not(feature = "compression"))]
pub(crate) fn part(_codec: u8, _bytes: &[u8], _size: u64) -> Option<Vec<u8>> {
    None
}
