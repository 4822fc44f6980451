//! The one error type of the library. Every message is a sentence that names the column, the row
//! or the setting concerned and says what to do about it.

use std::path::PathBuf;

/// What can go wrong, in words a user can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting is outside its range.
    #[error("{name} is {value}, but it must be {must}")]
    Setting {
        /// The setting's name, as on the command line.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        must: &'static str,
    },
    /// The training was stopped by the caller.
    #[error("training was stopped before it finished; nothing was written")]
    Stopped,
    /// A file could not be read or written.
    #[error("cannot {action} {path}: {source}")]
    File {
        /// `read`, `write`, …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A result with the library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
