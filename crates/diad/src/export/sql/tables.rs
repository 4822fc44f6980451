//! Numbers written into a statement as texts or arrays, and how they are read from there.

use super::dialect::Dialect;
use Dialect::{Bigquery, Duckdb, Postgres, Snowflake, Spark, Sqlite, Tsql};

/// Characters that stand for numbers are from here ...
const FIRST_CODE: u8 = b'0';
/// ... to here, ...
const LAST_CODE: u8 = b'~';
/// ... without those that end a text, a statement or a placeholder for some program.
const NO_CODES: [u8; 4] = *b"\\:;{";

impl Dialect {
    /// Rows of numbers, whose fields have so many digits, one row after another, and the piece of `count` of them that begins
    /// at the row `start`.
    pub fn rows(self, numbers: &[u64], widths: &[usize], start: &str, count: usize) -> String {
        if self == Postgres {
            let kind = if widths.iter().any(|width| *width > 9) { "bigint" } else { "int" };
            let list: Vec<String> = numbers.iter().map(u64::to_string).collect();
            return format!(
                "('{{{}}}'::{kind}[]){}",
                list.join(","),
                slice(start, widths.len(), count * widths.len())
            );
        }
        let digits = numbers.chunks(widths.len()).flat_map(|row| row.iter().zip(widths));
        let text: String = digits.map(|(number, &width)| format!("{number:0width$}")).collect();
        self.piece_of_text(&text, start, widths.iter().sum(), count)
    }

    /// Of a piece of rows, the `count` rows that begin at the row `start`.
    pub fn rows_again(self, piece: &str, widths: &[usize], start: &str, count: usize) -> String {
        let width = widths.iter().sum::<usize>();
        match self {
            Postgres => format!("{piece}{}", slice(start, widths.len(), count * widths.len())),
            Tsql => format!("SUBSTRING({piece},{},{})", place(start, width), count * width),
            _ => format!("substr({piece},{},{})", place(start, width), count * width),
        }
    }

    /// A field of a row of a piece of rows, where it is added or multiplied.
    pub fn field(self, piece: &str, widths: &[usize], (row, field): (usize, usize)) -> String {
        let width = widths[field];
        let at = row * widths.iter().sum::<usize>() + widths[..field].iter().sum::<usize>();
        match self {
            Postgres => format!("{piece}[{}]", row * widths.len() + field + 1),
            _ => self.digits(&self.part_of_text(piece, &(at + 1).to_string(), width), width),
        }
    }

    /// The same where it is compared with a floating-point number.
    pub fn compared(self, piece: &str, widths: &[usize], place: (usize, usize)) -> String {
        let at = place.0 * widths.iter().sum::<usize>() + widths[..place.1].iter().sum::<usize>();
        match self {
            // Which makes a number of a text there.
            Tsql => self.part_of_text(piece, &(at + 1).to_string(), widths[place.1]),
            Sqlite => format!("{}+0", self.field(piece, widths, place)),
            _ => self.field(piece, widths, place),
        }
    }

    /// The same where it is a number of its own.
    pub fn whole_field(self, piece: &str, widths: &[usize], place: (usize, usize)) -> String {
        let field = self.field(piece, widths, place);
        match self {
            Sqlite => format!("{field}+0"),
            Postgres => format!("{field}::int"),
            _ => field,
        }
    }

    /// That of a piece of so many rows with one number each, where it is multiplied by a floating-point number.
    pub fn factor(self, piece: &str, width: usize, [row, count]: [usize; 2]) -> String {
        match self {
            Sqlite if row + 1 == count => format!("substr({piece},{})", row * width + 1),
            Tsql => self.part_of_text(piece, &(row * width + 1).to_string(), width),
            _ => self.field(piece, &[width], (row, 0)),
        }
    }

    /// Of rows with one number of so many digits each, that of the row `at`.
    pub fn single_row(self, numbers: &[u64], width: usize, at: &str) -> String {
        let piece = self.rows(numbers, &[width], at, 1);
        match self {
            Postgres => format!("({piece})[1]"),
            Sqlite => format!("{piece}+0"),
            _ => self.digits(&piece, width),
        }
    }

    /// Digits as a number. In SQLite a text is one wherever numbers are reckoned with.
    fn digits(self, text: &str, width: usize) -> String {
        match self {
            Sqlite => text.to_owned(),
            Duckdb | Snowflake if width > 9 => format!("{text}::BIGINT"),
            Duckdb | Snowflake => format!("{text}::INT"),
            Bigquery => format!("CAST({text} AS INT64)"),
            _ if width > 9 => format!("CAST({text} AS BIGINT)"),
            _ => format!("CAST({text} AS INT)"),
        }
    }

    fn part_of_text(self, text: &str, from: &str, length: usize) -> String {
        let function = if self == Tsql { "SUBSTRING" } else { "substr" };
        format!("{function}({text},{from},{length})")
    }

    /// Of a text of ASCII that is the same for all rows, what begins at the place `start`, counted in `width` characters, and is
    /// `count` times as long.
    fn piece_of_text(self, text: &str, start: &str, width: usize, count: usize) -> String {
        let (from, length) = (place(start, width), count * width);
        match self {
            // Of bytes, a piece is found without counting the characters before it.
            Sqlite => format!("substr(CAST('{text}'AS BLOB),{from},{length})"),
            _ => self.part_of_text(&format!("'{text}'"), &from, length),
        }
    }

