//! The functions in queries: their arguments, the types of columns, and what is said where something is wrong.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use datafusion::arrow::array::*;
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Float64Type, Schema, TimeUnit};
use datafusion::execution::FunctionRegistry;
use datafusion::prelude::{SessionContext, col, ident};
use diad_datafusion::Scorer;
use diad_datafusion::diad::encode::Roles;
use diad_datafusion::diad::{Alert, Detector, Params};

/// 400 rows: numbers, texts, days as moments at midnight, and times of day, each with gaps.
fn sales() -> RecordBatch {
    let present = |row: i64, every: i64| row % every != 0;
    let x = (0..400).map(|row| present(row, 37).then_some((row % 20) as f64));
    let y = (0..400).map(|row| Some(if row == 123 { 100.0 } else { (row % 20 * 2) as f64 }));
    let kind = (0..400).map(|row| present(row, 41).then_some(["card", "cash", "invoice"][row as usize % 3]));
    let day = 86_400_000_000;
    let when = (0..400).map(|row| present(row, 43).then_some((19_723 + row * 7 % 365) * day));
    let clock = (0..400).map(|row| present(row, 47).then_some(row * 211 % 86_400 * 1_000_000));
    let flag = (0..400).map(|row| present(row, 53).then_some(row % 5 == 0));
    RecordBatch::try_from_iter_with_nullable([
        ("x", Arc::new(x.collect::<Float64Array>()) as ArrayRef, true),
        ("Y", Arc::new(y.collect::<Float64Array>()), true),
        ("kind", Arc::new(kind.collect::<StringArray>()), true),
        ("when", Arc::new(when.collect::<TimestampMicrosecondArray>()), true),
        ("clock", Arc::new(clock.collect::<Time64MicrosecondArray>()), true),
        ("flag", Arc::new(flag.collect::<BooleanArray>()), true),
    ])
    .unwrap()
}

/// A model of some columns.
fn model(columns: &[&str]) -> Detector {
    let table = sales();
    let places: Vec<usize> = columns.iter().map(|name| table.schema().index_of(name).unwrap()).collect();
    let view = diad_arrow::arrow_59::view(&table.project(&places).unwrap()).unwrap();
    Params::default().with_steps(100).trees(30).fit(&view).unwrap()
}

/// The table `sales`, and the functions of a model of some of its columns.
fn registered(columns: &[&str]) -> (SessionContext, Scorer) {
    let ctx = SessionContext::new();
    ctx.register_batch("sales", sales()).unwrap();
    let scorer = Scorer::new(model(columns));
    scorer.register(&ctx).unwrap();
    (ctx, scorer)
}

async fn scores(ctx: &SessionContext, query: &str) -> Vec<Option<u64>> {
    let batches = ctx.sql(query).await.unwrap().collect().await.unwrap();
    let scores = |batch: &RecordBatch| {
        let scores = batch.column(0).as_primitive::<Float64Type>().clone();
        (0..scores.len()).map(move |row| scores.is_valid(row).then(|| scores.value(row).to_bits()))
    };
    batches.iter().flat_map(scores).collect()
}

/// The scores of the library, of the same rows.
fn expected(detector: &Detector, rows: &RecordBatch) -> Vec<Option<u64>> {
    let scores = detector.score_all_as::<f64>(&diad_arrow::arrow_59::view(rows).unwrap()).unwrap();
    scores.into_iter().map(|score| Some(score.to_bits())).collect()
}

/// What is said of a query that cannot be run.
async fn refused(ctx: &SessionContext, query: &str) -> String {
    let error = match ctx.sql(query).await {
        Ok(frame) => frame.collect().await.unwrap_err(),
        Err(error) => error,
    };
    error.strip_backtrace()
}

