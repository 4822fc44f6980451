//! Cells to features.

use super::dialect::Dialect;
use super::sheet::{Col, Sheet, exactly, minus, plus};
use crate::Result;
use crate::export::evaluate::LARGEST;
use crate::export::plan::{Feature, InputKind, Plan};
use crate::table::MISSING;

/// The largest number that is finite.
const MOST: &str = "17976931348623157e292";
/// Below this a number counts as nought where the engine would refuse what becomes of it.
const TINY: &str = "1e-290";

/// The columns of the sheet with features and penalties.
pub struct Features {
    /// The features, in single precision.
    pub x: Vec<Col>,
    /// For each input, whether its cell is odd, where that matters.
    pub odd: Vec<Option<Col>>,
}

/// Makes features of the columns of the table.
pub fn features(plan: &Plan, dialect: Dialect, sheet: &mut Sheet) -> Result<Features> {
    let mut maker = Maker { plan, dialect, sheet, cells: vec![None; plan.inputs.len()], parts: Vec::new() };
    let x = plan.features.iter().map(|feature| maker.feature(feature)).collect::<Result<Vec<Col>>>()?;
    let odd = (0..plan.inputs.len()).map(|input| maker.odd(input)).collect();
    Ok(Features { x, odd })
}

/// What is known of a cell: how it is read, and of numbers its finite value or nothing.
#[derive(Clone, Copy)]
struct Read {
    raw: Col,
    value: Col,
}

