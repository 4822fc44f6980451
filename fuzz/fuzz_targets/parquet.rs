#![no_main]
//! Parquet files.

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: diad_fuzz::begin(), |bytes: &[u8]| diad_fuzz::take_in_file(bytes));
