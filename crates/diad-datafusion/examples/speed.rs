//! How fast `diad_score` and `diad_judge` are, beside the library that does the same with the same arrays:
//!
//! ```sh
//! cargo run --example speed -- 1000000
//! ```
//!
//! All of it on one thread, one after the other in turns. The least processor time of each is given. It needs Linux.

#![expect(clippy::unwrap_used, reason = "a measurement may panic")]

#[expect(dead_code, reason = "the tests also make models")]
#[path = "../tests/made/mod.rs"]
mod made;

use std::fs;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use diad_arrow::arrow_59::Column;
use diad_datafusion::Scorer;
use diad_datafusion::diad::calibrate::{Judge, Rarities};
use diad_datafusion::diad::table::{ColumnView, View};
use diad_datafusion::diad::{Params, on_this_thread};
use futures::StreamExt;
use tokio::runtime::Runtime;

/// How often each is run.
const RUNS: usize = 5;

/// Some columns of batches, as one table that stays where it is.
fn view(schema: &SchemaRef, batches: &[RecordBatch]) -> View<'static> {
    let column = |place: usize| {
        let arrays = batches.iter().map(|batch| batch.column(place).clone()).collect();
        Box::new(Column::new(schema.field(place).data_type(), arrays)) as Box<dyn ColumnView>
    };
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    View::new(names, (0..schema.fields().len()).map(column).collect()).unwrap()
}

/// Nanoseconds of the processor that this thread has used so far.
fn used() -> u64 {
    let told = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    told.split_whitespace().next().unwrap().parse().unwrap()
}

/// Runs a query and lets its rows go, which have to be so many.
fn read(runtime: &Runtime, ctx: &SessionContext, query: &str, rows: usize) {
    let read = runtime.block_on(async {
        let mut stream = ctx.sql(query).await.unwrap().execute_stream().await.unwrap();
        let mut read = 0;
        while let Some(batch) = stream.next().await {
            read += batch.unwrap().num_rows();
        }
        read
    });
    assert_eq!(read, rows);
}

fn main() {
    let rows: usize = std::env::args().nth(1).map_or(1_000_000, |rows| rows.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let all = ["x", "y", "count", "amount", "single", "gap", "kind", "city", "flag", "when", "day"];
    for (name, columns) in [("numbers", &all[..5]), ("all", &all[..])] {
        let project = |batch: &RecordBatch| {
            let places: Vec<usize> =
                columns.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
            batch.project(&places).unwrap()
        };
        let made = |rows: usize, seed: u64| -> Vec<RecordBatch> {
            made::table(rows, seed, false).1.iter().map(project).collect()
        };
        let (training, batches) = (made(20_000, 1), made(rows, 2));
        let schema = batches[0].schema();
        let detector = Params::default().with_steps(300).trees(60).fit(&view(&schema, &training)).unwrap();
        let scorer = Scorer::new(detector);
        let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let table = MemTable::try_new(schema.clone(), vec![batches.clone()]).unwrap();
        ctx.register_table("sales", Arc::new(table)).unwrap();
        scorer.register(&ctx).unwrap();

        let (table, detector) = (view(&schema, &batches), scorer.detector());
        let rarities = Rarities::new(detector.calibration());
        let judge = Judge::new(detector, &rarities);
        let score =
            || assert_eq!(on_this_thread(|| detector.score_all_as::<f64>(&table)).unwrap().len(), rows);
        let judged = || assert_eq!(on_this_thread(|| judge.judge(&table)).unwrap().scores.len(), rows);
        let what: [(&str, &dyn Fn()); 4] = [
            ("library, scores", &score),
            ("diad_score", &|| read(&runtime, &ctx, "SELECT diad_score(*) FROM sales", rows)),
            ("library, with percentiles and p-values", &judged),
            ("diad_judge", &|| read(&runtime, &ctx, "SELECT diad_judge(*) FROM sales", rows)),
        ];
        let mut least = [u64::MAX; 4];
        for _ in 0..RUNS {
            for ((_, work), least) in what.iter().zip(&mut least) {
                let start = used();
                work();
                *least = (used() - start).min(*least);
            }
        }
        for ((what, _), nanoseconds) in what.iter().zip(least) {
            let (micro, speed) =
                (nanoseconds as f64 / 1e3 / rows as f64, rows as f64 * 1e9 / nanoseconds as f64);
            println!("{name}: {what}: {micro:.3} µs of the processor a row, {speed:.0} rows a second of it");
        }
    }
}
