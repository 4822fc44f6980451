//! Why a file of ours cannot be used.

/// Why a model file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFault {
    /// Not a model file at all.
    #[error("it is not a model file; give a file written by `diad fit`")]
    Foreign,
    /// Cut off, changed or made up.
    #[error("{0}; copy the file again, or fit the model again")]
    Damaged(&'static str),
    /// Its header has a field or a value of another program.
    #[error(
        "its header has an entry that this version of diad does not know; update diad, or fit the model again"
    )]
    Unknown,
    /// Written by a newer program.
    #[error(
        "it has format version {found}, but this version of diad reads formats up to {newest}; update diad"
    )]
    Version {
        /// The file's version.
        found: u32,
        /// The newest version that is read.
        newest: u32,
    },
}

/// Why a fit cannot resume from a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointFault {
    /// Of other data or other settings.
    #[error(
        "it is from a fit of another table or with other settings; choose another folder, or delete the file to start over"
    )]
    OtherFit,
    /// Not as a fit wrote it, or written by another version.
    #[error("it is damaged, or another version of diad wrote it; delete the file to start over")]
    Damaged,
    /// Another fit writes to the same folder.
    #[error("another fit is using its folder; wait for it to finish, or choose another folder")]
    InUse,
}
