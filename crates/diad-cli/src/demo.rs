//! `diad demo`: trains on a bundled table and shows the results.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use diad::Params;
use diad::encode::Roles;
use diad::metrics::roc_auc;
use diad::table::{FileSource, Selection, Source, Table, printable};

use crate::input::Input;
use crate::output::{self, Pending, shown};
use crate::{fit, report, score};

/// Try it on a small bundled table
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  diad demo\n  diad demo --dir my-folder")]
pub struct Args {
    /// The folder for the table, the model, the scores and the report
    #[arg(long, value_name = "DIR", default_value = "diad-demo")]
    dir: PathBuf,
    /// Training steps; fewer are quicker and less accurate
    #[arg(long, value_name = "N", default_value_t = Params::default().steps)]
    steps: usize,
}

const THYROID: &[u8] = include_bytes!("../data/thyroid.csv");
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

pub fn run(args: &Args) -> Result<()> {
    let params = Params::default().with_steps(args.steps);
    params.validate()?;
    let [table, model, scores, page] =
        ["thyroid.csv", "thyroid.diad", "scores.csv", "report.html"].map(|name| args.dir.join(name));
    std::fs::create_dir_all(&args.dir).map_err(|error| output::unwritable(&args.dir, error))?;
    // The files of an earlier demo are replaced, no others.
    if !holds(&table, THYROID)
        && let Some(other) = [&table, &model, &scores, &page].into_iter().find(|path| path.exists())
    {
        bail!("{} is there already and not from a demo; name another folder with --dir", shown(other));
    }
    let table = output::check(&table, &[])?;
    let model = output::check(&model, &[])?;
    let scores = output::check(&scores, &[])?;
    let page = output::check(&page, &[])?;
    let mut pending = Pending::new(&table)?;
    pending.file().write_all(THYROID).map_err(|error| pending.unwritable(error))?;
    pending.commit()?;

    output::say(INTRODUCTION)?;
    let detector = fit::train(&Input::new(&table)?, &Roles::default().ignore(LABEL), &params)?;
    detector.save(&model)?;
    score::write_plain(&detector, &Input::new(&table)?, &scores)?;
    let given =
        report::Given { model: &model, table: &table, label: Some(LABEL), before: None, top: report::LISTED };
    report::write(&detector, &given, &page)?;

    let rows = read_whole(&table)?;
    let text = format!(
        "{}\n{}",
        findings(&rows, &detector.score(&rows)?),
        next_steps(&args.dir, &args.dir.join("report.html"))
    );
    output::say(&text)
}

/// Whether there is a file with just this content.
fn holds(path: &Path, content: &[u8]) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == content.len() as u64)
        && std::fs::read(path).is_ok_and(|found| found == content)
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
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));

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

/// What to try next, with the name the program was called by.
fn next_steps(folder: &Path, page: &Path) -> String {
    let program = std::env::args().next().map_or("diad".into(), |name| printable(&name));
    let (folder, page) = (shown(folder), shown(page));
    format!(
        "The table, the model and the scores are in {folder}. Open the report in a browser to see why:\n\n  \
         {page}\n\nNext, with a table of your own:\n\n  \
         {program} fit yours.csv -o yours.diad\n  \
         {program} score yours.diad yours.csv -o scores.csv\n  \
         {program} report yours.diad yours.csv -o report.html\n"
    )
}
