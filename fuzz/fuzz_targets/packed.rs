#![no_main]
//! What is compressed: the bytes after the first four as gzip or zstd, damaged where these say so, so that nearly all of them get through.

use std::io::Write;

use diad_fuzz::{Bytes, take_in};
use flate2::{Compression, write::GzEncoder};

libfuzzer_sys::fuzz_target!(init: diad_fuzz::begin(), |bytes: &[u8]| {
    let Some((&[how, damage, place, more], text)) = bytes.split_first_chunk() else { return };
    let mut packed = if how % 2 == 0 { gzip(text) } else { zstd::bulk::compress(text, 1).expect("packed") };
    // Two members, one after the other.
    if how & 2 != 0 {
        packed.extend(gzip(text));
    }
    // One in eight is damaged or cut off.
    let at = usize::from(u16::from_le_bytes([place, more])) % packed.len();
    match damage {
        0..=15 => packed[at] ^= damage | 16,
        16..=31 => packed.truncate(at),
        _ => {}
    }
    take_in(&Bytes(&packed), bytes);
});

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text).expect("room");
    encoder.finish().expect("room")
}
