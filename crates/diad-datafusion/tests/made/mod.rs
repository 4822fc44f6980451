//! Tables that are made up, and the `diad` command.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Int32Type, Schema, SchemaRef};
use datafusion::arrow::ipc::writer::StreamWriter;

/// Random numbers: xorshift64*.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn uniform(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 53) as f64
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.uniform() * end as f64) as usize
    }

    /// The sum of twelve uniform numbers, nearly normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn chance(&mut self, share: f64) -> bool {
        self.uniform() < share
    }
}

/// What no training row had.
const ODD: [f64; 11] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    -0.0,
    0.0,
    1e308,
    -1e308,
    5e-324,
    1e19,
    -1e19,
    9_007_199_254_740_994.0,
];

/// Rows of a batch, as many as DataFusion works on at a time.
const BATCH: usize = 8_192;

/// A table of every kind of column, in batches; in a `strange` one, 5 % of the cells of every column are odd ones.
pub fn table(rows: usize, seed: u64, strange: bool) -> (SchemaRef, Vec<RecordBatch>) {
    let mut random = Random::new(seed);
    let firsts = (0..rows).step_by(BATCH);
    let batches: Vec<RecordBatch> =
        firsts.map(|first| batch(first, BATCH.min(rows - first), &mut random, strange)).collect();
    (batches[0].schema(), batches)
}

/// Makes cells, of which some are odd.
struct Maker<'a> {
    random: &'a mut Random,
    odd: f64,
    rows: usize,
}

impl Maker<'_> {
    fn is_odd(&mut self) -> bool {
        self.random.chance(self.odd)
    }

    /// A column of these cells, of which a share is missing.
    fn cells<T>(
        &mut self,
        missing: f64,
        plain: impl Fn(usize, &mut Random) -> T,
        odd: impl Fn(&mut Random) -> T,
    ) -> Vec<Option<T>> {
        let rows = 0..self.rows;
        let cell = |row| {
            let cell = if self.is_odd() { odd(self.random) } else { plain(row, self.random) };
            (!self.random.chance(missing + 0.4 * self.odd)).then_some(cell)
        };
        rows.map(cell).collect()
    }

    fn numbers(&mut self, missing: f64, plain: impl Fn(usize, &mut Random) -> f64) -> Float64Array {
        self.cells(missing, plain, |random| ODD[random.below(ODD.len())]).into()
    }

    fn texts(&mut self, missing: f64, plain: impl Fn(&mut Random) -> String) -> Vec<Option<String>> {
        let long = "x".repeat(300);
        let odd = ["", "unseen", "CARD", "NaN", "a\0b", "🏔", " cash ", &long];
        self.cells(missing, |_, random| plain(random), |random| odd[random.below(odd.len())].to_owned())
    }
}

const DAY: i64 = 86_400_000_000;

fn batch(first: usize, rows: usize, random: &mut Random, strange: bool) -> RecordBatch {
    let x: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
    let amount: Vec<f64> = (0..rows).map(|_| (3.0 + random.normal()).exp()).collect();
    let moments: Vec<i64> =
        (0..rows).map(|_| 19_723 * DAY + random.below(365 * 86_400) as i64 * 1_000_000).collect();
    let mut maker = Maker { random, odd: if strange { 0.05 } else { 0.0 }, rows };
    let single = maker.numbers(0.0, |row, _| x[row]);
    let single: Float32Array = single.iter().map(|cell| cell.map(|cell| cell as f32)).collect();
    let huge = [i64::MAX, i64::MIN, (1 << 53) + 1];
    let count = maker.cells(0.0, |_, random| random.below(8) as i64, |random| huge[random.below(3)]);
    let kinds = ["card", "card", "cash", "invoice", "üçä"];
    let kind = maker.texts(0.0, |random| kinds[random.below(5)].to_owned());
    let city = maker.texts(0.05, |random| format!("city {}", random.below(40)));
    let far = [0, i64::MAX, i64::MIN, -62_135_596_800_000_000];
    let when = maker.cells(0.0, |row, _| moments[row], |random| far[random.below(4)]);
    let day = maker.cells(0.0, |row, _| (moments[row] / DAY) as i32, |random| random.below(1 << 40) as i32);
    let columns: [(&str, ArrayRef); 12] = [
        ("number", Arc::new(Int64Array::from_iter_values(first as i64..(first + rows) as i64))),
        ("x", Arc::new(maker.numbers(0.0, |row, _| x[row]))),
        ("y", Arc::new(maker.numbers(0.0, |row, random| 3.0 * x[row] + random.normal()))),
        ("count", Arc::new(Int64Array::from(count))),
        ("amount", Arc::new(maker.numbers(0.0, |row, _| amount[row]))),
        ("single", Arc::new(single)),
        ("gap", Arc::new(maker.numbers(0.1, |row, _| (amount[row] * 10.0).round() / 10.0))),
        ("kind", Arc::new(StringViewArray::from_iter(kind))),
        ("city", Arc::new(city.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())),
        ("flag", Arc::new(BooleanArray::from(maker.cells(0.0, |_, random| random.chance(0.2), |_| true)))),
        ("when", Arc::new(TimestampMicrosecondArray::from(when).with_timezone("+02:00"))),
        ("day", Arc::new(Date32Array::from(day))),
    ];
    let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.into_iter().map(|(_, array)| array).collect()).unwrap()
}

