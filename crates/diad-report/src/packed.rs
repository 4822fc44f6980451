//! Columns of numbers and of texts as the page reads them: many rows in little room.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use diad::explain::Axis;
use serde::Serialize;

/// Places between the ends of an axis, a little beyond which a value may lie; the last stands for a missing number.
const PLACES: f64 = 65_534.0;
const BEYOND: f64 = 0.01;

/// Numbers of one width, the lowest byte first, as base64.
#[derive(Debug, Serialize)]
pub struct Packed {
    kind: &'static str,
    data: String,
}

impl Packed {
    /// Numbers with seven digits.
    pub fn floats(values: impl IntoIterator<Item = f32>) -> Self {
        Self::of("f32", values.into_iter().flat_map(f32::to_le_bytes))
    }

    /// Whole numbers below `bound`, in as few bytes each as that takes.
    pub fn whole(values: impl IntoIterator<Item = usize>, bound: usize) -> Self {
        let values = values.into_iter();
        match bound {
            0..=0x100 => Self::of("u8", values.map(|value| value as u8)),
            0x101..=0x1_0000 => Self::of("u16", values.flat_map(|value| (value as u16).to_le_bytes())),
            _ => Self::of("u32", values.flat_map(|value| (value as u32).to_le_bytes())),
        }
    }

    /// Where values lie on their axis.
    pub fn places(axis: &Axis, values: &[f64]) -> Self {
        let place = |&value: &f64| {
            if value.is_nan() && axis.categories.is_empty() {
                return PLACES as usize + 1;
            }
            let position = axis.position(value).clamp(-BEYOND, 1.0 + BEYOND);
            ((position + BEYOND) / (1.0 + 2.0 * BEYOND) * PLACES).round() as usize
        };
        Self::whole(values.iter().map(place), PLACES as usize + 2)
    }

    fn of(kind: &'static str, bytes: impl Iterator<Item = u8>) -> Self {
        Self { kind, data: STANDARD.encode(bytes.collect::<Vec<u8>>()) }
    }
}

/// Texts of rows, each different one once.
#[derive(Debug, Serialize)]
pub struct Texts {
    texts: Vec<String>,
    /// For each row the place of its text; nothing where every row has its own.
    codes: Option<Packed>,
}

/// Gathers texts, each different one once.
#[derive(Debug, Default)]
pub struct Gathered {
    places: HashMap<String, usize>,
    texts: Vec<String>,
    codes: Vec<usize>,
}

impl Gathered {
    /// Takes the text of the next row.
    pub fn push(&mut self, text: String) {
        let code = match self.places.get(&text) {
            Some(&code) => code,
            None => {
                self.places.insert(text.clone(), self.texts.len());
                self.texts.push(text);
                self.texts.len() - 1
            }
        };
        self.codes.push(code);
    }

    /// The texts, packed.
    pub fn packed(self) -> Texts {
        let bound = self.texts.len();
        let own = bound == self.codes.len();
        Texts { texts: self.texts, codes: (!own).then(|| Packed::whole(self.codes, bound)) }
    }
}

impl FromIterator<String> for Texts {
    fn from_iter<I: IntoIterator<Item = String>>(texts: I) -> Self {
        let mut gathered = Gathered::default();
        texts.into_iter().for_each(|text| gathered.push(text));
        gathered.packed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_as_few_bytes_as_they_need() {
        let bytes = |packed: &Packed| STANDARD.decode(&packed.data).unwrap();
        let small = Packed::whole([0, 255], 256);
        assert_eq!((small.kind, bytes(&small)), ("u8", vec![0, 255]));
        let middle = Packed::whole([1, 258], 259);
        assert_eq!((middle.kind, bytes(&middle)), ("u16", vec![1, 0, 2, 1]));
        let large = Packed::whole([65_536], 65_537);
        assert_eq!((large.kind, bytes(&large)), ("u32", vec![0, 0, 1, 0]));
        assert_eq!(bytes(&Packed::floats([1.0])), 1f32.to_le_bytes());
    }

    #[test]
    fn a_text_that_repeats_is_kept_once() {
        let texts: Texts = ["a", "b", "a"].map(String::from).into_iter().collect();
        assert_eq!(texts.texts, ["a", "b"]);
        assert_eq!(STANDARD.decode(texts.codes.unwrap().data).unwrap(), [0, 1, 0]);
        let own: Texts = ["x", "y"].map(String::from).into_iter().collect();
        assert!(own.codes.is_none());
    }
}
