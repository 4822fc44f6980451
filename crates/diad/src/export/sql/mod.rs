//! A score as one statement of SQL: stages that make features of cells, places and splits of features, functions of those, and their sum.

mod dialect;
mod features;
mod functions;
mod places;
mod sheet;
mod tables;

use super::plan::{Feature, Plan, Term};
use crate::{Error, Result};
pub use dialect::Dialect;
use features::Features;
use functions::Found;
use places::Places;
use sheet::{Col, Sheet, exactly, plus};

/// Most functions that one expression adds up.
const BATCH: usize = 50;
/// How far what is moved between contributions may be off; it is no part of the score.
const CONTRIBUTION: f64 = 1e-7;

/// What a statement is to be like.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Statement<'a> {
    /// The dialect.
    pub dialect: Dialect,
    /// The table it reads.
    pub table: &'a str,
    /// The columns that stand beside the score; those of the model if there are none.
    pub keep: &'a [String],
    /// How many of the largest terms are named.
    pub reasons: usize,
}

impl<'a> Statement<'a> {
    /// One that reads a table of this name, and names no terms.
    pub fn new(dialect: Dialect, table: &'a str) -> Self {
        Self { dialect, table, keep: &[], reasons: 0 }
    }

    /// With these columns beside the score.
    #[must_use]
    pub fn keep(self, keep: &'a [String]) -> Self {
        Self { keep, ..self }
    }

    /// With so many of the largest terms named.
    #[must_use]
    pub fn reasons(self, reasons: usize) -> Self {
        Self { reasons, ..self }
    }
}

impl Plan {
    /// The score as one statement.
    ///
    /// # Errors
    /// If the dialect cannot hold a name, a text or as many columns.
    pub fn to_sql(&self, statement: &Statement) -> Result<String> {
        let Statement { dialect, .. } = *statement;
        let mut sheet = Sheet::default();
        let kept: Vec<String> = match statement.keep {
            [] => self.used_inputs(),
            keep => keep.to_vec(),
        };
        let mut wanted = Vec::new();
        for name in &kept {
            wanted.push(sheet.add('k', 1, &[], dialect.identifier(name)?));
        }
        let features = features::features(self, dialect, &mut sheet)?;
        let sums = Writer::new(self, statement, &mut sheet, &features, kept.len())?.sums(&mut sheet);
        let mut titles = kept.iter().map(|name| dialect.identifier(name)).collect::<Result<Vec<String>>>()?;
        let score = self.score_column(&sums, &features, &mut sheet);
        let mut texts: Vec<String> = wanted.iter().map(|&column| sheet.name(column).to_owned()).collect();
        wanted.push(score);
        texts.push(sheet.name(score).to_owned());
        titles.push(dialect.identifier("score")?);
        if statement.reasons > 0 {
            let contributions = self.contribution_columns(&sums, &features, &mut sheet);
            for (rank, (index, value)) in
                largest(&contributions, statement, &mut sheet).into_iter().enumerate()
            {
                let mut names = String::new();
                for (term, given) in self.terms.iter().enumerate() {
                    names += &format!(" WHEN {term} THEN {}", dialect.text(&given.name)?);
                }
                wanted.extend([index, value]);
                texts
                    .extend([format!("CASE {}{names} END", sheet.name(index)), sheet.name(value).to_owned()]);
                titles.push(dialect.identifier(&format!("reason_{}", rank + 1))?);
                titles.push(dialect.identifier(&format!("contribution_{}", rank + 1))?);
            }
        }
        let (stages, last) = sheet.stages(dialect, &dialect.table(statement.table)?, &wanted);
        let list: Vec<String> =
            texts.iter().zip(&titles).map(|(text, title)| format!("{text} AS {title}")).collect();
        Ok(format!(
            "{}WITH\n{}\nSELECT {}\nFROM {last}\n",
            self.comment(dialect),
            stages.join(",\n"),
            list.join(",\n")
        ))
    }

    /// The names of the columns that the score looks at.
    fn used_inputs(&self) -> Vec<String> {
        let used = |index: usize| self.features.iter().any(|feature| feature.input() == index);
        let inputs = self.inputs.iter().enumerate().filter(|(index, _)| used(*index));
        inputs.map(|(_, input)| input.name.clone()).collect()
    }

