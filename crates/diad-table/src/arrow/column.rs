//! The values of one column of a batch.

use std::collections::HashMap;
use std::ops::Range;

use super::flat::array;
use super::schema::Kind;
use crate::{ReadAs, Texts, Values, seconds};

/// The buffers of a column of so many rows, checked to be long enough.
#[derive(Debug)]
pub(super) struct Stored {
    kind: Kind,
    /// A bit for each row, set where there is a value; empty where all rows have one.
    validity: Vec<u8>,
    /// Numbers, truth values, offsets of texts, or views of texts.
    values: Vec<u8>,
    /// What texts are cut from.
    texts: Vec<Vec<u8>>,
}

impl Stored {
    /// The column of a kind that is read; nothing if a buffer is too short.
    pub(super) fn new(kind: Kind, rows: usize, buffers: Vec<Vec<u8>>) -> Option<Self> {
        let mut buffers = buffers.into_iter();
        if kind == Kind::Null {
            return Some(Self { kind, validity: Vec::new(), values: Vec::new(), texts: Vec::new() });
        }
        let (validity, values) = (buffers.next()?, buffers.next()?);
        let needed = match kind {
            Kind::Int { bytes, .. }
            | Kind::Float { bytes }
            | Kind::Decimal { bytes, .. }
            | Kind::Time { bytes, .. } => rows.checked_mul(bytes)?,
            Kind::Bool => rows.div_ceil(8),
            Kind::TextView => rows.checked_mul(16)?,
            // A column without rows may leave out its one offset.
            Kind::Text { .. } if rows == 0 => 0,
            Kind::Text { large } => (rows.checked_add(1)?).checked_mul(if large { 8 } else { 4 })?,
            Kind::Null | Kind::Other(_) => return None,
        };
        let whole = values.len() >= needed && (validity.is_empty() || validity.len() >= rows.div_ceil(8));
        whole.then(|| Self { kind, validity, values, texts: buffers.collect() })
    }

    fn is_there(&self, row: usize) -> bool {
        self.validity.is_empty() || bit(&self.validity, row)
    }

    /// A number as it is stored.
    fn number(&self, row: usize) -> Option<f64> {
        let values = &self.values;
        Some(match self.kind {
            Kind::Int { bytes, signed } => whole(values, row, bytes, signed)? as f64,
            Kind::Float { bytes: 2 } => half(u16::from_le_bytes(array(values, 2 * row)?)),
            Kind::Float { bytes: 4 } => f64::from(f32::from_le_bytes(array(values, 4 * row)?)),
            Kind::Float { .. } => f64::from_le_bytes(array(values, 8 * row)?),
            Kind::Decimal { bytes, unit } => whole(values, row, bytes, true)? as f64 / unit,
            Kind::Time { bytes, unit } if unit < 1.0 => whole(values, row, bytes, true)? as f64 / unit,
            Kind::Time { bytes, unit } => {
                seconds(i64::try_from(whole(values, row, bytes, true)?).ok()?, unit)
            }
            Kind::Bool => f64::from(u8::from(bit(values, row))),
            _ => return None,
        })
    }

    /// The index of a row in its dictionary; nothing for a missing value.
    pub(super) fn index(&self, row: usize) -> Option<usize> {
        let Kind::Int { bytes, signed } = self.kind else { return None };
        if !self.is_there(row) {
            return None;
        }
        // An index that makes no sense is beyond every dictionary.
        whole(&self.values, row, bytes, signed).map(|index| usize::try_from(index).unwrap_or(usize::MAX))
    }

    /// The bytes of a text.
    fn bytes(&self, row: usize) -> Option<&[u8]> {
        match self.kind {
            Kind::Text { large } => {
                let offset = |row: usize| {
                    if large {
                        usize::try_from(i64::from_le_bytes(array(&self.values, 8 * row)?)).ok()
                    } else {
                        usize::try_from(i32::from_le_bytes(array(&self.values, 4 * row)?)).ok()
                    }
                };
                self.texts.first()?.get(offset(row)?..offset(row + 1)?)
            }
            Kind::TextView => {
                let view: [u8; 16] = array(&self.values, 16 * row)?;
                let part = |at: usize| array(&view, at).map(i32::from_le_bytes);
                let length = usize::try_from(part(0)?).ok()?;
                if length <= 12 {
                    return self.values.get(16 * row + 4..16 * row + 4 + length);
                }
                let (buffer, start) = (usize::try_from(part(8)?).ok()?, usize::try_from(part(12)?).ok()?);
                self.texts.get(buffer)?.get(start..start.checked_add(length)?)
            }
            _ => None,
        }
    }

