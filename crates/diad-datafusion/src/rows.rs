//! The columns of a model among the arrays of a batch, and what is known of rows as arrays.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, StringViewArray, StructArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::error::Result;
use diad::calibrate::Judged;
use diad::table::{ColumnView, Error, Selection, Source, View};
use diad_arrow::arrow_59::{Column, unread};

use crate::raised;

/// A table of these arrays, which stay where they are.
pub fn view<'a>(columns: impl Iterator<Item = (&'a String, &'a ArrayRef)>) -> Result<View<'static>> {
    let column = |(name, array): (&String, &ArrayRef)| {
        let column = Column::new(array.data_type(), vec![array.clone()]);
        (name.clone(), Box::new(column) as Box<dyn ColumnView>)
    };
    let (names, columns) = columns.map(column).unzip();
    View::new(names, columns).map_err(raised)
}

/// Refuses columns that lack one of a selection, or have one of a type that is not read.
pub fn check<'a>(
    columns: impl Iterator<Item = (&'a String, &'a DataType)> + Clone,
    needed: &[String],
    selection: &Selection,
) -> Result<()> {
    let empty = columns
        .clone()
        .map(|(name, kind)| (name.clone(), Box::new(Column::new(kind, Vec::new())) as Box<dyn ColumnView>));
    let (names, empty) = empty.unzip();
    View::new(names, empty).map_err(raised)?.open(selection).map_err(raised)?;
    for (name, kind) in columns.filter(|(name, _)| needed.contains(name)) {
        if let Some(kind) = unread(kind) {
            return Err(raised(Error::NotNumeric { column: name.clone(), kind }));
        }
    }
    Ok(())
}

/// What is written of a row, as `diad score` calls it.
pub fn fields(alert: bool, reasons: usize) -> Fields {
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    let text = |name: String| Field::new(name, DataType::Utf8View, true);
    let mut fields =
        vec![number("score"), number("percentile"), number("p_value"), text("severity".to_owned())];
    fields.extend(alert.then(|| Field::new("alert", DataType::Boolean, true)));
    fields.extend((1..=reasons).map(|reason| text(format!("reason_{reason}"))));
    fields.into()
}

/// What is known of rows, in the order of [`fields`]; nothing of rows that are null.
pub fn written(judged: &Judged, fields: &Fields, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let numbers = |numbers: Vec<f64>| Arc::new(Float64Array::from(numbers)) as ArrayRef;
    let rarities = || judged.rarities.iter();
    let severities = rarities().map(|rarity| rarity.severity.name());
    let mut arrays = vec![
        numbers(judged.scores.iter().map(|&score| score.into()).collect()),
        numbers(rarities().map(|rarity| rarity.percentile).collect()),
        numbers(rarities().map(|rarity| rarity.p_value).collect()),
        Arc::new(StringViewArray::from_iter_values(severities)),
    ];
    if let Some(alerts) = &judged.alerts {
        arrays.push(Arc::new(BooleanArray::from(alerts.clone())));
    }
    for reasons in &judged.reasons {
        arrays.push(Arc::new(reasons.iter().map(Option::as_deref).collect::<StringViewArray>()));
    }
    Ok(Arc::new(StructArray::try_new(fields.clone(), arrays, nulls)?))
}
