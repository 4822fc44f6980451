//! Expenses, reviewed: the most unusual ones, five labels, and the list after these.

use std::fmt::Write as _;

use anyhow::Result;
use diad::encode::Roles;
use diad::explain::Explainer;
use diad::metrics::top;
use diad::table::printable;
use diad::{Detector, Labelled, Learner};

use super::expenses::{Expenses, ID, Oddity, name_of};
use super::{Demo, Files, write};
use crate::input::Input;
use crate::rows;

/// Rows to show.
const SHOWN: usize = 20;
/// Rows that are labelled: so many of the first that were bought at night, and so many of the first that are in order.
const LABELLED: [usize; 2] = [3, 2];

pub fn run(demo: &Demo) -> Result<()> {
    let made = Expenses::make();
    let others = ["answers.csv", "labels.csv", "tuned.diad"];
    let files = Files::new(demo, "expenses", made.csv.as_bytes(), &others)?;
    let [answers, labels, tuned] = [0, 1, 2].map(|other| &files.others[other]);
    write(answers, answers_csv(&made).as_bytes())?;
    let first = demo.train(&files, &introduction(&made), &Roles::default().ignore(ID))?;
    files.report(&first, None, Some(ID))?;
    let before = Ranked::new(&first, &files, &made, &[])?;

    let chosen = labelled(&made, &before.order);
    write(labels, labels_csv(&made, &chosen).as_bytes())?;
    let mut known = vec![None; before.order.len()];
    chosen.iter().for_each(|&row| known[row] = Some(made.oddity(row).is_some()));
    let given = Labelled::of(&first, &Input::new(&files.table)?, known)?;
    let second = first.tuning(&given).learner(Learner::default()).run()?.detector;
    second.save(tuned)?;
    let after = Ranked::new(&second, &files, &made, &chosen)?;

    let names = |is_odd: bool| {
        let rows = chosen.iter().filter(|&&row| made.oddity(row).is_some() == is_odd);
        rows.map(|&row| name_of(row)).collect::<Vec<_>>().join(", ")
    };
    let [odd, fine] = LABELLED;
    let [slips, nights] = planted(&made);
    let [slips_found, nights_found] = before.found;
    demo.end(&format!(
        "The {SHOWN} most unusual rows, and the first reason of each (* is a planted row):\n\n{}\n\
         {slips_found} of the {slips} slips and {nights_found} of the {nights} purchases at night are among them. \
         Tokyo was a business trip: unusual, and in order.\n\n\
         Say that purchases at night are what you look for. Five labels tell: the first {odd} of these in the list are anomalies\n\
         ({}), the first {fine} rows that are in order are not ({}).\n\
         The list after learning from them (* is a purchase at night, L one of the labelled rows):\n\n{}\n\
         {} of the {nights} purchases at night are among them now.\n\n",
        before.list,
        names(true),
        names(false),
        after.list,
        after.found[1],
    ))
}

fn introduction(made: &Expenses) -> String {
    let [slips, nights] = planted(made);
    format!(
        "Expenses of a company, made up by rules: who, where, what, when and how much. {} of {} rows break a rule: {slips} slips of\n\
         the pen, and {nights} purchases in the middle of the night. The training does not know which; answers.csv tells.\n\
         Training takes a few seconds.\n\n",
        made.planted.len(),
        made.csv.lines().count() - 1
    )
}

/// How many planted rows are slips, and how many were bought at night.
fn planted(made: &Expenses) -> [usize; 2] {
    let nights = made.planted.iter().filter(|planted| planted.1.is_at_night()).count();
    [made.planted.len() - nights, nights]
}

/// The rows by their scores.
struct Ranked {
    order: Vec<usize>,
    /// The first of them as text.
    list: String,
    /// How many of these are slips, and how many were bought at night.
    found: [usize; 2],
}

impl Ranked {
    /// Of a model that has learned from these rows: then only what was bought at night is marked, and what was labelled.
    fn new(detector: &Detector, files: &Files, made: &Expenses, labelled: &[usize]) -> Result<Self> {
        let input = Input::new(&files.table)?;
        let scores = rows::score(detector, &input, None)?.scores;
        let order = top(&scores, scores.len());
        let shown = &order[..SHOWN.min(order.len())];
        let reasons = Explainer::new(detector).reasons(&rows::pick(detector, &input, shown)?, 1)?;
        let (mut list, mut found) = (String::new(), [0; 2]);
        for (place, &row) in shown.iter().enumerate() {
            let oddity = made.oddity(row);
            let at_night = oddity.is_some_and(Oddity::is_at_night);
            found[usize::from(at_night)] += usize::from(oddity.is_some());
            let is_marked = if labelled.is_empty() { oddity.is_some() } else { at_night };
            let marks = [(labelled.contains(&row), 'L'), (is_marked, '*')];
            let [label, mark] = marks.map(|(holds, mark)| if holds { mark } else { ' ' });
            let (name, score) = (name_of(row), scores[row]);
            let reason =
                reasons.row(place).next().map_or_else(Default::default, |reason| printable(reason.text));
            writeln!(list, " {label}{mark} {name:<8} {score:>7.3}  {reason}")?;
        }
        Ok(Self { order, list, found })
    }
}

/// The rows that a reviewer labels, in the order of the list.
fn labelled(made: &Expenses, order: &[usize]) -> Vec<usize> {
    let mut left = LABELLED;
    let wanted = |row: &&usize| {
        let kind = match made.oddity(**row) {
            Some(oddity) if oddity.is_at_night() => 0,
            Some(_) => return false,
            None => 1,
        };
        let wanted = left[kind] > 0;
        left[kind] = left[kind].saturating_sub(1);
        wanted
    };
    order.iter().filter(wanted).copied().collect()
}

fn answers_csv(made: &Expenses) -> String {
    let line = |&(row, oddity): &(usize, Oddity)| format!("{},\"{}\"\n", name_of(row), oddity.words());
    format!("{ID},odd\n{}", made.planted.iter().map(line).collect::<String>())
}

fn labels_csv(made: &Expenses, rows: &[usize]) -> String {
    let line = |&row: &usize| match made.oddity(row) {
        Some(oddity) => format!("{},1,\"{}\"\n", name_of(row), oddity.words()),
        None => format!("{},0,in order\n", name_of(row)),
    };
    format!("{ID},label,comment\n{}", rows.iter().map(line).collect::<String>())
}
