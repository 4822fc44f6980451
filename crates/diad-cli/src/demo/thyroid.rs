//! The table of thyroid tests, which comes with the program.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use diad::encode::Roles;
use diad::metrics::{roc_auc, top};
use diad::table::{FileSource, Selection, Source, Table};

use super::{Demo, Files};

const CONTENT: &[u8] = include_bytes!("../../data/thyroid.csv");
const LABEL: &str = "label";
/// Rows to show.
const SHOWN: usize = 10;
/// Rows among which the labelled ones are counted.
const TOP: usize = 100;

const INTRODUCTION: &str = "\
Thyroid tests of 7200 people: age and five measurements, scaled by the source.
534 of them are labelled as not normal; the training does not see the labels.
Data: Thyroid Disease, Ross Quinlan, UCI Machine Learning Repository, CC BY 4.0.
Training takes a few seconds.

";

pub fn run(demo: &Demo) -> Result<()> {
    let files = Files::new(demo, "thyroid", CONTENT, &[])?;
    let detector = demo.train(&files, INTRODUCTION, &Roles::default().ignore(LABEL))?;
    files.report(&detector, Some(LABEL), None)?;
    let rows = read_whole(&files.table)?;
    demo.end(&format!("{}\n", findings(&rows, &detector.score(&rows)?)))
}

/// The bundled table, in memory.
fn read_whole(path: &Path) -> Result<Table> {
    let source = FileSource::new(path);
    let mut reader = source.open(&Selection::all())?;
    let mut columns = vec![Vec::new(); reader.names().len()];
    while let Some(batch) = reader.next_batch()? {
        columns.iter_mut().enumerate().for_each(|(index, column)| column.extend(batch.column(index)));
    }
    Ok(Table::new(reader.names().to_vec(), columns)?)
}

/// The rows with the highest scores, and how well the scores agree with the labels.
fn findings(table: &Table, scores: &[f32]) -> String {
    let labels: Vec<bool> =
        table.column_named(LABEL).unwrap_or_default().iter().map(|&label| label == 1.0).collect();
    let order = top(scores, scores.len());

    let mut text = format!("The {SHOWN} most anomalous rows (row 0 is the first):\n\n    row   score");
    for name in table.names() {
        let _ = write!(text, "{name:>9}");
    }
    for &row in order.iter().take(SHOWN) {
        let _ = write!(text, "\n  {row:>5}  {:>6.3}", scores[row]);
        for column in 0..table.names().len() {
            let _ = write!(text, "{:>9}", table.column(column)[row]);
        }
    }
    let found = order.iter().take(TOP).filter(|&&row| labels[row]).count();
    let chance = labels.iter().filter(|&&label| label).count() * TOP / labels.len();
    let _ = write!(
        text,
        "\n\nOf the {TOP} rows with the highest scores, {found} are labelled not normal; by chance it would be {chance}.\n\
         A high row labelled 0 is unusual in a way the labels do not cover.\n"
    );
    if let Some(area) = roc_auc(&labels, scores) {
        let _ = writeln!(
            text,
            "ROC-AUC {area:.3}: the probability that an abnormal row scores higher than a normal one."
        );
    }
    text
}
