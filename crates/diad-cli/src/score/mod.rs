//! `diad score`: how unusual every row is, which rows are alerts, and why.

mod found;
mod groups;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use anyhow::{Result, bail};
use diad::calibrate::Threshold;
use diad::encode::{Column, Kind, Oddities};
use diad::explain::Explainer;
use diad::metrics::top;
use diad::table::{ReadAs, Reader, Selection, Source, Table, quoted};
use diad::{Alert, Detector};

use crate::alerting::{self, Rule, identifier, offered};
use crate::args::ModelAndTable;
use crate::columns::{self, plural};
use crate::input::Input;
use crate::log;
use crate::output::{self, Pending, shown};
use crate::sheet::{self, Format, Writer};
use crate::stop::stoppable;
use found::{Found, Kept, Standings, Told};

/// Score every row of a table: score, percentile, p-value and severity, alerts and their reasons
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    given: ModelAndTable,
    /// The file to write: .csv, .jsonl, .parquet or .xlsx, or - for CSV on standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The column that identifies rows, such as a transaction number; it is written first
    #[arg(long, value_name = "COL")]
    id: Option<String>,
    /// Columns of the table to copy to the output, separated by commas, or all
    #[arg(long, value_name = "COLS", value_delimiter = ',')]
    keep: Vec<String>,
    /// Write only the rows with the highest scores, the highest first
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Write the rows with the highest scores first
    #[arg(long)]
    sort: bool,
    /// How many reasons to give for each row that is written, as sentences
    #[arg(long, value_name = "K", default_value_t = 0)]
    reasons: usize,
    #[command(flatten)]
    alerting: alerting::Alerting,
    /// Also print which alerts belong together
    #[arg(long)]
    groups: bool,
    /// Compute exact scores instead of using tables; diad info shows how close they are
    #[arg(long)]
    exact: bool,
    /// Refuse a table with a cell that cannot be read, is infinite, or is missing in a column that had no gaps in training
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
The output has one row for each row of the table, numbered from 0, with its
  score       higher is more anomalous
  percentile  the share of ordinary rows that score lower, in %
  p_value     the share of ordinary rows that score at least as high; beyond the highest known score, from a fitted tail
  severity    ordinary, unusual (from percentile 95 on), rare (99) or extreme (99.9)
and, if there is a rule, whether it is an alert. Reasons and kept columns follow.
Every row is scored. A cell that cannot be read, is infinite, or is missing in a column that had no gaps in training counts as rarer
than any value of its column, and is reported on standard error.
A file is written whole or not at all. With -o -, rows are written as they are scored: those before an
error are already out.

Examples:
  diad score model.diad table.csv -o scores.csv
  diad score model.diad table.csv --alert share=1% --groups -o alerts.xlsx
  diad score model.diad table.csv --id number --keep all --top 50 --reasons 3 -o alerts.csv
  diad score model.diad table.csv --alert budget=20/day --time booked -o alerts.parquet";

/// The rule if groups are wanted and none is given.
const USUAL_RULE: Alert = Alert::Share(0.01);

pub fn run(args: &Args) -> Result<()> {
    let to_standard_output = args.output == Path::new("-");
    let format = if to_standard_output { Format::Csv } else { Format::of(&args.output)? };
    let target = match to_standard_output {
        true => {
            output::check_open()?;
            None
        }
        false => Some(output::check(&args.output, &[&args.given.model, &args.given.table])?),
    };
    let detector = load(&args.given.model, args.exact, args.strict)?;
    let mut rule = args.alerting.rule(&detector);
    rule.alert = rule.alert.or_else(|| args.groups.then_some(USUAL_RULE));
    let job = Job { detector: &detector, args: Asked::of(args), rule };
    // Only what has to be read twice is kept.
    let table =
        if job.needs_all_scores() { Input::new(&args.given.table)? } else { Input::once(&args.given.table) };
    let Some(target) = target else {
        let mut writer = sheet::csv(io::stdout());
        let done = job.write(&table, &mut *writer).and_then(|done| writer.finish().map(|()| done));
        return done.map(|_| ()).map_err(|error| named(error, Path::new("standard output")));
    };
    let mut pending = Pending::new(&target)?;
    let written = format.writer(io::BufWriter::new(pending.file())).and_then(|mut writer| {
        let done = job.write(&table, &mut *writer)?;
        writer.finish()?;
        Ok(done)
    });
    let done = written.map_err(|error| named(error, &target))?;
    pending.commit()?;
    output::tell(&done.told(&args.output))?;
    if args.groups {
        output::say(&groups::told(&detector, &table, &done, args.id.as_deref())?)?;
    }
    Ok(())
}

