//! Numbers as people write them: with thousands separators, signs of currencies, per cent, parentheses or a minus at the end.

/// Three letters that stand for a currency beside an amount.
const CURRENCIES: [&str; 36] = [
    "aed", "ars", "aud", "bgn", "brl", "cad", "chf", "clp", "cny", "cop", "czk", "dkk", "egp", "eur", "gbp",
    "hkd", "huf", "idr", "ils", "inr", "jpy", "krw", "mxn", "myr", "nok", "nzd", "php", "pln", "ron", "sar",
    "sek", "sgd", "thb", "try", "usd", "zar",
];

/// Other words beside an amount.
const WORDS: [&str; 12] = ["us$", "a$", "c$", "nz$", "hk$", "s$", "r$", "rs", "rs.", "kr", "zł", "fr."];

/// Most bytes of a number.
const LONGEST: usize = 64;

/// What was found in the text of a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    pub(crate) value: f64,
    /// Whether it has a sign of a currency.
    pub(crate) currency: bool,
    /// Whether it has a sign for per cent.
    pub(crate) percent: bool,
}

/// A number as people write it, its decimal mark a comma or a point; nothing for any other text.
pub(crate) fn written(text: &str, decimal_comma: bool) -> Option<Written> {
    scaled(text, decimal_comma, 0)
}

/// A number times a power of ten, rounded once, so that 1.005 thousands are 1005.
pub(crate) fn scaled(text: &str, decimal_comma: bool, mut power: i32) -> Option<Written> {
    if text.len() > LONGEST || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut found = Written { value: 0.0, currency: false, percent: false };
    let mut rest = text.trim();
    let (mut negative, mut signs) = (false, 0);
    // Signs and currencies may come in any order before and after the digits, each once.
    loop {
        let before = rest;
        if let Some(inner) = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            (negative, rest) = (true, inner.trim());
            signs += 1;
        }
        if let Some(after) = without_sign(rest, &mut negative, &mut signs) {
            rest = after;
        }
        if !found.currency
            && let Some(after) = without_currency(rest)
        {
            (found.currency, rest) = (true, after);
        }
        if !found.percent
            && let Some(after) = rest.strip_suffix('%')
        {
            (found.percent, rest) = (true, after.trim_end());
        }
        if rest == before {
            break;
        }
    }
    if signs > 1 {
        return None;
    }
    let mut plain = plain(rest, decimal_comma)?;
    if found.percent {
        if plain.contains(['e', 'E']) {
            return None;
        }
        power -= 2;
    }
    let size: f64 = match power {
        0 => plain.parse().ok()?,
        _ if plain.contains(['e', 'E']) => plain.parse::<f64>().ok()? * 10f64.powi(power),
        _ => {
            plain.push_str(&format!("e{power}"));
            plain.parse().ok()?
        }
    };
    found.value = if negative { -size } else { size };
    Some(found)
}

/// What stands before and after the digits of a number, without its sign: a currency, per cent.
pub(crate) fn unit(text: &str) -> [String; 2] {
    let digit = |c: char| c.is_ascii_digit();
    let sign = |c: char| c.is_whitespace() || matches!(c, '-' | '+' | '\u{2212}' | '\u{2013}' | '(' | ')');
    let (Some(first), Some(last)) = (text.find(digit), text.rfind(digit)) else { return Default::default() };
    [&text[..first], &text[last + 1..]].map(|beside| beside.trim_matches(sign).to_owned())
}

/// The text without a sign before it, or after it as some banks write it.
fn without_sign<'a>(text: &'a str, negative: &mut bool, signs: &mut u32) -> Option<&'a str> {
    let minus = ['-', '\u{2212}', '\u{2013}'];
    let rest = if let Some(rest) = text.strip_prefix(minus).or_else(|| text.strip_suffix(minus)) {
        *negative = !*negative;
        rest
    } else {
        text.strip_prefix('+')?
    };
    *signs += 1;
    Some(rest.trim())
}

/// The text without a sign, code or word of a currency before or after it.
fn without_currency(text: &str) -> Option<&str> {
    let sign = |c: char| matches!(c, '$' | '¢' | '£' | '¥' | '฿' | '\u{20a0}'..='\u{20cf}');
    let word = |word: &str| {
        let lower = word.to_lowercase();
        CURRENCIES.contains(&lower.as_str()) || WORDS.contains(&lower.as_str())
    };
    let figure = |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '\u{2212}' | '.' | ',' | '(' | ')');
    // The full stop of "Rs." is one of a word.
    if let Some(rest) = text.strip_prefix("Rs.").or_else(|| text.strip_prefix("Fr.")) {
        return Some(rest.trim());
    }
    let start = text.find(figure)?;
    // Small letters right before digits are more often those of a name, such as rs10907175, than a currency.
    let before = &text[..start];
    let named =
        !before.ends_with(char::is_whitespace) && before != "kr" && !before.contains(char::is_uppercase);
    if start > 0 && !named && word(before.trim()) {
        return Some(text[start..].trim());
    }
    let end = text.rfind(figure)? + text[text.rfind(figure)?..].chars().next()?.len_utf8();
    if end < text.len() && word(text[end..].trim()) {
        return Some(text[..end].trim());
    }
    text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)).map(str::trim)
}