    /// What the statement is, and rows to check it by, each in a line.
    fn comment(&self, dialect: Dialect) -> String {
        let mut text = format!(
            "-- Scores by DIAD. Format {}, model {}, dialect {}.\n-- Rows to check it by are {}; the columns are {}.\n",
            self.diad_export,
            self.model,
            dialect.name(),
            self.check.rows_are,
            ascii(&self.inputs.iter().map(|input| &input.name).collect::<Vec<_>>())
        );
        if dialect == Dialect::Postgres {
            text += "-- SET jit = off; before it: compiling all these expressions takes minutes.\n";
        }
        for (row, score) in self.check.rows.iter().zip(&self.check.scores) {
            text += &format!("-- check {{\"cells\":{},\"score\":{score}}}\n", ascii(row));
        }
        text
    }

    fn score_column(&self, sums: &Sums, features: &Features, sheet: &mut Sheet) -> Col {
        let mut parts: Vec<(Col, String)> =
            sums.columns.iter().flatten().map(|&column| (column, plus(sheet.name(column)))).collect();
        for (input, odd) in features.odd.iter().enumerate() {
            parts.extend(odd.map(|odd| (odd, features::penalty(self, sheet, input, odd))));
        }
        added(exactly(self.base), &parts, sheet)
    }

    /// A column for each term.
    fn contribution_columns(&self, sums: &Sums, features: &Features, sheet: &mut Sheet) -> Vec<Col> {
        (self.terms.iter().enumerate())
            .map(|(index, term)| {
                let own = sums.columns[index].iter().chain(&sums.moved[index]);
                let mut parts: Vec<(Col, String)> =
                    own.map(|&column| (column, plus(sheet.name(column)))).collect();
                let odd =
                    features.odd.iter().enumerate().filter(|(input, _)| self.inputs[*input].term == index);
                for (input, odd) in odd {
                    parts.extend(odd.map(|odd| (odd, features::penalty(self, sheet, input, odd))));
                }
                added(exactly(-term.mean), &parts, sheet)
            })
            .collect()
    }
}

/// A column that adds up others, in batches.
fn added(start: String, parts: &[(Col, String)], sheet: &mut Sheet) -> Col {
    let mut parts: Vec<(Col, String)> = parts.to_vec();
    while parts.len() > BATCH {
        let sums = parts.chunks(BATCH).map(|batch| {
            let (uses, texts): (Vec<Col>, Vec<String>) = batch.iter().cloned().unzip();
            let column = sheet.add('s', 1, &uses, texts.concat());
            (column, plus(sheet.name(column)))
        });
        parts = sums.collect();
    }
    let (uses, texts): (Vec<Col>, Vec<String>) = parts.into_iter().unzip();
    sheet.add('s', 1, &uses, format!("{start}{}", texts.concat()))
}

/// JSON in ASCII, so that no line of a comment ends early.
fn ascii(value: &impl serde::Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    let mut escaped = String::new();
    for c in text.chars() {
        if c.is_ascii() && !c.is_ascii_control() {
            escaped.push(c);
        } else {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| escaped += &format!("\\u{unit:04x}"));
        }
    }
    escaped
}

/// For each rank the number of the term and its contribution.
fn largest(contributions: &[Col], statement: &Statement, sheet: &mut Sheet) -> Vec<(Col, Col)> {
    let mut found: Vec<(Col, Col)> = Vec::new();
    for _ in 0..statement.reasons.min(contributions.len()) {
        let taken: Vec<Col> = found.iter().map(|(index, _)| *index).collect();
        let names: Vec<String> = taken.iter().map(|&index| sheet.name(index).to_owned()).collect();
        let is_taken =
            |term: usize| names.iter().map(|name| format!("{name}={term}")).collect::<Vec<_>>().join(" OR ");
        let left = |(term, &column): (usize, &Col)| match taken.len() {
            0 => sheet.name(column).to_owned(),
            _ => format!("CASE WHEN {} THEN -1e300 ELSE {} END", is_taken(term), sheet.name(column)),
        };
        let mut numbers: Vec<String> = contributions.iter().enumerate().map(left).collect();
        while numbers.len() > 1 {
            numbers = numbers.chunks(BATCH).map(|batch| statement.dialect.greatest(batch)).collect();
        }
        let mut uses: Vec<Col> = contributions.iter().chain(&taken).copied().collect();
        let value = sheet.add('b', 1, &uses, numbers.concat());
        let mut cases = String::from("CASE");
        for (term, &column) in contributions.iter().enumerate() {
            let free =
                if taken.is_empty() { String::new() } else { format!(" AND NOT ({})", is_taken(term)) };
            cases += &format!(" WHEN {}={}{free} THEN {term}", sheet.name(column), sheet.name(value));
        }
        uses.push(value);
        let index = sheet.add('b', 1, &uses, cases + " END");
        found.push((index, value));
    }
    found
}