/// Loads a model that scores with tables if it can, or exactly, and refuses cells that do not fit or answers them.
pub fn load(model: &Path, exact: bool, strict: bool) -> Result<Detector> {
    let detector = Detector::load(model)?;
    let detector = if exact { detector.exactly() } else { detector };
    Ok(if strict { detector.strictly() } else { detector })
}

/// Scores a table into a CSV file, as `diad score` without options does; gives the number of rows.
pub fn write_plain(detector: &Detector, table: &Input, target: &Path) -> Result<u64> {
    let mut pending = Pending::new(target)?;
    let job = Job { detector, args: Asked::default(), rule: Rule::of(detector) };
    let written = Format::Csv.writer(io::BufWriter::new(pending.file())).and_then(|mut writer| {
        let done = job.write(table, &mut *writer)?;
        writer.finish()?;
        Ok(done)
    });
    let done = written.map_err(|error| named(error, target))?;
    pending.commit()?;
    Ok(done.rows)
}

/// Names the output that could not be written; other errors already name theirs.
fn named(error: anyhow::Error, target: &Path) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        Ok(cause) => output::unwritable(target, cause),
        Err(other) => other,
    }
}

/// What is written beside the scores, and which rows.
#[derive(Default)]
struct Asked<'a> {
    id: Option<&'a str>,
    keep: &'a [String],
    top: Option<usize>,
    sort: bool,
    reasons: usize,
    groups: bool,
}

impl<'a> Asked<'a> {
    fn of(args: &'a Args) -> Self {
        Self {
            id: args.id.as_deref(),
            keep: &args.keep,
            top: args.top,
            sort: args.sort,
            reasons: args.reasons,
            groups: args.groups,
        }
    }

    fn keeps_all(&self) -> bool {
        matches!(self.keep, [only] if only == "all")
    }

    /// Whether anything is written that the scores alone do not tell.
    fn needs_cells(&self) -> bool {
        self.id.is_some() || !self.keep.is_empty() || self.reasons > 0
    }
}

/// Scores to be written.
struct Job<'a> {
    detector: &'a Detector,
    args: Asked<'a>,
    rule: Rule<'a>,
}

/// What was written.
struct Done {
    rows: u64,
    written: u64,
    threshold: Option<Threshold>,
    /// The alerts, the highest score first, if they are to be grouped.
    alerts: Vec<usize>,
    alert_count: u64,
    /// A column that names the rows and was not asked for.
    offered: Option<String>,
}

impl Done {
    fn told(&self, output: &Path) -> String {
        let rows = match self.written == self.rows {
            true => format!("the scores of {} rows", self.rows),
            false => format!("the highest {} of {} rows", self.written, self.rows),
        };
        let alerts = self.threshold.as_ref().map_or_else(String::new, |threshold| {
            let alerts = plural(self.alert_count as usize, "row is an alert", "rows are alerts");
            format!(" {alerts} ({}).", threshold.rule)
        });
        let offered = self.offered.as_ref().map_or_else(String::new, |name| offered(name, "writes it first"));
        format!("Wrote {rows} to {}.{alerts}{offered}\n", shown(output))
    }
}