struct Maker<'a> {
    plan: &'a Plan,
    dialect: Dialect,
    sheet: &'a mut Sheet,
    cells: Vec<Option<Read>>,
    /// Parts of times that are known.
    parts: Vec<((usize, &'static str), Col)>,
}

impl Maker<'_> {
    fn add(&mut self, letter: char, uses: &[Col], text: impl Fn(&[&str]) -> String) -> Col {
        let names: Vec<&str> = uses.iter().map(|&column| self.sheet.name(column)).collect();
        let text = text(&names);
        self.sheet.add(letter, 1, uses, text)
    }

    fn cell(&mut self, input: usize, trimmed: bool) -> Result<Read> {
        if let Some(read) = self.cells[input] {
            return Ok(read);
        }
        let dialect = self.dialect;
        let column = dialect.identifier(&self.plan.inputs[input].name)?;
        let text = match self.plan.inputs[input].kind {
            InputKind::Number => dialect.number(&column),
            InputKind::Time => dialect.seconds(&column),
            InputKind::Category => dialect.trimmed(&column, trimmed),
        };
        let raw = self.add('r', &[], |_| text.clone());
        let value = match self.plan.inputs[input].kind {
            InputKind::Category => raw,
            _ => self.add('v', &[raw], |names| {
                let raw = names[0];
                let tiny = match dialect {
                    Dialect::Postgres => format!("WHEN abs({raw})<{TINY} THEN 0 "),
                    _ => String::new(),
                };
                // Asked for by name: engines differ in whether it lies between others.
                let nan = dialect.is_nan(raw).map_or(String::new(), |nan| format!("WHEN {nan} THEN NULL "));
                format!("CASE {nan}{tiny}WHEN {raw} BETWEEN -{MOST} AND {MOST} THEN {raw} END")
            }),
        };
        let read = Read { raw, value };
        self.cells[input] = Some(read);
        Ok(read)
    }

    fn feature(&mut self, feature: &Feature) -> Result<Col> {
        let dialect = self.dialect;
        let trimmed = !matches!(feature, Feature::Category { trimmed: false, .. });
        let read = self.cell(feature.input(), trimmed)?;
        Ok(match feature {
            Feature::Missing { .. } => self.add('x', &[read.value], |names| {
                format!("CASE WHEN {} IS NULL THEN 1e0 ELSE -1e0 END", names[0])
            }),
            Feature::Category { folded, texts, missing, other, .. } => {
                let place = |place: f64| exactly(place);
                let mut cases = String::new();
                for (text, at) in folded {
                    cases += &format!(" WHEN lower({{}})={} THEN {}", dialect.text(text)?, place(*at));
                }
                for (text, at) in texts {
                    cases += &format!(" WHEN {{}}={} THEN {}", dialect.text(text)?, place(*at));
                }
                let (gone, other) = (place(*missing), place(*other));
                let double = dialect.double();
                let absent = |name: &str| missing_test(dialect, name, trimmed);
                self.add('x', &[read.value], |names| {
                    let (absent, cases) = (absent(names[0]), cases.replace("{}", names[0]));
                    format!("CAST(CASE WHEN {absent} THEN {gone}{cases} ELSE {other} END AS {double})")
                })
            }
            Feature::Number { input, part, asinh, low, high, missing } => {
                let value = match part {
                    Some(part) => self.part(*input, part, read.value),
                    None => read.value,
                };
                let scaled = match asinh {
                    Some([median, spread]) => self.asinh(value, *median, *spread),
                    None => value,
                };
                let scaled = self.scaled(scaled, *low, *high, asinh.is_none());
                let missing = exactly(*missing);
                self.add('x', &[scaled], |names| {
                    format!(
                        "CASE WHEN {0} IS NULL THEN {missing} ELSE {1} END",
                        names[0],
                        dialect.single(names[0])
                    )
                })
            }
        })
    }

    /// A part of a time.
    fn part(&mut self, input: usize, part: &'static str, time: Col) -> Col {
        if let Some((_, known)) = self.parts.iter().find(|(key, _)| *key == (input, part)) {
            return *known;
        }
        let made = match part {
            "day" => self.add('n', &[time], |n| format!("floor({}/86400e0)", n[0])),
            "date" => self.add('n', &[time], |n| format!("{}/86400e0", n[0])),
            "hour" => {
                let day = self.part(input, "day", time);
                self.add('n', &[time, day], |n| format!("({}-{}*86400e0)/3600e0", n[0], n[1]))
            }
            "weekday" => {
                let day = self.part(input, "day", time);
                self.add('n', &[day], |n| format!("{0}+4e0-7e0*floor(({0}+3e0)/7e0)", n[0]))
            }
            // The month, by the days since the first of March of a year that 400 divides.
            _ => {
                let day = self.part(input, "day", time);
                let of_era = self.add('n', &[day], |n| {
                    format!("{0}+719468e0-146097e0*floor(({0}+719468e0)/146097e0)", n[0])
                });
                let year = self.add('n', &[of_era], |n| {
                    format!(
                        "floor(({0}-floor({0}/1460e0)+floor({0}/36524e0)-floor({0}/146096e0))/365e0)",
                        n[0]
                    )
                });
                let month = self.add('n', &[of_era, year], |n| {
                    format!(
                        "floor((5e0*({0}-(365e0*{1}+floor({1}/4e0)-floor({1}/100e0)))+2e0)/153e0)",
                        n[0], n[1]
                    )
                });
                self.add('n', &[month], |n| format!("CASE WHEN {0}<10e0 THEN {0}+3e0 ELSE {0}-9e0 END", n[0]))
            }
        };
        self.parts.push(((input, part), made));
        made
    }

    /// The inverse hyperbolic sine of the distance from the median in spreads.
    fn asinh(&mut self, value: Col, median: f64, spread: f64) -> Col {
        let (halves, reach) = (median.abs() > 1e290, spread / 2.0 * f64::MAX);
        let spreads = self.add('n', &[value], |n| {
            let plain = if halves {
                format!("({}/2e0{})/{}", n[0], minus(&exactly(median / 2.0)), exactly(spread / 2.0))
            } else {
                format!("({}{})/{}", n[0], minus(&exactly(median)), exactly(spread))
            };
            // What would be infinite.
            if !reach.is_finite() || spread >= 2.0 {
                return plain;
            }
            let ends = [median / 2.0 + reach, median / 2.0 - reach].map(exactly);
            format!(
                "CASE WHEN {0}/2e0>{1} THEN {MOST} WHEN {0}/2e0<{2} THEN -{MOST} ELSE {plain} END",
                n[0], ends[0], ends[1]
            )
        });
        let ln = self.dialect.ln();
        let ln2 = exactly(std::f64::consts::LN_2);
        self.add('n', &[spreads], |n| {
            let s = n[0];
            format!(
                "sign({s})*CASE WHEN abs({s})>1e9 THEN {ln}(abs({s}))+{ln2} ELSE {ln}(abs({s})+sqrt({s}*{s}+1)) END"
            )
        })
    }

    /// From a range to [-1, 1]. A number far outside of it, in proportion, stops at the largest there is.
    fn scaled(&mut self, value: Col, low: f64, high: f64, far: bool) -> Col {
        let range = high - low;
        self.add('n', &[value], |n| {
            let share = match range {
                0.0 => format!("({}{})", n[0], minus(&exactly(low))),
                range if range.is_finite() => {
                    format!("({}{})/{}", n[0], minus(&exactly(low)), exactly(range))
                }
                _ => format!(
                    "({}/2e0{})/{}",
                    n[0],
                    minus(&exactly(low / 2.0)),
                    exactly(high / 2.0 - low / 2.0)
                ),
            };
            let unit = if range == 0.0 { 1.0 } else { range };
            let reach = unit * (LARGEST / 2.0);
            let ends = [low + reach, low - reach];
            if !far || !ends.iter().all(|end| end.is_finite()) {
                return format!("{share}*2e0-1e0");
            }
            let most = exactly(LARGEST);
            let [above, below] = ends.map(exactly);
            format!(
                "CASE WHEN {0}>{above} THEN {most} WHEN {0}<{below} THEN -{most} ELSE {share}*2e0-1e0 END",
                n[0]
            )
        })
    }

    /// Whether a cell is odd.
    fn odd(&mut self, input: usize) -> Option<Col> {
        let (given, dialect) = (&self.plan.inputs[input], self.dialect);
        let Read { raw, value } = self.cells[input]?;
        if given.penalty == 0.0 {
            return None;
        }
        let trimmed = self.plan.features.iter().any(
            |feature| matches!(feature, Feature::Category { input: of, trimmed: true, .. } if *of == input),
        );
        let test = match given.kind {
            InputKind::Category if given.missing_is_odd => {
                missing_test(dialect, self.sheet.name(raw), trimmed)
            }
            InputKind::Category => return None,
            _ => {
                let (raw, value) = (self.sheet.name(raw), self.sheet.name(value));
                match (given.missing_is_odd, given.infinite_is_odd) {
                    (true, _) => format!("{value} IS NULL"),
                    (false, false) => return None,
                    (false, true) => {
                        let number =
                            dialect.is_nan(raw).map_or(String::new(), |nan| format!(" AND NOT {nan}"));
                        format!("{value} IS NULL AND {raw} IS NOT NULL{number}")
                    }
                }
            }
        };
        Some(self.sheet.add('o', 1, &[raw, value], format!("CASE WHEN {test} THEN 1 ELSE 0 END")))
    }
}

/// Whether a text is missing.
fn missing_test(dialect: Dialect, name: &str, trimmed: bool) -> String {
    if !trimmed {
        return format!("{name} IS NULL");
    }
    let words = MISSING.iter().filter_map(|word| dialect.text(word).ok()).collect::<Vec<_>>().join(",");
    format!("({name} IS NULL OR {name}='' OR lower({name}) IN ({words}))")
}

/// What penalties of odd cells add, as something that is added.
pub fn penalty(plan: &Plan, sheet: &Sheet, input: usize, odd: Col) -> String {
    format!("{}*{}", plus(sheet.name(odd)), exactly(plan.inputs[input].penalty))
}
