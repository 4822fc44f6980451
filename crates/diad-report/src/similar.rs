//! The ordinary row that is most like an odd one.

use diad::explain::Axis;
use diad::table::Table;
use rayon::prelude::*;

/// How far apart a category and another one are, or a number and a missing one: as far as the ends of a range.
const APART: f32 = 1.0;

/// For each of the first `count` rows of a table, the row from `others` on that is most like it.
///
/// Two rows are as far apart as their columns are in all: a number by its distance on the column's axis, which is 1 from the
/// least to the most of the training rows, and a category by 1 if it is another one.
pub fn nearest(axes: &[Axis], table: &Table, count: usize, others: usize) -> Vec<Option<usize>> {
    let ordinary: Vec<Vec<f32>> = (others..table.rows()).map(|row| places(axes, table, row)).collect();
    let nearest = |row: usize| {
        let row = places(axes, table, row);
        let distance = |other: &Vec<f32>| row.iter().zip(other).map(|(a, b)| apart(*a, *b)).sum::<f32>();
        let distances = ordinary.iter().map(distance).enumerate();
        distances.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(place, _)| others + place)
    };
    (0..count).into_par_iter().map(nearest).collect()
}

/// The places of a row's values, so that `apart` tells how far they are from others.
fn places(axes: &[Axis], table: &Table, row: usize) -> Vec<f32> {
    let place = |(column, axis): (usize, &Axis)| {
        let value = table.column(column)[row];
        if axis.categories.is_empty() {
            if value.is_nan() { f32::NAN } else { axis.position(value).clamp(0.0, 1.0) as f32 }
        } else {
            // Whole steps beyond the range of numbers: another category is never nearer than the whole range.
            2.0 + value.max(0.0) as f32
        }
    };
    axes.iter().enumerate().map(place).collect()
}

fn apart(a: f32, b: f32) -> f32 {
    let distance = (a - b).abs();
    if distance.is_nan() && a.is_nan() && b.is_nan() { 0.0 } else { distance.min(APART) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_is_like_missing_and_far_from_all_else() {
        assert_eq!(apart(f32::NAN, f32::NAN), 0.0);
        assert_eq!([apart(f32::NAN, 0.5), apart(0.5, f32::NAN)], [APART, APART]);
        assert_eq!([apart(2.0, 7.0), apart(3.0, 3.0), apart(0.25, 0.5)], [APART, 0.0, 0.25]);
    }
}
