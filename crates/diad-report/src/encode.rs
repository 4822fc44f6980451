//! Text that is safe where it is put.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// JSON as it may stand inside a script element.
pub fn script_safe(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // A string of growing length takes whatever is written to it.
                let _ = write!(safe, "\\u{:04x}", c as u32);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Text as it may stand in HTML or SVG, also inside quotation marks. Characters that XML does not allow are left out.
pub fn html_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}

/// The name by which a content security policy allows one inline script.
pub fn script_hash(script: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(script.as_bytes())))
}

/// Numbers as bytes: in proportion to the largest, 0 at 128. Gives the largest as well.
pub fn bytes(values: &[f64]) -> (f64, String) {
    let largest = values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let bytes: Vec<u8> = values.iter().map(|value| (128.0 + (value * scale).round()) as u8).collect();
    (largest, STANDARD.encode(bytes))
}

/// Truth values as bits, eight a byte, the lowest first.
pub fn bits(values: impl IntoIterator<Item = bool>) -> String {
    let mut bytes = Vec::new();
    for (place, value) in values.into_iter().enumerate() {
        if place % 8 == 0 {
            bytes.push(0u8);
        }
        if let Some(last) = bytes.last_mut() {
            *last |= u8::from(value) << (place % 8);
        }
    }
    STANDARD.encode(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_script_or_the_text() {
        let hostile = "</script><!--\u{2028}&amp;'\"";
        let safe = script_safe(&serde_json::to_string(hostile).unwrap());
        assert!(!safe.contains(['<', '>', '&', '\u{2028}']), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), hostile);
        assert_eq!(html_text("<a b=\"c\">&'\u{0}"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39; ");
    }

    #[test]
    fn bytes_are_in_proportion() {
        let (largest, text) = bytes(&[0.0, 2.0, -1.0]);
        assert_eq!((largest, STANDARD.decode(text).unwrap()), (2.0, vec![128, 255, 64]));
        assert_eq!(bytes(&[0.0]).0, 0.0);
    }

    #[test]
    fn bits_are_eight_a_byte() {
        let values = [true, false, true, false, false, false, false, false, true];
        assert_eq!(STANDARD.decode(bits(values)).unwrap(), [5, 1]);
        assert_eq!(bits([]), "");
    }

    // The empty script, as the standard's examples and `openssl dgst -sha256` have it.
    #[test]
    fn a_script_is_named_by_its_hash() {
        assert_eq!(script_hash(""), "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }
}
