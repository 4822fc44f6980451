//! What has changed, in words.

use std::fmt::Write;

use diad::calibrate::{ColumnDrift, Drift, TermDrift, Verdict};
use diad::encode::Kind;
use diad::explain::{Explainer, number};
use diad::table::printable;

/// Terms and columns that are listed.
const LISTED: usize = 15;

/// The terms that have changed, those that changed the mean score most first.
pub fn changed_terms(drift: &Drift) -> Vec<&TermDrift> {
    let mut terms: Vec<&TermDrift> = drift.terms.iter().filter(|term| term.verdict > Verdict::Same).collect();
    terms.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()));
    terms
}

/// The columns that have changed, those that moved most first.
pub fn changed_columns(drift: &Drift) -> Vec<&ColumnDrift> {
    let mut columns: Vec<&ColumnDrift> = drift
        .columns
        .iter()
        .filter(|column| column.verdict > Verdict::Same || column.jump.is_some())
        .collect();
    columns.sort_by(|a, b| b.moved.total_cmp(&a.moved));
    columns
}

/// The first sentence.
pub fn summary(drift: &Drift) -> String {
    let changed = match drift.verdict {
        Verdict::Same => "nothing has changed that matters".to_owned(),
        verdict => format!("there is a {} change", verdict.name()),
    };
    let [before, after] = drift.mean_score;
    let [rare_before, rare] = drift.rare.map(percent);
    format!(
        "Of {} new rows {rare} are rare, where {rare_before} would be usual; the mean score is {after:.3}, in the training {before:.3}: {changed}.",
        drift.rows
    )
}

pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// What is remarkable of a column.
pub fn remarks(explainer: &Explainer, column: &ColumnDrift) -> String {
    let mut remarks = vec![format!("{} of the rows lie elsewhere", percent(column.moved))];
    if let Some(factor) = column.jump {
        let (factor, word) = if factor > 1.0 { (factor, "larger") } else { (1.0 / factor, "smaller") };
        remarks.push(format!("values are {} times {word}, as in another unit", number(factor.round())));
    }
    if let Some(medians) = column.medians {
        let given = &explainer.detector().encoder().columns()[column.column];
        let is_plain = given.kind == Kind::Number && !given.is_clock();
        let words = |value: f64| explainer.words(column.column, if is_plain { short(value) } else { value });
        let [before, after] = medians.map(words);
        remarks.push(format!("median {before} → {after}"));
    }
    let [before, after] = column.missing;
    if (after - before).abs() >= 0.001 {
        remarks.push(format!("missing {} → {}", percent(before), percent(after)));
    }
    for (share, what) in [
        (column.unseen, "in categories never seen"),
        (column.outside[0], "below all training values"),
        (column.outside[1], "above all training values"),
        (column.unreadable, "unreadable"),
    ] {
        if share >= 0.0005 {
            remarks.push(format!("{} {what}", percent(share)));
        }
    }
    remarks.join("; ")
}

/// With three significant digits.
fn short(value: f64) -> f64 {
    format!("{value:.2e}").parse().unwrap_or(value)
}

pub fn text(explainer: &Explainer, drift: &Drift) -> String {
    let names = explainer.detector().encoder().columns();
    let mut text = summary(drift);
    text.push('\n');
    let columns = changed_columns(drift);
    if !columns.is_empty() {
        text.push_str("\nColumns\n");
    }
    for column in columns.iter().take(LISTED) {
        let name = printable(&names[column.column].name);
        let _ = writeln!(text, "  {name:<24} {:<9} {}", column.verdict.name(), remarks(explainer, column));
    }
    let terms = changed_terms(drift);
    if !terms.is_empty() {
        text.push_str(
            "\nTerms                      change    shift [95 % interval]     mean score   rare rows\n",
        );
    }
    for term in terms.iter().take(LISTED) {
        let [low, high] = term.interval;
        let _ = writeln!(
            text,
            "  {:<24} {:<9} {:+.2} [{low:+.2}, {high:+.2}]  {:>+10.3}  {:>+9.2} %",
            printable(&explainer.name(term.term)),
            term.verdict.name(),
            term.shift,
            term.score,
            100.0 * term.rare
        );
    }
    if !terms.is_empty() {
        let listed: f64 = terms.iter().take(LISTED).map(|term| term.score).sum();
        let all = drift.mean_score[1] - drift.mean_score[0];
        let _ = writeln!(text, "  {:<59}{:>+10.3}", "all other terms", all - listed);
    }
    if !drift.groups.is_empty() {
        text.push_str("\nGroups                         rows   mean score   rare rows   most changed\n");
    }
    for group in &drift.groups {
        let most = group.terms.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        let most = most.map_or_else(String::new, |(term, change)| {
            format!("{} ({change:+.3})", printable(&explainer.name(term)))
        });
        let name = printable(&group.name);
        let rare = percent(group.rare);
        let _ = writeln!(
            text,
            "  {name:<24} {:>8}   {:>10.3}   {rare:>9}   {most}",
            group.rows, group.mean_score
        );
    }
    text
}
