//! A table whose columns stay where they are, such as the arrays of another program.

use std::ops::Range;

use rayon::prelude::*;

use crate::cells::{is_missing, parse_number, time_or_missing};
use crate::select::{self, Pick};
use crate::{
    About, Error, Origin, Place, ReadAs, Reader, Result, Selection, Shared, Source, Table, Texts, Values,
    batch_rows,
};

/// A column whose values are read some rows at a time, from wherever they are.
pub trait ColumnView: Sync {
    /// Number of rows.
    fn len(&self) -> usize;

    /// Whether there are no rows.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether its values are categories, whatever they look like.
    fn is_category(&self) -> bool {
        false
    }

    /// The values of some rows. `wanted` says what they will be read as; a column that can be more than one thing may
    /// give that at once, any other gives what it has.
    ///
    /// # Errors
    /// If the column, which is called `name`, is of a kind that is not read.
    fn read(&self, name: &str, rows: Range<usize>, wanted: ReadAs) -> Result<Values>;
}

impl<T: Copy + Into<f64> + Sync> ColumnView for &[T] {
    fn len(&self) -> usize {
        <[T]>::len(self)
    }

    fn read(&self, _name: &str, rows: Range<usize>, _wanted: ReadAs) -> Result<Values> {
        Ok(Values::Numbers(self[rows].iter().map(|&value| value.into()).collect()))
    }
}

/// A column of cells as a CSV file has them: numbers, times and missing values are told from their text.
///
/// ```
/// use diad_table::{Cells, ColumnView, ReadAs, Values};
///
/// let cells = Cells::new(["1.5", "NA", " 3"]);
/// let read = cells.read("x", 0..3, ReadAs::Found)?;
/// assert!(matches!(read, Values::Numbers(numbers) if numbers[2] == 3.0 && numbers[1].is_nan()));
/// # Ok::<(), diad_table::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cells(Vec<String>);

impl Cells {
    /// A column of these cells; an empty one is missing.
    pub fn new<T: Into<String>>(cells: impl IntoIterator<Item = T>) -> Self {
        Self(cells.into_iter().map(Into::into).collect())
    }
}

impl ColumnView for Cells {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _name: &str, rows: Range<usize>, wanted: ReadAs) -> Result<Values> {
        let cells = || self.0[rows.clone()].iter().map(|cell| cell.trim_ascii());
        if wanted == ReadAs::Written {
            return Ok(cells().map(Some).collect::<Texts>().into());
        }
        if wanted == ReadAs::Found {
            if let Some(numbers) = cells().map(parse_number).collect::<Option<Vec<f64>>>() {
                return Ok(Values::Numbers(numbers));
            }
            if let Some(times) = cells().map(|cell| time_or_missing(cell.as_bytes())).collect::<Option<_>>() {
                return Ok(Values::Times(times));
            }
        }
        Ok(cells().map(|cell| (!is_missing(cell.as_bytes())).then_some(cell)).collect::<Texts>().into())
    }
}

/// A table over columns that stay where they are. Batches are made as they are read, so that there is never a copy of the
/// whole table.
///
/// ```
/// use diad_table::{ColumnView, Selection, Source, View};
///
/// let (heights, weights) = ([1.5f32, 2.0], [50.0f64, 80.0]);
/// let columns: Vec<Box<dyn ColumnView>> = vec![Box::new(&heights[..]), Box::new(&weights[..])];
/// let view = View::new(vec!["height".into(), "weight".into()], columns)?;
/// let batch = view.open(&Selection::all())?.next_batch()?.expect("two rows");
/// assert_eq!(batch.column(0), [1.5, 2.0]);
/// # Ok::<(), diad_table::Error>(())
/// ```
pub struct View<'a> {
    names: Vec<String>,
    columns: Vec<Box<dyn ColumnView + 'a>>,
    rows: usize,
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("View").field("names", &self.names).field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl<'a> View<'a> {
    /// A table of these columns.
    ///
    /// # Errors
    /// If a name repeats or the columns differ in length.
    pub fn new(names: Vec<String>, columns: Vec<Box<dyn ColumnView + 'a>>) -> Result<Self> {
        if names.len() != columns.len() {
            return Err(Error::NameCount { names: names.len(), columns: columns.len() });
        }
        select::check_names(&names)?;
        let rows = columns.first().map_or(0, |column| column.len());
        for (name, column) in names.iter().zip(&columns) {
            if column.len() != rows {
                return Err(Error::ColumnLength { name: name.clone(), found: column.len(), expected: rows });
            }
        }
        Ok(Self { names, columns, rows })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Column names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    fn pick(&self, selection: &Selection) -> Result<Picked<'_>> {
        let picks = selection.resolve(&self.names)?;
        let names = picks.iter().map(|pick| self.names[pick.index].clone()).collect();
        Ok(Picked { view: self, picks, names })
    }
}

impl Source for View<'_> {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(Ranges { picked: self.pick(selection)?, next: 0 }))
    }

    fn share(&self, selection: &Selection) -> Result<Option<Box<dyn Shared + '_>>> {
        Ok(Some(Box::new(self.pick(selection)?)))
    }
}

/// Some columns of a view.
struct Picked<'a> {
    view: &'a View<'a>,
    picks: Vec<Pick>,
    names: Vec<String>,
}