impl Job<'_> {
    /// Whether every row has to be scored before the first can be written.
    fn needs_all_scores(&self) -> bool {
        self.args.sort || self.args.top.is_some() || self.args.groups || self.rule.needs_all_scores()
    }

    fn write(&self, table: &Input, writer: &mut dyn Writer) -> Result<Done> {
        let source = stoppable(table);
        let calibration = self.detector.calibration();
        let mut standings = Standings::new(calibration);
        if !self.needs_all_scores() {
            let threshold = self.rule.of_model(self.detector);
            let mut reader = source.open(&self.selection())?;
            let offered = self.offered(&*reader);
            let mut done =
                Done { rows: 0, written: 0, threshold, alerts: Vec::new(), alert_count: 0, offered };
            self.check(&*reader)?;
            self.each_batch(&mut *reader, |first, found| {
                done.rows = first + found.scores.len() as u64;
                done.alert_count += done.threshold.as_ref().map_or(0, |t| alerts(t, &found.scores));
                let rows: Vec<u64> = (first..done.rows).collect();
                found.write(&rows, &mut standings, done.threshold.as_ref(), writer)
            })?;
            done.written = done.rows;
            standings.note_if_unlike(done.rows);
            return Ok(done);
        }
        let version = table.version();
        let (scores, offered) = self.score_all(&source)?;
        let threshold = self.rule.of_table(self.detector, table, &scores)?;
        let count = self.args.top.unwrap_or(scores.len());
        let in_order = self.args.top.is_none() && !self.args.sort;
        let order = if in_order { (0..scores.len()).collect() } else { top(&scores, count) };
        self.write_chosen(&source, &scores, &order, threshold.as_ref(), &mut standings, writer)?;
        table.unchanged_since(version)?;
        let mut highest =
            threshold.as_ref().filter(|_| self.args.groups).map_or_else(Vec::new, |threshold| {
                (0..scores.len()).filter(|&row| threshold.is_alert(scores[row])).collect()
            });
        highest.sort_by(|&a: &usize, &b| scores[b].total_cmp(&scores[a]));
        let mut all = Standings::new(calibration);
        all.codes(&scores);
        all.note_if_unlike(scores.len() as u64);
        Ok(Done {
            rows: scores.len() as u64,
            written: order.len() as u64,
            alert_count: threshold.as_ref().map_or(0, |threshold| alerts(threshold, &scores)),
            threshold,
            alerts: highest,
            offered,
        })
    }

    /// Writes some rows of a table in an order of their own.
    fn write_chosen(
        &self,
        source: &dyn Source,
        scores: &[f32],
        order: &[usize],
        threshold: Option<&Threshold>,
        standings: &mut Standings,
        writer: &mut dyn Writer,
    ) -> Result<()> {
        let numbers: Vec<u64> = order.iter().map(|&row| row as u64).collect();
        if !self.args.needs_cells() {
            let found = Found { scores: order.iter().map(|&row| scores[row]).collect(), ..Found::default() };
            return found.write(&numbers, standings, threshold, writer);
        }
        let mut reader = source.open(&self.selection())?;
        self.check(&*reader)?;
        if order.len() == scores.len() && order.windows(2).all(|two| two[0] < two[1]) {
            return self.each_batch(&mut *reader, |first, found| {
                let rows: Vec<u64> = (first..first + found.scores.len() as u64).collect();
                found.write(&rows, standings, threshold, writer)
            });
        }
        let mut places = vec![usize::MAX; scores.len()];
        order.iter().enumerate().for_each(|(place, &row)| places[row] = place);
        let mut chosen = Found::default();
        self.each_batch(&mut *reader, |first, found| {
            chosen.take(
                found,
                |row| Some(places[first as usize + row]).filter(|&place| place != usize::MAX),
                order.len(),
            );
            Ok(())
        })?;
        chosen.write(&numbers, standings, threshold, writer)
    }

    /// The scores of all rows, and a column that names them.
    fn score_all(&self, source: &dyn Source) -> Result<(Vec<f32>, Option<String>)> {
        let mut reader = source.open(&self.detector.selection())?;
        columns::note_unused(self.detector.encoder(), reader.unread());
        let offered = self.offered(&*reader);
        let (mut scores, mut oddities) = (Vec::new(), Oddities::default());
        while let Some(batch) = reader.next_batch()? {
            let start = scores.len();
            scores.resize(start + batch.rows(), 0.0);
            self.detector.score_noting(&batch, &mut scores[start..], &mut oddities)?;
        }
        reader.about().notes.iter().for_each(|note| log::note(note));
        columns::warn_of_odd(&oddities);
        Ok((scores, offered))
    }

    fn selection(&self) -> Selection {
        // What the model reads too is kept as it stands, and read by the model's notation afterwards.
        let is_kept = |name: &str| {
            self.args.keeps_all()
                || self.args.id == Some(name)
                || self.args.keep.iter().any(|kept| kept == name)
        };
        let as_it_stands = |selection: Selection, column: &Column| match &column.notation {
            Some(notation) if is_kept(column.source()) => {
                selection.reading_by(column.source(), ReadAs::AsIs, notation.clone())
            }
            _ => selection,
        };
        let columns = self.detector.encoder().columns();
        let selection = columns.iter().fold(self.detector.selection(), as_it_stands);
        match self.args.keeps_all() {
            true => selection.and_all_texts(),
            false => {
                selection.and_texts(self.args.id.into_iter().chain(self.args.keep.iter().map(String::as_str)))
            }
        }
    }

    /// A column that was left out because it names rows, if the table has it and it is not asked for.
    fn offered(&self, reader: &dyn Reader) -> Option<String> {
        identifier(self.detector, reader.unread()).filter(|_| self.args.id.is_none())
    }

    /// Says what is odd about the columns of a table, once.
    fn check(&self, reader: &dyn Reader) -> Result<()> {
        if !self.needs_all_scores() {
            columns::note_unused(self.detector.encoder(), reader.unread());
        }
        if let Some(id) =
            self.args.id.filter(|id| self.args.keeps_all() && !reader.names().iter().any(|name| name == id))
        {
            bail!("there is no column {}; name one of the table with --id", quoted(id));
        }
        Ok(())
    }

    /// Scores a table batch by batch, with the cells to keep and the reasons. One batch is taken while the next is scored.
    fn each_batch(
        &self,
        reader: &mut dyn Reader,
        mut take: impl FnMut(u64, Found) -> Result<()> + Send,
    ) -> Result<()> {
        let (scored, to_take) = mpsc::sync_channel::<(u64, Found)>(1);
        thread::scope(|scope| {
            let taking =
                scope.spawn(move || to_take.into_iter().try_for_each(|(first, found)| take(first, found)));
            // The other end is gone where rows could not be taken, and tells why.
            let done = self.score_batches(reader, &mut |first, found| scored.send((first, found)).is_ok());
            drop(scored);
            taking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            done
        })
    }

    /// Scores a table batch by batch until no more are taken.
    fn score_batches(&self, reader: &mut dyn Reader, take: &mut dyn FnMut(u64, Found) -> bool) -> Result<()> {
        let explainer = (self.args.reasons > 0).then(|| Explainer::new(self.detector));
        let count = explainer.as_ref().map_or(0, |explainer| self.args.reasons.min(explainer.terms().len()));
        let (mut first, mut oddities) = (0, Oddities::default());
        let wanted = self.wanted(reader);
        while let Some(batch) = reader.next_batch()? {
            let mut found = Found {
                scores: vec![0.0; batch.rows()],
                kept: self.kept(&wanted, &batch),
                ..Found::default()
            };
            match &explainer {
                Some(explainer) => {
                    let explained = explainer.reasons(&batch, count)?;
                    found.scores.copy_from_slice(explained.scores());
                    oddities.append(explained.oddities().clone());
                    found.told = Told::new(&explained, count);
                }
                None => self.detector.score_noting(&batch, &mut found.scores, &mut oddities)?,
            }
            let rows = found.scores.len() as u64;
            if !take(first, found) {
                return Ok(());
            }
            first += rows;
            tracing::debug!(rows = first, "scoring");
        }
        if !self.needs_all_scores() {
            reader.about().notes.iter().for_each(|note| log::note(note));
            columns::warn_of_odd(&oddities);
        }
        tracing::info!(rows = first, "scored the table");
        Ok(())
    }

    /// The columns to keep, that of the identifier first.
    fn wanted(&self, reader: &dyn Reader) -> Vec<String> {
        let kept: Vec<&str> = match self.args.keeps_all() {
            true => reader.names().iter().map(String::as_str).collect(),
            false => self.args.keep.iter().map(String::as_str).collect(),
        };
        let others = kept.into_iter().filter(|&name| Some(name) != self.args.id);
        self.args.id.into_iter().chain(others).map(str::to_owned).collect()
    }

    fn kept(&self, wanted: &[String], batch: &Table) -> Vec<Kept> {
        let cells = |name: &String| {
            let place = batch.names().iter().position(|known| known == name);
            let cell = |row: usize| place.and_then(|place| batch.values(place).cell(row));
            let is_id = Some(name.as_str()) == self.args.id;
            let mut known = self.detector.encoder().columns().iter();
            let number = known.find(|column| column.name == *name && column.kind == Kind::Number);
            let notation = number.map(|column| column.notation.clone().unwrap_or_default());
            Kept { name: name.clone(), is_id, notation, cells: (0..batch.rows()).map(cell).collect() }
        };
        wanted.iter().map(cells).collect()
    }
}

fn alerts(threshold: &Threshold, scores: &[f32]) -> u64 {
    scores.iter().filter(|&&score| threshold.is_alert(score)).count() as u64
}