/// Columns that add up to each term's functions; of a score without reasons, to all in the first term.
struct Sums {
    columns: Vec<Vec<Col>>,
    /// Those that add up to what is moved to or from each term.
    moved: Vec<Vec<Col>>,
}

/// A function that is looked at in a stage and added in a later one.
enum Ready<'a> {
    Found(Found<'a>),
    Tree(&'a super::Tree, Vec<Col>),
}

/// Makes a function ready in a stage.
type Make<'a, 'b> = Box<dyn FnOnce(usize, &mut Sheet) -> Ready<'a> + 'b>;

struct Writer<'a> {
    plan: &'a Plan,
    dialect: Dialect,
    apart: bool,
    x: &'a [Col],
    /// Features cut to [-1, 1].
    cut: Vec<Col>,
    places: Places<'a>,
    /// How far values of curves, of grids, coefficients of trees and what a split does may be off.
    errors: [f64; 4],
    /// Columns that a stage may have beside those that are carried on.
    room: usize,
}

impl<'a> Writer<'a> {
    fn new(
        plan: &'a Plan,
        statement: &Statement,
        sheet: &mut Sheet,
        features: &'a Features,
        kept: usize,
    ) -> Result<Self> {
        let dialect = statement.dialect;
        let apart = statement.reasons > 0;
        let count = |of: fn(&Term) -> usize| functions::share(plan.terms.iter().map(of).sum());
        let errors = [
            count(|term| term.curves.len()),
            count(|term| term.grids.len()),
            count(|term| term.trees.iter().map(|tree| tree.coefficients.len()).sum()),
            count(|term| term.trees.iter().map(|tree| tree.thresholds.len()).sum()),
        ];
        let cut = features.x.iter().zip(&plan.features).map(|(&x, feature)| {
            if matches!(feature, Feature::Number { .. }) {
                let text = dialect.within(sheet.name(x), [-1.0, 1.0]);
                return sheet.add('c', 1, &[x], text);
            }
            x
        });
        let cut: Vec<Col> = cut.collect();
        let mut places = Places::default();
        plan.sides.iter().for_each(|side| places.side(side));
        for term in &plan.terms {
            // Beside what the values of a curve are off, its nodes hardly matter: each is so for few rows.
            term.curves.iter().for_each(|curve| places.curve(curve, errors[0] / 2.0));
            if apart {
                term.moved.iter().for_each(|curve| places.curve(curve, CONTRIBUTION / 2.0));
            }
        }
        places.find((&features.x, &cut), dialect, sheet);
        let sums = if apart { plan.terms.len() + 2 * BATCH } else { 100 };
        let carried = kept + 2 * features.x.len() + features.odd.len() + 3 * places.len() + sums;
        let most = dialect.most_columns();
        let Some(room) = most.checked_sub(carried).filter(|room| *room >= 100) else {
            let reason = format!(
                "its statement would need intermediate results of more columns than the {most} that {} has; {}",
                dialect.name(),
                if apart { "leave out --reasons" } else { "train on fewer columns" }
            );
            return Err(Error::Export { reason });
        };
        Ok(Self { plan, dialect, apart, x: &features.x, cut, places, errors, room })
    }

