//! The formats that are read, in words, for messages and help.

/// The formats beside CSV.
#[cfg(all(feature = "excel", feature = "parquet"))]
macro_rules! beside_csv {
    () => {
        "JSON Lines, Arrow, Excel or Parquet"
    };
}
#[cfg(all(not(feature = "excel"), feature = "parquet"))]
macro_rules! beside_csv {
    () => {
        "JSON Lines, Arrow or Parquet"
    };
}
#[cfg(all(feature = "excel", not(feature = "parquet")))]
macro_rules! beside_csv {
    () => {
        "JSON Lines, Arrow or Excel"
    };
}
#[cfg(not(any(feature = "excel", feature = "parquet")))]
macro_rules! beside_csv {
    () => {
        "JSON Lines or Arrow"
    };
}
pub(crate) use beside_csv;

/// The formats that are read, in short, as in "give a CSV file …".
pub const FORMATS: &str = concat!("a CSV file with a header line, ", beside_csv!());

/// The formats that are read, with all they may be: a paragraph of help.
#[cfg(feature = "parquet")]
pub const FORMATS_IN_FULL: &str = "\
CSV files with a header line (separated by commas, semicolons, tabs or vertical bars), JSON Lines, Arrow files
or streams (Feather), all of these also compressed with gzip, bzip2 or zstd, Excel workbooks (.xlsx), or Parquet files";
/// The formats that are read, with all they may be: a paragraph of help.
#[cfg(not(feature = "parquet"))]
pub const FORMATS_IN_FULL: &str = "\
CSV files with a header line (separated by commas, semicolons, tabs or vertical bars), JSON Lines, or Arrow files
or streams (Feather)";
