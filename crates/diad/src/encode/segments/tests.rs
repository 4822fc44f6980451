use super::*;
use crate::Params;
use crate::encode::Roles;
use crate::explain::Explainer;
use crate::rng::{Purpose, Stream};

/// Machines, each with its own temperature and load, and how much these vary in each.
struct Fleet {
    random: Stream,
    usual: Vec<[f64; 3]>,
}

impl Fleet {
    fn new(machines: usize) -> Self {
        let mut random = Stream::new(5, Purpose::Shuffle, 0);
        let usual = (0..machines)
            .map(|_| {
                [
                    60.0 + 15.0 * random.normal(),
                    100.0 + 30.0 * random.normal(),
                    libm::exp(0.3 * random.normal()),
                ]
            })
            .collect();
        Self { random, usual }
    }

    /// So many rows of each machine.
    fn rows(&mut self, counts: &[usize]) -> Vec<(usize, [f64; 2])> {
        let mut rows = Vec::new();
        for (machine, &count) in counts.iter().enumerate() {
            for _ in 0..count {
                let [temperature, load, varies] = self.usual[machine];
                let values =
                    [temperature + varies * self.random.normal(), load + 3.0 * varies * self.random.normal()];
                rows.push((machine, values));
            }
        }
        rows
    }
}

fn table(rows: &[(usize, [f64; 2])]) -> Table {
    let machines: Texts = rows.iter().map(|(machine, _)| Some(format!("M{machine:03}"))).collect();
    let column = |index: usize| Values::Numbers(rows.iter().map(|(_, values)| values[index]).collect());
    let names = ["machine", "temperature", "load"].map(str::to_owned).to_vec();
    Table::of(names, vec![machines.into(), column(0), column(1)]).unwrap()
}

fn params() -> Params {
    Params::default().with_steps(60).trees(40)
}

#[test]
fn a_value_counts_by_its_segment() {
    let mut fleet = Fleet::new(60);
    let rows = fleet.rows(&[60; 60]);
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    let plain = params().fitting(&table(&rows)).ignore("machine").run().unwrap();
    assert_eq!(by.encoder().segments(), Some(("machine", 60)));
    assert_eq!(by.encoder().columns()[0].name, "temperature for its machine");
    // Machine 7 at what is usual for machine 11, and the other way round.
    let (mut first, mut last) = (0, 0);
    for machine in 0..60 {
        if fleet.usual[machine][0] < fleet.usual[first][0] {
            first = machine;
        }
        if fleet.usual[machine][0] > fleet.usual[last][0] {
            last = machine;
        }
    }
    let mut new = fleet.rows(&[20; 60]);
    let count = new.len();
    for (machine, other) in [(first, last), (last, first)] {
        let [temperature, ..] = fleet.usual[other];
        new.push((machine, [temperature, fleet.usual[machine][1]]));
    }
    let rank = |scores: &[f32], row: usize| scores.iter().filter(|&&score| score >= scores[row]).count();
    let (of_segments, of_all) = (by.score(&table(&new)).unwrap(), plain.score(&table(&new)).unwrap());
    assert!((count..count + 2).all(|row| rank(&of_segments, row) <= 2), "{:?}", &of_segments[count..]);
    assert!((count..count + 2).any(|row| rank(&of_all, row) > 10), "{:?}", &of_all[count..]);
    // It is said in words, adds up, and survives a file.
    let explainer = Explainer::new(&by);
    let explained = explainer.contributions(&table(&new)).unwrap();
    for (row, &score) in of_segments.iter().enumerate() {
        let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
        assert!((sum - f64::from(score)).abs() < 1e-4 * f64::from(score).abs().max(1.0));
    }
    let again = crate::Detector::from_bytes(&by.to_bytes().unwrap()).unwrap();
    assert_eq!(again.score(&table(&new)).unwrap(), of_segments);
}

/// New rows of small segments, also of unknown ones, are alarms no more often than the calibration says, beyond chance.
#[test]
fn small_and_new_segments_do_not_alarm_more() {
    let mut fleet = Fleet::new(400);
    let counts: Vec<usize> = (0..400).map(|machine| [300, 30, 3, 0][machine % 4]).collect();
    let rows = fleet.rows(&counts);
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    for (size, kind) in [(0, 300), (1, 30), (2, 3), (3, 0)] {
        let counts: Vec<usize> = (0..400).map(|machine| if machine % 4 == size { 100 } else { 0 }).collect();
        let new = fleet.rows(&counts);
        let scores = by.score(&table(&new)).unwrap();
        let calibration = by.calibration();
        let alarms = scores.iter().filter(|&&score| calibration.p_value(score).value <= 0.01).count();
        let share = alarms as f64 / scores.len() as f64;
        assert!(share < 0.02, "segments of {kind} rows: {share}");
    }
}

