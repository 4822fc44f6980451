//! Labels of rows that are named by an identifier, as people keep them: a file of identifiers and verdicts.

use std::collections::HashMap;

use crate::table::{ReadAs, Selection, Source, quoted};
use crate::{Error, Result};

/// Words for an anomaly and for a normal row.
const ANOMALY: [&str; 10] =
    ["1", "true", "yes", "y", "fraud", "anomaly", "bad", "abnormal", "outlier", "positive"];
const NORMAL: [&str; 12] =
    ["0", "false", "no", "n", "ok", "normal", "good", "fine", "legit", "inlier", "negative", "not fraud"];
/// Most identifiers that a message names.
const NAMED: usize = 3;

/// Labels by identifier.
///
/// ```
/// use diad::{NamedLabels, table::{Table, Texts}};
///
/// let texts = |cells: &[&str]| cells.iter().map(|&cell| Some(cell)).collect::<Texts>().into();
/// let names = vec!["number".into(), "verdict".into()];
/// let file = Table::of(names, vec![texts(&["T7", "T9"]), texts(&["fraud", "ok"])])?;
/// let labels = NamedLabels::read(&file, "number", None, None)?;
/// let rows = Table::of(vec!["number".into()], vec![texts(&["T8", "T9", "T7"])])?;
/// assert_eq!(labels.of_rows(&rows, "number")?, [None, Some(false), Some(true)]);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedLabels {
    labels: HashMap<String, bool>,
}

impl NamedLabels {
    /// Reads a file of labels. `label` names their column: the one called `label` if it is not given, or the only one beside the
    /// identifiers. A label is 1 or 0, yes or no, fraud or ok; with `positive`, that word is an anomaly and every other a normal row. Rows
    /// without a label say nothing. Other columns, such as comments, are not looked at.
    ///
    /// # Errors
    /// If a column is missing, it is not clear which has the labels, a label is no such word, or an identifier has both labels.
    pub fn read(source: &dyn Source, id: &str, label: Option<&str>, positive: Option<&str>) -> Result<Self> {
        let label = match label {
            Some(label) => label.to_owned(),
            None => label_column(source, id)?,
        };
        let as_texts =
            Selection::only([id, &label]).reading(id, ReadAs::Texts).reading(&label, ReadAs::Texts);
        let mut reader = source.open(&as_texts)?;
        let mut labels = HashMap::new();
        while let Some(batch) = reader.next_batch()? {
            for row in 0..batch.rows() {
                let cell = |column: usize| batch.values(column).cell(row).map(|cell| cell.trim().to_owned());
                let (Some(name), Some(word)) = (cell(0), cell(1)) else { continue };
                if word.is_empty() {
                    continue;
                }
                let Some(is_anomaly) = meant(&word, positive) else {
                    return Err(Error::LabelWord { column: label, place: batch.place(row), word });
                };
                if labels.insert(name.clone(), is_anomaly).is_some_and(|before| before != is_anomaly) {
                    return Err(Error::TwoLabels { name });
                }
            }
        }
        Ok(Self { labels })
    }

    /// How many rows are labelled.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether no row is labelled.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// The label of each row of a table, whose column `id` names them.
    ///
    /// # Errors
    /// If the column is missing, or an identifier that has a label is not in it.
    pub fn of_rows(&self, source: &dyn Source, id: &str) -> Result<Vec<Option<bool>>> {
        let mut reader = source.open(&Selection::only([id]).reading(id, ReadAs::Texts))?;
        let (mut labels, mut missing) = (Vec::new(), self.labels.clone());
        while let Some(batch) = reader.next_batch()? {
            for row in 0..batch.rows() {
                let name = batch.values(0).cell(row).map(|cell| cell.trim().to_owned());
                let label = name.as_ref().and_then(|name| self.labels.get(name)).copied();
                if let Some(name) = name.filter(|_| label.is_some()) {
                    missing.remove(&name);
                }
                labels.push(label);
            }
        }
        if missing.is_empty() {
            return Ok(labels);
        }
        let mut names: Vec<&String> = missing.keys().collect();
        names.sort_unstable();
        let shown: Vec<String> = names.iter().take(NAMED).map(|name| quoted(name)).collect();
        Err(Error::LabelledElsewhere { column: id.to_owned(), names: shown.join(", "), count: names.len() })
    }
}

/// The column with labels beside one of identifiers.
fn label_column(source: &dyn Source, id: &str) -> Result<String> {
    let reader = source.open(&Selection::only([id]))?;
    let others = reader.unread();
    match others {
        [only] => Ok(only.clone()),
        _ if others.iter().any(|name| name == "label") => Ok("label".into()),
        _ => Err(Error::NoLabelColumn {
            columns: others.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "),
        }),
    }
}

/// Whether a word means an anomaly.
fn meant(word: &str, positive: Option<&str>) -> Option<bool> {
    let lower = word.to_lowercase();
    if let Some(positive) = positive {
        return Some(lower == positive.trim().to_lowercase());
    }
    let known = |words: &[&str]| words.contains(&lower.as_str());
    match (known(&ANOMALY), known(&NORMAL)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Table, Texts, Values};

    fn texts(cells: &[&str]) -> Values {
        cells.iter().map(|&cell| (!cell.is_empty()).then_some(cell)).collect::<Texts>().into()
    }

    fn table(columns: &[(&str, &[&str])]) -> Table {
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Table::of(names, columns.iter().map(|(_, cells)| texts(cells)).collect()).unwrap()
    }

    #[test]
    fn words_are_understood_and_comments_left_alone() {
        let file = table(&[
            ("id", &["a", "b", "c", "d", "e"]),
            ("label", &["Yes", "no", "", "1", "OK"]),
            ("comment", &["seen it", "", "who?", "fraud!", ""]),
        ]);
        let labels = NamedLabels::read(&file, "id", None, None).unwrap();
        assert_eq!(labels.len(), 4);
        let rows = table(&[("id", &["e", "d", "x", "b", "a", ""])]);
        assert_eq!(
            labels.of_rows(&rows, "id").unwrap(),
            [Some(false), Some(true), None, Some(false), Some(true), None]
        );
        let positive = NamedLabels::read(&file, "id", Some("comment"), Some("fraud!")).unwrap();
        let rows = table(&[("id", &["a", "c", "d"])]);
        assert_eq!(positive.of_rows(&rows, "id").unwrap(), [Some(false), Some(false), Some(true)]);
    }

    #[test]
    fn what_is_wrong_with_labels_is_told() {
        let read = |columns: &[(&str, &[&str])]| NamedLabels::read(&table(columns), "id", None, None);
        let error = read(&[("id", &["a"]), ("label", &["perhaps"])]).unwrap_err().to_string();
        assert!(error.contains("\"perhaps\" is not a label"), "{error}");
        let error = read(&[("id", &["a", "a"]), ("label", &["1", "0"])]).unwrap_err().to_string();
        assert!(error.contains("both"), "{error}");
        let error = read(&[("id", &["a"]), ("x", &["1"]), ("y", &["1"])]).unwrap_err().to_string();
        assert!(error.contains("\"x\""), "{error}");
        let labels = read(&[("id", &["a", "z"]), ("verdict", &["1", "0"])]).unwrap();
        let error = labels.of_rows(&table(&[("id", &["a"])]), "id").unwrap_err().to_string();
        assert!(error.contains("\"z\""), "{error}");
    }
}
