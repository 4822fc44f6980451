//! Which columns of a source are read.

use std::collections::{HashMap, HashSet};

use crate::header::Header;
use crate::text::quoted;
use crate::{Error, Notation, Result};

/// Which columns are read, and which of them is a label.
///
/// ```
/// use diad_table::Selection;
///
/// let features = Selection::except(&["id", "label"]);
/// let scored = Selection::only(["age", "TSH"]).with_label("label");
/// # let _ = (features, scored);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    columns: Columns,
    label: Option<String>,
    label_as: ReadAs,
    /// What columns are read as of which nothing is said.
    others: ReadAs,
    kinds: HashMap<String, (ReadAs, Option<Notation>)>,
    /// Whether a cell may be something else than what its column is read as.
    lenient: bool,
}

/// What the cells of a column are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadAs {
    /// What the cells of a batch are: numbers, else times, else texts. It may differ from batch to batch.
    Found,
    /// As they are written: numbers or times where every cell of a batch is plainly one, texts else. A [`Tally`](crate::Tally) of
    /// all batches then tells what the column is.
    Written,
    /// As they stand: texts of a file of text, also where they are numbers or say that a value is missing; else what the source has.
    AsIs,
    /// Numbers; any other cell is an error.
    Numbers,
    /// Texts, also where they are numbers.
    Texts,
    /// Times; any other cell is an error.
    Times,
    /// Labels: 1 for an anomaly, 0 for a normal row.
    Labels,
    /// Labels of which some may be missing, and are NaN then.
    KnownLabels,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Columns {
    Except(Vec<String>),
    Only(Vec<String>),
}

/// One column to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pick {
    pub(crate) index: usize,
    pub(crate) read_as: ReadAs,
    /// How text is read, where that is known.
    pub(crate) notation: Option<Notation>,
    /// Whether the column is given as it is where its notation cannot read a cell.
    pub(crate) lenient: bool,
}

/// The columns of a file that are read.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) picks: Vec<Pick>,
    /// Their names.
    pub(crate) names: Vec<String>,
    /// The names of the others.
    pub(crate) unread: Vec<String>,
}

impl Selection {
    /// Every column.
    pub fn all() -> Self {
        Self::except(&[])
    }

    /// Every column but the given ones, in the order of the table. Each given one must be there.
    pub fn except(ignored: &[&str]) -> Self {
        let ignored = ignored.iter().map(|&name| name.to_owned()).collect();
        Self {
            columns: Columns::Except(ignored),
            label: None,
            label_as: ReadAs::Labels,
            others: ReadAs::Found,
            kinds: HashMap::new(),
            lenient: false,
        }
    }

