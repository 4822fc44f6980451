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
