//! Labels of rows: in the table itself, or in a file of their own by identifier.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use diad::table::{Source, quoted};
use diad::{Detector, Labelled, NamedLabels};

use crate::input::Input;
use crate::progress::Reading;
use crate::stop::stoppable;

/// A model and rows with labels.
#[derive(clap::Args)]
pub struct ModelAndLabels {
    /// The model file, from diad fit
    pub model: PathBuf,
    /// The table, with the columns of the model and the label column, or with --table a file of labels; - for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub labels: Labels,
}

/// Which rows are labelled, and how.
#[derive(clap::Args)]
pub struct Labels {
    /// The column with the labels: 1 for an anomaly and 0 for a normal row, or true/false, or yes/no; empty where unknown
    #[arg(long, value_name = "COL", required_unless_present = "table")]
    pub label: Option<String>,
    /// The table that the labels are of, if they are in a file of their own; needs --id
    #[arg(long, value_name = "TABLE", requires = "id")]
    pub table: Option<PathBuf>,
    /// With --table: the column that names the rows, in both files
    #[arg(long, value_name = "COL", requires = "table")]
    pub id: Option<String>,
    /// With --table: the label that means an anomaly; every other is a normal row [default: 1, yes, true, fraud and the like]
    #[arg(long, value_name = "WORD", requires = "table")]
    pub positive: Option<String>,
}

impl Labels {
    /// Labelled rows: those of `file`, or those of the table that it has labels for.
    pub fn read(&self, detector: &Detector, file: &Path) -> Result<Labelled> {
        let _reading = Reading::start(&file.to_string_lossy());
        let Some((table, labels)) = self.of_rows(file)? else {
            let label = self.column()?;
            return Ok(Labelled::read(detector, &stoppable(&Input::new(file)?), label)?);
        };
        Ok(Labelled::of(detector, &stoppable(&table), labels)?)
    }

    /// The table and the labels of its rows, if they are in a file of their own.
    pub fn of_rows(&self, file: &Path) -> Result<Option<(Input, Vec<Option<bool>>)>> {
        let (Some(table), Some(id)) = (&self.table, &self.id) else { return Ok(None) };
        let table = Input::new(table)?;
        let labels = NamedLabels::read(
            &stoppable(&Input::new(file)?),
            id,
            self.label.as_deref(),
            self.positive.as_deref(),
        )?;
        if labels.is_empty() {
            bail!(
                "no row is labelled; write 1 or 0, yes or no, fraud or ok beside the identifiers in {}",
                quoted(&file.to_string_lossy())
            );
        }
        let rows = labels.of_rows(&stoppable(&table) as &dyn Source, id)?;
        Ok(Some((table, rows)))
    }

    /// The column with the labels.
    pub fn column(&self) -> Result<&str> {
        match &self.label {
            Some(label) => Ok(label),
            None => bail!("name the column with the labels with --label"),
        }
    }
}
