//! Text from the data, as it may be shown.

/// Characters of a text that a message quotes, at most.
const LONGEST_TEXT: usize = 60;

/// Text from the data as it may be shown in a terminal: control characters, and characters that
/// cannot be seen or change the direction or the lines of the text, are written as escapes.
///
/// ```
/// assert_eq!(diad_table::printable("a\tb\u{1b}[2J"), "a\\tb\\u{1b}[2J");
/// assert_eq!(diad_table::printable("naïve 値"), "naïve 値");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

/// Text from the data as a message quotes it: in quotation marks, [`printable`], and shortened.
///
/// ```
/// assert_eq!(diad_table::quoted("a\tb"), "\"a\\tb\"");
/// ```
pub fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(LONGEST_TEXT).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("\"{}\"", printable(&short))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_cannot_be_seen_are_escaped() {
        let one = ['\u{ad}', '\u{61c}', '\u{180e}', '\u{feff}'];
        let ranges = [
            '\u{0}'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{2069}',
            '\u{fff9}'..='\u{fffb}',
            '\u{e0000}'..='\u{e007f}',
        ];
        for c in one.into_iter().chain(ranges.into_iter().flatten()) {
            let shown = printable(&c.to_string());
            assert!(shown.starts_with('\\') && shown.is_ascii(), "{:x} is shown as {shown}", u32::from(c));
        }
        let seen = "a-b ‐ “ß” ع 値 🙂 \\ \u{fffd}";
        assert_eq!(printable(seen), seen);
    }
}