    /// The given columns, in the given order. Other columns of the table are left alone.
    pub fn only<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { columns: Columns::Only(names), ..Self::all() }
    }

    /// Also reads the labels in column `name`, as the last column: 1 for an anomaly, 0 for a normal row.
    /// A file may say 0 or 1, `false` or `true`, `no` or `yes`.
    pub fn with_label(mut self, name: impl Into<String>) -> Self {
        self.label = Some(name.into());
        self
    }

    /// As [`Selection::with_label`], but a label may be empty: nothing is known of that row, and its label is NaN.
    pub fn with_known_labels(mut self, name: impl Into<String>) -> Self {
        self.label_as = ReadAs::KnownLabels;
        self.with_label(name)
    }

    /// Also reads these columns, after the others, as the text that they are written in. Those that are read anyway stay as they are.
    #[must_use]
    pub fn and_texts<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        for name in names.into_iter().map(Into::into) {
            if let Columns::Only(known) = &mut self.columns
                && !known.contains(&name)
                && self.label.as_ref() != Some(&name)
            {
                known.push(name.clone());
                self.kinds.insert(name, (ReadAs::Texts, None));
            }
        }
        self
    }

    /// Also reads every other column, as the text that it is written in. Columns come in the order of the table.
    #[must_use]
    pub fn and_all_texts(mut self) -> Self {
        // What was to be found out by itself still is.
        if let Columns::Only(known) = std::mem::replace(&mut self.columns, Columns::Except(Vec::new())) {
            let found = (self.others, None);
            known.into_iter().for_each(|name| {
                self.kinds.entry(name).or_insert_with(|| found.clone());
            });
        }
        self.others = ReadAs::Texts;
        self
    }

    /// Reads column `name` as what is said instead of what is found in it.
    pub fn reading(mut self, name: impl Into<String>, read_as: ReadAs) -> Self {
        self.kinds.insert(name.into(), (read_as, None));
        self
    }

    /// Reads column `name` as what is said, its text by a notation.
    pub fn reading_by(mut self, name: impl Into<String>, read_as: ReadAs, notation: Notation) -> Self {
        self.kinds.insert(name.into(), (read_as, Some(notation)));
        self
    }

    /// Reads every column of which nothing else is said as it is written.
    pub fn as_written(mut self) -> Self {
        self.others = ReadAs::Written;
        self
    }

    /// Gives a column of a batch as it is where a cell cannot be read by the column's notation, instead of an error.
    ///
    /// ```
    /// use diad_table::{Notation, ReadAs, Selection, Values, read_stream};
    ///
    /// let numbers = Selection::only(["x"]).reading_by("x", ReadAs::Numbers, Notation::default());
    /// let text = "x\n1.5\nmany\n".as_bytes();
    /// assert!(read_stream(Box::new(text), "t".as_ref(), &numbers)?.next_batch().is_err());
    /// let batch = read_stream(Box::new(text), "t".as_ref(), &numbers.leniently())?.next_batch()?.expect("rows");
    /// assert!(matches!(batch.values(0), Values::Texts(texts) if texts.get(0) == Some("1.5")));
    /// # Ok::<(), diad_table::Error>(())
    /// ```
    pub fn leniently(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// Whether a column that cannot be read may be left out: nobody has asked for it by its name.
    pub(crate) fn may_leave_out(&self, pick: &Pick) -> bool {
        self.is_open() && pick.read_as == self.others
    }

    /// Whether columns that are not named are read too.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self.columns, Columns::Except(_))
    }

    /// Whether it names columns, and whether all that it names are among these names.
    pub(crate) fn names_some(&self) -> bool {
        !self.is_open() || !self.kinds.is_empty() || self.label.is_some()
    }

    pub(crate) fn fits(&self, names: &[String]) -> bool {
        let (Columns::Except(named) | Columns::Only(named)) = &self.columns;
        let named = named.iter().filter(|name| !name.is_empty());
        named.chain(self.kinds.keys()).chain(&self.label).all(|name| names.contains(name))
    }

    /// Chooses among the columns of a file.
    pub(crate) fn choose(&self, header: &Header) -> Result<Chosen> {
        let picks = self.resolve_in(header)?;
        let names = picks.iter().map(|pick| header.names[pick.index].clone()).collect();
        let unread = unread(&header.names, &picks);
        Ok(Chosen { picks, names, unread })
    }

    /// Finds the selected columns among those of a file. A column without a name may be asked for by none.
    fn resolve_in(&self, header: &Header) -> Result<Vec<Pick>> {
        let unnamed = header.unnamed.first().map(|&index| header.names[index].clone());
        let (Some(unnamed), Columns::Except(ignored)) = (unnamed, &self.columns) else {
            return self.resolve(&header.names);
        };
        let mut known = self.clone();
        let named = |name: &String| if name.is_empty() { unnamed.clone() } else { name.clone() };
        known.columns = Columns::Except(ignored.iter().map(named).collect());
        known.resolve(&header.names)
    }

    /// Finds the selected columns among the names of a table.
    pub(crate) fn resolve(&self, names: &[String]) -> Result<Vec<Pick>> {
        check_names(names)?;
        let positions: HashMap<&str, usize> =
            names.iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let known = |name: &String| {
            let unknown = || Error::UnknownColumn { name: name.clone(), known: names.to_vec() };
            positions.get(name.as_str()).copied().ok_or_else(unknown)
        };
        let mut indices: Vec<usize> = match &self.columns {
            Columns::Except(ignored) => {
                let ignored = ignored.iter().map(known).collect::<Result<HashSet<usize>>>()?;
                (0..names.len()).filter(|index| !ignored.contains(index)).collect()
            }
            Columns::Only(wanted) => {
                let missing: Vec<String> =
                    wanted.iter().filter(|name| !positions.contains_key(name.as_str())).cloned().collect();
                if !missing.is_empty() {
                    let other = |name: &&String| !wanted.contains(name) && self.label.as_ref() != Some(name);
                    let others = names.iter().filter(other).cloned().collect();
                    return Err(Error::MissingColumns { names: missing, others });
                }
                wanted.iter().filter_map(|name| positions.get(name.as_str()).copied()).collect()
            }
        };
        let label = self.label.as_ref().map(known).transpose()?;
        indices.retain(|&index| Some(index) != label);
        if let Some(&unnamed) = indices.iter().find(|&&index| names[index].is_empty()) {
            return Err(Error::UnnamedColumn { position: unnamed + 1 });
        }
        let pick = |index: usize| {
            let (read_as, notation) = self.kinds.get(&names[index]).cloned().unwrap_or((self.others, None));
            Pick { index, read_as, notation, lenient: self.lenient }
        };
        let label = label.map(|index| Pick { index, read_as: self.label_as, notation: None, lenient: false });
        Ok(indices.into_iter().map(pick).chain(label).collect())
    }
}