impl Picked<'_> {
    fn column(&self, pick: &Pick, name: &str, rows: Range<usize>) -> Result<Values> {
        let start = rows.start;
        let values = self.view.columns[pick.index].read(name, rows, pick.read_as)?;
        values.picked(pick, name, &|row| Place::Row((start + row) as u64))
    }

    fn table(&self, columns: Vec<Values>, rows: Range<usize>) -> Result<Table> {
        let expected = rows.len();
        let wrong = self.names.iter().zip(&columns).find(|(_, column)| column.len() != expected);
        if let Some((name, column)) = wrong {
            return Err(Error::ColumnLength { name: name.clone(), found: column.len(), expected });
        }
        Ok(Table::batch(&self.names, columns, expected, Origin::FirstRow(rows.start as u64)))
    }
}

impl Shared for Picked<'_> {
    fn rows(&self) -> usize {
        self.view.rows
    }

    fn batch(&self, rows: Range<usize>) -> Result<Table> {
        let read = |(pick, name): (&Pick, &String)| self.column(pick, name, rows.clone());
        let columns = self.picks.iter().zip(&self.names).map(read).collect::<Result<_>>()?;
        self.table(columns, rows)
    }
}

struct Ranges<'a> {
    picked: Picked<'a>,
    next: usize,
}

impl Reader for Ranges<'_> {
    fn names(&self) -> &[String] {
        &self.picked.names
    }

    fn rows(&self) -> Option<u64> {
        Some(self.picked.view.rows as u64)
    }

    fn about(&self) -> About {
        let picked = &self.picked;
        let is_category = |(pick, _): &(&Pick, &String)| picked.view.columns[pick.index].is_category();
        let categories = picked.picks.iter().zip(&picked.names).filter(is_category);
        About { categories: categories.map(|(_, name)| name.clone()).collect(), ..About::default() }
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let picked = &self.picked;
        let rows = self.next..picked.view.rows.min(self.next + batch_rows(picked.picks.len()));
        if rows.is_empty() {
            return Ok(None);
        }
        self.next = rows.end;
        let read = |(pick, name): (&Pick, &String)| picked.column(pick, name, rows.clone());
        let columns: Vec<Result<Values>> = picked.picks.par_iter().zip(&picked.names).map(read).collect();
        picked.table(columns.into_iter().collect::<Result<_>>()?, rows).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BATCH_ROWS;

    fn whole(source: &dyn Source, selection: &Selection) -> Vec<Table> {
        let mut reader = source.open(selection).unwrap();
        std::iter::from_fn(|| reader.next_batch().unwrap()).collect()
    }

    #[test]
    fn a_view_reads_as_a_table_of_the_same_numbers() {
        let rows = 2 * BATCH_ROWS + 5;
        let [x, y] = [3usize, 7].map(|k| (0..rows).map(|i| (i * k % 1001) as f32).collect::<Vec<f32>>());
        let wide = |column: &[f32]| column.iter().map(|&value| f64::from(value)).collect();
        let names = vec!["x".to_owned(), "y".to_owned()];
        let table = Table::new(names.clone(), vec![wide(&x), wide(&y)]).unwrap();
        let view = View::new(names, vec![Box::new(&x[..]), Box::new(&y[..])]).unwrap();
        for selection in [Selection::all(), Selection::only(["y"]).reading("y", ReadAs::Texts)] {
            assert_eq!(whole(&view, &selection), whole(&table, &selection));
        }
        assert_eq!(view.open(&Selection::all()).unwrap().rows(), Some(rows as u64));
    }

    #[test]
    fn cells_are_read_as_those_of_a_csv_file() {
        let columns = [
            ["1", "na", "-2e3"],
            ["2024-01-31", "", "2024-02-01 12:30"],
            ["a", "?", " b "],
            ["1", "b", "NULL"],
        ];
        let names = ["n", "t", "c", "m"].map(String::from);
        let rows = (0..3).map(|row| columns.map(|column| column[row]).join(","));
        let file: String = std::iter::once(names.join(",")).chain(rows).collect::<Vec<_>>().join("\n");
        let views = columns.map(|column| Box::new(Cells::new(column)) as Box<dyn ColumnView>);
        let view = View::new(names.to_vec(), views.into_iter().collect()).unwrap();
        for selection in [
            Selection::all(),
            Selection::only(["n", "t"]).reading("n", ReadAs::Texts).reading("t", ReadAs::Times),
            Selection::only(["n"]).reading("n", ReadAs::Numbers),
        ] {
            let input = Box::new(file.as_bytes());
            let mut reader = crate::read_stream(input, "f".as_ref(), &selection).unwrap();
            let expected = format!("{:?}", reader.next_batch().unwrap().unwrap().columns);
            assert_eq!(format!("{:?}", whole(&view, &selection)[0].columns), expected);
        }
    }

    #[test]
    fn errors_name_the_column_and_the_row() {
        let numbers = [1.0, 2.0];
        let new = |names: [&str; 2], second: usize| {
            let columns: Vec<Box<dyn ColumnView>> =
                vec![Box::new(&numbers[..]), Box::new(&numbers[..second])];
            View::new(names.map(String::from).to_vec(), columns)
        };
        assert!(matches!(new(["a", "a"], 2), Err(Error::DuplicateColumn { .. })));
        assert!(matches!(new(["a", "b"], 1), Err(Error::ColumnLength { found: 1, .. })));
        let view = new(["a", "b"], 2).unwrap();
        let read = view.open(&Selection::only(["b"]).with_label("b")).unwrap().next_batch();
        assert_eq!(
            read.unwrap_err().to_string(),
            "label column \"b\", row 1 (counted from 0): \"2\" is not a label; write 1 for an anomaly and 0 for a normal row"
        );
    }
}