/// Digits without what groups them and with a decimal point.
fn plain(text: &str, decimal_comma: bool) -> Option<String> {
    let (decimal, other) = if decimal_comma { (',', '.') } else { ('.', ',') };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], &text[at..]),
        None => (text, ""),
    };
    let (whole, fraction) = match mantissa.split_once(decimal) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !fraction.is_none_or(digits) || (whole.is_empty() && fraction.is_none_or(str::is_empty)) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    let separator =
        |c: char| c == other || matches!(c, '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}');
    match whole.find(separator) {
        None if digits(whole) => plain.push_str(whole),
        None => return None,
        Some(at) => {
            let mark = whole[at..].chars().next()?;
            let groups: Vec<&str> = whole.split(mark).collect();
            let last = groups.len() - 1;
            for (place, group) in groups.iter().enumerate() {
                let long = match place {
                    0 => (1..=3).contains(&group.len()),
                    _ if place == last => group.len() == 3,
                    // In India groups before the last have two digits.
                    _ => group.len() == 3 || (group.len() == 2 && mark == ','),
                };
                if !long || !digits(group) || groups[0].starts_with('0') {
                    return None;
                }
                plain.push_str(group);
            }
            if !exponent.is_empty() {
                return None;
            }
        }
    }
    if let Some(fraction) = fraction {
        plain.push('.');
        plain.push_str(fraction);
    }
    if !exponent.is_empty() {
        let power = exponent[1..].strip_prefix(['+', '-']).unwrap_or(&exponent[1..]);
        if power.is_empty() || !digits(power) {
            return None;
        }
        plain.push_str(exponent);
    }
    Some(plain)
}

/// Whether a text is of digits alone that no quantity would be written with: zeros before others, or very many.
pub(crate) fn is_code(cell: &[u8]) -> bool {
    let digits = || cell.iter().all(u8::is_ascii_digit);
    (has_leading_zero(cell) || cell.len() >= LONG) && digits()
}

/// Digits from which on a row of them is a code. A double does not hold all of them.
pub(crate) const LONG: usize = 16;

/// Whether a number is written with zeros before its digits.
pub(crate) fn has_leading_zero(cell: &[u8]) -> bool {
    matches!(cell, [b'0', b'0'..=b'9', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(text: &str) -> Option<f64> {
        written(text, false).map(|found| found.value)
    }

    fn comma(text: &str) -> Option<f64> {
        written(text, true).map(|found| found.value)
    }

    #[test]
    fn amounts_are_read() {
        for (text, value) in [
            ("1,452.68", 1452.68),
            ("$1,234.50", 1234.5),
            ("-$1,234.50", -1234.5),
            ("$-12", -12.0),
            ("(12.00)", -12.0),
            ("($12.00)", -12.0),
            ("$(12.00)", -12.0),
            ("12.00-", -12.0),
            ("52.88%", 0.5288),
            ("-5 %", -0.05),
            ("USD 12.5", 12.5),
            ("12.5 CHF", 12.5),
            ("Rs. 1,23,456.78", 123_456.78),
            ("1'234.50", 1234.5),
            ("1\u{202f}234", 1234.0),
            ("£3", 3.0),
            ("R$ 7", 7.0),
            ("kr7", 7.0),
            ("Rs7", 7.0),
            ("usd 7", 7.0),
            ("1.5e3", 1500.0),
            ("+4", 4.0),
            ("\u{2212}4.5", -4.5),
            (".5", 0.5),
            ("5.", 5.0),
        ] {
            assert_eq!(point(text), Some(value), "{text}");
        }
        for (text, value) in
            [("1.234,50 €", 1234.5), ("-1.234", -1234.0), ("1,5", 1.5), ("1 234,5", 1234.5), ("€ 0,5", 0.5)]
        {
            assert_eq!(comma(text), Some(value), "{text}");
        }
    }

    #[test]
    fn other_texts_are_no_numbers() {
        for text in [
            "",
            "-",
            "--",
            "1,23",
            "12,34.5",
            "1.2.3",
            "V57",
            "12a",
            "12 kg",
            "(5",
            "1-2",
            "--5",
            "-(5)",
            "1,2345",
            "$",
            "%",
            "5%%",
            "$$5",
            "0x10",
            "1e",
            "e5",
            "2024-01-31",
            "12:30",
            "1 23",
            "abc5",
            "EUR",
            "rs10907175",
            "try5",
            "1,,234",
        ] {
            assert_eq!(point(text), None, "{text}");
        }
        assert_eq!(["1.5", "1,234,567", "1.23,4"].map(comma), [None; 3]);
    }

    #[test]
    fn a_share_has_the_bits_of_its_decimal_number() {
        for i in 0..100_000u32 {
            let text = format!("{}.{:02}%", i / 100, i % 100);
            let expected: f64 = format!("{}.{:04}", i / 10_000, i % 10_000).parse().unwrap();
            assert_eq!(point(&text).map(f64::to_bits), Some(expected.to_bits()), "{text}");
        }
    }

    #[test]
    fn codes_are_told_from_quantities() {
        for code in ["01234", "007", "00", "1234567890123456"] {
            assert!(is_code(code.as_bytes()), "{code}");
        }
        for quantity in ["0", "10", "0.5", "123456789012345", "00.5", "-01", ""] {
            assert!(!is_code(quantity.as_bytes()), "{quantity}");
        }
    }

    #[test]
    fn units_stand_before_or_after() {
        let units = ["-£12.50", "(1.234,50 €)", "52.88%", "EUR 7", "12"].map(unit);
        assert_eq!(units.each_ref().map(|unit| unit[0].as_str()), ["£", "", "", "EUR", ""]);
        assert_eq!(units.each_ref().map(|unit| unit[1].as_str()), ["", "€", "%", "", ""]);
    }
}