/// The note on a column that is left out for its type.
pub(crate) fn not_read(name: &str, kind: &str) -> String {
    format!("column {} has type {kind}, which is not supported; it is left out", quoted(name))
}

/// The names of the columns that were not picked.
pub(crate) fn unread(names: &[String], picks: &[Pick]) -> Vec<String> {
    let picked: HashSet<usize> = picks.iter().map(|pick| pick.index).collect();
    let others = names.iter().enumerate().filter(|(index, _)| !picked.contains(index));
    others.map(|(_, name)| name.clone()).collect()
}

/// Checks that no two columns have the same name.
pub(crate) fn check_names(names: &[String]) -> Result<()> {
    let mut seen = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, index) {
            return Err(Error::DuplicateColumn { name: name.clone(), first: first + 1, second: index + 1 });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(selection: &Selection) -> Result<Vec<usize>> {
        let names = ["a", "b", "", "d"].map(String::from);
        Ok(selection.resolve(&names)?.into_iter().map(|pick| pick.index).collect())
    }

    #[test]
    fn columns_are_found_by_name() {
        assert_eq!(indices(&Selection::except(&["", "a"])).unwrap(), [1, 3]);
        assert_eq!(indices(&Selection::only(["d", "a"])).unwrap(), [3, 0]);
        assert_eq!(indices(&Selection::except(&[""]).with_label("a")).unwrap(), [1, 3, 0]);
        assert_eq!(indices(&Selection::only(["d"]).with_label("d")).unwrap(), [3]);
    }

    #[test]
    fn unknown_and_unnamed_columns_are_errors() {
        assert!(matches!(indices(&Selection::all()), Err(Error::UnnamedColumn { position: 3 })));
        assert!(matches!(indices(&Selection::except(&["z"])), Err(Error::UnknownColumn { .. })));
        assert!(matches!(indices(&Selection::only(["a"]).with_label("z")), Err(Error::UnknownColumn { .. })));
        let missing = indices(&Selection::only(["z", "a", "y"])).unwrap_err();
        assert!(matches!(missing, Error::MissingColumns { names, .. } if names == ["z", "y"]));
    }

    #[test]
    fn repeated_names_are_errors() {
        let error = check_names(&["a", "b", "a"].map(String::from)).unwrap_err();
        assert!(matches!(error, Error::DuplicateColumn { first: 1, second: 3, .. }));
    }
}
