//! The values of one column.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use crate::cells::{
    number, number_with_comma, parse_known_label, parse_label, parse_number, time_or_missing,
};
use crate::select::Pick;
use crate::{Error, Notation, Place, ReadAs, Result, notation, number, time};

/// The values of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    /// Numbers; a missing one is NaN.
    Numbers(Vec<f64>),
    /// Texts, such as the names of categories.
    Texts(Texts),
    /// Times as seconds since the start of 1970; a missing one is NaN.
    Times(Vec<f64>),
    /// Numbers that another program made of the values of a column; they are read as they are.
    Encoded(Vec<f64>),
}

/// Texts, each different one stored once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Texts {
    levels: Vec<String>,
    codes: Vec<u32>,
}

/// The code of a missing text.
const MISSING: u32 = u32::MAX;

impl Texts {
    /// Texts by their codes: positions in `levels`, or nothing.
    pub(crate) fn new(levels: Vec<String>, codes: Vec<u32>) -> Self {
        debug_assert!(codes.iter().all(|&code| code == MISSING || (code as usize) < levels.len()));
        Self { levels, codes }
    }

    /// The code that stands for a missing text.
    pub(crate) const fn missing() -> u32 {
        MISSING
    }

    /// The different texts, in the order of their first row.
    pub fn levels(&self) -> &[String] {
        &self.levels
    }

    /// For each row the position of its text in [`Texts::levels`]; nothing for a missing one.
    pub fn codes(&self) -> impl ExactSizeIterator<Item = Option<usize>> + Clone {
        self.codes.iter().map(|&code| (code != MISSING).then_some(code as usize))
    }

    /// The text of a row; nothing for a missing one.
    pub fn get(&self, row: usize) -> Option<&str> {
        self.levels.get(self.codes[row] as usize).map(String::as_str)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }
}

impl Texts {
    /// Cells as the readers of files take them: without the white space around them, and an empty one is missing.
    ///
    /// ```
    /// use diad_table::Texts;
    ///
    /// let texts = Texts::of_cells([Some(" baker"), Some(""), None, Some("baker")]);
    /// assert_eq!((0..4).map(|row| texts.get(row)).collect::<Vec<_>>(), [Some("baker"), None, None, Some("baker")]);
    /// ```
    pub fn of_cells<'a>(cells: impl IntoIterator<Item = Option<&'a str>>) -> Self {
        cells.into_iter().map(|cell| cell.map(str::trim_ascii).filter(|text| !text.is_empty())).collect()
    }
}

impl Texts {
    /// The numbers that texts stand for, each different one read once; else the first row whose text stands for none.
    fn parsed(&self, read: impl Fn(&str) -> Option<f64>) -> std::result::Result<Vec<f64>, (usize, String)> {
        let values: Vec<Option<f64>> = self.levels.iter().map(|text| read(text)).collect();
        let value = |(row, &code): (usize, &u32)| match values.get(code as usize) {
            None => Ok(f64::NAN),
            Some(value) => value.ok_or_else(|| (row, self.levels[code as usize].clone())),
        };
        self.codes.iter().enumerate().map(value).collect()
    }

    /// What texts mean, of which several may mean the same and some nothing.
    fn mapped<'a>(&'a self, meaning: impl Fn(&'a str) -> Option<Cow<'a, str>>) -> Self {
        let mut places: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut place = |text: &'a String| {
            let Some(text) = meaning(text) else { return MISSING };
            let next = places.len() as u32;
            *places.entry(text).or_insert(next)
        };
        let codes: Vec<u32> = self.levels.iter().map(&mut place).collect();
        let mut levels = vec![String::new(); places.len()];
        places.into_iter().for_each(|(text, place)| levels[place as usize] = text.into_owned());
        let code = |&code: &u32| codes.get(code as usize).copied().unwrap_or(MISSING);
        Self { levels, codes: self.codes.iter().map(code).collect() }
    }
}

impl<T: AsRef<str>> FromIterator<Option<T>> for Texts {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(cells: I) -> Self {
        let mut texts = Self::default();
        let mut known: HashMap<String, u32> = HashMap::new();
        for cell in cells {
            let code = cell.map_or(MISSING, |text| match known.get(text.as_ref()) {
                Some(&code) => code,
                None => {
                    let code = texts.levels.len() as u32;
                    known.insert(text.as_ref().to_owned(), code);
                    texts.levels.push(text.as_ref().to_owned());
                    code
                }
            });
            texts.codes.push(code);
        }
        texts
    }
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(values) | Self::Times(values) | Self::Encoded(values) => values.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers, if these are numbers.
    pub fn numbers(&self) -> Option<&[f64]> {
        match self {
            Self::Numbers(values) | Self::Encoded(values) => Some(values),
            _ => None,
        }
    }

