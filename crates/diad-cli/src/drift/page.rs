//! What has changed, as an HTML page of its own. Text from the data is escaped, and the page may load nothing.

use std::fmt::Write;

use diad::calibrate::Drift;
use diad::explain::Explainer;
use diad_report::html_text;

use super::text::{changed_columns, changed_terms, percent, remarks, summary};

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
table{border-collapse:collapse;width:100%;margin:1rem 0}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #8884}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}.large{color:#c22}.moderate{color:#b60}";

pub fn page(explainer: &Explainer, drift: &Drift, model: &str, table: &str) -> String {
    let names = explainer.detector().encoder().columns();
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>What has changed</title><style>{STYLE}</style></head><body><h1>What has changed</h1>\
         <p>{} against {}.</p><p>{}</p>",
        html_text(table),
        html_text(model),
        html_text(&summary(drift))
    );
    let columns = changed_columns(drift);
    if !columns.is_empty() {
        html.push_str("<h2>Columns</h2><table><tr><th>column<th>change<th>what</tr>");
    }
    for column in &columns {
        let (name, verdict) = (html_text(&names[column.column].name), column.verdict.name());
        let _ = write!(
            html,
            "<tr><td>{name}<td class=\"{verdict}\">{verdict}<td>{}</tr>",
            html_text(&remarks(explainer, column))
        );
    }
    html.push_str(if columns.is_empty() { "" } else { "</table>" });
    let terms = changed_terms(drift);
    if !terms.is_empty() {
        html.push_str(
            "<h2>Terms</h2><p>What terms add to the change of the mean score and of the share of rare rows adds up exactly over all terms.</p>\
             <table><tr><th>term<th>change<th class=\"n\">shift<th class=\"n\">95 % interval<th class=\"n\">mean score<th class=\"n\">rare rows</tr>",
        );
    }
    for term in &terms {
        let (name, verdict, [low, high]) =
            (html_text(&explainer.name(term.term)), term.verdict.name(), term.interval);
        let _ = write!(
            html,
            "<tr><td>{name}<td class=\"{verdict}\">{verdict}<td class=\"n\">{:+.2}<td class=\"n\">{low:+.2} to {high:+.2}\
             <td class=\"n\">{:+.3}<td class=\"n\">{:+.2} %</tr>",
            term.shift,
            term.score,
            100.0 * term.rare
        );
    }
    html.push_str(if terms.is_empty() { "" } else { "</table>" });
    if !drift.groups.is_empty() {
        html.push_str("<h2>Groups</h2><table><tr><th>group<th class=\"n\">rows<th class=\"n\">mean score<th class=\"n\">rare rows</tr>");
    }
    for group in &drift.groups {
        let _ = write!(
            html,
            "<tr><td>{}<td class=\"n\">{}<td class=\"n\">{:.3}<td class=\"n\">{}</tr>",
            html_text(&group.name),
            group.rows,
            group.mean_score,
            percent(group.rare)
        );
    }
    html.push_str(if drift.groups.is_empty() { "" } else { "</table>" });
    html.push_str("</body></html>\n");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_data_stays_text() {
        assert_eq!(html_text("<script>\"'&"), "&lt;script&gt;&quot;&#39;&amp;");
    }
}
