//! The functions of SQL.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Float64Array};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use diad::on_this_thread;

use crate::rows::{check, view, written};
use crate::{Scorer, misused, raised};

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Gives {
    /// The score of a row.
    Score,
    /// All that `diad score` writes of a row.
    Judgement,
}

/// What the arguments of a call are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Arguments {
    /// As they are written in a query: a row, or columns whose names count.
    Written,
    /// The columns of the model, in its order.
    Columns,
}

/// A function of a model.
#[derive(Clone)]
pub struct Function {
    name: String,
    gives: Gives,
    arguments: Arguments,
    scorer: Arc<Scorer>,
    signature: Signature,
}

impl Function {
    pub fn new(name: String, gives: Gives, scorer: &Arc<Scorer>) -> Self {
        let signature = Signature::variadic_any(Volatility::Immutable);
        Self { name, gives, arguments: Arguments::Written, scorer: scorer.clone(), signature }
    }

    pub fn scorer(&self) -> &Scorer {
        &self.scorer
    }

    /// Whether the names of the arguments are still to be looked at.
    pub fn is_as_written(&self) -> bool {
        self.arguments == Arguments::Written
    }

    /// A call with an expression for each column of the model, in its order.
    pub fn of_columns(&self, columns: Vec<Expr>) -> Expr {
        ScalarUDF::from(Self { arguments: Arguments::Columns, ..self.clone() }).call(columns)
    }

    fn gives(&self) -> DataType {
        match self.gives {
            Gives::Score => DataType::Float64,
            Gives::Judgement => DataType::Struct(self.scorer.fields().clone()),
        }
    }

    /// The array for rows whose columns these are, without those that are null.
    fn judge(&self, names: &[String], columns: &[ArrayRef], row: Option<&dyn Array>) -> Result<ArrayRef> {
        let nulls = row.and_then(Array::nulls).cloned();
        let table = view(names.iter().zip(columns))?;
        Ok(match self.gives {
            Gives::Score => {
                let scores = on_this_thread(|| self.scorer.detector().score_all_as::<f64>(&table));
                Arc::new(Float64Array::new(scores.map_err(raised)?.into(), nulls))
            }
            Gives::Judgement => {
                let judged = on_this_thread(|| self.scorer.judge(&table)).map_err(raised)?;
                written(&judged, self.scorer.fields(), nulls)?
            }
        })
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(self.gives())
    }

    fn return_field_from_args(&self, given: ReturnFieldArgs) -> Result<FieldRef> {
        let sources = self.scorer.sources();
        let selection = || self.scorer.detector().selection();
        let mut nullable = false;
        match (self.arguments, given.arg_fields) {
            (Arguments::Columns, columns) => {
                let kinds = columns.iter().map(|field| field.data_type());
                check(sources.iter().zip(kinds), sources, &selection())?;
            }
            (Arguments::Written, [row]) => {
                if let DataType::Struct(fields) = row.data_type() {
                    let columns = fields.iter().map(|field| (field.name(), field.data_type()));
                    check(columns, sources, &selection())?;
                    nullable = row.is_nullable();
                }
            }
            // The arguments have no names here, and are looked at when the query is analysed.
            (Arguments::Written, _) => {}
        }
        Ok(Arc::new(Field::new(&self.name, self.gives(), nullable)))
    }

    fn invoke_with_args(&self, given: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = given.args.iter().map(|value| value.to_array(given.number_rows));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let judged = match (self.arguments, arrays.as_slice()) {
            (Arguments::Columns, columns) => self.judge(self.scorer.sources(), columns, None)?,
            (Arguments::Written, [row]) if matches!(row.data_type(), DataType::Struct(_)) => {
                let row = row.as_struct();
                let (mut names, mut columns) = (Vec::new(), Vec::new());
                for name in self.scorer.sources() {
                    // The one that is missing is named when the names are.
                    names.extend(row.column_by_name(name).map(|_| name.clone()));
                    columns.extend(row.column_by_name(name).cloned());
                }
                self.judge(&names, &columns, Some(row))?
            }
            (Arguments::Written, _) => {
                return misused(format!(
                    "{} was called with columns that have no names here; register it, or give it one row, a struct",
                    self.name
                ));
            }
        };
        Ok(ColumnarValue::Array(judged))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        let what = |function: &Self| (function.gives, function.arguments);
        self.name == other.name && what(self) == what(other) && Arc::ptr_eq(&self.scorer, &other.scorer)
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.name, self.gives, self.arguments, Arc::as_ptr(&self.scorer)).hash(state);
    }
}
