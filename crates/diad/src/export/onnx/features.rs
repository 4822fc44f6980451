//! Cells to features, all columns of a kind at once.

use super::proto::{Attribute, Element, Graph};
use crate::export::evaluate::LARGEST;
use crate::export::plan::{Feature, InputKind, Plan};
use crate::table::MISSING;

/// The features of a graph.
pub struct Features {
    /// All of them, in single precision, a row for each row of the table.
    pub x: String,
    /// The same, a column for each row of the table, so that what follows moves whole rows of it.
    pub turned: String,
    /// Where each feature of the plan is among them.
    pub place: Vec<usize>,
    /// What odd cells add, a row for each of `of`, in double precision.
    pub penalties: Option<String>,
    /// The inputs of the penalties.
    pub of: Vec<usize>,
}

/// A number that features look at: an input or a part of it.
type Number = (usize, Option<&'static str>);

/// Makes the inputs of the graph and the features.
pub fn features(plan: &Plan, graph: &mut Graph) -> Features {
    let used: Vec<usize> =
        (0..plan.inputs.len()).filter(|&input| plan.features.iter().any(|f| f.input() == input)).collect();
    let mut made = Maker {
        plan,
        graph,
        parts: Vec::new(),
        place: vec![0; plan.features.len()],
        columns: 0,
        penalties: Vec::new(),
    };
    for &input in &used {
        let element = match plan.inputs[input].kind {
            InputKind::Category => Element::Text,
            _ => Element::Double,
        };
        made.graph.end(11, &plan.inputs[input].name, element, 1);
    }
    made.numbers(&used);
    made.categories(&used);
    let Maker { parts, place, penalties, .. } = made;
    let x = concat(graph, &parts);
    let turned = graph.op("Transpose", &[&x], &[]);
    let (of, columns): (Vec<Vec<usize>>, Vec<String>) = penalties.into_iter().unzip();
    let penalties = (!columns.is_empty()).then(|| {
        let all = concat(graph, &columns);
        graph.op("Transpose", &[&all], &[])
    });
    Features { x, turned, place, penalties, of: of.concat() }
}

/// Columns side by side.
pub fn concat(graph: &mut Graph, parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        _ => {
            let names: Vec<&str> = parts.iter().map(String::as_str).collect();
            graph.op("Concat", &names, &[("axis", Attribute::Int(1))])
        }
    }
}

/// Some columns of a matrix.
pub fn pick(graph: &mut Graph, matrix: &str, columns: &[usize]) -> String {
    let columns = graph.ints(&[columns.len()], columns);
    graph.op("Gather", &[matrix, &columns], &[("axis", Attribute::Int(1))])
}

/// Some rows of a matrix.
pub fn rows(graph: &mut Graph, matrix: &str, rows: &[usize]) -> String {
    let rows = graph.ints(&[rows.len()], rows);
    graph.op("Gather", &[matrix, &rows], &[("axis", Attribute::Int(0))])
}

/// Rows of a matrix that follow each other.
pub fn slice(graph: &mut Graph, matrix: &str, rows: std::ops::Range<usize>) -> String {
    let ends = [rows.start, rows.end].map(|end| graph.ints(&[1], &[end]));
    let axis = graph.ints(&[1], &[0]);
    graph.op("Slice", &[matrix, &ends[0], &ends[1], &axis], &[])
}

struct Maker<'a> {
    plan: &'a Plan,
    graph: &'a mut Graph,
    /// Matrices of features.
    parts: Vec<String>,
    place: Vec<usize>,
    columns: usize,
    /// Matrices of penalties and the inputs of their columns.
    penalties: Vec<(Vec<usize>, String)>,
}

