#![no_main]
//! Parquet files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: diad_fuzz::allow_caught_panics(), |bytes: &[u8]| diad_fuzz::take_in_file(bytes));
