#![no_main]
//! Text tables: CSV of any separator, JSON Lines, and what gzip and zstd hold of these.

libfuzzer_sys::fuzz_target!(init: diad_fuzz::begin(), |bytes: &[u8]| diad_fuzz::take_in(&diad_fuzz::Bytes(bytes), bytes));
