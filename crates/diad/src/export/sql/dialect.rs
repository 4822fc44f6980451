//! Where dialects of SQL differ.

use super::sheet::{decimal, exactly};
use crate::{Error, Result};

/// A dialect of SQL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// DuckDB.
    Duckdb,
    /// PostgreSQL.
    Postgres,
    /// SQLite with its mathematical functions.
    Sqlite,
    /// Spark SQL 3.4 or newer.
    Spark,
    /// Snowflake.
    Snowflake,
    /// BigQuery.
    Bigquery,
    /// SQL Server 2022 or newer.
    Tsql,
}

use Dialect::{Bigquery, Duckdb, Postgres, Snowflake, Spark, Sqlite, Tsql};

impl Dialect {
    /// Every dialect.
    pub const ALL: [Self; 7] = [Duckdb, Postgres, Sqlite, Spark, Snowflake, Bigquery, Tsql];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Duckdb => "duckdb",
            Postgres => "postgres",
            Sqlite => "sqlite",
            Spark => "spark",
            Snowflake => "snowflake",
            Bigquery => "bigquery",
            Tsql => "tsql",
        }
    }

    /// Most columns that an intermediate result may have.
    pub(super) fn most_columns(self) -> usize {
        match self {
            Postgres => 1600,
            Sqlite => 1900,
            _ => 2000,
        }
    }

    /// A name of a column or table.
    ///
    /// # Errors
    /// If the dialect has no way to write it.
    pub(super) fn identifier(self, name: &str) -> Result<String> {
        let unwritable = name.is_empty()
            || name.contains('\0')
            || (self == Bigquery && name.chars().any(|c| c.is_control()));
        if unwritable {
            let name = crate::table::quoted(name);
            let reason =
                format!("{} has no name such as {name}; rename the column and train again", self.name());
            return Err(Error::Export { reason });
        }
        Ok(match self {
            Duckdb | Postgres | Sqlite | Snowflake => format!("\"{}\"", name.replace('"', "\"\"")),
            Spark => format!("`{}`", name.replace('`', "``")),
            Bigquery => format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`")),
            Tsql => format!("[{}]", name.replace(']', "]]")),
        })
    }

    /// The name of a table: as it is if it is plain, possibly with dots, and quoted as a whole otherwise.
    ///
    /// # Errors
    /// As [`Dialect::identifier`].
    pub(super) fn table(self, name: &str) -> Result<String> {
        let word = |word: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            !word.is_empty() && !word.starts_with(|c: char| c.is_ascii_digit()) && word.chars().all(plain)
        };
        if name.split('.').all(word) { Ok(name.to_owned()) } else { self.identifier(name) }
    }

    /// A text.
    ///
    /// # Errors
    /// If the dialect has no way to write it.
    pub(super) fn text(self, text: &str) -> Result<String> {
        if text.contains('\0') {
            let reason =
                "a category contains the character NUL, which SQL cannot hold; replace it and train again";
            return Err(Error::Export { reason: reason.to_owned() });
        }
        let doubled = || text.replace('\'', "''");
        Ok(match self {
            Duckdb | Postgres | Sqlite => format!("'{}'", doubled()),
            Tsql => format!("N'{}'", doubled()),
            Snowflake | Spark | Bigquery => {
                let escaped = text.replace('\\', "\\\\").replace('\'', "\\'");
                format!("'{}'", escaped.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t"))
            }
        })
    }

    pub(super) fn double(self) -> &'static str {
        match self {
            Postgres => "double precision",
            Sqlite => "REAL",
            Bigquery => "FLOAT64",
            Tsql => "FLOAT",
            _ => "DOUBLE",
        }
    }

    /// A number of a column. SQLite has texts in columns of numbers, which no cast refuses.
    pub(super) fn number(self, column: &str) -> String {
        match self {
            Sqlite => format!(
                "CASE typeof({column}) WHEN 'text' THEN 9e999 WHEN 'blob' THEN 9e999 ELSE CAST({column} AS REAL) END"
            ),
            _ => format!("CAST({column} AS {})", self.double()),
        }
    }

    /// Whether a number is none, where the dialect has such numbers.
    pub(super) fn is_nan(self, number: &str) -> Option<String> {
        match self {
            Duckdb | Spark => Some(format!("isnan({number})")),
            Postgres => Some(format!("{number}='NaN'::float8")),
            Snowflake => Some(format!("{number}='NaN'::FLOAT")),
            Bigquery => Some(format!("IS_NAN({number})")),
            Sqlite | Tsql => None,
        }
    }

    /// Seconds since the start of 1970, of a column of times. The hour is the one that is written.
    pub(super) fn seconds(self, column: &str) -> String {
        match self {
            Duckdb => format!("epoch(CAST({column} AS TIMESTAMP))"),
            Postgres => format!("CAST(extract(epoch FROM CAST({column} AS timestamp)) AS double precision)"),
            Sqlite => format!(
                "CASE typeof({column}) WHEN 'text' THEN \
                 CAST(strftime('%s',{column}) AS REAL)+(CAST(strftime('%f',{column}) AS REAL)-CAST(strftime('%S',{column}) AS REAL)) \
                 ELSE CAST({column} AS REAL) END"
            ),
            Spark => format!(
                "timestampdiff(MICROSECOND,TIMESTAMP_NTZ'1970-01-01 00:00:00',CAST({column} AS TIMESTAMP_NTZ))/1e6"
            ),
            Snowflake => format!("DATE_PART(epoch_microsecond,CAST({column} AS TIMESTAMP_NTZ))/1e6"),
            Bigquery => {
                format!("DATETIME_DIFF(CAST({column} AS DATETIME),DATETIME '1970-01-01',MICROSECOND)/1e6")
            }
            Tsql => format!("DATEDIFF_BIG(MICROSECOND,'19700101',CAST({column} AS DATETIME2))/1e6"),
        }
    }

    /// The text of a column, without white space around it if `trimmed`.
    pub(super) fn trimmed(self, column: &str, trimmed: bool) -> String {
        let kind = match self {
            Postgres | Sqlite => "text",
            Spark | Bigquery => "STRING",
            Tsql => "NVARCHAR(4000)",
            _ => "VARCHAR",
        };
        let text = format!("CAST({column} AS {kind})");
        let spaces = match self {
            Sqlite => "char(32,9,10,13)",
            Duckdb => "chr(32)||chr(9)||chr(10)||chr(13)",
            Postgres => "E' \\t\\n\\r'",
            Tsql => "CHAR(32)+CHAR(9)+CHAR(10)+CHAR(13)",
            _ => "' \\t\\n\\r'",
        };
        let text = match self {
            _ if !trimmed => text,
            Spark => format!("trim(BOTH {spaces} FROM {text})"),
            Postgres => format!("btrim({text},{spaces})"),
            Tsql => format!("TRIM({spaces} FROM {text})"),
            _ => format!("trim({text},{spaces})"),
        };
        // Elsewhere texts are equal only if they are the same.
        if self == Tsql { format!("{text} COLLATE Latin1_General_BIN2") } else { text }
    }

    pub(super) fn ln(self) -> &'static str {
        if self == Tsql { "LOG" } else { "ln" }
    }

    /// A number of size at most 1e30 in single precision, as a double. Where there is no such type: 24 bits of it, by the
    /// splitting of Veltkamp.
    pub(super) fn single(self, number: &str) -> String {
        match self {
            Duckdb | Spark => format!("CAST(CAST({number} AS FLOAT) AS DOUBLE)"),
            Postgres => format!("{number}::real::double precision"),
            Tsql => format!("CAST(CAST({number} AS REAL) AS FLOAT)"),
            Sqlite | Snowflake | Bigquery => {
                format!("({number}*536870913e0-({number}*536870913e0-{number}))")
            }
        }
    }

    pub(super) fn whole(self, number: &str) -> String {
        let kind = if self == Bigquery { "INT64" } else { "INTEGER" };
        format!("CAST({number} AS {kind})")
    }

    /// The largest of some numbers.
    pub(super) fn greatest(self, numbers: &[String]) -> String {
        match numbers {
            [one] => one.clone(),
            _ if self == Sqlite => format!("max({})", numbers.join(",")),
            _ => format!("greatest({})", numbers.join(",")),
        }
    }

    /// A number, or the end of a range that it lies beyond.
    pub(super) fn within(self, number: &str, [low, high]: [f64; 2]) -> String {
        let [least, most] = if self == Sqlite { ["min", "max"] } else { ["least", "greatest"] };
        // Whole numbers are short, and what is compared with them is none.
        let end = |end: f64| if end.abs() == 1.0 { end.to_string() } else { exactly(end) };
        format!("{least}({most}({number},{}),{})", end(low), end(high))
    }

    /// A floating-point number in as few characters as the dialect can. Elsewhere one without an exponent is of another kind.
    pub(super) fn constant(self, number: String) -> String {
        if self == Sqlite { decimal(number) } else { number }
    }

    /// A column with its name, without AS, which would be thousands of times the same.
    pub(super) fn named(self, text: &str, name: &str) -> String {
        let space = if self == Sqlite && text.ends_with(')') { "" } else { " " };
        format!("{text}{space}{name}")
    }

    /// Whether a product is not worked out where a factor is known to be nought. Engines that work on columns would work it out
    /// and choose afterwards, and in PostgreSQL a choice takes as long as it saves.
    pub(super) fn skips(self) -> bool {
        self == Sqlite
    }

    /// A split as a number from 0 to 1, of half of what is cut to [-1, 1] elsewhere, where products are skipped. For most rows it
    /// is an end.
    pub(super) fn half_split(half: &str) -> String {
        format!("iif({half}>-.5,iif({half}<.5,.5+{half}*sqrt(2-4*{half}*{half}),1),0)")
    }

    /// A product with a factor that may be nought, where it is then skipped.
    pub(super) fn unless_nought(factor: &str, product: &str) -> String {
        format!("iif({factor},{product},0)")
    }

    /// A stage of the statement that is computed before the next one looks at it, so that no expression is repeated.
    pub(super) fn stage(self, name: &str, body: &str) -> String {
        match self {
            Duckdb => format!("{name} AS NOT MATERIALIZED ({body})"),
            // A limit keeps it apart, without storing all of it first.
            Sqlite => format!("{name} AS NOT MATERIALIZED ({body} LIMIT -1 OFFSET 0)"),
            Postgres => format!("{name} AS NOT MATERIALIZED ({body} OFFSET 0)"),
            _ => format!("{name} AS ({body})"),
        }
    }
}
