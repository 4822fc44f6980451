//! Dictionaries: values that rows name by their index.

use std::collections::HashMap;

use crate::{Texts, Values};

/// The values of a dictionary, to which more may be added.
#[derive(Debug)]
pub(super) enum Dictionary {
    Texts {
        known: HashMap<String, u32>,
        levels: Vec<String>,
        /// For each index the place of its text among the different ones.
        codes: Vec<u32>,
    },
    Numbers(Vec<f64>),
    Times(Vec<f64>),
}

impl Dictionary {
    pub(super) fn new(values: Values) -> Self {
        match values {
            Values::Numbers(values) | Values::Encoded(values) => Self::Numbers(values),
            Values::Times(values) => Self::Times(values),
            Values::Texts(texts) => {
                let mut dictionary =
                    Self::Texts { known: HashMap::new(), levels: Vec::new(), codes: Vec::new() };
                dictionary.add_texts(&texts);
                dictionary
            }
        }
    }

    /// Adds values of the same kind; nothing if they are of another kind.
    pub(super) fn add(&mut self, more: Values) -> Option<()> {
        match (&mut *self, more) {
            (Self::Texts { .. }, Values::Texts(more)) => self.add_texts(&more),
            (Self::Numbers(values), Values::Numbers(more)) | (Self::Times(values), Values::Times(more)) => {
                values.extend(more);
            }
            _ => return None,
        }
        Some(())
    }

    fn add_texts(&mut self, more: &Texts) {
        let Self::Texts { known, levels, codes } = self else { return };
        for row in 0..more.len() {
            codes.push(match more.get(row) {
                None => Texts::missing(),
                Some(text) => known.get(text).copied().unwrap_or_else(|| {
                    levels.push(text.to_owned());
                    let code = levels.len() as u32 - 1;
                    known.insert(text.to_owned(), code);
                    code
                }),
            });
        }
    }

    /// Values by their indices, and nothing for an index that it does not have. Of texts, only those that are named are given,
    /// if they take no more than `room` bytes.
    pub(super) fn look_up(
        &self,
        indices: impl Iterator<Item = Option<usize>>,
        room: &mut u64,
    ) -> Option<Values> {
        let number = |values: &[f64], index: Option<usize>| match index {
            None => Some(f64::NAN),
            Some(index) => values.get(index).copied(),
        };
        let (levels, codes) = match self {
            Self::Numbers(values) => {
                return indices
                    .map(|index| number(values, index))
                    .collect::<Option<_>>()
                    .map(Values::Numbers);
            }
            Self::Times(values) => {
                return indices.map(|index| number(values, index)).collect::<Option<_>>().map(Values::Times);
            }
            Self::Texts { levels, codes, .. } => (levels, codes),
        };
        let mut places: HashMap<u32, u32> = HashMap::new();
        let mut named: Vec<String> = Vec::new();
        let mut rows = Vec::with_capacity(indices.size_hint().0);
        for index in indices {
            let code = match index {
                None => Texts::missing(),
                Some(index) => *codes.get(index)?,
            };
            if code == Texts::missing() {
                rows.push(code);
                continue;
            }
            let next = named.len() as u32;
            let place = *places.entry(code).or_insert(next);
            if place == next {
                let text = levels.get(code as usize)?;
                *room = room.checked_sub(text.len() as u64)?;
                named.push(text.clone());
            }
            rows.push(place);
        }
        Some(Texts::new(named, rows).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &[Option<&str>]) -> Values {
        cells.iter().copied().collect::<Texts>().into()
    }

    #[test]
    fn rows_have_the_texts_of_their_indices() {
        let mut dictionary = Dictionary::new(texts(&[Some("a"), None, Some("b")]));
        dictionary.add(texts(&[Some("b"), Some("c")])).unwrap();
        assert!(dictionary.add(Values::Numbers(vec![1.0])).is_none());
        let look_up = |indices: &[usize], mut room: u64| {
            dictionary.look_up(indices.iter().map(|&index| Some(index).filter(|&i| i < 9)), &mut room)
        };
        let found = look_up(&[4, 2, 1, 3, 9, 4], 9).unwrap();
        assert_eq!(found, texts(&[Some("c"), Some("b"), None, Some("b"), None, Some("c")]));
        assert_eq!(look_up(&[5], 9), None, "an index that there is not");
        assert_eq!(look_up(&[4, 2, 0], 2), None, "more text than there is room for");
    }
}
