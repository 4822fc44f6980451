//! What has changed, for other programs.

use serde_json::{Map, Value, json};

use super::Drift;
use crate::explain::Explainer;

impl Drift {
    /// All of it, for other programs.
    pub fn json(&self, explainer: &Explainer) -> Value {
        let names = explainer.detector().encoder().columns();
        let terms = self.terms.iter().map(|term| {
            json!({
                "term": explainer.name(term.term), "shift": term.shift, "interval": term.interval, "mean_score": term.score,
                "rare": term.rare, "p_value": term.p, "verdict": term.verdict.name(),
            })
        });
        let columns = self.columns.iter().map(|column| {
            json!({
                "column": names[column.column].name, "moved": column.moved, "p_value": column.p, "verdict": column.verdict.name(),
                "missing": column.missing, "unseen": column.unseen, "outside": column.outside, "unreadable": column.unreadable,
                "medians": column.medians, "jump": column.jump,
            })
        });
        let groups = self.groups.iter().map(|group| {
            let terms =
                group.terms.iter().enumerate().map(|(term, change)| (explainer.name(term), json!(change)));
            json!({
                "group": group.name, "rows": group.rows, "mean_score": group.mean_score, "rare": group.rare,
                "terms": terms.collect::<Map<_, _>>(),
            })
        });
        json!({
            "rows": self.rows, "verdict": self.verdict.name(), "mean_score": self.mean_score, "rare": self.rare,
            "terms": terms.collect::<Vec<_>>(), "columns": columns.collect::<Vec<_>>(), "groups": groups.collect::<Vec<_>>(),
        })
    }
}
