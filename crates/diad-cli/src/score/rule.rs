//! What rules need to know of a table beside its scores.

use anyhow::{Result, bail};
use diad::Detector;
use diad::calibrate::times;
use diad::encode::Kind;
use diad::table::{ReadAs, Selection, Table, quoted};

/// The column of times that a budget counts by: the one asked for, or the only one of the model.
pub fn time_column(detector: &Detector, asked: Option<&str>) -> Result<String> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let times = detector.encoder().columns().iter().filter(|column| matches!(column.kind, Kind::Time { .. }));
    let mut names: Vec<&str> = times.map(|column| column.source()).collect();
    names.dedup();
    match names[..] {
        [only] => Ok(only.to_owned()),
        [] => bail!(
            "the model has no column of times, which a budget counts by; name one of the table with --time"
        ),
        _ => {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            bail!("the model has several columns of times, {}; name one with --time", names.join(", "))
        }
    }
}

/// What to read for scores, and a column of times.
pub fn reading(detector: &Detector, time: Option<&str>) -> Selection {
    let selection = detector.selection();
    let known = |name: &str| detector.encoder().columns().iter().any(|column| column.source() == name);
    match time {
        Some(name) if !known(name) => selection.and_texts([name]).reading(name, ReadAs::Found),
        _ => selection,
    }
}

/// From when to when rows are.
#[derive(Default)]
pub struct Span(Option<[f64; 2]>);

impl Span {
    pub fn add(&mut self, batch: &Table, column: &str) -> Result<()> {
        let Some(place) = batch.names().iter().position(|name| name == column) else { return Ok(()) };
        if let Some([from, to]) = times(batch.values(place), column, &|row| batch.place(row))? {
            let [first, last] = self.0.unwrap_or([from, to]);
            self.0 = Some([first.min(from), last.max(to)]);
        }
        Ok(())
    }

    /// The seconds between them.
    pub fn seconds(&self) -> Option<f64> {
        self.0.map(|[from, to]| to - from)
    }
}
