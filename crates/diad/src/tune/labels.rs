//! Rows with labels, in an order that does not depend on the order they came in.

use std::collections::{HashMap, HashSet};

use crate::encode::Matrix;
use crate::origin::Digest;
use crate::table::Source;
use crate::{Detector, Error, Result};

/// What is known of rows: 1 for an anomaly, 0 for a normal row, nothing where a label is empty.
///
/// ```
/// use diad::{Labelled, Params, table::Table};
///
/// let x = (0..40).map(|i| f64::from(i % 13)).collect();
/// let label = (0..40).map(|i| if i < 20 { f64::from(u8::from(i % 13 == 12)) } else { f64::NAN }).collect();
/// let table = Table::new(vec!["x".into(), "label".into()], vec![x, label])?;
/// let params = Params::default().with_steps(4).trees(4).batch(16);
/// let first = params.fitting(&table).ignore("label").run()?;
///
/// let labelled = Labelled::read(&first, &table, "label")?;
/// assert_eq!((labelled.anomalies(), labelled.normals(), labelled.unlabelled()), (1, 19, 20));
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Labelled {
    matrix: Matrix,
    labels: Vec<Option<bool>>,
    contradictions: usize,
}

impl Labelled {
    /// Reads the columns of a detector and the label column of a source.
    ///
    /// # Errors
    /// If a column is missing, a feature is missing or infinite, or a label is neither 0, 1 nor empty.
    pub fn read(detector: &Detector, source: &dyn Source, label: &str) -> Result<Self> {
        let encoder = detector.encoder();
        if encoder.columns().iter().any(|column| column.name == label) {
            return Err(Error::LabelIsFeature { column: label.to_owned() });
        }
        let mut reader = source.open(&encoder.selection().with_known_labels(label))?;
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        while let Some(batch) = reader.next_batch()? {
            encoder.encode_batch(&batch, &mut values)?;
            // The label is the last selected column.
            let column = batch.column(batch.names().len() - 1);
            labels.extend(column.iter().map(|&label| (!label.is_nan()).then_some(label == 1.0)));
        }
        Ok(Self::new(Matrix { width: encoder.features().len(), values }, labels))
    }

    /// The rows of a source with labels from elsewhere, one for each row.
    ///
    /// # Errors
    /// If a column is missing, a feature is missing or infinite, or there is not one label for each row.
    pub fn of(detector: &Detector, source: &dyn Source, labels: Vec<Option<bool>>) -> Result<Self> {
        let matrix = detector.encoder().encode(source)?;
        if matrix.rows() != labels.len() {
            return Err(Error::LabelCount { labels: labels.len(), rows: matrix.rows() });
        }
        Ok(Self::new(matrix, labels))
    }

    /// Puts rows into their own order: by a hash of their values, so that any first part of them is a random one.
    fn new(matrix: Matrix, labels: Vec<Option<bool>>) -> Self {
        let key = |row: usize| (Digest::of(bytes(matrix.row(row))).scattered(), labels[row]);
        let mut order: Vec<((Digest, Option<bool>), usize)> =
            (0..labels.len()).map(|row| (key(row), row)).collect();
        order.sort_unstable();
        let values = order.iter().flat_map(|&(_, row)| matrix.row(row)).copied().collect();
        let mut known: HashMap<Digest, [usize; 2]> = HashMap::new();
        for &((digest, label), _) in &order {
            if let Some(label) = label {
                known.entry(digest).or_default()[usize::from(label)] += 1;
            }
        }
        let contradictions =
            known.values().filter(|[no, yes]| *no > 0 && *yes > 0).map(|[no, yes]| no + yes).sum();
        let labels = order.iter().map(|&((_, label), _)| label).collect();
        Self { matrix: Matrix { width: matrix.width, values }, labels, contradictions }
    }

    /// Rows labelled 1.
    pub fn anomalies(&self) -> usize {
        self.count(Some(true))
    }

    /// Rows labelled 0.
    pub fn normals(&self) -> usize {
        self.count(Some(false))
    }

    /// Rows without a label.
    pub fn unlabelled(&self) -> usize {
        self.count(None)
    }

    /// What is odd about these labels and those of a validation table, a sentence each.
    ///
    /// ```
    /// # use diad::{Labelled, Params, table::Table};
    /// # let x: Vec<f64> = (0..40).map(|i| f64::from(i % 13)).collect();
    /// # let label = x.iter().map(|&x| f64::from(u8::from(x == 12.0))).collect();
    /// # let table = Table::new(vec!["x".into(), "label".into()], vec![x, label])?;
    /// # let params = Params::default().with_steps(4).trees(4).batch(16);
    /// # let first = params.fitting(&table).ignore("label").run()?;
    /// let labelled = Labelled::read(&first, &table, "label")?;
    /// assert!(labelled.oddities(None).is_empty());
    /// assert!(labelled.oddities(Some(&labelled))[0].starts_with("the validation table has the labelled rows themselves"));
    /// # Ok::<(), diad::Error>(())
    /// ```
    pub fn oddities(&self, validation: Option<&Self>) -> Vec<String> {
        let mut found = Vec::new();
        if self.contradictions > 0 {
            found.push(format!(
                "{} labelled rows are identical to a row with the opposite label; they contradict each other",
                self.contradictions
            ));
        }
        let rows = |labels: &Self| labels.known().map(Digest::of).collect::<HashSet<Digest>>();
        let within = |few: &HashSet<Digest>, many: &HashSet<Digest>| !few.is_empty() && few.is_subset(many);
        if let Some([own, others]) = validation.map(|validation| [self, validation].map(rows))
            && (within(&own, &others) || within(&others, &own))
        {
            found.push(
                "the validation table has the labelled rows themselves, and cannot check what was learned from them; give \
                 other rows, or leave it out"
                    .into(),
            );
        }
        found
    }

    /// Every labelled row with its label, as bytes.
    fn known(&self) -> impl Iterator<Item = impl Iterator<Item = u8>> {
        let labelled = (0..self.labels.len()).filter_map(|row| Some((row, self.labels[row]?)));
        labelled.map(|(row, label)| bytes(self.matrix.row(row)).chain([u8::from(label)]))
    }

    fn count(&self, wanted: Option<bool>) -> usize {
        self.labels.iter().filter(|label| **label == wanted).count()
    }

    /// The rows of a label, in order.
    pub(super) fn rows(&self, wanted: Option<bool>) -> Vec<usize> {
        (0..self.labels.len()).filter(|&row| self.labels[row] == wanted).collect()
    }

    /// Whether a row is labelled as an anomaly.
    pub(super) fn is_anomaly(&self, row: usize) -> bool {
        self.labels[row] == Some(true)
    }

    pub(super) fn matrix(&self) -> &Matrix {
        &self.matrix
    }

    /// The digest of all labelled rows and their labels.
    pub(super) fn digest(&self) -> Digest {
        Digest::of(self.known().flatten())
    }

    /// As a validation table: it needs both labels.
    pub(super) fn check_validation(&self) -> Result<()> {
        match (self.anomalies(), self.normals()) {
            (0, _) => Err(Error::Validation { lacks: "anomalies (label 1)" }),
            (_, 0) => Err(Error::Validation { lacks: "normal rows (label 0)" }),
            _ => Ok(()),
        }
    }
}

fn bytes(values: &[f32]) -> impl Iterator<Item = u8> {
    values.iter().flat_map(|value| value.to_bits().to_le_bytes())
}
