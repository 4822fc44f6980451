//! Scores, percentiles, p-values, severities, alerts and reasons are those that the `diad` command writes, to the last bit.
//!
//! `DIAD_ROWS=1000000 cargo test --test parity -- --nocapture` compares a million rows, and says what is equal.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod made;

use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::{concat_batches, sort_to_indices, take_record_batch};
use datafusion::arrow::datatypes::{Float64Type, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use diad_datafusion::Scorer;
use diad_datafusion::diad::table::{FileSource, ReadAs, Selection, Source, Values};

/// What the command writes of rows, and the function `diad_judge` gives.
const TOLD: [&str; 6] = ["score", "percentile", "p_value", "severity", "alert", "reason_1"];

/// The columns of a file as the command wrote them.
struct Written(Vec<Vec<Values>>);

impl Written {
    fn read(file: &Path) -> Self {
        let texts = TOLD[3..]
            .iter()
            .fold(Selection::only(TOLD), |selection, name| selection.reading(*name, ReadAs::Texts));
        let file = FileSource::new(file);
        let mut reader = file.open(&texts).unwrap();
        let mut batches = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            batches.push(
                TOLD.iter()
                    .map(|name| {
                        let place = batch.names().iter().position(|known| known == name).unwrap();
                        batch.values(place).clone()
                    })
                    .collect(),
            );
        }
        Self(batches)
    }

    fn numbers(&self, column: usize) -> Vec<f64> {
        let numbers = |batch: &Vec<Values>| match &batch[column] {
            Values::Numbers(numbers) => numbers.clone(),
            other => panic!("{} is {other:?}", TOLD[column]),
        };
        self.0.iter().flat_map(numbers).collect()
    }

    fn texts(&self, column: usize) -> Vec<Option<String>> {
        self.0.iter().flat_map(|batch| (0..batch[column].len()).map(|row| batch[column].cell(row))).collect()
    }
}

/// The rows of a frame in the order of their numbers.
async fn sorted(frame: DataFrame) -> RecordBatch {
    let schema: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.unwrap();
    let all = concat_batches(&batches.first().map_or(schema, RecordBatch::schema), &batches).unwrap();
    let order = sort_to_indices(all.column_by_name("number").unwrap(), None, None).unwrap();
    take_record_batch(&all, &order).unwrap()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn numbers(batch: &RecordBatch, name: &str) -> Vec<u64> {
    let numbers = batch.column_by_name(name).unwrap().as_primitive::<Float64Type>();
    assert_eq!(numbers.null_count(), 0, "{name}");
    bits(numbers.values())
}

fn texts(array: &ArrayRef) -> Vec<Option<String>> {
    match array.as_boolean_opt() {
        Some(truths) => truths.iter().map(|truth| truth.map(|truth| u8::from(truth).to_string())).collect(),
        None => array.as_string_view().iter().map(|text| text.map(str::to_owned)).collect(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_is_as_the_command_writes_it() {
    let rows = std::env::var("DIAD_ROWS").map_or(5_000, |rows| rows.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let models = made::models(folder.path(), rows.clamp(4_000, 20_000));
    let (schema, batches) = made::table(rows, 2, true);
    let (table, scores) = (folder.path().join("rows.arrow"), folder.path().join("scores.csv"));
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    made::write(&table, &batches, &names);
    // Small partitions, which are worked on at once and come in any order.
    let partitions = batches.chunks(batches.len().div_ceil(3)).map(<[_]>::to_vec).collect();
    let ctx = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
    ctx.register_table("sales", Arc::new(MemTable::try_new(schema, partitions).unwrap())).unwrap();
    let mut unequal = Vec::new();
    for (name, model) in models {
        let (model_text, table, output) =
            (model.to_str().unwrap(), table.to_str().unwrap(), scores.to_str().unwrap());
        made::diad(&["score", model_text, table, "--reasons", "1", "--alert", "share=1%", "-o", output]);
        let expected = Written::read(&scores);
        let want: Vec<f64> = expected.numbers(0).iter().map(|&score| f64::from(score as f32)).collect();
        assert_eq!(want.len(), rows);
        let scorer = Scorer::open(&model).unwrap();
        scorer.with_alert("share=1%".parse().unwrap()).with_reasons(1).register(&ctx).unwrap();

        let scored = ctx.sql("SELECT number, diad_score(*) AS score FROM sales").await.unwrap();
        let function = numbers(&sorted(scored).await, "score") == bits(&want);
        let scorer = Scorer::open(&model).unwrap().with_alert("share=1%".parse().unwrap()).with_reasons(1);
        let frame = scorer.score(ctx.table("sales").await.unwrap(), Some("number"), &["amount"]).unwrap();
        let frame = sorted(frame).await;
        let mut all = numbers(&frame, "score") == bits(&want);
        for (column, told) in TOLD.into_iter().enumerate().skip(1) {
            let equal = match column {
                1 | 2 => numbers(&frame, told) == bits(&expected.numbers(column)),
                _ => texts(frame.column_by_name(told).unwrap()) == expected.texts(column),
            };
            all &= equal;
            if !equal {
                unequal.push(format!("{name}: {told}"));
            }
        }
        println!("{name}: {rows} rows, diad_score equal: {function}, Scorer::score equal: {all}");
        if !function || !all {
            unequal.push(name.to_owned());
        }
        let different = bits(&want).into_iter().collect::<std::collections::HashSet<u64>>().len();
        assert!(different > 20, "{name} has {different} different scores, too few to compare anything");
    }
    assert_eq!(unequal, Vec::<String>::new());
}