    /// Adds up all functions, as many at a time as a stage has room for.
    fn sums(&self, sheet: &mut Sheet) -> Sums {
        let first = (0..sheet.width()).map(|column| sheet.stage(column)).max().unwrap_or(0) + 1;
        let (mut stage, mut used) = (first, 0);
        let none = || vec![Vec::new(); self.plan.terms.len().max(1)];
        let mut sums = Sums { columns: none(), moved: none() };
        let mut ready: Vec<Ready> = Vec::new();
        for (index, term) in self.plan.terms.iter().enumerate() {
            let target = if self.apart { index } else { 0 };
            let own = self.functions(term).map(|function| (false, function));
            let moved = self.moved(term).map(|function| (true, function));
            let mut before = false;
            for (is_moved, (needs, function)) in own.chain(moved) {
                let columns = if before { &mut sums.moved[target] } else { &mut sums.columns[target] };
                let full = used + needs > self.room;
                if full || ready.len() == BATCH || is_moved != before {
                    self.add_up(&mut ready, stage, columns, sheet);
                }
                if full {
                    (stage, used) = (stage + 2, 0);
                }
                (used, before) = (used + needs, is_moved);
                ready.push(function(stage, sheet));
            }
            if self.apart {
                let columns = if before { &mut sums.moved[target] } else { &mut sums.columns[target] };
                self.add_up(&mut ready, stage, columns, sheet);
            }
        }
        self.add_up(&mut ready, stage, &mut sums.columns[0], sheet);
        sums
    }

    /// The functions of a term: how many columns each needs, and what makes them in a stage.
    fn functions<'b>(&'b self, term: &'a Term) -> impl Iterator<Item = (usize, Make<'a, 'b>)> + use<'a, 'b> {
        let curves = term.curves.iter().map(|curve| self.curve(curve, self.errors[0]));
        let grids = term.grids.iter().map(move |grid| -> (usize, Make<'a, 'b>) {
            let sides = grid.sides.map(|side| &self.plan.sides[side]);
            let places = sides.map(|side| self.places.of_side(side));
            let make = move |stage: usize, sheet: &mut Sheet| {
                let grid = (grid, sides, self.errors[1]);
                Ready::Found(functions::look_up_grid(grid, places, stage + 1, self.dialect, sheet))
            };
            (2, Box::new(make))
        });
        let trees = term.trees.iter().map(move |tree| -> (usize, Make<'a, 'b>) {
            let split = (tree, self.errors[3]);
            let make = move |stage: usize, sheet: &mut Sheet| {
                Ready::Tree(
                    tree,
                    functions::splits(split, |feature| self.cut[feature], stage, self.dialect, sheet),
                )
            };
            (tree.thresholds.len(), Box::new(make))
        });
        curves.chain(grids).chain(trees)
    }

    /// What is moved to or from a term, if it matters.
    fn moved<'b>(&'b self, term: &'a Term) -> impl Iterator<Item = (usize, Make<'a, 'b>)> + use<'a, 'b> {
        let moved = term.moved.iter().filter(|_| self.apart);
        moved.map(|curve| self.curve(curve, CONTRIBUTION / 2.0))
    }

    fn curve<'b>(&'b self, curve: &'a super::Curve, error: f64) -> (usize, Make<'a, 'b>) {
        let (place, x) = (self.places.of_curve(curve), self.x[curve.feature]);
        let make = move |stage: usize, sheet: &mut Sheet| {
            let curve = (curve, error);
            Ready::Found(functions::look_up_curve(curve, (place, x), stage + 1, self.dialect, sheet))
        };
        (1, Box::new(make))
    }

    /// One more column that adds up functions.
    fn add_up(&self, ready: &mut Vec<Ready>, stage: usize, columns: &mut Vec<Col>, sheet: &mut Sheet) {
        if ready.is_empty() {
            return;
        }
        let (mut uses, mut constant, mut text) = (Vec::new(), 0.0, String::new());
        for function in ready.drain(..) {
            let (more, added) = match function {
                Ready::Found(found) => {
                    uses.extend(found.uses());
                    found.text(self.dialect, sheet)
                }
                Ready::Tree(tree, splits) => {
                    let names: Vec<&str> = splits.iter().map(|&split| sheet.name(split)).collect();
                    let made = functions::polynomial(tree, &names, self.errors[2], self.dialect);
                    uses.extend(splits);
                    made
                }
            };
            constant += more;
            text += &added;
        }
        columns.push(sheet.add('t', stage + 2, &uses, exactly(constant) + &text));
    }
}