#[test]
fn columns_without_segments_are_errors() {
    let rows = Fleet::new(1).rows(&[50]);
    let fit = |by: &str| {
        params().fitting(&table(&rows)).roles(Roles::default().by(by)).run().unwrap_err().to_string()
    };
    assert_eq!(
        fit("machine"),
        "column \"machine\" has fewer than two different values, so there are no segments to tell apart"
    );
    assert!(fit("plant").contains("\"plant\""), "{}", fit("plant"));
}

/// A slip in a segment of a few rows stands out when the table it was learned from is scored, too.
#[test]
fn an_odd_row_of_a_small_segment_does_not_hide_itself() {
    let mut fleet = Fleet::new(40);
    let counts: Vec<usize> = (0..40).map(|machine| if machine % 3 == 0 { 10 } else { 60 }).collect();
    let mut rows = fleet.rows(&counts);
    let slips = [5, rows.iter().position(|&(machine, _)| machine == 9).unwrap()];
    for slip in slips {
        let (machine, values) = &mut rows[slip];
        values[0] += 12.0 * fleet.usual[*machine][2];
    }
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    let scores = by.score(&table(&rows)).unwrap();
    let rank = |row: usize| scores.iter().filter(|&&score| score > scores[row]).count();
    assert!(slips.iter().all(|&slip| rank(slip) < 2), "{:?}", slips.map(rank));
}

/// Rows of machines with further columns.
fn with(rows: &[(usize, [f64; 2])], more: Vec<(&str, Values)>) -> Table {
    let plain = table(rows);
    let mut names: Vec<String> = vec!["machine".into()];
    let mut values = vec![plain.values(0).clone()];
    for (name, column) in more {
        names.push(name.to_owned());
        values.push(column);
    }
    names.extend(plain.names()[1..].iter().cloned());
    values.extend([plain.values(1).clone(), plain.values(2).clone()]);
    Table::of(names, values).unwrap()
}

/// Dates have one column less where there is no asinh scale.
#[test]
fn every_scale_finds_its_columns() {
    let rows = Fleet::new(20).rows(&[30; 20]);
    let dates = Values::Times((0..rows.len()).map(|row| 1.7e9 + 40_000.0 * row as f64).collect());
    let table = with(&rows, vec![("when", dates)]);
    for scale in [Scale::Linear, Scale::Asinh, Scale::Both] {
        let params = Params { scale, ..params() };
        let by = params.fitting(&table).roles(Roles::default().by("machine")).run().unwrap();
        let relative = by.encoder().columns().iter().filter(|column| column.table_column.is_some());
        let names: Vec<&str> = relative.map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["temperature for its machine", "load for its machine"], "{scale:?}");
        assert!(by.score(&table).unwrap().iter().all(|score| score.is_finite()));
    }
}

#[test]
fn what_segments_tell_nothing_of_is_an_error() {
    let rows = Fleet::new(10).rows(&[20; 10]);
    let words: Texts = (0..200).map(|row| Some(["a", "b", "c"][row % 3])).collect();
    let whole = with(&rows, vec![("word", words.into())]);
    let texts = Table::of(
        vec!["machine".into(), "word".into()],
        vec![whole.values(0).clone(), whole.values(1).clone()],
    )
    .unwrap();
    let fit =
        |table: &Table, roles: Roles| params().fitting(table).roles(roles).run().unwrap_err().to_string();
    assert_eq!(
        fit(&texts, Roles::default().by("machine")),
        "no column has numbers that could count by what is usual for each \"machine\"; fit the table without it"
    );
    assert_eq!(
        fit(&whole, Roles::default().by("machine").categorical("machine")),
        "column \"machine\" says which segment a row belongs to, so it cannot be a feature as well"
    );
}

