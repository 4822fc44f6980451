//! The rows of a report: values, what each score is made of, and what would make it ordinary.

use diad::Result;
use diad::calibrate::Rarity;
use diad::explain::{Axis, Contributions, Explainer};
use diad::table::{Selection, Source as _, Table, Values};
use rayon::prelude::*;
use serde::Serialize;

use crate::packed::{Packed, Texts};
use crate::similar::nearest;
use crate::{Report, Rows};

/// Rows that are explained at length: the first ones of the list.
const AT_LENGTH: usize = 1000;
const FULL: Detail = Detail { terms: 12, sentences: 6 };
const BRIEF: Detail = Detail { terms: 6, sentences: 2 };
/// Rows for which a way to be ordinary, and a similar ordinary row, are looked for: the first ones of the list.
const WAYS_OUT: usize = 300;
/// Columns times rows of these at most, since each takes a look at every column.
const MOST_CELLS: usize = 30_000;
/// Rows times terms of the rows that are put into groups, the first ones of the list: all are in memory at once.
const MOST_GROUPED: usize = 20_000_000;

/// How many terms and sentences are kept for a row. The other terms are added up.
struct Detail {
    terms: usize,
    sentences: usize,
}

/// All rows: those of the list, then ordinary ones to compare with.
#[derive(Debug, Serialize)]
pub struct RowData {
    count: usize,
    listed: usize,
    numbers: Packed,
    scores: Packed,
    /// How rare each score is, a sentence.
    standings: Texts,
    /// 1 for an anomaly, 0 for a normal row.
    labels: Option<Packed>,
    values: Vec<Column>,
    kept: Vec<Kept>,
    /// Rows at the start that have more terms and sentences than the others, and how many each.
    at_length: usize,
    terms_each: [usize; 2],
    sentences_each: [usize; 2],
    terms: Packed,
    contributions: Packed,
    /// What the terms that are not listed contribute.
    rest: Packed,
    sentences: Texts,
    /// What groups of rows have in common, and the group of each row, the first ones of the list.
    groups: Vec<String>,
    group_of: Packed,
    ways_out: Vec<WayOut>,
}

/// The values of a column of the model.
#[derive(Debug, Serialize)]
struct Column {
    #[serde(flatten)]
    texts: Texts,
    /// Where each row's value lies on the axis of the column.
    places: Packed,
}

/// A column as the table has it.
#[derive(Debug, Serialize)]
struct Kept {
    name: String,
    identifier: bool,
    #[serde(flatten)]
    texts: Texts,
}

/// A column with the values it has and would have.
type Changed = (usize, Option<String>, String);

/// What would make a row ordinary, and an ordinary row like it.
#[derive(Debug, Serialize)]
struct WayOut {
    /// The score it would get, and what would change.
    changes: Vec<(f32, Vec<Changed>)>,
    /// The place of a similar ordinary row among all rows.
    similar: Option<usize>,
}

/// What the score of one row is made of.
struct Told {
    score: f32,
    terms: Vec<(usize, f64)>,
    rest: f64,
    sentences: Vec<String>,
}

impl RowData {
    /// The rows of a report. A way out is one to a score below `threshold`.
    pub fn new(report: &Report, threshold: f32) -> Result<Self> {
        let explainer = report.explainer;
        let columns = explainer.detector().encoder().columns().len();
        let axes: Vec<Axis> = (0..columns).map(|column| explainer.axis(column)).collect();
        let Report { rows, listed, .. } = *report;
        let detailed = listed.min(WAYS_OUT).min(MOST_CELLS / columns.max(1));
        let similar = nearest(&axes, rows.table, detailed, listed);
        let mut others: Vec<usize> = similar.iter().copied().flatten().collect();
        others.sort_unstable();
        others.dedup();
        let chosen = Chosen { rows, places: (0..listed).chain(others.iter().copied()).collect() };
        let told = explain(explainer, &chosen.table()?)?;
        let grouped = listed.min(MOST_GROUPED / explainer.terms().len().max(1));
        let (groups, group_of) =
            groups(explainer, &Chosen { rows, places: (0..grouped).collect() }.table()?)?;
        let ways_out = (0..detailed).map(|row| {
            let similar = similar[row].and_then(|place| others.binary_search(&place).ok());
            way_out(explainer, rows.table, row, threshold, similar.map(|place| listed + place))
        });
        Ok(Self {
            count: told.len(),
            listed,
            numbers: chosen.numbers(),
            scores: Packed::floats(told.iter().map(|row| row.score)),
            standings: told.iter().map(|row| standing(explainer, row.score)).collect(),
            labels: report.labels.map(|labels| chosen.labels(labels)),
            values: axes.iter().enumerate().map(|(c, axis)| column(explainer, &chosen, c, axis)).collect(),
            kept: kept(report, &chosen),
            at_length: AT_LENGTH,
            terms_each: [FULL, BRIEF].map(|each| each.terms.min(explainer.terms().len())),
            sentences_each: [FULL, BRIEF].map(|each| each.sentences.min(explainer.terms().len())),
            terms: Packed::whole(
                told.iter().flat_map(|row| row.terms.iter().map(|term| term.0)),
                explainer.terms().len(),
            ),
            contributions: Packed::floats(
                told.iter().flat_map(|row| row.terms.iter().map(|term| term.1 as f32)),
            ),
            rest: Packed::floats(told.iter().map(|row| row.rest as f32)),
            group_of: Packed::whole(group_of, groups.len()),
            groups,
            ways_out: ways_out.collect::<Result<_>>()?,
            sentences: told.into_iter().flat_map(|row| row.sentences).collect(),
        })
    }
}