impl Maker<'_> {
    fn take(&mut self, features: &[usize], matrix: String) {
        for &feature in features {
            self.place[feature] = self.columns;
            self.columns += 1;
        }
        self.parts.push(matrix);
    }

    /// Numbers and times, and whether they are missing.
    fn numbers(&mut self, used: &[usize]) {
        let plan = self.plan;
        let of_kind =
            |kind: InputKind| used.iter().copied().filter(move |&input| plan.inputs[input].kind == kind);
        let inputs: Vec<usize> = of_kind(InputKind::Number).chain(of_kind(InputKind::Time)).collect();
        if inputs.is_empty() {
            return;
        }
        let names: Vec<String> = inputs.iter().map(|&input| plan.inputs[input].name.clone()).collect();
        let g = &mut *self.graph;
        let raw = concat(g, &names);
        let (nan, infinite) = (g.op("IsNaN", &[&raw], &[]), g.op("IsInf", &[&raw], &[]));
        let missing = g.op("Or", &[&nan, &infinite], &[]);
        let nought = g.doubles(&[1], &[0.0]);
        let finite = g.op("Where", &[&missing, &nought, &raw], &[]);
        self.number_penalties(&inputs, [&nan, &infinite]);
        let column = |input: usize| inputs.iter().position(|&other| other == input).unwrap_or(0);

        let numbers: Vec<usize> = (0..plan.features.len())
            .filter(|&f| matches!(plan.features[f], Feature::Number { .. }))
            .collect();
        let on_asinh = |f: &usize| matches!(plan.features[*f], Feature::Number { asinh: Some(_), .. });
        let (curved, plain): (Vec<usize>, Vec<usize>) = numbers.iter().partition(|f| on_asinh(f));
        let known = self.parts_of_times(&finite, inputs.len(), &column);
        let place = |f: &usize| match &plan.features[*f] {
            Feature::Number { input, part, .. } => {
                known.1.iter().position(|k| *k == (*input, *part)).unwrap_or(column(*input))
            }
            feature => column(feature.input()),
        };
        let mut scaled = Vec::new();
        if !curved.is_empty() {
            let values = pick(self.graph, &known.0, &curved.iter().map(place).collect::<Vec<_>>());
            scaled.push(self.asinh(&values, &curved));
        }
        if !plain.is_empty() {
            scaled.push(pick(self.graph, &known.0, &plain.iter().map(place).collect::<Vec<_>>()));
        }
        let order: Vec<usize> = curved.into_iter().chain(plain).collect();
        if !order.is_empty() {
            let x = self.scaled(&scaled, &order, &missing, &column);
            self.take(&order, x);
        }
        let marks: Vec<usize> = (0..plan.features.len())
            .filter(|&f| matches!(plan.features[f], Feature::Missing { .. }))
            .collect();
        if !marks.is_empty() {
            let g = &mut *self.graph;
            let gone = pick(
                g,
                &missing,
                &marks.iter().map(|&f| column(plan.features[f].input())).collect::<Vec<_>>(),
            );
            let (yes, no) = (g.floats(&[1], &[1.0]), g.floats(&[1], &[-1.0]));
            let marked = g.op("Where", &[&gone, &yes, &no], &[]);
            self.take(&marks, marked);
        }
    }

    fn number_penalties(&mut self, inputs: &[usize], [nan, infinite]: [&str; 2]) {
        let plan = self.plan;
        let penalty = |odd: &dyn Fn(usize) -> bool| -> Vec<f64> {
            inputs.iter().map(|&input| if odd(input) { plan.inputs[input].penalty } else { 0.0 }).collect()
        };
        let missing = penalty(&|input| plan.inputs[input].missing_is_odd);
        let infinities = penalty(&|input| plan.inputs[input].infinite_is_odd);
        let g = &mut *self.graph;
        let nought = g.doubles(&[1], &[0.0]);
        let mut where_odd = |mask: &str, values: &[f64]| {
            let values = g.doubles(&[1, inputs.len()], values);
            g.op("Where", &[mask, &values, &nought], &[])
        };
        let parts = [where_odd(nan, &missing), where_odd(infinite, &infinities)];
        let all = g.op("Add", &[&parts[0], &parts[1]], &[]);
        self.penalties.push((inputs.to_vec(), all));
    }

    /// All numbers that features look at, as one matrix, and which they are after the inputs themselves.
    fn parts_of_times(
        &mut self,
        finite: &str,
        inputs: usize,
        column: &dyn Fn(usize) -> usize,
    ) -> (String, Vec<Number>) {
        let mut wanted: Vec<Number> = Vec::new();
        for feature in &self.plan.features {
            if let Feature::Number { input, part: Some(part), .. } = feature
                && !wanted.contains(&(*input, Some(*part)))
            {
                wanted.push((*input, Some(*part)));
            }
        }
        if wanted.is_empty() {
            return (finite.to_owned(), Vec::new());
        }
        let g = &mut *self.graph;
        let times = pick(g, finite, &wanted.iter().map(|(input, _)| column(*input)).collect::<Vec<_>>());
        let mut c = Calculator { graph: g };
        let day = c.quotient(&times, 86_400.0);
        let date = c.by("Div", &times, 86_400.0);
        let day_seconds = c.by("Mul", &day, 86_400.0);
        let rest = c.two("Sub", &times, &day_seconds);
        let hour = c.by("Div", &rest, 3600.0);
        let shifted = c.by("Add", &day, 3.0);
        let weekday = c.rest(&shifted, 7.0);
        let weekday = c.by("Add", &weekday, 1.0);
        let month = c.month(&day);
        let mut matrix = month;
        for (name, other) in [("weekday", weekday), ("hour", hour), ("date", date)] {
            let is: Vec<f64> =
                wanted.iter().map(|(_, part)| f64::from(u8::from(*part == Some(name)))).collect();
            let mask = g.doubles(&[1, is.len()], &is);
            let mask = g.op("Cast", &[&mask], &[("to", Attribute::Int(9))]);
            matrix = g.op("Where", &[&mask, &other, &matrix], &[]);
        }
        let all = concat(g, &[finite.to_owned(), matrix]);
        let place = (0..inputs).map(|_| (usize::MAX, None)).chain(wanted).collect();
        (all, place)
    }

    /// The inverse hyperbolic sine of distances from medians in spreads.
    fn asinh(&mut self, values: &str, features: &[usize]) -> String {
        let scale = |k: usize| -> Vec<f64> {
            let of = |&f: &usize| match &self.plan.features[f] {
                Feature::Number { asinh: Some(scale), .. } => scale[k] / 2.0,
                _ => 1.0,
            };
            features.iter().map(of).collect()
        };
        let (medians, spreads) = (scale(0), scale(1));
        let g = &mut *self.graph;
        let (medians, spreads) =
            (g.doubles(&[1, features.len()], &medians), g.doubles(&[1, features.len()], &spreads));
        let mut c = Calculator { graph: g };
        let half = c.by("Mul", values, 0.5);
        let far = c.two("Sub", &half, &medians);
        let far = c.two("Div", &far, &spreads);
        let size = c.one("Abs", &far);
        let size = c.by("Min", &size, f64::MAX);
        // The square of more would not be finite, nor would it matter that 1 is added to it.
        let small = c.by("Min", &size, 1e9);
        let square = c.two("Mul", &small, &small);
        let root = c.by("Add", &square, 1.0);
        let root = c.one("Sqrt", &root);
        let sum = c.two("Add", &small, &root);
        let near = c.one("Log", &sum);
        let large = c.by("Max", &size, 1e9);
        let large = c.one("Log", &large);
        let large = c.by("Add", &large, std::f64::consts::LN_2);
        let edge = c.graph.doubles(&[1], &[1e9]);
        let is_large = c.two("Greater", &size, &edge);
        let result = c.graph.op("Where", &[&is_large, &large, &near], &[]);
        let sign = c.one("Sign", &far);
        c.two("Mul", &result, &sign)
    }

    /// From the ranges to [-1, 1], in single precision, with what stands for missing cells.
    fn scaled(
        &mut self,
        parts: &[String],
        features: &[usize],
        missing: &str,
        column: &dyn Fn(usize) -> usize,
    ) -> String {
        let of = |get: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
            let value = |&f: &usize| match &self.plan.features[f] {
                Feature::Number { low, high, missing, .. } => get(*low, *high, *missing),
                _ => 0.0,
            };
            features.iter().map(value).collect()
        };
        let lows = of(&|low, _, _| low / 2.0);
        let halves = of(&|low, high, _| if low == high { 0.5 } else { high / 2.0 - low / 2.0 });
        let gaps = of(&|_, _, missing| missing);
        let width = features.len();
        let gone: Vec<usize> = features.iter().map(|&f| column(self.plan.features[f].input())).collect();
        let g = &mut *self.graph;
        let values = concat(g, parts);
        let (lows, halves, gaps) =
            (g.doubles(&[1, width], &lows), g.doubles(&[1, width], &halves), g.floats(&[1, width], &gaps));
        let mut c = Calculator { graph: g };
        let x = c.by("Mul", &values, 0.5);
        let x = c.two("Sub", &x, &lows);
        let x = c.two("Div", &x, &halves);
        let x = c.by("Mul", &x, 2.0);
        let x = c.by("Add", &x, -1.0);
        let x = c.by("Min", &x, LARGEST);
        let x = c.by("Max", &x, -LARGEST);
        let x = g.op("Cast", &[&x], &[("to", Attribute::Int(Element::Float as i64))]);
        let gone = pick(g, missing, &gone);
        g.op("Where", &[&gone, &gaps, &x], &[])
    }

    /// Texts to places, and what a missing text adds.
    fn categories(&mut self, used: &[usize]) {
        let plan = self.plan;
        for (index, feature) in plan.features.iter().enumerate() {
            let Feature::Category { input, trimmed, folded, texts, missing, other } = feature else {
                continue;
            };
            let mut places: Vec<(String, f64)> = vec![(String::new(), *missing)];
            if *trimmed {
                places.extend(MISSING.iter().flat_map(|word| cases(word)).map(|word| (word, *missing)));
            }
            places.extend(folded.iter().flat_map(|(word, at)| cases(word).map(|word| (word, *at))));
            places.extend(texts.iter().cloned());
            let place = self.looked_up(&plan.inputs[*input].name, places, *other);
            self.take(&[index], place);
        }
        for &input in used {
            let given = &plan.inputs[input];
            if given.kind != InputKind::Category || !given.missing_is_odd || given.penalty == 0.0 {
                continue;
            }
            let words = MISSING.iter().flat_map(|word| cases(word)).chain([String::new()]);
            let odd = words.map(|word| (word, given.penalty)).collect();
            let penalty = self.looked_up(&given.name, odd, 0.0);
            let penalty =
                self.graph.op("Cast", &[&penalty], &[("to", Attribute::Int(Element::Double as i64))]);
            self.penalties.push((vec![input], penalty));
        }
    }

    fn looked_up(&mut self, input: &str, places: Vec<(String, f64)>, other: f64) -> String {
        let (mut keys, mut values) = (Vec::new(), Vec::new());
        for (key, value) in places {
            if !keys.contains(&key) {
                keys.push(key);
                values.push(value as f32);
            }
        }
        let attributes = [
            ("keys_strings", Attribute::Texts(keys)),
            ("values_floats", Attribute::Floats(values)),
            ("default_float", Attribute::Float(other as f32)),
        ];
        self.graph.ml("LabelEncoder", &[input], &attributes)
    }
}

