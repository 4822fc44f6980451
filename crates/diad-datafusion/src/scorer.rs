//! A model and what is asked of it.

use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::datatypes::Fields;
use datafusion::common::{Column, DFSchema};
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::{Expr, ScalarUDF};
use datafusion::prelude::{DataFrame, SessionContext};
use diad::calibrate::{Judge, Judged, Rarities};
use diad::encode::Column as Encoded;
use diad::explain::Explainer;
use diad::table::Source;
use diad::{Alert, Detector};

use crate::arguments::ByName;
use crate::function::{Function, Gives};
use crate::rows::fields;
use crate::{misused, raised};

self_cell::self_cell!(
    /// A detector and its terms.
    struct Explained {
        owner: Arc<Detector>,
        #[covariant]
        dependent: Explainer,
    }
);

/// A model, and what is asked of it: how many reasons, and by which rule rows are alerts. Cheap to copy.
#[derive(Clone)]
pub struct Scorer {
    detector: Arc<Detector>,
    /// The columns that the model needs.
    sources: Vec<String>,
    rarities: Arc<Rarities>,
    explained: Option<Arc<Explained>>,
    reasons: usize,
    alert: Option<Alert>,
    prefix: String,
    fields: Fields,
}

impl Scorer {
    /// The model of a file.
    ///
    /// # Errors
    /// If the file cannot be read or holds no model.
    pub fn open(model: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::new(Detector::load(model.as_ref()).map_err(raised)?))
    }

    /// A model that is at hand.
    pub fn new(detector: Detector) -> Self {
        let encoder = detector.encoder();
        let columns = encoder.columns().iter().map(Encoded::source);
        let mut known = HashSet::new();
        let sources = columns.chain(encoder.segments().map(|(column, _)| column));
        let sources = sources.filter(|&name| known.insert(name)).map(str::to_owned).collect();
        let scorer = Self {
            sources,
            rarities: Arc::new(Rarities::new(detector.calibration())),
            explained: None,
            reasons: 0,
            alert: detector.alert(),
            prefix: "diad".to_owned(),
            fields: Fields::empty(),
            detector: Arc::new(detector),
        };
        scorer.with_fields()
    }

    /// Also gives so many reasons for each row.
    #[must_use]
    pub fn with_reasons(self, reasons: usize) -> Self {
        let explained = Explained::new(self.detector.clone(), |detector| Explainer::new(detector));
        let reasons = reasons.min(explained.borrow_dependent().terms().len());
        Self { reasons, explained: (reasons > 0).then(|| Arc::new(explained)), ..self }.with_fields()
    }

    /// By which rule rows are alerts; otherwise by the one stored in the model, if there is one. It must be a rule that looks at
    /// single rows, a share or a p-value.
    #[must_use]
    pub fn with_alert(self, rule: Alert) -> Self {
        Self { alert: Some(rule), ..self }.with_fields()
    }

    /// What the names of its functions begin with, in place of `diad`. Models with different prefixes can be used side by side.
    #[must_use]
    pub fn with_prefix(self, prefix: impl Into<String>) -> Self {
        Self { prefix: prefix.into(), ..self }
    }

    fn with_fields(self) -> Self {
        Self { fields: fields(self.alert.is_some(), self.reasons), ..self }
    }

    /// Makes it two functions of SQL. Both take the columns of the model, in any order, or `*`, or one struct.
    ///
    /// - `diad_score(…)` is the score.
    /// - `diad_judge(…)` is a struct of all that `diad score` writes of a row: `score`, `percentile`, `p_value`, `severity`,
    ///   `alert` if there is a rule, and `reason_1` and so on as many as are asked for.
    ///
    /// Functions that had these names are replaced.
    ///
    /// # Errors
    /// If its rule for alerts looks at a whole table.
    pub fn register(&self, ctx: &SessionContext) -> Result<()> {
        self.check_rule()?;
        let scorer = Arc::new(self.clone());
        for (name, gives) in [("score", Gives::Score), ("judge", Gives::Judgement)] {
            let name = format!("{}_{name}", self.prefix);
            ctx.register_udf(ScalarUDF::from(Function::new(name, gives, &scorer)));
        }
        let is_known = |state: &datafusion::execution::SessionState| {
            state.analyzer().function_rewrites().iter().any(|known| known.name() == ByName::NAME)
        };
        if !is_known(&ctx.state()) {
            // A context is a handle: its copies are the same one.
            ctx.clone().register_function_rewrite(Arc::new(ByName))?;
        }
        Ok(())
    }

    /// The rows of a data frame as `diad score` writes them: the column `id` if there is one, the fields of `diad_judge`, and
    /// the columns that are kept. Those that have the name of one of these fields are called `table_` and their name.
    ///
    /// # Errors
    /// If a column is missing or of a type that is not read, or the rule for alerts looks at a whole table.
    pub fn score(&self, frame: DataFrame, id: Option<&str>, keep: &[&str]) -> Result<DataFrame> {
        self.check_rule()?;
        let column = |name: &str| found(name, frame.schema());
        let columns = self.sources.iter().map(|name| column(name)).collect::<Result<Vec<_>>>()?;
        let function =
            Function::new(format!("{}_judge", self.prefix), Gives::Judgement, &Arc::new(self.clone()));
        let mut judgement = "judgement".to_owned();
        while keep.contains(&judgement.as_str()) || id == Some(&judgement) {
            judgement.push('_');
        }
        let is_own = |name: &str| matches!(name, "row" | "alert") || self.fields.find(name).is_some();
        let written = |&name: &&str| match is_own(name) {
            true => format!("table_{name}"),
            false => name.to_owned(),
        };
        let kept: Vec<&str> = keep.iter().copied().filter(|&name| Some(name) != id).collect();
        let mut read = vec![function.of_columns(columns).alias(&judgement)];
        for name in id.iter().chain(&kept) {
            read.push(column(name)?.alias(written(name)));
        }
        let plain = |name: String| Expr::Column(Column::new_unqualified(name));
        // Taken apart as a whole: the optimiser would look into every single field, and stumbles where a column is kept twice.
        let own = self
            .fields
            .iter()
            .map(|field| plain(format!("{judgement}.{0}", field.name())).alias(field.name()));
        let (before, after) = (id.iter().map(written).map(plain), kept.iter().map(written).map(plain));
        let all: Vec<Expr> = before.chain(own).chain(after).collect();
        frame.select(read)?.unnest_columns(&[&judgement])?.select(all)
    }

    fn check_rule(&self) -> Result<()> {
        match self.alert {
            Some(rule) if !rule.is_of_the_model() => misused(format!(
                "the rule {rule} looks at a whole table, and rows are judged one by one here; give a share or a p-value to \
                 Scorer::with_alert"
            )),
            _ => Ok(()),
        }
    }

    /// What judges some rows.
    pub(crate) fn judge(&self, table: &dyn Source) -> diad::Result<Judged> {
        let judge = Judge::new(&self.detector, &self.rarities).alerting(self.alert);
        match &self.explained {
            Some(explained) => judge.explaining(explained.borrow_dependent(), self.reasons).judge(table),
            None => judge.judge(table),
        }
    }

    /// The model.
    pub fn detector(&self) -> &Detector {
        &self.detector
    }

    /// The columns that a table must have.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// What `diad_judge` gives.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }
}

impl fmt::Debug for Scorer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Scorer");
        shown.field("sources", &self.sources).field("reasons", &self.reasons).field("alert", &self.alert);
        shown.field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// The column of a name.
fn found(name: &str, schema: &DFSchema) -> Result<Expr> {
    let found = schema.columns_with_unqualified_name(name);
    match found.as_slice() {
        [column] => Ok(Expr::Column(column.clone())),
        [] => misused(format!(
            "the data frame has no column \"{name}\"; its columns are {}",
            schema.iter().map(|(_, field)| format!("\"{}\"", field.name())).collect::<Vec<_>>().join(", ")
        )),
        _ => misused(format!("the data frame has more than one column \"{name}\"; rename one")),
    }
}
