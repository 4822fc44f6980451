#![no_main]
//! Arrow files and streams. What is neither is left to the target of text tables.

use diad_fuzz::Bytes;
use libfuzzer_sys::{Corpus, fuzz_target};

fuzz_target!(init: diad_fuzz::begin(), |bytes: &[u8]| -> Corpus {
    if !bytes.starts_with(b"ARROW1") && !bytes.starts_with(&[0xff; 4]) {
        return Corpus::Reject;
    }
    diad_fuzz::take_in(&Bytes(bytes), bytes);
    Corpus::Keep
});
