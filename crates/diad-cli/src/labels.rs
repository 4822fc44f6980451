//! Labels of rows: in the table itself, or in a file of their own by identifier.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use diad::table::{Selection, Source, quoted};
use diad::{Detector, Labelled, NamedLabels};

use crate::input::Input;
use crate::progress::Reading;
use crate::stop::stoppable;
use crate::{alerting, log};

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
    /// The table the labels refer to, if they are in a separate file
    #[arg(long, value_name = "TABLE")]
    pub table: Option<PathBuf>,
    /// With --table: the column that identifies rows, in both files [default: the identifier that the model left out]
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
        let Some((table, labels)) = self.of_rows(detector, file)? else {
            let label = self.column()?;
            return Ok(Labelled::read(detector, &stoppable(&Input::new(file)?), label)?);
        };
        Ok(Labelled::of(detector, &stoppable(&table), labels)?)
    }

    /// The table and the labels of its rows, if they are in a file of their own.
    pub fn of_rows(&self, detector: &Detector, file: &Path) -> Result<Option<(Input, Vec<Option<bool>>)>> {
        let Some(table) = &self.table else { return Ok(None) };
        let (table, file) = (Input::new(table)?, Input::new(file)?);
        let id = &identifier(detector, [&table, &file], self.id.as_deref())?;
        let labels =
            NamedLabels::read(&stoppable(&file), id, self.label.as_deref(), self.positive.as_deref())?;
        if labels.is_empty() {
            bail!(
                "no row is labelled; write 1 or 0, yes or no, fraud or ok beside the identifiers in {}",
                quoted(&file.name())
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

/// The column that names the rows in both files: the one asked for, or the one that the model left out because it does.
pub fn identifier(detector: &Detector, files: [&Input; 2], asked: Option<&str>) -> Result<String> {
    if let Some(id) = asked {
        return Ok(id.to_owned());
    }
    let [mut names, others] =
        files.map(|file| file.open(&Selection::all()).map(|reader| reader.names().to_vec()));
    let others = others?;
    if let Ok(names) = &mut names {
        names.retain(|name| others.contains(name));
    }
    match alerting::identifier(detector, &names?) {
        Some(id) => {
            log::note(&format!(
                "labels go by column {}, which names the rows; --id names another",
                quoted(&id)
            ));
            Ok(id)
        }
        None => bail!("say with --id which column names the rows, in the table and in the labels"),
    }
}