#[tokio::test]
async fn columns_are_found_by_name_however_they_are_given() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let want = expected(scorer.detector(), &sales());
    for query in [
        r#"SELECT diad_score(x, "Y") FROM sales"#,
        r#"SELECT diad_score("Y", kind, x) FROM sales"#,
        "SELECT diad_score(*) FROM sales",
        "SELECT diad_score(s.*) FROM sales s",
        r#"SELECT diad_score(struct(x AS x, "Y" AS "Y")) FROM sales"#,
        r#"SELECT diad_score(named_struct('Y', "Y", 'kind', kind, 'x', x)) FROM sales"#,
        r#"SELECT diad_score(row) FROM (SELECT named_struct('Y', "Y", 'x', x) AS row FROM sales)"#,
        "SELECT t.j.score FROM (SELECT diad_judge(*) AS j FROM sales) t",
        r#"SELECT diad_score(t.*) FROM (SELECT x, "Y" FROM sales) t"#,
        "SELECT get_field(diad_judge(*), 'score') FROM sales",
    ] {
        assert_eq!(scores(&ctx, query).await, want, "{query}");
    }
    // The optimiser puts the columns of the table in place of those of the query, but the names of the query count.
    let swapped = r#"SELECT diad_score(x, "Y") FROM (SELECT "Y" AS x, x AS "Y" FROM sales)"#;
    let table = sales();
    let columns = [("x", table.column(1).clone(), true), ("Y", table.column(0).clone(), true)];
    let other = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let want_swapped = expected(scorer.detector(), &other);
    assert_ne!(want_swapped, want);
    assert_eq!(scores(&ctx, swapped).await, want_swapped);
    // In conditions, in the order, in groups, and beside another table.
    let most =
        scores(&ctx, "SELECT diad_score(*) AS s FROM sales WHERE diad_score(*) > 0 ORDER BY s DESC LIMIT 1")
            .await;
    assert_eq!(most, [want[123]]);
    // Whether the columns are in the list or not.
    for order in [r#"diad_score(x, "Y")"#, "score"] {
        let query = format!(r#"SELECT "Y", diad_score(*) AS score FROM sales ORDER BY {order} DESC LIMIT 1"#);
        assert_eq!(scores(&ctx, &query).await, [Some(100f64.to_bits())], "{query}");
    }
    let by = r#"SELECT max(diad_score(x, "Y")) FROM sales GROUP BY diad_score(x, "Y") > 1e9"#;
    assert_eq!(scores(&ctx, by).await, [want[123]]);
    let joined = r#"SELECT diad_score(s.*) FROM sales s CROSS JOIN (SELECT 7.0 AS x) other"#;
    assert_eq!(scores(&ctx, joined).await, want);
}

#[tokio::test]
async fn expressions_are_columns_if_they_are_named() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let want = expected(scorer.detector(), &sales());
    let function = ctx.udf("diad_score").unwrap();
    let frame = ctx.table("sales").await.unwrap();
    let call = function.call(vec![(col("x") + col("x") - col("x")).alias("x"), ident("Y")]);
    ctx.register_table("called", frame.select(vec![call.alias("score")]).unwrap().into_view()).unwrap();
    assert_eq!(scores(&ctx, "SELECT score FROM called").await, want);
}

