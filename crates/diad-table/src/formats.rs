//! The formats that are read, in words, for messages and help.

/// The formats beside CSV.
const BESIDE_CSV: &[&str] = &[
    "JSON Lines",
    "Arrow",
    #[cfg(feature = "excel")]
    "Excel",
    #[cfg(feature = "parquet")]
    "Parquet",
];

/// The formats that are read, one by one, for help.
pub const FORMATS: &[&str] = &[
    "CSV with a header line, separated by commas, semicolons, tabs or vertical bars",
    "JSON Lines",
    "Arrow files and streams (Feather)",
    #[cfg(feature = "compression")]
    "any of these compressed with gzip, bzip2 or zstd",
    #[cfg(feature = "excel")]
    "Excel workbooks (.xlsx)",
    #[cfg(feature = "parquet")]
    "Parquet",
];

/// The formats that are read, as in "give a CSV file with a header line, JSON Lines or Arrow".
pub fn formats() -> String {
    let (last, others) = BESIDE_CSV.split_last().unwrap_or((&"", &[]));
    format!("a CSV file with a header line, {} or {last}", others.join(", "))
}