/// A word as it is mostly written: in small letters, in capitals, and with one capital.
fn cases(word: &str) -> [String; 3] {
    let mut capital = word.to_owned();
    if let Some(first) = capital.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    [word.to_owned(), word.to_uppercase(), capital]
}

/// Arithmetic on matrices in double precision.
struct Calculator<'a> {
    graph: &'a mut Graph,
}

impl Calculator<'_> {
    fn one(&mut self, op: &str, x: &str) -> String {
        self.graph.op(op, &[x], &[])
    }

    fn two(&mut self, op: &str, x: &str, y: &str) -> String {
        self.graph.op(op, &[x, y], &[])
    }

    fn by(&mut self, op: &str, x: &str, number: f64) -> String {
        let number = self.graph.doubles(&[1], &[number]);
        self.two(op, x, &number)
    }

    fn quotient(&mut self, x: &str, number: f64) -> String {
        let quotient = self.by("Div", x, number);
        self.one("Floor", &quotient)
    }

    fn rest(&mut self, x: &str, number: f64) -> String {
        let quotient = self.quotient(x, number);
        let whole = self.by("Mul", &quotient, number);
        self.two("Sub", x, &whole)
    }

    /// The month of days since the start of 1970, by the days since the first of March of a year that 400 divides.
    fn month(&mut self, day: &str) -> String {
        let shifted = self.by("Add", day, 719_468.0);
        let day = self.rest(&shifted, 146_097.0);
        let leaps = [1460.0, 36_524.0, 146_096.0].map(|days| self.quotient(&day, days));
        let year = self.two("Sub", &day, &leaps[0]);
        let year = self.two("Add", &year, &leaps[1]);
        let year = self.two("Sub", &year, &leaps[2]);
        let year = self.quotient(&year, 365.0);
        let (fourth, hundredth) = (self.quotient(&year, 4.0), self.quotient(&year, 100.0));
        let days = self.by("Mul", &year, 365.0);
        let days = self.two("Add", &days, &fourth);
        let days = self.two("Sub", &days, &hundredth);
        let of_year = self.two("Sub", &day, &days);
        let month = self.by("Mul", &of_year, 5.0);
        let month = self.by("Add", &month, 2.0);
        let month = self.quotient(&month, 153.0);
        // March is the first: 0 to 11 becomes 3 to 14, and 13 and 14 become 1 and 2.
        let month = self.by("Add", &month, 2.0);
        let month = self.rest(&month, 12.0);
        self.by("Add", &month, 1.0)
    }
}
