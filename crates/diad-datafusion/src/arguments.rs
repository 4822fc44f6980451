//! Finds the columns of a model among the arguments of a call, by their names. This is done when a query is analysed: an
//! optimised query computes the same values, but calls them what it likes.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{Column, DFSchema, TableReference};
use datafusion::error::Result;
use datafusion::logical_expr::expr::{Alias, ScalarFunction};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable};

use crate::function::Function;
use crate::misused;

/// Rewrites the calls of all functions of all models.
#[derive(Debug)]
pub struct ByName;

impl ByName {
    pub const NAME: &str = "diad_columns_by_name";
}

impl FunctionRewrite for ByName {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _config: &ConfigOptions) -> Result<Transformed<Expr>> {
        let Expr::ScalarFunction(ScalarFunction { func, args }) = &expr else {
            return Ok(Transformed::no(expr));
        };
        match func.inner().downcast_ref::<Function>() {
            Some(function) if function.is_as_written() && !is_row(args, schema)? => {
                let name = func.name();
                let sources = function.scorer().sources().iter();
                let columns = sources.map(|source| find(source, args, schema, name));
                Ok(Transformed::yes(function.of_columns(columns.collect::<Result<_>>()?)))
            }
            _ => Ok(Transformed::no(expr)),
        }
    }
}

/// Whether there is one argument, a row with columns of its own.
fn is_row(args: &[Expr], schema: &DFSchema) -> Result<bool> {
    match args {
        [row] => Ok(matches!(row.get_type(schema)?, DataType::Struct(_))),
        _ => Ok(false),
    }
}

/// The argument that has this name, or the column of a table that is an argument as a whole.
fn find(name: &str, args: &[Expr], schema: &DFSchema, function: &str) -> Result<Expr> {
    let mut found: Vec<Expr> = Vec::new();
    for (place, arg) in args.iter().enumerate() {
        match arg {
            Expr::Column(column) if column.name == name => found.push(arg.clone()),
            Expr::Alias(Alias { expr, name: known, .. }) if known == name => found.push((**expr).clone()),
            Expr::Column(_) | Expr::Alias(_) => {}
            #[expect(deprecated, reason = "what the planner of SQL gives for * is this alone")]
            Expr::Wildcard { qualifier, .. } => found.extend(of_table(name, qualifier.as_ref(), schema)),
            _ => {
                return misused(format!(
                    "{function} finds columns by their names, and argument {} ({arg}) has none; write \
                     {function}(struct(… AS name, …))",
                    place + 1
                ));
            }
        }
    }
    match found.len() {
        0 => misused(format!(
            "{function} needs a column \"{name}\", which is not among its arguments; add it, in double quotes if its name has \
             capital letters"
        )),
        1 => Ok(found.swap_remove(0)),
        _ => misused(format!(
            "{function} has more than one argument that is called \"{name}\"; give the columns of one table, such as t.*"
        )),
    }
}

/// The columns of this name in a table, or in all there are.
fn of_table(name: &str, table: Option<&TableReference>, schema: &DFSchema) -> Vec<Expr> {
    let columns = schema.iter().filter(|(qualifier, field)| {
        field.name() == name
            && table.is_none_or(|table| qualifier.is_some_and(|other| table.resolved_eq(other)))
    });
    columns.map(|(qualifier, field)| Expr::Column(Column::new(qualifier.cloned(), field.name()))).collect()
}