/// Numbers name the same segments whether they were read as numbers or as text.
#[test]
fn segments_are_the_same_in_every_format() {
    let rows = Fleet::new(12).rows(&[25; 12]);
    let named = |machine: Values| {
        let plain = table(&rows);
        let names = plain.names().to_vec();
        Table::of(names, vec![machine, plain.values(1).clone(), plain.values(2).clone()]).unwrap()
    };
    let numbers = named(Values::Numbers(rows.iter().map(|&(machine, _)| machine as f64).collect()));
    let texts: Texts = rows.iter().map(|&(machine, _)| Some(format!("{machine}.0"))).collect();
    let by = params().fitting(&numbers).roles(Roles::default().by("machine")).run().unwrap();
    assert_eq!(by.score(&named(texts.into())).unwrap(), by.score(&numbers).unwrap());
    let codes = ["007", "7", "7.0", "-0.0", "1e3", "x1", "12345678901234567", "", "inf"];
    let plain = codes.map(|code| super::plain_number(code).unwrap_or_else(|| code.to_owned()));
    assert_eq!(plain, ["007", "7", "7", "0", "1000", "x1", "12345678901234567", "", "inf"]);
}

#[test]
fn rows_of_unknown_segments_are_told() {
    let rows = Fleet::new(12).rows(&[25; 12]);
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    let new: Vec<(usize, [f64; 2])> = vec![(3, [60.0, 100.0]), (77, [60.0, 100.0])];
    let (_, oddities) = by.score_all_noting::<f32>(&table(&new)).unwrap();
    assert_eq!(
        oddities.sentences(),
        [
            "column \"machine\": 1 row (\"M077\" in row 1) is of no segment that the training had; its numbers are compared \
          with those of all segments"
        ]
    );
}

/// A machine whose numbers hardly vary, but once, does not stretch the scale of all others.
#[test]
fn numbers_stay_numbers() {
    let mut rows: Vec<(usize, [f64; 2])> = Vec::new();
    for row in 0..4000 {
        let size = 10f64.powf(5.0 + 5.0 * (f64::from(row * 37 % 1000) / 1000.0));
        rows.push((row as usize % 20, [if row % 2 == 0 { size } else { -size }, 1.0]));
    }
    rows.extend((0..3000).map(|_| (20, [0.0, 2.0])));
    rows.push((20, [1e10, 1.0]));
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    for far in [1e10, 1e300, -1e300] {
        let scores = by.score(&table(&[(20, [far, 2.0]), (20, [0.0, 2.0])])).unwrap();
        assert!(scores[0].is_finite() && scores[0] > scores[1] + 1.0, "{far} {scores:?}");
    }
}

/// What is read from a file is what a fit makes.
#[test]
fn made_up_baselines_are_refused() {
    let rows = Fleet::new(12).rows(&[25; 12]);
    let by = params().fitting(&table(&rows)).roles(Roles::default().by("machine")).run().unwrap();
    let valid = |change: &dyn Fn(&mut super::Baseline)| {
        let mut segments = by.encoder().segments.clone().unwrap();
        change(&mut segments.baselines[1]);
        segments.is_valid(by.encoder().columns())
    };
    assert!(valid(&|_| {}));
    let changes: [&dyn Fn(&mut super::Baseline); 7] = [
        &|made| made.variance_rows = 0.0,
        &|made| made.middle_rows = f64::NAN,
        &|made| made.variance = 1e-320,
        &|made| made.scale.spread = 1e-310,
        &|made| made.rows.truncate(11),
        &|made| made.segments[3][0] = f32::INFINITY,
        &|made| made.column = 9,
    ];
    assert!(changes.iter().all(|change| !valid(change)));
}

/// Counts, and rates of a few steps, are the same numbers in the training and when its rows are scored.
#[test]
fn stepped_numbers_are_as_usual_as_in_the_training() {
    let mut random = Stream::new(11, Purpose::Shuffle, 0);
    let rows: Vec<(usize, [f64; 2])> = (0..3000)
        .map(|row| {
            let shop = row % 6;
            let discount =
                [0.0, 0.0, 0.2, 0.3, 0.5, 0.7][(random.unit() * (3.0 + shop as f64 / 2.0)) as usize];
            (shop, [discount, (random.unit() * random.unit() * 14.0).floor()])
        })
        .collect();
    let states = rows.iter().map(|&(shop, values)| Some(format!("{shop}{}", values[0] > 0.2)));
    let table = with(&rows, vec![("state", states.collect::<Texts>().into())]);
    let by = params().fitting(&table).roles(Roles::default().by("machine")).run().unwrap();
    let (scores, calibration) = (by.score(&table).unwrap(), by.calibration());
    let share = |p: f64| {
        let alarms = scores.iter().filter(|&&score| calibration.p_value(score).value <= p).count();
        alarms as f64 / scores.len() as f64
    };
    assert!(share(0.05) < 0.07 && share(0.01) < 0.02, "{} {}", share(0.05), share(0.01));
}