    /// A palette as a column of its own.
    pub fn palette(self, palette: &Palette) -> String {
        let list = || palette.numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        match self {
            Duckdb => format!("CAST('[{}]' AS INTEGER[])", list()),
            Postgres => format!("'{{{}}}'::int[]", list()),
            Spark => format!("array({})", list()),
            Bigquery => format!("[{}]", list()),
            Sqlite | Snowflake | Tsql => {
                let width = palette.width;
                format!("'{}'", palette.numbers.iter().map(|n| format!("{n:0width$}")).collect::<String>())
            }
        }
    }

    /// The piece of so many codes that begins at `start`.
    pub fn codes(self, codes: &str, start: &str, count: usize) -> String {
        match self {
            Postgres => format!("substr('{codes}'::bytea,{},{count})", place(start, 1)),
            _ => self.part_of_text(&format!("'{codes}'"), &place(start, 1), count),
        }
    }

    /// The number that a code of a piece of so many stands for.
    pub fn coded(self, palette: &Palette, column: &str, piece: &str, [index, count]: [usize; 2]) -> String {
        let letter = match index {
            0 => piece.to_owned(),
            _ if self == Tsql && index + 2 >= count => format!("RIGHT({piece},{})", count - index),
            _ if self == Tsql => format!("SUBSTRING({piece},{},1)", index + 1),
            _ => format!("substr({piece},{})", index + 1),
        };
        let code = match self {
            Postgres => format!("get_byte({piece},{index})"),
            Sqlite => format!("unicode({letter})"),
            _ => format!("ascii({letter})"),
        };
        let (first, width) = (usize::from(palette.first), palette.width);
        let from = || {
            let before = first * width - 1;
            if width == 1 { format!("{code}-{before}") } else { format!("{code}*{width}-{before}") }
        };
        match self {
            Duckdb | Postgres => format!("{column}[{code}-{}]", first - 1),
            Spark | Bigquery => format!("{column}[{code}-{first}]"),
            // A text that is multiplied by a number is one.
            Sqlite | Snowflake | Tsql => self.part_of_text(column, &from(), width),
        }
    }
}

/// Where a row of `width` characters begins.
fn place(start: &str, width: usize) -> String {
    match width {
        1 => format!("{start}+1"),
        _ if start.contains('+') => format!("({start})*{width}+1"),
        _ => format!("{start}*{width}+1"),
    }
}

/// The elements of an array from those of a row on.
fn slice(start: &str, fields: usize, count: usize) -> String {
    match fields {
        1 => format!("[{start}+1:{start}+{count}]"),
        _ => format!("[({start})*{fields}+1:({start})*{fields}+{count}]"),
    }
}

/// A few different numbers, and many that are one of them each, as characters.
pub struct Palette {
    /// The numbers by character, from the first on. Those of characters that are not used are 0.
    numbers: Vec<u64>,
    first: u8,
    width: usize,
    /// For each number of many its character.
    pub codes: String,
}

impl Palette {
    /// Of numbers with so many digits; `None` if too many of them differ, or if it would not be shorter.
    pub fn of(numbers: &[u64], width: usize) -> Option<Self> {
        let mut different = numbers.to_vec();
        different.sort_unstable();
        different.dedup();
        let mut codes: Vec<u8> = (FIRST_CODE..=LAST_CODE).filter(|code| !NO_CODES.contains(code)).collect();
        let unused = codes.len().checked_sub(different.len())?;
        codes.drain(..unused);
        let first = *codes.first()?;
        let mut by_code = vec![0; usize::from(LAST_CODE - first) + 1];
        for (code, number) in codes.iter().zip(&different) {
            by_code[usize::from(code - first)] = *number;
        }
        let code = |number: &u64| char::from(codes[different.partition_point(|other| other < number)]);
        let shorter = numbers.len() + by_code.len() * (width + 1) + 100 < numbers.len() * width;
        shorter.then(|| Self { numbers: by_code, first, width, codes: numbers.iter().map(code).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_palette_gives_every_number_back() {
        for different in [1, 5, 63, 75] {
            let numbers: Vec<u64> = (0..500).map(|k| k * 7919 % different * 1009).collect();
            let palette = Palette::of(&numbers, 5).unwrap();
            let back = palette.codes.bytes().map(|code| palette.numbers[usize::from(code - palette.first)]);
            assert_eq!(back.collect::<Vec<_>>(), numbers);
            assert!(palette.codes.bytes().all(|code| code.is_ascii_graphic() && !b"'\\:;{".contains(&code)));
        }
        assert!(Palette::of(&(0..500).map(|k| k % 76).collect::<Vec<_>>(), 5).is_none());
        assert!(Palette::of(&[1, 2, 3, 4], 5).is_none(), "it would not be shorter");
    }

    #[test]
    fn places_in_texts_and_arrays_count_from_one() {
        let numbers = [1, 20, 3, 40];
        let (widths, rows) = ([1, 2], |dialect: Dialect| dialect.rows(&numbers, &[1, 2], "i1", 2));
        assert_eq!(rows(Duckdb), "substr('120340',i1*3+1,6)");
        assert_eq!(rows(Postgres), "('{1,20,3,40}'::int[])[(i1)*2+1:(i1)*2+4]");
        assert_eq!(rows(Sqlite), "substr(CAST('120340'AS BLOB),i1*3+1,6)");
        assert_eq!(Duckdb.field("p", &widths, (1, 1)), "substr(p,5,2)::INT");
        assert_eq!(Postgres.field("p", &widths, (1, 1)), "p[4]");
        assert_eq!(Tsql.rows_again("p", &widths, "j1", 2), "SUBSTRING(p,j1*3+1,6)");
    }
}
