//! Baselines of segments, on made-up machines: how often new rows alarm, and how long a fit takes.

use std::time::Instant;

use anyhow::Result;
use clap::Args;
use diad::encode::Roles;
use diad::metrics::roc_auc;
use diad::table::{Table, Texts, Values};
use diad::{Detector, Params};
use serde::{Deserialize, Serialize};

use crate::data::mix;
use crate::render::{Grid, number};
use crate::study::{Bench, Made, Page, Study};

/// Machines of each size of the small table, and its columns.
const MACHINES: usize = 250;
const COLUMNS: usize = 5;
/// Rows of a machine in the training.
const SIZES: [usize; 4] = [300, 30, 3, 0];
/// New rows of each machine.
const NEW: usize = 100;
/// The share of ordinary rows that are alarms.
const ALARMS: f64 = 0.01;
/// Machines, rows of each and columns of the large table.
const LARGE: [usize; 3] = [1000, 1000, 20];

/// Baselines of segments.
#[derive(Debug, Args)]
pub struct SegmentsStudy {}

/// What was measured of machines of one size; of the large table, how long its fit takes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SegmentsRun {
    rows: usize,
    /// The share of alarms among new rows, with a baseline of each machine and without.
    alarms: Option<[f64; 2]>,
    /// How well rows that are usual for another machine are told from the others, likewise.
    area: Option<[f64; 2]>,
    seconds: Option<f64>,
    #[serde(flatten)]
    made: Made,
}

/// Machines that differ in what is usual of each column and in how much it varies.
struct Fleet {
    columns: usize,
}

