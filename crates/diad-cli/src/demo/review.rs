//! Expenses, reviewed: the most unusual ones, five labels, and the list after these.

use std::fmt::Write as _;

use anyhow::Result;
use diad::encode::Roles;
use diad::explain::Explainer;
use diad::metrics::top;
use diad::table::printable;
use diad::{Detector, Labelled, Learner};

use super::expenses::{Expenses, ID, name_of};
use super::{Demo, Files, write};
use crate::input::Input;
use crate::rows;

/// Rows to show.
const SHOWN: usize = 20;
/// Rows that are labelled: so many of the first that are private purchases, and so many of the first that are in order.
const LABELLED: [usize; 2] = [3, 2];

pub fn run(demo: &Demo) -> Result<()> {
    let made = Expenses::make();
    let others = ["answers.csv", "labels.csv", "tuned.diad"];
    let files = Files::new(demo, "expenses", made.csv.as_bytes(), &others)?;
    let [answers, labels, tuned] = [0, 1, 2].map(|other| &files.others[other]);
    write(answers, answers_csv(&made).as_bytes())?;
    let first = demo.train(&files, &introduction(&made), &Roles::default().ignore(ID))?;
    files.report(&first, None, Some(ID))?;
    let before = Ranked::new(&first, &files, &made)?;

    let chosen = labelled(&made, &before.order);
    write(labels, labels_csv(&made, &chosen).as_bytes())?;
    let mut known = vec![None; before.order.len()];
    chosen.iter().for_each(|&row| known[row] = Some(made.oddity(row).is_some()));
    let given = Labelled::of(&first, &Input::new(&files.table)?, known)?;
    let second = first.tuning(&given).learner(Learner::default()).run()?.detector;
    second.save(tuned)?;
    let after = Ranked::new(&second, &files, &made)?;

    let names: Vec<String> = chosen.iter().map(|&row| name_of(row)).collect();
    let [odd, fine] = LABELLED;
    let private = made.planted.iter().filter(|planted| planted.1.is_private()).count();
    demo.end(&format!(
        "The {SHOWN} most unusual rows, and the first reason of each (* is a planted row):\n\n{}\n\
         {} of the {} planted rows are among them, {} of these of the {private} private purchases.\n\n\
         Say that private purchases are what you look for. Five labels tell: the first {odd} of these in the list, and the\n\
         first {fine} rows that are in order ({}). The list after learning from them:\n\n{}\n\
         {} of the {private} private purchases are among them now.\n\n",
        before.list,
        before.found,
        made.planted.len(),
        before.private,
        names.join(", "),
        after.list,
        after.private,
    ))
}

fn introduction(made: &Expenses) -> String {
    format!(
        "Expenses of a company, made up by rules: who, where, what, when and how much. {} of {} rows break a rule: slips of\n\
         the pen, and private purchases at night or on a Sunday. The training does not know which; answers.csv tells.\n\
         Training takes a few seconds.\n\n",
        made.planted.len(),
        made.csv.lines().count() - 1
    )
}

/// The rows by their scores.
struct Ranked {
    order: Vec<usize>,
    /// The first of them as text.
    list: String,
    /// How many of these are planted, and how many are private purchases.
    found: usize,
    private: usize,
}

impl Ranked {
    fn new(detector: &Detector, files: &Files, made: &Expenses) -> Result<Self> {
        let input = Input::new(&files.table)?;
        let scores = rows::score(detector, &input, None)?.scores;
        let order = top(&scores, scores.len());
        let shown = &order[..SHOWN.min(order.len())];
        let table = rows::pick(detector, &input, shown)?;
        let explainer = Explainer::new(detector);
        let explained = explainer.contributions(&table)?;
        let mut list = String::new();
        for (place, &row) in shown.iter().enumerate() {
            let reason = explained.sorted(place).into_iter().find(|term| term.1 > 0.0).map(|(term, _)| {
                let columns = explainer.terms()[term].columns();
                let values: Vec<f64> = columns.iter().map(|&column| table.column(column)[place]).collect();
                printable(&explainer.describe(term, &values))
            });
            let mark = if made.oddity(row).is_some() { '*' } else { ' ' };
            let score = scores[row];
            writeln!(list, "  {mark} {:<8} {score:>7.3}  {}", name_of(row), reason.unwrap_or_default())?;
        }
        let odd: Vec<_> = shown.iter().filter_map(|&row| made.oddity(row)).collect();
        let private = odd.iter().filter(|oddity| oddity.is_private()).count();
        Ok(Self { order, list, found: odd.len(), private })
    }
}

/// The rows that a reviewer labels, in the order of the list.
fn labelled(made: &Expenses, order: &[usize]) -> Vec<usize> {
    let mut left = LABELLED;
    let wanted = |row: &&usize| {
        let kind = match made.oddity(**row) {
            Some(oddity) if oddity.is_private() => 0,
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
    let line = |&(row, oddity): &(usize, super::expenses::Oddity)| {
        format!("{},\"{}\"\n", name_of(row), oddity.words())
    };
    format!("{ID},odd\n{}", made.planted.iter().map(line).collect::<String>())
}

fn labels_csv(made: &Expenses, rows: &[usize]) -> String {
    let line = |&row: &usize| match made.oddity(row) {
        Some(oddity) => format!("{},1,\"{}\"\n", name_of(row), oddity.words()),
        None => format!("{},0,in order\n", name_of(row)),
    };
    format!("{ID},label,comment\n{}", rows.iter().map(line).collect::<String>())
}
