//! The one error type of the library. Every message is a sentence that names the column, the row
//! or the setting concerned and says what to do about it.

mod fault;
mod naming;

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::table::{Place, printable, quoted};
pub use fault::{CheckpointFault, ModelFault};
pub use naming::Naming;

/// What can go wrong, in words a user can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A table or a file cannot be read, or a file cannot be written.
    #[error(transparent)]
    Table(crate::table::Error),
    /// A setting is outside its range.
    #[error("{name} is {value}, but it must be {must}")]
    Setting {
        /// The setting's name.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        must: Cow<'static, str>,
    },
    /// A setting has a value of another kind.
    #[error("{name} is {value}, but it must be {must}")]
    SettingKind {
        /// The setting's name.
        name: &'static str,
        /// What was given.
        value: String,
        /// What is allowed.
        must: &'static str,
    },
    /// There is no such setting.
    #[error("there is no setting {}; the settings are {}", quoted(name), known.join(", "))]
    UnknownSetting {
        /// The name given.
        name: String,
        /// The names there are.
        known: Vec<&'static str>,
    },
    /// A setting that the chosen way to learn does not have.
    #[error("{}", naming::other_learner(Naming::Names, name, learner))]
    OtherLearner {
        /// The setting's name.
        name: &'static str,
        /// The learner it applies to.
        learner: &'static str,
    },
    /// A label that is neither that of an anomaly nor that of a normal row.
    #[error(
        "column {}, {place}: {} is not a label; write 1 or 0, yes or no, fraud or ok, or say which word means an anomaly",
        quoted(column),
        quoted(word)
    )]
    LabelWord {
        /// The column.
        column: String,
        /// Where it stands.
        place: Place,
        /// What it says.
        word: String,
    },
    /// An identifier that is labelled as an anomaly and as a normal row.
    #[error("{} is labelled both as an anomaly and as a normal row; keep one of its labels", quoted(name))]
    TwoLabels {
        /// The identifier.
        name: String,
    },
    /// Labels of identifiers that a table does not have.
    #[error(
        "{count} labels name rows that column {} of the table does not have, such as {names}; give the table the labels belong to",
        quoted(column)
    )]
    LabelledElsewhere {
        /// The column of identifiers.
        column: String,
        /// Some of the identifiers.
        names: String,
        /// How many there are.
        count: usize,
    },
    /// A file of labels in which it is not clear which column has them.
    #[error("the labels could be in any of the columns {columns}; say in which")]
    NoLabelColumn {
        /// The columns.
        columns: String,
    },
    /// An edit that a model does not allow.
    #[error("cannot edit the model with {}: {reason}", quoted(edit))]
    Edit {
        /// The edit.
        edit: String,
        /// Why not.
        reason: String,
    },
    /// A column of segments that has only one value.
    #[error(
        "column {} has fewer than two different values, so there are no segments to tell apart",
        quoted(column)
    )]
    OneSegment {
        /// The column.
        column: String,
    },
    /// A column of segments that has another value in nearly every row.
    #[error(
        "column {} has another value in nearly every row, so no segment tells what is usual in it; take one whose values come back",
        quoted(column)
    )]
    SegmentsOfOneRow {
        /// The column.
        column: String,
    },
    /// Segments of which nothing is told.
    #[error(
        "no column has numbers that could count by what is usual for each {}; fit the table without it",
        quoted(column)
    )]
    NoBaselines {
        /// The column.
        column: String,
    },
    /// A column that names segments and is to be a feature, too.
    #[error(
        "column {} says which segment a row belongs to, so it cannot be a feature as well",
        quoted(column)
    )]
    SegmentsAsFeature {
        /// The column.
        column: String,
    },
    /// More segments than are kept.
    #[error(
        "column {} has too many different values for a baseline of each; take one with fewer",
        quoted(column)
    )]
    TooManySegments {
        /// The column.
        column: String,
    },
    /// A score that cannot be exported.
    #[error("cannot export the model: {reason}")]
    Export {
        /// Why not, and what to do.
        reason: String,
    },
    /// Counts that were made with another model.
    #[error("these counts were made with another model; count the rows with this one")]
    CountedElsewhere,
    /// Counts that were made by another survey.
    #[error("these counts are of another table or were made otherwise; count all rows of this one")]
    CountedOtherwise,
    /// A budget of alerts for a table that spans no time.
    #[error(
        "{rule} needs rows that span some time; name a column with different times, or give another rule"
    )]
    NoTimeSpan {
        /// The rule.
        rule: String,
    },
    /// A budget of alerts, and no column of times or several.
    #[error("{}", naming::time_column(Naming::Names, columns))]
    TimeColumn {
        /// The columns of times.
        columns: String,
    },
    /// The work was stopped by the caller.
    #[error("stopped before it finished")]
    Stopped,
    /// A matrix and an encoder that do not belong together.
    #[error(
        "the matrix has {found} columns, but the encoder has {expected} features; encode the rows with this encoder"
    )]
    Width {
        /// Columns of the matrix.
        found: usize,
        /// Features of the encoder.
        expected: usize,
    },
    /// A buffer for scores of the wrong length.
    #[error("there is room for {room} scores, but there are {rows} rows; give a slice as long as the table")]
    Room {
        /// Rows to score.
        rows: usize,
        /// Places for scores.
        room: usize,
    },
    /// Training ended in numbers that are not finite or absurdly large.
    #[error("{}", naming::diverged(Naming::Names))]
    Diverged,
    /// Tuning ended in numbers that are not finite or absurdly large.
    #[error("{}", naming::tuning_diverged(Naming::Names))]
    TuningDiverged,
    /// A model that cannot be written as a file.
    #[error("the model cannot be written as a file: {0}")]
    Unwritable(ModelFault),
    /// The rows of a table were not the same when they were read a second time.
    #[error("the table changed while it was being read; try again when nothing else is writing to it")]
    Changed,
    /// A model that was written but cannot be read back.
    #[error(
        "the model for {} could not be read back ({fault}), so no file was written; please report this as a bug",
        file(path)
    )]
    Unreadable {
        /// The file that was to be written.
        path: PathBuf,
        /// What is wrong with it.
        fault: ModelFault,
    },
    /// A model file that cannot be used.
    #[error("cannot use {} as a model: {fault}", file(path))]
    Model {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        fault: ModelFault,
    },
    /// A checkpoint that a fit cannot resume from.
    #[error("cannot resume from {}: {fault}", file(path))]
    Checkpoint {
        /// The checkpoint.
        path: PathBuf,
        /// What is wrong with it.
        fault: CheckpointFault,
    },
    /// A cell of a feature is empty or not a number (NaN), and the training knows no such cells.
    #[error(
        "column {}, {place}: the value is missing, but this column had no gaps in training; fill it in or remove the row",
        quoted(column)
    )]
    Missing {
        /// The column.
        column: String,
        /// The first such row.
        place: Place,
    },
    /// A cell of a feature is infinite.
    #[error("column {}, {place}: the value is infinite; correct it or remove the row", quoted(column))]
    Infinite {
        /// The column.
        column: String,
        /// The first such row.
        place: Place,
    },
    /// Labels that are not one for each row.
    #[error("there are {labels} labels for {rows} rows; give one label for each row")]
    LabelCount {
        /// Labels given.
        labels: usize,
        /// Rows there are.
        rows: usize,
    },
    /// The label column is one the model looks at.
    #[error(
        "column {} is a feature of the model, so it cannot be the label; fit the model without it",
        quoted(column)
    )]
    LabelIsFeature {
        /// The column.
        column: String,
    },
    /// Nothing to learn from: no row is labelled as an anomaly.
    #[error("no row is labelled as an anomaly; label at least one row with 1")]
    NoAnomaly,
    /// Nothing to compare anomalies with.
    #[error(
        "all labelled rows are anomalies; label some normal rows with 0, or add rows with an empty label to stand in for them"
    )]
    NothingNormal,
    /// A validation table with one class only.
    #[error("the validation table has no {lacks}; give one with both")]
    Validation {
        /// What it lacks.
        lacks: &'static str,
    },
    /// A tuned model cannot be tuned again.
    #[error("the model has been tuned before; tune the original model ({first}) with all labels so far")]
    AlreadyTuned {
        /// The identity of the first model.
        first: String,
    },
    /// A row that is not there.
    #[error("there is no row {row}; the table has {rows} rows, numbered from 0")]
    NoSuchRow {
        /// The row asked for.
        row: usize,
        /// Rows there are.
        rows: usize,
    },
    /// A table without column names that does not fit the model.
    #[error(
        "the table has {found} unnamed column{}, but the model was trained on {expected}; give a table with column names",
        if *found == 1 { "" } else { "s" }
    )]
    ColumnCount {
        /// Columns of the table.
        found: usize,
        /// Columns of the training table, as far as the model knows.
        expected: usize,
    },
    /// Two models that cannot be compared.
    #[error(
        "the two models differ in column {}; compare models that were trained on the same table",
        quoted(column)
    )]
    Unrelated {
        /// The first column they differ in.
        column: String,
    },
    /// No column is left to learn from.
    #[error("no column is left to learn from; ignore fewer columns")]
    NoFeatures,
    /// Every column was left out, though nobody asked for it.
    #[error("{}", naming::all_left_out(Naming::Names, name, reason, *can_be_told))]
    AllLeftOut {
        /// The first of them.
        name: String,
        /// Why it was left out.
        reason: &'static str,
        /// Whether it can be a feature if the user says what it holds.
        can_be_told: bool,
    },
    /// Too few rows to learn from.
    #[error("a fit needs at least 2 rows, but the table has {rows}; give more rows")]
    TooFewRows {
        /// Rows there are.
        rows: usize,
    },
    /// Every feature has only one value.
    #[error(
        "every feature has the same value in all rows; give a table with at least one column that varies"
    )]
    AllConstant,
    /// The table does not fit into memory.
    #[error("the table needs {} MB of memory, more than is available; give fewer rows or columns", bytes / 1_000_000)]
    Memory {
        /// Bytes asked for.
        bytes: usize,
    },
}

impl Error {
    /// The name of the column that cannot be a feature as it is; a fit may leave that column out.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Table(error) => error.column(),
            Self::Missing { column, .. } | Self::Infinite { column, .. } => Some(column),
            _ => None,
        }
    }
}

/// Work that was stopped is [`Error::Stopped`], whether it was reading or not.
impl From<crate::table::Error> for Error {
    fn from(error: crate::table::Error) -> Self {
        match error {
            crate::table::Error::Stopped => Self::Stopped,
            other => Self::Table(other),
        }
    }
}

/// A file that cannot be read or written.
pub(crate) fn file_error(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Table(crate::table::Error::file(action, path, source))
}

/// A result with the library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

fn file(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
