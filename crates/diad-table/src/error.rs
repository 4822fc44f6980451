//! What can go wrong with a table. Every message is a sentence that names the column, the row or the file concerned and says
//! what to do about it.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::Place;
use crate::formats::formats;
use crate::text::{printable, quoted};

/// What can go wrong with a table, in words a user can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading was stopped by the caller.
    #[error("stopped before it finished")]
    Stopped,
    /// A file could not be read or written.
    #[error("cannot {action} {}: {}", file(path), reason(action, source))]
    File {
        /// `read`, `write`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The file holds nothing at all.
    #[error("{} is empty; give {}", file(path), formats())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// The file has column names but no rows.
    #[error("{} has no rows, only column names; give a table with rows", file(path))]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// The first line of a CSV file holds numbers instead of names.
    #[error("the first line of {} holds only numbers; put a line with the column names above it", file(path))]
    NoHeader {
        /// The file.
        path: PathBuf,
    },
    /// The file is of a kind that is not read.
    #[error("{} is {kind}; give {}", file(path), formats())]
    FileKind {
        /// The file.
        path: PathBuf,
        /// What the file seems to be.
        kind: &'static str,
    },
    /// Bytes that are not UTF-8 text.
    #[error("line {line} of {} is not UTF-8 text; save the file as CSV in UTF-8, or as Parquet", file(path))]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
    },
    /// A Parquet file that cannot be read to its end.
    #[error("cannot read {} as Parquet ({}); write the file again", file(path), printable(reason))]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the Parquet reader says.
        reason: String,
    },
    /// A workbook that cannot be read.
    #[error(
        "cannot read {} as an Excel workbook ({}); save it again as .xlsx",
        file(path),
        printable(reason)
    )]
    Excel {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A sheet that a workbook does not have.
    #[error("{} has no sheet {}; its sheets are {}", file(path), quoted(name), list(known))]
    NoSheet {
        /// The file.
        path: PathBuf,
        /// The sheet asked for.
        name: String,
        /// The sheets there are.
        known: Vec<String>,
    },
    /// A sheet of a workbook that is too large: its cells are all in memory at once.
    #[error(
        "sheet {} of {} takes more than {most} MB of memory; save it as a CSV file",
        quoted(name),
        file(path)
    )]
    LargeSheet {
        /// The file.
        path: PathBuf,
        /// The sheet.
        name: String,
        /// Megabytes that a sheet may take.
        most: usize,
    },
    /// A workbook that is too large beside its sheets: all its texts are in memory at once.
    #[error("the text in {} takes more than {most} MB of memory; save the sheet as a CSV file", file(path))]
    LargeBook {
        /// The file.
        path: PathBuf,
        /// Megabytes that they may take.
        most: usize,
    },
    /// An Arrow file or stream that cannot be read to its end.
    #[error("cannot read {} as Arrow ({reason}); write the file again", file(path))]
    Arrow {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A Parquet file in a compression that is not read.
    #[error("{} is compressed as {kind}; write it with snappy or zstd compression", file(path))]
    Compression {
        /// The file.
        path: PathBuf,
        /// The compression.
        kind: String,
    },
    /// Two columns have the same name.
    #[error("columns {first} and {second} are both named {}; rename one of them", quoted(name))]
    DuplicateColumn {
        /// The name.
        name: String,
        /// Position of the first, counted from 1.
        first: usize,
        /// Position of the second, counted from 1.
        second: usize,
    },
    /// A column has no name.
    #[error("column {position} has no name; name it")]
    UnnamedColumn {
        /// Its position, counted from 1.
        position: usize,
    },
    /// A row has more or fewer cells than there are columns.
    #[error("line {line} has {found} cells, but the header line has {expected}; make them the same")]
    Ragged {
        /// The line, counted from 1.
        line: u64,
        /// Cells in this row.
        found: usize,
        /// Cells in the header line.
        expected: usize,
    },
    /// A quotation mark is never closed.
    #[error("the row that starts at line {line} does not end; close its quotation mark")]
    OpenQuote {
        /// The line, counted from 1.
        line: u64,
    },
    /// A row that is longer than any row should be.
    #[error(
        "the row that starts at line {line} is longer than {most} MB, in column {column}; close its quotation mark, or \
         shorten the cell"
    )]
    LongRow {
        /// The line, counted from 1.
        line: u64,
        /// The column in which it became too long, counted from 1.
        column: usize,
        /// Megabytes that a row may have.
        most: usize,
    },
    /// A cell of a feature is not a number.
    #[error("column {}, {place}: {} is not a number; correct the cell", quoted(column), quoted(cell))]
    NotNumber {
        /// The column.
        column: String,
        /// The first bad row.
        place: Place,
        /// The cell's text.
        cell: String,
    },
    /// A cell is not a date or time.
    #[error(
        "column {}, {place}: {} is not a date or time; write it like 2024-01-31 12:30:00",
        quoted(column),
        quoted(cell)
    )]
    NotTime {
        /// The column.
        column: String,
        /// The first bad row.
        place: Place,
        /// The cell's text.
        cell: String,
    },
    /// A line of a JSON Lines file that is not an object.
    #[error("line {line} of {} is not a row ({reason}); write one object on each line", file(path))]
    JsonLine {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// An object of JSON that is longer than what is looked through as a whole.
    #[error(
        "the object that starts at line {line} of {} is longer than {most} MB; write the rows as objects, one on each line",
        file(path)
    )]
    LongObject {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: u64,
        /// Megabytes that an object may have.
        most: usize,
    },
    /// A value that is a list or an object.
    #[error(
        "column {}, line {line}: the value is a list or an object; write a number or text",
        quoted(column)
    )]
    Nested {
        /// The column.
        column: String,
        /// The line, counted from 1.
        line: u64,
    },
    /// A table with too many columns.
    #[error("the table has {found} columns, but at most {most} are supported; give fewer columns")]
    TooManyColumns {
        /// Columns found.
        found: usize,
        /// Most that are read.
        most: usize,
    },
    /// A column of a Parquet file is of a type that is not read.
    #[error("column {} has type {kind}, which is not supported; write it as numbers or text", quoted(column))]
    NotNumeric {
        /// The column.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A cell of a label column is neither yes nor no.
    #[error(
        "label column {}, {place}: {}; write 1 for an anomaly and 0 for a normal row{}",
        quoted(column),
        if cell.is_empty() { "there is no label".to_owned() } else { format!("{} is not a label", quoted(cell)) },
        if cell.is_empty() { ", or leave out rows without a label" } else { "" }
    )]
    Label {
        /// The column.
        column: String,
        /// The first bad row.
        place: Place,
        /// The cell's text.
        cell: String,
    },
    /// A column was named that the table does not have.
    #[error("the table has no column {}; {}", quoted(name), meant(name, known))]
    UnknownColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// The table lacks columns the model needs.
    #[error("the table lacks {} {} of the model; {}give a table with all columns the model was trained on",
        if names.len() == 1 { "column" } else { "columns" }, list(names), renaming(others))]
    MissingColumns {
        /// The columns of the table that the model does not use.
        others: Vec<String>,
        /// The names that are missing.
        names: Vec<String>,
    },
    /// The columns of a table differ in length.
    #[error(
        "column {} has {found} values, but the first column has {expected}; make them the same",
        quoted(name)
    )]
    ColumnLength {
        /// The column.
        name: String,
        /// Its length.
        found: usize,
        /// The length of the first column.
        expected: usize,
    },
    /// The numbers of names and of columns differ.
    #[error("there are {names} column names for {columns} columns; give one name per column")]
    NameCount {
        /// Names given.
        names: usize,
        /// Columns given.
        columns: usize,
    },
}