impl Fleet {
    fn unit(key: u64) -> f64 {
        (mix(key) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(key: u64) -> f64 {
        (0..12).map(|draw| Self::unit(mix(key) ^ draw)).sum::<f64>() - 6.0
    }

    /// A value of a machine; `like` is the machine that it is usual for.
    fn value(seed: u64, [like, row, column]: [usize; 3]) -> f64 {
        let own = mix((like as u64) << 16 | column as u64);
        let varies = (0.3 * Self::normal(own ^ 1)).exp();
        3.0 * Self::normal(own) + varies * Self::normal(mix(seed ^ own) ^ row as u64)
    }

    /// Rows of machines, each with the machine whose values it has in the first column.
    fn table(&self, seed: u64, rows: &[[usize; 2]]) -> Result<Table> {
        let machines: Texts = rows.iter().map(|[machine, _]| Some(format!("machine {machine}"))).collect();
        let column = |column: usize| {
            let value = |(row, &[machine, like]): (usize, &[usize; 2])| {
                Self::value(seed, [if column == 0 { like } else { machine }, row, column])
            };
            Values::Numbers(rows.iter().enumerate().map(value).collect())
        };
        let names = std::iter::once("machine".to_owned()).chain((0..self.columns).map(|c| format!("c{c}")));
        let values = std::iter::once(Values::from(machines)).chain((0..self.columns).map(column));
        Ok(Table::of(names.collect(), values.collect())?)
    }
}

fn alarms(detector: &Detector, table: &Table) -> Result<f64> {
    let (scores, calibration) = (detector.score(table)?, detector.calibration());
    let alarms = scores.iter().filter(|&&score| calibration.p_value(score).value <= ALARMS).count();
    Ok(alarms as f64 / scores.len() as f64)
}

impl Study for SegmentsStudy {
    const NAME: &'static str = "segments";
    type Case = ();
    type Row = Vec<SegmentsRun>;

    fn cases(&self, _: &Bench) -> Result<Vec<()>> {
        Ok(vec![()])
    }

    fn is_done(&self, (): &(), runs: &Vec<SegmentsRun>, bench: &Bench) -> bool {
        runs.iter().all(|run| run.made.is_of(bench))
    }

    fn measure(&self, (): &(), bench: &Bench) -> Result<Option<Vec<SegmentsRun>>> {
        let params: Params = bench.params.clone();
        let fleet = Fleet { columns: COLUMNS };
        let machines = |size: usize| (0..MACHINES).map(move |machine| SIZES.len() * machine + size);
        let training: Vec<[usize; 2]> = (0..SIZES.len())
            .flat_map(|size| machines(size).flat_map(move |machine| vec![[machine; 2]; SIZES[size]]))
            .collect();
        let table = fleet.table(1, &training)?;
        let by = params.fitting(&table).roles(Roles::default().by("machine")).run()?;
        let whole = params.fitting(&table).ignore("machine").run()?;
        let mut runs = Vec::new();
        for (size, &rows) in SIZES.iter().enumerate() {
            let new: Vec<[usize; 2]> = machines(size).flat_map(|machine| vec![[machine; 2]; NEW]).collect();
            let ordinary = fleet.table(2, &new)?;
            // In every 20th row the first column is that of the next machine of that size.
            let other = |(row, &[machine, _]): (usize, &[usize; 2])| match row % 20 {
                0 => [machine, (machine + SIZES.len()) % (SIZES.len() * MACHINES)],
                _ => [machine; 2],
            };
            let swapped: Vec<[usize; 2]> = new.iter().enumerate().map(other).collect();
            let labels: Vec<bool> = (0..swapped.len()).map(|row| row % 20 == 0).collect();
            let swapped = fleet.table(3, &swapped)?;
            let area = |detector: &Detector| -> Result<f64> {
                Ok(roc_auc(&labels, &detector.score(&swapped)?).unwrap_or(f64::NAN))
            };
            runs.push(SegmentsRun {
                rows,
                alarms: Some([alarms(&by, &ordinary)?, alarms(&whole, &ordinary)?]),
                area: Some([area(&by)?, area(&whole)?]),
                seconds: None,
                made: bench.made(),
            });
        }
        let [machines, rows, columns] = LARGE;
        let all: Vec<[usize; 2]> = (0..machines).flat_map(|machine| vec![[machine; 2]; rows]).collect();
        let table = Fleet { columns }.table(4, &all)?;
        let start = Instant::now();
        params.fitting(&table).roles(Roles::default().by("machine")).run()?;
        let seconds = Some(start.elapsed().as_secs_f64());
        runs.push(SegmentsRun { rows, alarms: None, area: None, seconds, made: bench.made() });
        Ok(Some(runs))
    }

    fn words(runs: &Vec<SegmentsRun>) -> String {
        runs.iter()
            .map(|run| format!("{} rows: {:?} {:?} {:?}\n", run.rows, run.alarms, run.area, run.seconds))
            .collect()
    }

    fn page(&self, runs: Vec<Vec<SegmentsRun>>, bench: &Bench) -> Result<Page> {
        let runs: Vec<SegmentsRun> = runs.into_iter().flatten().filter(|run| run.made.is_of(bench)).collect();
        let header =
            ["rows of a machine", "alarms, --by", "alarms, without", "swapped, --by", "swapped, without"];
        let mut grid = Grid::new(header);
        for SegmentsRun { rows, alarms, area, .. } in &runs {
            if let (Some(alarms), Some(area)) = (alarms, area) {
                let share = |share: f64| number(Some(100.0 * share), 2);
                grid.push([
                    rows.to_string(),
                    share(alarms[0]),
                    share(alarms[1]),
                    share(area[0]),
                    share(area[1]),
                ]);
            }
        }
        let seconds = runs.iter().filter_map(|run| run.seconds).fold(0.0, f64::max);
        let [machines, rows, columns] = LARGE;
        let text = format!(
            "# Baselines of segments\n\n{} made-up machines that differ in what is usual of {COLUMNS} columns and in how much it varies, a quarter of them each with \
             300, 30, 3 and no rows in the training; {NEW} new rows of each. Alarms: the share of ordinary new rows with a p-value up to {ALARMS}, in %. \
             Swapped: the area under the ROC curve, in %, for rows whose first column is usual for another machine. A fit to {machines} machines of \
             {rows} rows and {columns} columns takes {seconds:.1} s on {} threads.\n\n{}",
            SIZES.len() * MACHINES,
            rayon::current_num_threads(),
            grid.markdown(1)
        );
        let commits = runs.into_iter().map(|run| run.made.commit).collect();
        Ok(Page { text, commands: vec![bench.command("segments")], commits, csv: grid, picture: None })
    }
}