    /// The text of a row, if these are texts and it is not missing.
    pub fn text(&self, row: usize) -> Option<&str> {
        match self {
            Self::Texts(texts) => texts.get(row),
            _ => None,
        }
    }

    pub(crate) fn slice(&self, rows: Range<usize>) -> Self {
        match self {
            Self::Numbers(values) => Self::Numbers(values[rows].to_vec()),
            Self::Times(values) => Self::Times(values[rows].to_vec()),
            Self::Encoded(values) => Self::Encoded(values[rows].to_vec()),
            Self::Texts(texts) => rows.map(|row| texts.get(row)).collect::<Texts>().into(),
        }
    }

    /// Whole numbers as they are wanted. What is as long as a code has its digits kept.
    pub fn of_integers(cells: impl Iterator<Item = Option<i128>> + Clone, wanted: ReadAs) -> Self {
        let long = |cell: Option<i128>| {
            cell.is_some_and(|cell| cell.unsigned_abs() >= 10u128.pow(number::LONG as u32 - 1))
        };
        if wanted == ReadAs::Texts
            || (matches!(wanted, ReadAs::Written | ReadAs::AsIs) && cells.clone().any(long))
        {
            return cells.map(|cell| cell.map(|cell| cell.to_string())).collect::<Texts>().into();
        }
        Self::Numbers(cells.map(|cell| cell.map_or(f64::NAN, |cell| cell as f64)).collect())
    }

    /// The same values as a column is to be read.
    pub(crate) fn picked(self, pick: &Pick, column: &str, place: &dyn Fn(usize) -> Place) -> Result<Self> {
        let Some(notation) = &pick.notation else { return self.read_as(pick.read_as, column, place) };
        let read = match (&self, pick.read_as) {
            (Self::Texts(texts), ReadAs::Numbers) if pick.lenient => {
                texts.parsed(|text| notation.number(text)).map(Self::Numbers)
            }
            (Self::Texts(texts), ReadAs::Times) if pick.lenient => {
                texts.parsed(|text| notation.time(text)).map(Self::Times)
            }
            (_, ReadAs::Numbers | ReadAs::Times) if pick.lenient => return Ok(self),
            _ => return self.read_by(pick.read_as, notation, column, place),
        };
        Ok(read.unwrap_or(self))
    }

    /// The same values read as something else, texts by a notation.
    ///
    /// # Errors
    /// Names the first text that cannot be read.
    pub fn read_by(
        self,
        read_as: ReadAs,
        notation: &Notation,
        column: &str,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<Self> {
        match (read_as, self) {
            (ReadAs::Numbers, Self::Texts(texts)) => {
                texts.parsed(|text| notation.number(text)).map(Self::Numbers).map_err(|(row, cell)| {
                    Error::NotNumber { column: column.to_owned(), place: place(row), cell }
                })
            }
            (ReadAs::Times, Self::Texts(texts)) => texts
                .parsed(|text| notation.time(text))
                .map(Self::Times)
                .map_err(|(row, cell)| Error::NotTime { column: column.to_owned(), place: place(row), cell }),
            (ReadAs::Texts, values) => Ok(Self::Texts(values.as_texts().mapped(|text| notation.text(text)))),
            (_, values) => values.read_as(read_as, column, place),
        }
    }

    /// The same values read as something else.
    pub(crate) fn read_as(
        self,
        read_as: ReadAs,
        column: &str,
        place: &dyn Fn(usize) -> Place,
    ) -> Result<Self> {
        Ok(match (read_as, self) {
            (ReadAs::Written, Self::Texts(texts)) => {
                let present =
                    |text| (!notation::is_missing(notation::trimmed(text))).then_some(Cow::Borrowed(text));
                Self::Texts(texts.mapped(present))
            }
            (ReadAs::Found | ReadAs::Written | ReadAs::AsIs, values)
            | (ReadAs::Numbers, values @ Self::Numbers(_))
            | (ReadAs::Texts, values @ Self::Texts(_))
            | (ReadAs::Times, values @ Self::Times(_)) => values,
            (ReadAs::Texts, values) => Self::Texts(values.as_texts().into_owned()),
            (ReadAs::Numbers, values) => Self::Numbers(values.as_numbers(column, place)?.into_owned()),
            (ReadAs::Times, values) => Self::Times(values.as_times(column, place)?.into_owned()),
            (ReadAs::Labels | ReadAs::KnownLabels, values) => {
                let parse = if read_as == ReadAs::Labels { parse_label } else { parse_known_label };
                let label = |row: usize| {
                    let cell = values.cell(row).unwrap_or_default();
                    let column = || column.to_owned();
                    let bad = || Error::Label { column: column(), place: place(row), cell: cell.clone() };
                    parse(&cell).ok_or_else(bad)
                };
                Self::Numbers((0..values.len()).map(label).collect::<Result<_>>()?)
            }
        })
    }

    /// The values as numbers; a missing one is NaN. `column` and `place` say where a text stands that is none.
    ///
    /// # Errors
    /// Names the first text that is not a number.
    pub fn as_numbers(&self, column: &str, place: &dyn Fn(usize) -> Place) -> Result<Cow<'_, [f64]>> {
        let texts = match self {
            Self::Numbers(values) | Self::Times(values) | Self::Encoded(values) => {
                return Ok(Cow::Borrowed(values));
            }
            Self::Texts(texts) => texts,
        };
        let number = |row: usize| match texts.get(row) {
            None => Ok(f64::NAN),
            Some(text) => parse_number(text).ok_or_else(|| Error::NotNumber {
                column: column.to_owned(),
                place: place(row),
                cell: text.to_owned(),
            }),
        };
        (0..texts.len()).map(number).collect::<Result<_>>().map(Cow::Owned)
    }

