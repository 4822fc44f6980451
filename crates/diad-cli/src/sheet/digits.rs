//! The digits of a score.

use std::io::{self, Write};

/// Sizes that `Display` writes without an exponent and with few zeros, and that are not too large to be told apart from their halves.
const ORDINARY: std::ops::Range<f32> = 1e-3..1e7;
/// Powers of ten, by the digits after the point that an ordinary size can have.
const POWERS: [f64; 13] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12];

/// Writes the shortest digits that give the number back, as `Display` does, in a fifth of the time.
pub fn put(number: f32, out: &mut Vec<u8>) -> io::Result<()> {
    if ORDINARY.contains(&number.abs()) {
        let mut buffer = zmij::Buffer::new();
        let text = buffer.format_finite(number);
        let text = text.strip_suffix(".0").unwrap_or(text);
        let decimals = text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        // Where two last digits are equally near, there are two ways. In double precision the product is exact.
        let halves = POWERS.get(decimals).map(|power| f64::from(number) * 2.0 * power);
        let is_odd = |halves: f64| (halves as i64) as f64 == halves && halves as i64 % 2 != 0;
        if halves.is_some_and(|halves| !is_odd(halves)) {
            out.extend_from_slice(text.as_bytes());
            return Ok(());
        }
    }
    write!(out, "{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_display() {
        let spread = (0..u32::MAX).step_by(65_521).map(f32::from_bits);
        let usual = (1e-4f32.to_bits()..1e8f32.to_bits()).step_by(1009).map(f32::from_bits);
        let whole = (0..40).flat_map(|power| [2f32.powi(power), 10f32.powi(power), 2f32.powi(-power)]);
        let mut out = Vec::new();
        for number in spread.chain(usual).chain(whole) {
            for number in [number, -number] {
                out.clear();
                put(number, &mut out).unwrap();
                assert_eq!(std::str::from_utf8(&out).unwrap(), number.to_string());
            }
        }
    }
}