    /// Some rows. Nothing if they make no sense, or if their texts take more than `room` bytes.
    pub(super) fn values(&self, rows: Range<usize>, read_as: ReadAs, room: &mut u64) -> Option<Values> {
        let present = |row: usize| self.is_there(row);
        match self.kind {
            Kind::Null => Some(Values::Numbers(vec![f64::NAN; rows.len()])),
            Kind::Bool
                if matches!(read_as, ReadAs::Found | ReadAs::Written | ReadAs::AsIs | ReadAs::Texts) =>
            {
                let word = |row| if bit(&self.values, row) { "true" } else { "false" };
                Some(Values::Texts(rows.map(|row| present(row).then(|| word(row))).collect()))
            }
            Kind::Int { bytes: 8, signed } => {
                let cell = |row: usize| if present(row) { whole(&self.values, row, 8, signed) } else { None };
                Some(Values::of_integers(rows.map(cell), read_as))
            }
            Kind::TextView => self.viewed(rows, room).map(Values::Texts),
            Kind::Text { .. } => {
                let text = |row: usize| {
                    if !present(row) {
                        return Some(None);
                    }
                    let text = std::str::from_utf8(self.bytes(row)?).ok()?.trim_ascii();
                    // An empty text is missing, as it is in CSV.
                    Some((!text.is_empty()).then_some(text))
                };
                rows.map(text).collect::<Option<Texts>>().map(Values::Texts)
            }
            _ => {
                let number = |row: usize| if present(row) { self.number(row) } else { Some(f64::NAN) };
                let numbers = rows.map(number).collect::<Option<Vec<f64>>>()?;
                let times = matches!(self.kind, Kind::Time { .. });
                Some(if times { Values::Times(numbers) } else { Values::Numbers(numbers) })
            }
        }
    }

    /// Some rows of views, each different one looked at once: any number of them may be of the same bytes.
    fn viewed(&self, rows: Range<usize>, room: &mut u64) -> Option<Texts> {
        let mut codes: HashMap<[u8; 16], u32> = HashMap::new();
        let mut places: HashMap<&str, u32> = HashMap::new();
        let (mut levels, mut found) = (Vec::new(), Vec::with_capacity(rows.len()));
        for row in rows {
            if !self.is_there(row) {
                found.push(Texts::missing());
                continue;
            }
            let view: [u8; 16] = array(&self.values, 16 * row)?;
            if let Some(&code) = codes.get(&view) {
                found.push(code);
                continue;
            }
            let bytes = self.bytes(row)?;
            *room = room.checked_sub(bytes.len() as u64)?;
            let text = std::str::from_utf8(bytes).ok()?.trim_ascii();
            let code = match text {
                // An empty text is missing, as it is in CSV.
                "" => Texts::missing(),
                _ => *places.entry(text).or_insert_with(|| {
                    levels.push(text.to_owned());
                    levels.len() as u32 - 1
                }),
            };
            codes.insert(view, code);
            found.push(code);
        }
        Some(Texts::new(levels, found))
    }
}

fn bit(bits: &[u8], row: usize) -> bool {
    bits.get(row / 8).is_some_and(|byte| byte >> (row % 8) & 1 == 1)
}

/// A whole number of some bytes.
fn whole(values: &[u8], row: usize, bytes: usize, signed: bool) -> Option<i128> {
    Some(match (bytes, signed) {
        (1, true) => i8::from_le_bytes(array(values, row)?).into(),
        (1, false) => u8::from_le_bytes(array(values, row)?).into(),
        (2, true) => i16::from_le_bytes(array(values, 2 * row)?).into(),
        (2, false) => u16::from_le_bytes(array(values, 2 * row)?).into(),
        (4, true) => i32::from_le_bytes(array(values, 4 * row)?).into(),
        (4, false) => u32::from_le_bytes(array(values, 4 * row)?).into(),
        (8, true) => i64::from_le_bytes(array(values, 8 * row)?).into(),
        (8, false) => u64::from_le_bytes(array(values, 8 * row)?).into(),
        (16, _) => i128::from_le_bytes(array(values, 16 * row)?),
        _ => return None,
    })
}

/// A number of 16 bits: one for the sign, five for the exponent, ten for the fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_read() {
        for (bits, value) in [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65504.0),
            (0x0001, 2f64.powi(-24)),
            (0x3555, 0.333_251_953_125),
            (0x7c00, f64::INFINITY),
        ] {
            assert_eq!(half(bits), value);
        }
        assert!(half(0x7e00).is_nan());
    }
}
