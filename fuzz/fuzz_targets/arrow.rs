#![no_main]
//! Arrow files and streams.

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| diad_fuzz::take_in(&diad_fuzz::Bytes(bytes)));
