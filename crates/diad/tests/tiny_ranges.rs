//! Columns whose range is tiny beside their size: tables stay within the stated bound of the exact score.

use diad::{Detector, Params, table::Table};

#[test]
fn the_bound_holds_where_numbers_hardly_differ() {
    let step = |i: usize, k: usize| ((i * k) % 41) as f64;
    let columns: [(&str, &dyn Fn(usize) -> f64); 3] = [
        ("the last bits of one", &|i| 1.0 + step(i, 7) * f64::EPSILON),
        ("nanoseconds within ten microseconds", &|i| 1.7e18 + step(i, 11) * 256.0),
        ("beyond 2^53", &|i| 9_007_199_254_740_992.0 + 2.0 * step(i, 13)),
    ];
    for (name, column) in columns {
        let tiny: Vec<f64> = (0..400).map(column).collect();
        let other: Vec<f64> = (0..400).map(|i| ((i * i) % 97) as f64).collect();
        let table = Table::new(vec!["tiny".into(), "other".into()], vec![tiny, other]).unwrap();
        let detector = Params::default().with_steps(30).trees(20).fit(&table).unwrap();
        let scores = detector.score(&table).unwrap();
        let bound = detector.bound().unwrap_or(0.0);
        let exact =
            Detector::from_bytes(&detector.to_bytes().unwrap()).unwrap().exactly().score(&table).unwrap();
        let worst = scores.iter().zip(&exact).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max);
        assert!(worst <= bound + 1e-5, "{name}: {worst} beyond {bound}");
    }
}