#[tokio::test]
async fn the_score_of_null_is_null() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let table = sales().project(&[0, 1]).unwrap();
    let nulls = NullBuffer::from((0..400).map(|row| row % 3 != 0).collect::<Vec<bool>>());
    let rows = StructArray::new(table.schema().fields().clone(), table.columns().to_vec(), Some(nulls));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("row", Arc::new(rows) as ArrayRef, true)]).unwrap();
    ctx.register_batch("packed", batch).unwrap();
    let mut want = expected(scorer.detector(), &table);
    want.iter_mut().step_by(3).for_each(|score| *score = None);
    assert_eq!(scores(&ctx, r#"SELECT diad_score("row") FROM packed"#).await, want);
    let null = "SELECT count(*)::DOUBLE FROM packed WHERE diad_judge(\"row\") IS NULL";
    assert_eq!(scores(&ctx, null).await, [Some(134f64.to_bits())]);
}

#[tokio::test]
async fn constants_and_empty_tables_are_judged_too() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let table = RecordBatch::try_from_iter([
        ("x", Arc::new(Int64Array::from(vec![7])) as ArrayRef),
        ("Y", Arc::new(Int64Array::from(vec![66])) as ArrayRef),
    ])
    .unwrap();
    let want = expected(scorer.detector(), &table);
    assert_eq!(scores(&ctx, r#"SELECT diad_score(struct(7 AS x, 66 AS "Y"))"#).await, want);
    let beside = scores(&ctx, r#"SELECT diad_score(struct(7 AS x, 66 AS "Y")) FROM sales"#).await;
    assert_eq!(beside, vec![want[0]; 400]);
    assert_eq!(scores(&ctx, "SELECT diad_score(*) FROM sales WHERE x > 1000").await, []);
}

#[tokio::test]
async fn columns_of_every_type_are_read() {
    use DataType::*;
    let boxed = |kind: DataType| Box::new(kind);
    let zone = |zone: &str| Some(zone.into());
    let numbers = vec![
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Decimal32(9, 2),
        Decimal64(18, 3),
        Decimal128(38, 4),
        Decimal256(76, 5),
    ];
    let texts = vec![
        LargeUtf8,
        Utf8View,
        Dictionary(boxed(Int8), boxed(Utf8)),
        Dictionary(boxed(UInt32), boxed(LargeUtf8)),
        Dictionary(boxed(Int64), boxed(Utf8View)),
    ];
    let moments = vec![
        Date32,
        Date64,
        Timestamp(TimeUnit::Second, None),
        Timestamp(TimeUnit::Millisecond, zone("UTC")),
        Timestamp(TimeUnit::Microsecond, zone("+00:00")),
        Timestamp(TimeUnit::Nanosecond, None),
    ];
    let clocks = vec![Time32(TimeUnit::Second), Time32(TimeUnit::Millisecond), Time64(TimeUnit::Nanosecond)];
    let truths = vec![Utf8, Utf8View];
    let columns = ["x", "Y", "kind", "when", "clock", "flag"];
    let (ctx, scorer) = registered(&columns);
    let table = sales();
    let want = expected(scorer.detector(), &table);
    for (name, kinds) in [
        ("x", numbers.clone()),
        ("Y", numbers),
        ("kind", texts),
        ("when", moments),
        ("clock", clocks),
        ("flag", truths),
    ] {
        for kind in kinds {
            let place = table.schema().index_of(name).unwrap();
            let mut arrays = table.columns().to_vec();
            arrays[place] = cast(&arrays[place], &kind).unwrap();
            assert_eq!(arrays[place].null_count(), table.column(place).null_count(), "{kind}");
            let fields = columns
                .iter()
                .zip(&arrays)
                .map(|(name, array)| Field::new(*name, array.data_type().clone(), true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            let other = RecordBatch::try_new(schema, arrays).unwrap();
            ctx.deregister_table("other").unwrap();
            ctx.register_batch("other", other).unwrap();
            assert_eq!(scores(&ctx, "SELECT diad_score(*) FROM other").await, want, "{name} as {kind}");
        }
    }
    // A column of nothing but gaps, and a zone, which changes what is shown of a moment but not the moment.
    let gaps = scores(
        &ctx,
        r#"SELECT diad_score(struct(NULL AS x, "Y" AS "Y", kind AS kind, "when" AS "when", clock AS clock, flag AS flag)) FROM sales"#,
    );
    let empty = scores(
        &ctx,
        r#"SELECT diad_score(struct(NULL::DOUBLE AS x, "Y" AS "Y", kind AS kind, "when" AS "when", clock AS clock, flag AS flag)) FROM sales"#,
    );
    assert_eq!(gaps.await, empty.await);
}

#[tokio::test]
async fn errors_are_one_sentence() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let said = |error: &str| error.split_once(": ").unwrap().1.to_owned();
    for (query, sentence) in [
        (
            "SELECT diad_score(x, kind) FROM sales",
            r#"diad_score needs a column "Y", which is not among its arguments; add it, in double quotes if its name has capital letters"#,
        ),
        (
            r#"SELECT diad_score(x * 2, "Y") FROM sales"#,
            "diad_score finds columns by their names, and argument 1 (sales.x * Int64(2)) has none; write diad_score(struct(… AS name, …))",
        ),
        (
            "SELECT diad_score(*) FROM sales a CROSS JOIN sales b",
            r#"diad_score has more than one argument that is called "x"; give the columns of one table, such as t.*"#,
        ),
        (
            "SELECT diad_score(struct(x AS x)) FROM sales",
            r#"the table lacks column "Y" of the model; give a table with all columns the model was trained on"#,
        ),
        (
            r#"SELECT diad_judge(struct(make_row AS x, "Y" AS "Y")) FROM (SELECT struct(x AS a) AS make_row, "Y" FROM sales)"#,
            r#"column "x" has type struct, which is not supported; write it as numbers or text"#,
        ),
        (
            r#"SELECT diad_score(x, "Y") FROM (SELECT arrow_cast(kind, 'Binary') AS x, "Y" FROM sales)"#,
            r#"column "x" has type binary, which is not supported; write it as numbers or text"#,
        ),
    ] {
        assert_eq!(said(&refused(&ctx, query).await), sentence, "{query}");
    }
    let frame = || async { ctx.table("sales").await.unwrap() };
    let error = scorer.score(frame().await.select_columns(&["x"]).unwrap(), None, &[]).unwrap_err();
    assert_eq!(said(&error.strip_backtrace()), r#"the data frame has no column "Y"; its columns are "x""#);
    let error = scorer.score(frame().await, Some("number"), &[]).unwrap_err();
    assert!(
        error
            .strip_backtrace()
            .contains(r#"the data frame has no column "number"; its columns are "x", "Y", "#)
    );
    let error = scorer.with_alert(Alert::Top(5)).register(&ctx).unwrap_err();
    assert_eq!(
        said(&error.strip_backtrace()),
        "the rule top=5 looks at a whole table, and rows are judged one by one here; give a share or a p-value to Scorer::with_alert"
    );
    let error = diad_datafusion::register(&ctx, "no such.diad").unwrap_err();
    assert!(said(&error.strip_backtrace()).starts_with("cannot read no such.diad: "), "{error}");
}

#[tokio::test]
async fn a_frame_is_judged_once_and_keeps_what_is_asked_for() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let scorer = scorer.with_alert(Alert::Share(0.01)).with_reasons(2);
    let frame = ctx.sql(r#"SELECT x, "Y", kind, kind AS score FROM sales"#).await.unwrap();
    let scored = scorer.score(frame, Some("kind"), &["score", "x", "kind"]).unwrap();
    let names: Vec<&str> = scored.schema().fields().iter().map(|field| field.name().as_str()).collect();
    let told = [
        "kind",
        "score",
        "percentile",
        "p_value",
        "severity",
        "alert",
        "reason_1",
        "reason_2",
        "table_score",
        "x",
    ];
    assert_eq!(names, told);
    let plan = scored.clone().create_physical_plan().await.unwrap();
    let plan = datafusion::physical_plan::displayable(plan.as_ref()).indent(false).to_string();
    assert_eq!(plan.matches("diad_judge(").count(), 1, "{plan}");
    let batches = scored.collect().await.unwrap();
    let (row, scores) = (&batches[0], expected(scorer.detector(), &sales()));
    assert_eq!(row.column(1).as_primitive::<Float64Type>().value(123).to_bits(), scores[123].unwrap());
    assert!(row.column(5).as_boolean().value(123) && !row.column(5).as_boolean().value(124));
    assert_eq!(row.column(4).as_string_view().value(124), "ordinary");
    assert!(row.column(6).as_string_view().value(123).contains("100"));
}

#[tokio::test]
async fn the_column_of_segments_is_one_of_the_model() {
    let ctx = SessionContext::new();
    ctx.register_batch("sales", sales()).unwrap();
    let view = diad_arrow::arrow_59::view(&sales().project(&[0, 1, 2]).unwrap()).unwrap();
    let params = Params::default().with_steps(100).trees(30);
    let training = params.fitting(&view).roles(Roles::default().by("kind")).read().unwrap();
    let scorer = Scorer::new(training.run().unwrap());
    scorer.register(&ctx).unwrap();
    assert!(scorer.sources().contains(&"kind".to_owned()), "{:?}", scorer.sources());
    let want = expected(scorer.detector(), &sales());
    assert_eq!(scores(&ctx, r#"SELECT diad_score(kind, "Y", x) FROM sales"#).await, want);
    let said = refused(&ctx, r#"SELECT diad_score(x, "Y") FROM sales"#).await;
    assert!(said.contains(r#"diad_score needs a column "kind", which"#), "{said}");
}

#[tokio::test]
async fn models_stand_side_by_side_and_are_replaced() {
    let (ctx, scorer) = registered(&["x", "Y"]);
    let second = Scorer::new(model(&["kind"])).with_prefix("kinds");
    second.register(&ctx).unwrap();
    let want = expected(second.detector(), &sales());
    assert_eq!(scores(&ctx, "SELECT kinds_score(kind) FROM sales").await, want);
    assert_eq!(scores(&ctx, "SELECT diad_score(*) FROM sales").await, expected(scorer.detector(), &sales()));
    second.with_prefix("diad").register(&ctx).unwrap();
    assert_eq!(scores(&ctx, "SELECT diad_score(*) FROM sales").await, want);
    let rewrites = ctx
        .state()
        .analyzer()
        .function_rewrites()
        .iter()
        .filter(|known| known.name().starts_with("diad"))
        .count();
    assert_eq!(rewrites, 1);
}

#[test]
fn the_page_shows_the_example_of_this_crate() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let code = |page: &str| page.split("```rust\n").nth(1).unwrap().split("```").next().unwrap().to_owned();
    let shown: String =
        code(&read("README.md")).split_inclusive('\n').filter(|line| !line.starts_with("# ")).collect();
    assert_eq!(code(&read("../../docs/engines.md")), shown);
}
