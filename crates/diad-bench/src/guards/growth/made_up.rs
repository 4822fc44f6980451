//! Tables of any size that are made up while they are read.

use diad::table::{BATCH_ROWS, Reader, Selection, Source, Table};
use rayon::prelude::*;

use crate::data::mix;

/// A table of numbers in which columns go together in threes.
#[derive(Debug)]
pub struct MadeUp {
    pub rows: usize,
    pub columns: usize,
}

/// Cells of a batch, at most.
const CELLS: usize = 1 << 22;

struct MadeUpReader<'a> {
    table: &'a MadeUp,
    names: Vec<String>,
    done: usize,
}

impl Source for MadeUp {
    fn open(&self, _: &Selection) -> diad::table::Result<Box<dyn Reader + '_>> {
        let names = (0..self.columns).map(|column| format!("c{column}")).collect();
        Ok(Box::new(MadeUpReader { table: self, names, done: 0 }))
    }
}

impl Reader for MadeUpReader<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.rows as u64)
    }

    fn next_batch(&mut self) -> diad::table::Result<Option<Table>> {
        let most = (CELLS / self.table.columns).clamp(1, BATCH_ROWS);
        let rows = self.done..self.table.rows.min(self.done + most);
        if rows.is_empty() {
            return Ok(None);
        }
        self.done = rows.end;
        let column = |column: usize| rows.clone().map(|row| cell(row, column)).collect();
        Table::new(self.names.clone(), (0..self.table.columns).into_par_iter().map(column).collect())
            .map(Some)
    }
}

/// A number that depends on the row and the column alone: what three columns share, and their own.
fn cell(row: usize, column: usize) -> f64 {
    let own = bell(mix(mix(row as u64) ^ (column as u64 + 1)));
    let shared = bell(mix(mix(row as u64) ^ (column as u64 / 3 + (1 << 40))));
    shared + own * (1 + column % 3) as f64
}

/// The sum of four uniform numbers, near a normal one.
fn bell(bits: u64) -> f64 {
    (0..4).map(|part| ((bits >> (16 * part)) & 0xffff) as f64 / 65_536.0).sum::<f64>() - 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_the_same_every_time_and_as_large_as_asked() {
        let table = MadeUp { rows: 10_000, columns: 4 };
        let read = || {
            let mut reader = table.open(&Selection::all()).unwrap();
            let mut columns = vec![Vec::new(); 4];
            while let Some(batch) = reader.next_batch().unwrap() {
                columns
                    .iter_mut()
                    .enumerate()
                    .for_each(|(c, column)| column.extend_from_slice(batch.column(c)));
            }
            columns
        };
        let columns = read();
        assert_eq!(columns, read());
        assert!(columns.iter().all(|column| column.len() == 10_000));
        let product: f64 = columns[0].iter().zip(&columns[1]).map(|(a, b)| a * b).sum();
        let alone: f64 = columns[0].iter().zip(&columns[3]).map(|(a, b)| a * b).sum();
        assert!(product > 2000.0 && alone.abs() < 500.0, "{product} {alone}");
    }
}