impl Error {
    /// An [`Error::File`].
    pub fn file(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { action, path: path.to_owned(), source }
    }

    /// The name of the column that cannot be read as it is.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::NotNumber { column, .. }
            | Self::NotTime { column, .. }
            | Self::Nested { column, .. }
            | Self::NotNumeric { column, .. } => Some(column),
            Self::UnnamedColumn { .. } => Some(""),
            _ => None,
        }
    }
}

/// A result with an [`Error`] of a table.
pub type Result<T> = std::result::Result<T, Error>;

const LONGEST_LIST: usize = 8;

fn file(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// The system's reason in words, and what to do about it.
fn reason(action: &str, source: &io::Error) -> String {
    match source.kind() {
        ErrorKind::NotADirectory if action == "write to" => "it is a file; name a folder".into(),
        ErrorKind::NotFound | ErrorKind::NotADirectory if action == "write" => {
            "its folder does not exist; create it".into()
        }
        ErrorKind::NotFound | ErrorKind::NotADirectory => "there is no such file; check the path".into(),
        ErrorKind::IsADirectory => "it is a folder; name a file in it".into(),
        ErrorKind::PermissionDenied => "permission denied; change the permissions or the path".into(),
        ErrorKind::StorageFull => "the disk is full; free some space or choose another path".into(),
        ErrorKind::QuotaExceeded => {
            "your disk quota is used up; free some space or choose another path".into()
        }
        ErrorKind::FileTooLarge => {
            "the file would be larger than the system allows; choose another path".into()
        }
        ErrorKind::ReadOnlyFilesystem => "the disk is read-only; choose another path".into(),
        _ => source.to_string(),
    }
}

/// Advice for a table that has other columns instead of those that are wanted.
fn renaming(others: &[String]) -> String {
    match others.len() {
        0 => String::new(),
        1 => format!("if you meant its column {}, rename it; otherwise ", list(others)),
        _ => format!("if you meant one of its columns {}, rename it; otherwise ", list(others)),
    }
}

/// The column that was probably meant, or else the columns there are.
fn meant(name: &str, known: &[String]) -> String {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    match known.iter().find(|known| plain(known) == plain(name) && !plain(name).is_empty()) {
        Some(column) => format!("did you mean {}?", quoted(column)),
        None => format!("its columns are {}", list(known)),
    }
}

fn list(names: &[String]) -> String {
    let mut text: Vec<String> = names.iter().take(LONGEST_LIST).map(|name| quoted(name)).collect();
    if names.len() > LONGEST_LIST {
        text.push(format!("and {} more", names.len() - LONGEST_LIST));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_that_was_probably_meant_is_named() {
        let known: Vec<String> = ["a", "Is_Fraud"].map(String::from).to_vec();
        let said = |name: &str| Error::UnknownColumn { name: name.into(), known: known.clone() }.to_string();
        assert_eq!(said("is fraud"), "the table has no column \"is fraud\"; did you mean \"Is_Fraud\"?");
        assert_eq!(said("b"), "the table has no column \"b\"; its columns are \"a\", \"Is_Fraud\"");
    }

    #[test]
    fn text_from_the_data_is_shortened_and_escaped() {
        let error = Error::NotNumber {
            column: "a\u{1b}[31m b".into(),
            place: Place::Line(7, 5),
            cell: format!("x\n{}", "y".repeat(100)),
        };
        assert_eq!(
            error.to_string(),
            format!(
                "column \"a\\u{{1b}}[31m b\", line 7, row 5: \"x\\n{}…\" is not a number; correct the cell",
                "y".repeat(58)
            )
        );
    }

    #[test]
    fn a_file_error_says_what_to_do() {
        let message = |action, kind: ErrorKind| Error::file(action, Path::new("f"), kind.into()).to_string();
        assert_eq!(
            message("read", ErrorKind::NotFound),
            "cannot read f: there is no such file; check the path"
        );
        assert_eq!(
            message("write", ErrorKind::NotFound),
            "cannot write f: its folder does not exist; create it"
        );
        for kind in [
            ErrorKind::PermissionDenied,
            ErrorKind::IsADirectory,
            ErrorKind::StorageFull,
            ErrorKind::QuotaExceeded,
            ErrorKind::FileTooLarge,
            ErrorKind::ReadOnlyFilesystem,
        ] {
            assert!(message("write", kind).contains("; "), "{kind}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let names = (0..10).map(|i| format!("c{i}")).collect();
        let error = Error::MissingColumns { names, others: Vec::new() };
        assert!(error.to_string().contains("\"c7\", and 2 more of the model"), "{error}");
    }
}