    /// The values as times; a missing one is NaN. `column` and `place` say where a value stands that is none.
    ///
    /// # Errors
    /// Names the first value that is not a time.
    pub fn as_times(&self, column: &str, place: &dyn Fn(usize) -> Place) -> Result<Cow<'_, [f64]>> {
        let not_time =
            |row: usize, cell: String| Error::NotTime { column: column.to_owned(), place: place(row), cell };
        match self {
            Self::Times(values) => Ok(Cow::Borrowed(values)),
            Self::Numbers(values) | Self::Encoded(values) => {
                let date = |(row, &value): (usize, &f64)| match value {
                    _ if value.is_nan() => Ok(value),
                    _ => time::date_of_digits(value).ok_or_else(|| not_time(row, value.to_string())),
                };
                values.iter().enumerate().map(date).collect::<Result<_>>().map(Cow::Owned)
            }
            Self::Texts(texts) => {
                let time = |row: usize| match texts.get(row) {
                    None => Ok(f64::NAN),
                    Some(text) => time::parse(text.as_bytes()).ok_or_else(|| not_time(row, text.to_owned())),
                };
                (0..texts.len()).map(time).collect::<Result<_>>().map(Cow::Owned)
            }
        }
    }

    /// The values as texts, numbers and times as they are written.
    pub fn as_texts(&self) -> Cow<'_, Texts> {
        match self {
            Self::Texts(texts) => Cow::Borrowed(texts),
            values => Cow::Owned((0..values.len()).map(|row| values.cell(row)).collect()),
        }
    }

    /// A row's value as text; nothing if it is missing.
    pub fn cell(&self, row: usize) -> Option<String> {
        match self {
            Self::Texts(texts) => texts.get(row).map(str::to_owned),
            Self::Numbers(values) | Self::Encoded(values) => {
                (!values[row].is_nan()).then(|| values[row].to_string())
            }
            Self::Times(values) => (!values[row].is_nan()).then(|| time::words(values[row])),
        }
    }
}

/// The numbers that the texts of a column without a notation say; NaN for a missing value; nothing for other text. The decimal mark is a comma if
/// that makes more of them numbers.
///
/// ```
/// use diad_table::read_numbers;
///
/// let read = |texts: [&str; 3]| read_numbers(&texts.map(String::from));
/// assert_eq!(read(["2.5", "true", "?!"]), [Some(2.5), Some(1.0), None]);
/// assert_eq!(read(["2,5", "?!", "7,25"]), [Some(2.5), None, Some(7.25)]);
/// assert_eq!(read(["2,5", "3.5", "7.25"]), [None, Some(3.5), Some(7.25)]);
/// ```
pub fn read_numbers(texts: &[String]) -> Vec<Option<f64>> {
    let truth = |text: &str| ["false", "true"].iter().position(|word| text.eq_ignore_ascii_case(word));
    let read = |number: fn(&[u8]) -> Option<f64>| -> Vec<Option<f64>> {
        let text = |text: &String| {
            let text = text.trim_ascii();
            number(text.as_bytes()).or_else(|| truth(text).map(|truth| truth as f64))
        };
        texts.iter().map(text).collect()
    };
    let found = |numbers: &[Option<f64>]| numbers.iter().flatten().count();
    let (points, commas) = (read(number), read(number_with_comma));
    if found(&commas) > found(&points) { commas } else { points }
}

/// The time that a text of a column without a notation says, in seconds since the start of 1970; NaN for a missing value; nothing for other text.
///
/// ```
/// use diad_table::read_time;
///
/// assert_eq!((read_time("1970-01-02"), read_time("soon")), (Some(86_400.0), None));
/// ```
pub fn read_time(text: &str) -> Option<f64> {
    time_or_missing(text.trim_ascii().as_bytes())
}

impl From<Texts> for Values {
    fn from(texts: Texts) -> Self {
        Self::Texts(texts)
    }
}
