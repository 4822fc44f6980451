//! Data sets as the benchmarks read them: from a file, in memory, or with noise added.

use diad::table::{Result, Selection, Source, Table};

/// The column with the labels: 1 for an anomaly.
pub const LABEL: &str = "label";

/// All columns, the labels as the last.
pub fn labelled() -> Selection {
    Selection::all().with_label(LABEL)
}

/// The selected columns of a source as one table in memory.
///
/// # Errors
/// If the source cannot be read.
pub fn load(source: &dyn Source, selection: &Selection) -> Result<Table> {
    let mut reader = source.open(selection)?;
    let names = reader.names().to_vec();
    let mut columns = vec![Vec::new(); names.len()];
    while let Some(batch) = reader.next_batch()? {
        for (index, column) in columns.iter_mut().enumerate() {
            column.extend_from_slice(batch.column(index));
        }
    }
    Table::new(names, columns)
}

/// The table with columns of uniform noise on [-1, 1] added. The noise depends on the seed, the row and
/// the column alone.
///
/// # Errors
/// If the table has a column of the same name.
pub fn with_noise(table: &Table, columns: usize, seed: u64) -> Result<Table> {
    let mut names = table.names().to_vec();
    let mut values: Vec<_> = (0..names.len()).map(|index| table.column(index).to_vec()).collect();
    for column in 0..columns as u64 {
        names.push(format!("noise{column}"));
        values.push((0..table.rows() as u64).map(|row| noise(seed, row, column)).collect());
    }
    Table::new(names, values)
}

/// A number uniform on [-1, 1), the same for the same seed, row and column.
fn noise(seed: u64, row: u64, column: u64) -> f64 {
    let mixed = mix(mix(mix(seed) ^ row) ^ column);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// One step of SplitMix64.
pub fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> Table {
        let columns = vec![vec![10.0, 11.0], vec![0.0, 1.0], vec![-10.0, -11.0]];
        Table::new(["a", LABEL, "b"].map(String::from).to_vec(), columns).expect("a table")
    }

    #[test]
    fn labels_are_the_last_column() {
        let table = load(&small(), &labelled()).expect("read");
        assert_eq!(table.names(), ["a", "b", LABEL]);
        assert_eq!(table.column(1), [-10.0, -11.0]);
        assert_eq!(table.column(2), [0.0, 1.0]);
    }

    #[test]
    fn noise_is_the_same_with_the_same_seed_only() {
        let with = |seed| with_noise(&small(), 2, seed).expect("no name repeats");
        let table = with(1);
        assert_eq!(table.names(), ["a", LABEL, "b", "noise0", "noise1"]);
        assert_eq!(table, with(1));
        assert_ne!(table.column(3), with(2).column(3));
        assert_ne!(table.column(3), table.column(4));
    }

    #[test]
    fn noise_is_uniform() {
        let values: Vec<_> = (0..20_000).map(|row| noise(3, row, 7)).collect();
        assert!(values.iter().all(|value| (-1.0..1.0).contains(value)));
        let mean = values.iter().sum::<f64>() / 2e4;
        let square = values.iter().map(|value| value * value).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.02 && (square - 1.0 / 3.0).abs() < 0.02, "{mean} {square}");
    }
}