/// The rows of the list and, after them, those that some of these are compared with.
struct Chosen<'a> {
    rows: Rows<'a>,
    places: Vec<usize>,
}

impl Chosen<'_> {
    fn numbers(&self) -> Packed {
        Packed::whole(self.places.iter().map(|&place| self.rows.numbers[place]), usize::MAX)
    }

    fn labels(&self, labels: &[bool]) -> Packed {
        let label = |&place: &usize| labels.get(self.rows.numbers[place]).copied().unwrap_or_default();
        Packed::whole(self.places.iter().map(|place| usize::from(label(place))), 2)
    }

    fn values(&self, column: usize) -> Vec<f64> {
        self.places.iter().map(|&place| self.rows.table.column(column)[place]).collect()
    }

    fn table(&self) -> Result<Table> {
        let names = self.rows.table.names().to_vec();
        let columns = (0..names.len()).map(|column| Values::Encoded(self.values(column))).collect();
        Ok(Table::of(names, columns)?)
    }
}

fn column(explainer: &Explainer, chosen: &Chosen, column: usize, axis: &Axis) -> Column {
    let values = chosen.values(column);
    Column {
        texts: values.iter().map(|&value| explainer.words(column, value)).collect(),
        places: Packed::places(axis, &values),
    }
}

fn kept(report: &Report, chosen: &Chosen) -> Vec<Kept> {
    let column = |(column, name): (usize, &String)| {
        let values = chosen.rows.kept.values(column);
        let text = |&place: &usize| values.text(place).map(str::to_owned).unwrap_or_default();
        Kept {
            name: name.clone(),
            identifier: report.identifier.as_deref() == Some(name),
            texts: chosen.places.iter().map(text).collect(),
        }
    };
    chosen.rows.kept.names().iter().enumerate().map(column).collect()
}

/// How rare a score is, as everywhere.
fn standing(explainer: &Explainer, score: f32) -> String {
    let rarity = Rarity::of_score(explainer.detector().calibration(), score);
    let sentence = rarity.sentence();
    format!("{}{}.", sentence[..1].to_uppercase(), &sentence[1..])
}

/// What the scores of rows are made of.
fn explain(explainer: &Explainer, table: &Table) -> Result<Vec<Told>> {
    let (mut told, mut part) = (Vec::with_capacity(table.rows()), Contributions::default());
    // Batch by batch: rows times terms may not fit into memory.
    let mut reader = table.open(&Selection::all())?;
    while let Some(batch) = reader.next_batch()? {
        explainer.contributions_into(&batch, &mut part)?;
        let start = told.len();
        let rows = (0..batch.rows()).into_par_iter();
        told.par_extend(rows.map(|row| tell(explainer, &part, &batch, row, start + row)));
    }
    Ok(told)
}

fn tell(explainer: &Explainer, explained: &Contributions, batch: &Table, row: usize, place: usize) -> Told {
    let Detail { terms, sentences } = if place < AT_LENGTH { FULL } else { BRIEF };
    let contributions = explained.row(row);
    let mut order: Vec<usize> = (0..contributions.len()).collect();
    let by_size =
        |a: &usize, b: &usize| contributions[*b].abs().total_cmp(&contributions[*a].abs()).then(a.cmp(b));
    let most = terms.min(order.len());
    if most > 0 && most < order.len() {
        order.select_nth_unstable_by(most - 1, by_size);
    }
    order[..most].sort_unstable_by(by_size);
    let (shown, others) = order.split_at(most);
    let sentence = |&term: &usize| {
        let values: Vec<f64> =
            explainer.terms()[term].columns().iter().map(|&column| batch.column(column)[row]).collect();
        explainer.describe(term, &values)
    };
    Told {
        score: explained.scores()[row],
        terms: shown.iter().map(|&term| (term, contributions[term])).collect(),
        rest: others.iter().map(|&term| contributions[term]).sum(),
        sentences: shown.iter().take(sentences).map(sentence).collect(),
    }
}

/// What groups of rows have in common, and the group of each row, the first ones of the list.
fn groups(explainer: &Explainer, rows: &Table) -> Result<(Vec<String>, Vec<usize>)> {
    let mut of_rows = vec![0; rows.rows()];
    let found = diad::calibrate::groups(explainer, rows)?;
    for (place, group) in found.iter().enumerate() {
        group.members.iter().for_each(|&row| of_rows[row] = place);
    }
    Ok((found.into_iter().map(|group| group.sentence).collect(), of_rows))
}

fn way_out(
    explainer: &Explainer,
    table: &Table,
    row: usize,
    threshold: f32,
    similar: Option<usize>,
) -> Result<WayOut> {
    let values: Vec<f64> = (0..table.names().len()).map(|column| table.column(column)[row]).collect();
    let found = explainer.counterfactuals(&values, threshold)?;
    let change = |r: &diad::explain::Replacement| {
        let (to, from) = explainer.replaced(r);
        (r.column, from, to)
    };
    let changes = found.iter().map(|found| (found.score, found.replacements.iter().map(change).collect()));
    Ok(WayOut { changes: changes.collect(), similar })
}
