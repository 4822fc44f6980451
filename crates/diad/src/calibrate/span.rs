//! How much time the rows of a table span, which a budget of alerts counts by.

use crate::encode::Kind;
use crate::table::{Notation, ReadAs, Selection, Source, Table, Values, quoted, read_time};
use crate::{Detector, Error, Result};

/// The span is that of the rows but for this share at either end, made longer by as much: a mistyped year makes no budget of decades.
const STRAY: f64 = 0.01;

/// The column of times that a budget counts by: the one asked for, or the only one of the model.
fn time_column(detector: &Detector, asked: Option<&str>) -> Result<String> {
    if let Some(name) = asked {
        return Ok(name.to_owned());
    }
    let times = detector.encoder().columns().iter().filter(|column| matches!(column.kind, Kind::Time { .. }));
    let mut names: Vec<&str> = times.map(|column| column.source()).collect();
    names.dedup();
    match names[..] {
        [only] => Ok(only.to_owned()),
        _ => Err(Error::TimeColumn { columns: names.into_iter().map(quoted).collect::<Vec<_>>().join(", ") }),
    }
}

/// The seconds that the rows of a table span; nothing if none of them has a time.
///
/// # Errors
/// If it is not clear which column has the times, or that column has none.
pub fn seconds(detector: &Detector, source: &dyn Source, time: Option<&str>) -> Result<Option<f64>> {
    let name = time_column(detector, time)?;
    let known = detector.encoder().columns().iter().find(|column| column.source() == name);
    let notation = known.and_then(|column| column.notation.as_ref());
    let selection = Selection::only([&name]);
    let selection = match notation {
        Some(notation) => selection.reading_by(&name, ReadAs::Times, notation.clone()),
        None => selection.reading(&name, ReadAs::Found),
    };
    let mut reader = source.open(&selection.leniently())?;
    let mut times = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        times.append(&mut times_of(&batch, &name, notation)?);
    }
    Ok(span(times))
}

/// The times of a batch of one column. Cells that cannot be read are left out, unless none can.
fn times_of(batch: &Table, column: &str, notation: Option<&Notation>) -> Result<Vec<f64>> {
    let values = batch.values(0);
    let times: Vec<f64> = match values {
        Values::Times(times) => times.iter().copied().filter(|time| time.is_finite()).collect(),
        Values::Texts(texts) => {
            let read = |text: &str| notation.map_or_else(|| read_time(text), |notation| notation.time(text));
            let times = (0..texts.len()).filter_map(|row| read(texts.get(row)?));
            times.filter(|time| time.is_finite()).collect()
        }
        _ => Vec::new(),
    };
    if times.is_empty() {
        // Says which cell is no time, if there is one.
        values.as_times(column, &|row| batch.place(row))?;
    }
    Ok(times)
}

fn span(mut times: Vec<f64>) -> Option<f64> {
    times.sort_unstable_by(f64::total_cmp);
    let last = times.len().checked_sub(1)? as f64;
    let at = |share: f64| {
        let (place, part) = ((share * last) as usize, (share * last).fract());
        times[place] + part * (times.get(place + 1).unwrap_or(&times[place]) - times[place])
    };
    Some((at(1.0 - STRAY) - at(STRAY)) / (1.0 - 2.0 * STRAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_year_does_not_lengthen_the_span() {
        let days = |stray: &[f64]| {
            let even = (0..=400).map(|i| f64::from(i) / 4.0);
            span(even.chain(stray.iter().copied()).map(|day| day * 86_400.0).collect()).unwrap() / 86_400.0
        };
        assert!((days(&[]) - 100.0).abs() < 1e-9);
        assert!((days(&[-9000.0, 9000.0]) - 100.0).abs() < 1.0);
        assert_eq!((span(vec![]), span(vec![7.0]), span(vec![1.0, 3.0])), (None, Some(0.0), Some(2.0)));
    }
}
