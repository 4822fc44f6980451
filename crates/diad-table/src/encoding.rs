//! Text that is not UTF-8.

use std::borrow::Cow;
use std::io::{self, Read};

use encoding_rs::{CoderResult, Decoder, Encoding, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Text in UTF-8, or else in Windows-1252, in which older programs write. Says whether it was UTF-8.
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), true),
        Err(_) => (WINDOWS_1252.decode_without_bom_handling(bytes).0, false),
    }
}

/// The encoding of a file of UTF-16 text, by its first bytes: a byte order mark, or every other byte nought.
pub(crate) fn utf16(start: &[u8]) -> Option<&'static Encoding> {
    let noughts = |first: usize| {
        let bytes = start.iter().skip(first).step_by(2).take(64);
        start.len() >= 8 && bytes.clone().filter(|&&byte| byte == 0).count() * 10 >= bytes.count() * 7
    };
    match start {
        [0xff, 0xfe, ..] => Some(UTF_16LE),
        [0xfe, 0xff, ..] => Some(UTF_16BE),
        [0, first, ..] if *first != 0 && noughts(0) && !noughts(1) => Some(UTF_16BE),
        [first, 0, ..] if *first != 0 && noughts(1) && !noughts(0) => Some(UTF_16LE),
        _ => None,
    }
}

/// Bytes of another encoding as UTF-8.
pub(crate) struct Transcoded<R> {
    input: R,
    decoder: Decoder,
    read: Vec<u8>,
    given: Vec<u8>,
    place: usize,
    ended: bool,
}

impl<R: Read> Transcoded<R> {
    pub(crate) fn new(input: R, encoding: &'static Encoding) -> Self {
        let decoder = encoding.new_decoder_with_bom_removal();
        Self { input, decoder, read: vec![0; 1 << 15], given: Vec::new(), place: 0, ended: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let count = self.input.read(&mut self.read)?;
        self.ended = count == 0;
        // Every unit of UTF-16 becomes at most three bytes.
        self.given.resize(3 * count + 16, 0);
        let (result, _, written, _) =
            self.decoder.decode_to_utf8(&self.read[..count], &mut self.given, self.ended);
        debug_assert_eq!(result, CoderResult::InputEmpty);
        self.given.truncate(written);
        self.place = 0;
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.place == self.given.len() && !self.ended {
            self.fill()?;
        }
        let count = out.len().min(self.given.len() - self.place);
        out[..count].copy_from_slice(&self.given[self.place..self.place + count]);
        self.place += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf16_is_read_with_and_without_a_mark() {
        let text = "name;größe\nÅsa 値 🙂;1,5\n".repeat(5000);
        for (mark, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
            let mut file: Vec<u8> = if mark { bytes(0xfeff).to_vec() } else { Vec::new() };
            file.extend(text.encode_utf16().flat_map(bytes));
            let encoding = utf16(&file[..1000]).expect("UTF-16");
            let mut read = String::new();
            Transcoded::new(&file[..], encoding).read_to_string(&mut read).unwrap();
            assert!(read == text, "mark {mark}, big-endian {big}");
        }
        assert!(utf16("a,b\n1,2\n3,4\n".as_bytes()).is_none());
        assert!(utf16(&[0; 100]).is_none());
    }

    #[test]
    fn text_that_is_not_utf8_is_windows_1252() {
        assert_eq!(decoded(b"12 \x80, caf\xe9"), ("12 €, café".into(), false));
        assert_eq!(decoded("12 €".as_bytes()), ("12 €".into(), true));
    }
}