/// Writes some columns of a table as a stream of Arrow: a file has one dictionary of a column for all its batches.
pub fn write(path: &Path, batches: &[RecordBatch], columns: &[&str]) {
    let project = |batch: &RecordBatch| {
        let places: Vec<usize> = columns.iter().map(|name| batch.schema().index_of(name).unwrap()).collect();
        batch.project(&places).unwrap()
    };
    let file = std::fs::File::create(path).unwrap();
    let mut writer = StreamWriter::try_new(file, &project(&batches[0]).schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(&project(batch)).unwrap());
    writer.finish().unwrap();
}

/// Runs the `diad` command: the one that the variable `DIAD` names, or that of this repository, which is built where it is not.
pub fn diad(args: &[&str]) {
    static COMMAND: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    let command = COMMAND.get_or_init(|| {
        if let Some(command) = std::env::var_os("DIAD") {
            return command.into();
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let build = build.args(["build", "--quiet", "-p", "diad-cli"]).current_dir(&root);
        assert!(build.status().unwrap().success(), "the diad command cannot be built");
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        target.join(format!("debug/diad{}", std::env::consts::EXE_SUFFIX))
    });
    let done = Command::new(command).args(args).stdin(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "diad {args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// What models are made of, with their columns.
pub const MODELS: [(&str, &[&str]); 4] = [
    ("numbers", &["x", "y", "count", "amount", "single"]),
    ("categories", &["kind", "city", "flag"]),
    ("gaps", &["gap", "city", "x"]),
    ("dates", &["when", "day", "amount"]),
];

/// Six models of the same rows, each as a file, made by the command.
pub fn models(folder: &Path, rows: usize) -> Vec<(&'static str, PathBuf)> {
    let (schema, batches) = table(rows, 1, false);
    let path = |name: &str| folder.join(name).into_os_string().into_string().unwrap();
    let quick = ["--steps", "300", "--trees", "60"];
    let mut models = Vec::new();
    for (name, columns) in MODELS {
        let (rows, model) = (path("training.arrow"), path(&format!("{name}.diad")));
        write(Path::new(&rows), &batches, columns);
        diad(&[&["fit", &rows, "-o", &model], &quick[..]].concat());
        models.push((name, model.into()));
    }
    let labelled: Vec<RecordBatch> = batches.iter().map(labelled).collect();
    let columns: Vec<&str> =
        schema.fields().iter().map(|field| field.name().as_str()).chain(["label"]).collect();
    let (rows, plain, tuned, edited) =
        (path("labelled.arrow"), path("plain.diad"), path("tuned.diad"), path("edited.diad"));
    write(Path::new(&rows), &labelled, &columns);
    let roles = ["--label", "label", "--ignore", "number"];
    diad(&[&["fit", &rows, "-o", &plain], &roles[..], &quick[..]].concat());
    diad(&["tune", &plain, &rows, "--label", "label", "-o", &tuned]);
    let edits = ["--mute", "kind=cash", "--cap", "amount=1", "--alert", "share=1%"];
    diad(&[&["edit", &tuned, "-o", &edited], &edits[..]].concat());
    models.extend([("tuned", tuned.into()), ("edited", edited.into())]);
    models
}

/// With a label for each fiftieth row.
fn labelled(batch: &RecordBatch) -> RecordBatch {
    let amounts = batch.column_by_name("amount").unwrap().as_primitive::<Float64Type>();
    let label = |row: usize| row.is_multiple_of(50).then(|| i64::from(amounts.value(row) > 60.0));
    let labels: Int64Array = (0..batch.num_rows()).map(label).collect();
    let mut fields: Vec<_> = batch.schema().fields().iter().cloned().collect();
    fields.push(Arc::new(Field::new("label", DataType::Int64, true)));
    let columns = batch.columns().iter().cloned().chain([Arc::new(labels) as ArrayRef]);
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.collect()).unwrap()
}
