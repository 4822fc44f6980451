//! Scores of all rows of a table, and some of its rows.

use std::collections::HashMap;

use anyhow::{Result, bail};
use diad::Detector;
use diad::encode::Oddities;
use diad::metrics::top;
use diad::table::{ReadAs, Selection, Source, Table, Values, quoted};

use crate::columns;
use crate::input::Input;
use crate::output;
use crate::stop::stoppable;

/// Scores of all rows, and their labels if asked for.
pub struct Scored {
    pub scores: Vec<f32>,
    pub labels: Option<Vec<bool>>,
}

impl Scored {
    /// The rows with the highest scores, the highest first.
    pub fn top(&self, count: usize) -> Vec<usize> {
        top(&self.scores, count)
    }
}

/// Scores a table.
pub fn score(detector: &Detector, table: &Input, label: Option<&str>) -> Result<Scored> {
    if let Some(label) =
        label.filter(|&label| detector.encoder().columns().iter().any(|c| c.source() == label))
    {
        let typed = output::typed(label).unwrap_or_else(|| "and its name".to_owned());
        bail!(
            "the model was trained with column {} as a feature; train it again with --label {typed}",
            quoted(label)
        );
    }
    let selection = detector.selection();
    let selection = match label {
        Some(label) => selection.with_label(label),
        None => selection,
    };
    let source = stoppable(table);
    let mut reader = source.open(&selection)?;
    let (mut labels, mut scores, mut oddities) = (Vec::new(), Vec::new(), Oddities::default());
    while let Some(batch) = reader.next_batch()? {
        let start = scores.len();
        scores.resize(start + batch.rows(), 0.0);
        detector.score_noting(&batch, &mut scores[start..], &mut oddities)?;
        if label.is_some() {
            // The label is the last selected column.
            labels.extend(batch.column(batch.names().len() - 1).iter().map(|&label| label == 1.0));
        }
    }
    columns::warn_of_odd(&oddities);
    Ok(Scored { scores, labels: label.map(|_| labels) })
}

/// Some rows of a table, in the order asked for, with the columns of the model in their order.
pub fn pick(detector: &Detector, table: &Input, rows: &[usize]) -> Result<Table> {
    Ok(detector.pick(&stoppable(table), rows)?)
}

/// Some rows of a table, in the order asked for: columns as they are written, as texts.
pub fn as_written(table: &Input, columns: &[String], rows: &[usize]) -> Result<Table> {
    let selection = columns
        .iter()
        .fold(Selection::only(columns), |selection, name| selection.reading(name, ReadAs::Texts));
    let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
    rows.iter().enumerate().for_each(|(place, &row)| places.entry(row).or_default().push(place));
    let mut cells = vec![vec![None; rows.len()]; columns.len()];
    if !columns.is_empty() {
        let source = stoppable(table);
        let mut reader = source.open(&selection)?;
        let mut first = 0;
        while let Some(batch) = reader.next_batch()? {
            for row in 0..batch.rows() {
                for &place in places.get(&(first + row)).into_iter().flatten() {
                    for (column, cells) in cells.iter_mut().enumerate() {
                        cells[place] = batch.values(column).text(row).map(str::to_owned);
                    }
                }
            }
            first += batch.rows();
        }
    }
    let texts = cells.into_iter().map(|cells| Values::Texts(cells.into_iter().collect())).collect();
    Ok(Table::of(columns.to_vec(), texts)?)
}
