//! Text that is not UTF-8.

use std::borrow::Cow;
use std::io::{self, Read};

/// What the bytes from 0x80 to 0x9f are in Windows-1252; all others are as in Unicode.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Text in UTF-8, or else in Windows-1252, in which older programs write. Says whether it was UTF-8.
pub(crate) fn decoded(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let windows = |&byte: &u8| match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    };
    match std::str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), true),
        Err(_) => (Cow::Owned(bytes.iter().map(windows).collect()), false),
    }
}

/// The order of the two bytes of a unit of UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Utf16 {
    Little,
    Big,
}

impl Utf16 {
    fn unit(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }
}

/// The order of a file of UTF-16 text, by its first bytes: a byte order mark, or every other byte nought.
pub(crate) fn utf16(start: &[u8]) -> Option<Utf16> {
    let noughts = |first: usize| {
        let bytes = start.iter().skip(first).step_by(2).take(64);
        start.len() >= 8 && bytes.clone().filter(|&&byte| byte == 0).count() * 10 >= bytes.count() * 7
    };
    match start {
        [0xff, 0xfe, ..] => Some(Utf16::Little),
        [0xfe, 0xff, ..] => Some(Utf16::Big),
        [0, first, ..] if *first != 0 && noughts(0) && !noughts(1) => Some(Utf16::Big),
        [first, 0, ..] if *first != 0 && noughts(1) && !noughts(0) => Some(Utf16::Little),
        _ => None,
    }
}

/// UTF-16 as UTF-8, without its byte order mark. What is no text becomes U+FFFD.
pub(crate) struct Transcoded<R> {
    input: R,
    order: Utf16,
    read: Vec<u8>,
    /// Bytes at the start of `read` that are still to be decoded: half a unit, or the first of two.
    held: usize,
    given: String,
    place: usize,
    begun: bool,
    ended: bool,
}

impl<R: Read> Transcoded<R> {
    pub(crate) fn new(input: R, order: Utf16) -> Self {
        let read = vec![0; 1 << 15];
        Self { input, order, read, held: 0, given: String::new(), place: 0, begun: false, ended: false }
    }

    fn fill(&mut self) -> io::Result<()> {
        let count = self.input.read(&mut self.read[self.held..])?;
        self.ended = count == 0;
        let filled = self.held + count;
        let (units, half) = self.read[..filled].as_chunks();
        let first_of_two = |bytes: &[u8; 2]| (0xd800..0xdc00).contains(&self.order.unit(*bytes));
        let whole = units.len() - usize::from(!self.ended && units.last().is_some_and(first_of_two));
        let text = char::decode_utf16(units[..whole].iter().map(|&bytes| self.order.unit(bytes)));
        self.given.clear();
        self.given.extend(text.map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER)));
        if self.ended && !half.is_empty() {
            self.given.push(char::REPLACEMENT_CHARACTER);
        }
        self.place =
            if !self.begun && self.given.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        self.begun |= !self.given.is_empty();
        self.read.copy_within(2 * whole..filled, 0);
        self.held = filled - 2 * whole;
        Ok(())
    }
}

impl<R: Read> Read for Transcoded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.place == self.given.len() && !self.ended {
            self.fill()?;
        }
        let left = &self.given.as_bytes()[self.place..];
        let count = out.len().min(left.len());
        out[..count].copy_from_slice(&left[..count]);
        self.place += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let most = self.1.min(out.len());
            self.0.read(&mut out[..most])
        }
    }

    fn bytes(text: &str, big: bool) -> Vec<u8> {
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn utf16_is_read_with_and_without_a_mark() {
        let text = "name;größe\nÅsa 値 🙂;1,5\n".repeat(5000);
        for (mark, big) in [(true, false), (true, true), (false, false), (false, true)] {
            let file = bytes(&format!("{}{text}", if mark { "\u{feff}" } else { "" }), big);
            let order = utf16(&file[..1000]).expect("UTF-16");
            for most in [1, 3, 1000, 1 << 20] {
                let mut read = String::new();
                Transcoded::new(Slow(&file, most), order).read_to_string(&mut read).unwrap();
                assert!(read == text, "mark {mark}, big-endian {big}, {most} bytes at a time");
            }
        }
        assert!(utf16("a,b\n1,2\n3,4\n".as_bytes()).is_none());
        assert!(utf16(&[0; 100]).is_none());
    }

    #[test]
    fn what_is_no_text_is_replaced() {
        for (units, half, text) in [
            (&[0x61, 0xd83d][..], false, "a\u{fffd}"),
            (&[0xd83d, 0x61], false, "\u{fffd}a"),
            (&[0xde42, 0x61], true, "\u{fffd}a\u{fffd}"),
            (&[0xfeff, 0xfeff, 0x61], false, "\u{feff}a"),
            (&[], true, "\u{fffd}"),
        ] {
            let mut file: Vec<u8> = units.iter().flat_map(|unit: &u16| unit.to_le_bytes()).collect();
            file.extend(half.then_some(7));
            for most in [1, 2, 100] {
                let mut read = String::new();
                Transcoded::new(Slow(&file, most), Utf16::Little).read_to_string(&mut read).unwrap();
                assert_eq!(read, text, "{most} bytes at a time");
            }
        }
    }

    #[test]
    fn text_that_is_not_utf8_is_windows_1252() {
        assert_eq!(decoded(b"12 \x80, caf\xe9"), ("12 €, café".into(), false));
        assert_eq!(decoded(b"\x93\x81\x9f\xff"), ("“\u{81}Ÿÿ".into(), false));
        assert_eq!(decoded("12 €".as_bytes()), ("12 €".into(), true));
    }
}
