//! Round trips, and files that are cut off, changed or made up.

use std::path::Path;
use std::sync::OnceLock;

use proptest::prelude::*;

use super::*;
use crate::Params;
use crate::encode::Matrix;
use crate::explain::Explainer;
use crate::function::Grid;
use crate::model::Shape;
use crate::rng::{Purpose, Stream};
use crate::table::{self, Table};
use crate::tests::{fitted, normal, small};

fn small_detector(seed: u64) -> Detector {
    let mut random = Stream::new(seed, Purpose::Shuffle, 0);
    let tiny = Params { trees: 3, depth: 2, attention: 2, steps: 6, warmup: 2, anneal: 3, ..small() };
    fitted(&Params { batch: 32, seed, ..tiny }, &normal(&mut random, ["a", "b", "Größe"], 60))
}

/// Scores of rows within the range of the training data, outside of it, and at the limits of encoding.
fn scores(detector: &Detector) -> Vec<f32> {
    let width = detector.encoder().features().len();
    let mut random = Stream::new(1, Purpose::Uniform, 0);
    let mut row =
        |reach: f64| (0..width).map(|_| ((random.unit() * 2.0 - 1.0) * reach) as f32).collect::<Vec<_>>();
    let values: Vec<f32> = [1.0, 3.0, 1e6, 1e30, 0.0].iter().flat_map(|&reach| row(reach)).collect();
    let mut scores = vec![f32::NAN; 5];
    detector.score_encoded(&Matrix { width, values }, &mut scores);
    scores
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 4;
    let check = crc32fast::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(&check.to_le_bytes());
    bytes
}

/// A made-up file is refused, or is a model that gives numbers.
fn refused_or_sound(bytes: &[u8]) {
    if let Ok(detector) = from_bytes(bytes) {
        let scores = scores(&detector);
        assert!(scores.iter().all(|s| s.is_finite()), "{scores:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_loaded_model_is_the_saved_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.diad");
    let detector = small_detector(1);
    detector.save(&path).unwrap();
    let loaded = Detector::load(&path).unwrap();
    let bits = |detector: &Detector| scores(detector).iter().map(|s| s.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&detector), bits(&loaded));
    assert_eq!(detector.additive(), loaded.additive());
    assert_eq!(detector.model(), loaded.model());
    assert_eq!((detector.params(), detector.encoder()), (loaded.params(), loaded.encoder()));
    assert_eq!(detector.training_rows(), loaded.training_rows());
    assert!(to_bytes(&detector).unwrap() == to_bytes(&loaded).unwrap());
    assert!(to_bytes(&detector).unwrap() == std::fs::read(&path).unwrap());
}

#[test]
fn saving_replaces_the_old_file_and_leaves_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.diad");
    for seed in [1, 2] {
        let detector = small_detector(seed);
        detector.save(&path).unwrap();
        assert_eq!(names(folder.path()), ["model.diad"]);
        assert!(to_bytes(&detector).unwrap() == std::fs::read(&path).unwrap());
    }
}

#[test]
fn what_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let detector = small_detector(1);
    let missing = folder.path().join("missing/model.diad");
    assert!(matches!(detector.save(&missing), Err(Error::Table(table::Error::File { action: "write", .. }))));
    assert!(names(folder.path()).is_empty());

    // A folder with something in it cannot be replaced by a file: the last step fails, after the writing.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken).unwrap();
    std::fs::write(taken.join("kept"), b"").unwrap();
    assert!(detector.save(&taken).is_err());
    assert!(detector.save(&taken.join("kept/model.diad")).is_err());
    assert_eq!(names(folder.path()), ["taken"]);
    assert_eq!(names(&taken), ["kept"]);

    assert!(detector.save(Path::new("/")).is_err());
    assert!(detector.save(Path::new("")).is_err());
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    // The superuser may write anywhere.
    let may_write = std::fs::write(folder.path().join("probe"), b"").is_ok();
    if !may_write {
        assert!(small_detector(1).save(&folder.path().join("model.diad")).is_err());
        assert!(names(folder.path()).is_empty());
    }
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn files_that_are_no_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.diad");
    assert!(matches!(Detector::load(&path), Err(Error::Table(table::Error::File { action: "read", .. }))));
    for (bytes, foreign) in
        [(&b""[..], true), (b"a,b\n1,2\n", true), (b"DIAD\r\n\x1a", true), (b"DIAD\r\n\x1a\n\x01\0", false)]
    {
        std::fs::write(&path, bytes).unwrap();
        let error = Detector::load(&path).unwrap_err();
        assert!(
            matches!(&error, Error::Model { fault, .. } if matches!(fault, ModelFault::Foreign) == foreign),
            "{error}"
        );
    }
}

#[test]
fn another_version_is_named() {
    for version in [0u32, VERSION + 1, u32::MAX] {
        let mut bytes = to_bytes(&small_detector(1)).unwrap();
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let fault = from_bytes(&with_checksum(bytes)).unwrap_err();
        match version {
            0 => assert!(matches!(fault, ModelFault::Damaged(_))),
            _ => assert!(matches!(fault, ModelFault::Version { found, .. } if found == version)),
        }
    }
}

/// A file whose trees all look at the same feature and attend to all others alike: the most that a file of its size
/// can ask for. It must load in bounded time and memory.
#[test]
fn the_most_entangled_model_can_be_loaded() {
    let params =
        Params { layers: 3, trees: 400, grove: 400, depth: 1, outputs: 2, attention: 1, ..Params::paper() };
    let column = crate::encode::Column { name: "x".into(), max: 1.0, ..Default::default() };
    let feature = crate::encode::Feature { column: 0, view: crate::encode::View::Plain };
    let encoder = serde_json::json!({ "columns": [column], "features": [feature], "left_out": [] });
    let header = serde_json::json!({ "params": params, "encoder": encoder, "training_rows": 9,
        "shift": 0.0, "parts": [{ "name": "trees", "factor": 1.0, "curves": [], "grids": [] }], "held": true,
        "column_spreads": [1], "score_spread": 1, "pairs": [] });
    let header = header.to_string();
    let shape = Shape::new(&params, 1);
    let numbers: usize =
        (0..3).map(|l| 2 * shape.trees + tensor_lengths(shape, l).iter().sum::<usize>()).sum();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header.as_bytes());
    // Two spreads of one value, and the checksum.
    bytes.extend(vec![0; 4 * (numbers + 2 * 3) + 4]);
    let detector = from_bytes(&with_checksum(bytes)).unwrap();
    let mut scores = [f32::NAN; 2];
    detector.score_encoded(&Matrix { width: 1, values: vec![0.0, 1.0] }, &mut scores);
    assert_eq!(scores, [0.0, 0.0]);
    let huge = Params { layers: 8, trees: 5000, outputs: 8, ..params };
    assert!(huge.validate().is_err());
}

/// Every released version of the format stays readable: the stored model gives the stored scores.
#[test]
fn stored_models_give_their_stored_scores() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    for version in 1..=VERSION {
        let detector = Detector::load(&folder.join(format!("v{version}.diad"))).unwrap();
        let expected = std::fs::read_to_string(folder.join(format!("v{version}.json"))).unwrap();
        let expected: Vec<f64> = serde_json::from_str(&expected).unwrap();
        let columns = stored_columns(expected.len());
        let names = ["height", "weight", "größe"].map(String::from).to_vec();
        let table = crate::table::Table::new(names, columns).unwrap();
        let scores = detector.score(&table).unwrap();
        // Where scores are looked up in tables, these may be made in another way than when the model was stored, within their bound.
        let bound = detector.bound().unwrap_or(0.0);
        for (score, expected) in scores.iter().zip(&expected) {
            let off = (f64::from(*score) - expected).abs();
            assert!(off < 1e-6 + bound, "v{version}: {score} instead of {expected}");
        }
        // Written again it is of the newest version, and the same.
        let again = from_bytes(&to_bytes(&detector).unwrap()).unwrap();
        assert_eq!(again.score(&table).unwrap(), scores);
    }
}

/// Writes the stored model of this version again; only until the version is released.
#[test]
#[ignore = "writes fixtures/models"]
fn renew_the_stored_model() {
    let names = ["height", "weight", "größe"].map(String::from).to_vec();
    let table = Table::new(names, stored_columns(200)).unwrap();
    let params = Params { trees: 12, steps: 40, warmup: 10, anneal: 20, batch: 128, ..Params::default() };
    let detector = fitted(&params, &table);
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/models");
    detector.save(&folder.join(format!("v{VERSION}.diad"))).unwrap();
    let scores = serde_json::to_string(&detector.score(&table).unwrap()).unwrap();
    std::fs::write(folder.join(format!("v{VERSION}.json")), scores).unwrap();
}

/// The table of the stored models: fixed numbers, none from a random generator that might change.
fn stored_columns(rows: usize) -> Vec<Vec<f64>> {
    let column =
        |a: usize, b: usize| (0..rows).map(|i| ((i * a + i * i * b) % 97) as f64 / 7.0 - 3.0).collect();
    vec![column(31, 1), column(17, 3), column(5, 0)]
}

#[test]
fn every_truncation_is_refused() {
    let bytes = to_bytes(&small_detector(1)).unwrap();
    for length in 0..bytes.len() {
        assert!(from_bytes(&bytes[..length]).is_err(), "cut to {length} bytes");
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(from_bytes(&longer).is_err());
    for length in 16..bytes.len() - 4 {
        let cut = with_checksum([&bytes[..length], &[0; 4]].concat());
        assert!(from_bytes(&cut).is_err(), "cut to {length} bytes, with the right checksum");
    }
}

#[test]
fn every_changed_byte_is_noticed() {
    let bytes = to_bytes(&small_detector(1)).unwrap();
    for position in 0..bytes.len() {
        for mask in (0..8).map(|bit| 1 << bit).chain([0xff, 0xa5]) {
            let mut changed = bytes.clone();
            changed[position] ^= mask;
            assert!(from_bytes(&changed).is_err(), "byte {position} changed by {mask:#x}");
        }
    }
}

/// Every byte at its extremes, with the right checksum: nothing but the checks of each field can catch it.
#[test]
fn no_changed_byte_breaks_the_reader() {
    let bytes = to_bytes(&small_detector(1)).unwrap();
    for position in 0..bytes.len() - 4 {
        for value in [0, b'9', b'-', 0x7f, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[position] = value;
            refused_or_sound(&with_checksum(changed));
        }
    }
}

/// The file of a detector with another header.
fn with_header(bytes: &[u8], change: impl FnOnce(&mut serde_json::Value)) -> Vec<u8> {
    let length = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let mut header = serde_json::from_slice(&bytes[PREFIX..PREFIX + length]).unwrap();
    change(&mut header);
    let header = serde_json::to_vec(&header).unwrap();
    let prefix = [&bytes[..12], &(header.len() as u32).to_le_bytes()].concat();
    with_checksum([&prefix, &header, &bytes[PREFIX + length..]].concat())
}

#[test]
fn made_up_headers_are_refused() {
    let bytes = to_bytes(&small_detector(1)).unwrap();
    assert!(from_bytes(&with_header(&bytes, |_| {})).is_ok());
    let huge = serde_json::json!(u64::MAX);
    for (name, value) in [
        ("layers", 0.into()),
        ("layers", 8.into()),
        ("layers", huge.clone()),
        ("trees", 0.into()),
        ("trees", 100_000.into()),
        ("trees", huge.clone()),
        ("depth", 0.into()),
        ("depth", 7.into()),
        ("outputs", huge.clone()),
        ("attention", huge.clone()),
        ("attention", (-1).into()),
        ("min_temperature", 0.0.into()),
        ("min_temperature", (-1.0).into()),
        ("smoothing", "50".into()),
        ("weight_isolation", serde_json::json!([[], []])),
    ] {
        let changed = with_header(&bytes, |header| header["params"][name] = value.clone());
        assert!(from_bytes(&changed).is_err(), "{name} = {value}");
    }
    for feature in [
        serde_json::json!([]),
        serde_json::json!([{"name": "a", "min": 2.0, "max": 1.0}]),
        serde_json::json!([{"name": "a", "min": null, "max": 1.0}]),
        serde_json::json!([{"name": "a", "min": 0.0, "max": 1.0}]),
    ] {
        let changed = with_header(&bytes, |header| header["encoder"]["features"] = feature.clone());
        assert!(from_bytes(&changed).is_err(), "{feature}");
    }
    for (name, value) in [
        ("column_spreads", serde_json::json!([])),
        ("column_spreads", serde_json::json!([0, 0, 0])),
        ("column_spreads", serde_json::json!([1000, 1000, 1000])),
        ("score_spread", huge.clone()),
        ("pairs", serde_json::json!([[[1, 0], 9]])),
        ("pairs", serde_json::json!([[[0, 0], 9]])),
        ("pairs", serde_json::json!([[[0, 3], 9]])),
        ("pairs", serde_json::json!([[[0, 1], 1_000_000]])),
        ("counts", serde_json::json!([[[1, 0], 9]])),
        ("counts", serde_json::json!([[[0, 3], 9]])),
        ("counts", serde_json::json!([[[0, 1], 1_000_000]])),
        ("ranges", serde_json::json!([[[1, 1], 9]])),
        ("ranges", serde_json::json!([[[3, 0], 9]])),
        ("ranges", serde_json::json!([[[0, 1], 1_000_000]])),
    ] {
        let changed = with_header(&bytes, |header| header[name] = value.clone());
        assert!(from_bytes(&changed).is_err(), "{name} = {value}");
    }
    // What a later version adds is left out, unless it says that it must not be.
    assert!(from_bytes(&with_header(&bytes, |header| header["more"] = true.into())).is_ok());
    let required = with_header(&bytes, |header| header["requires"] = serde_json::json!(["more"]));
    assert!(matches!(from_bytes(&required), Err(ModelFault::Version { .. })));
    // Also if what it adds is where this version knows of all there is.
    let column = |header: &mut serde_json::Value| header["encoder"]["columns"][0]["more"] = true.into();
    assert_eq!(from_bytes(&with_header(&bytes, column)).unwrap_err(), ModelFault::Unknown);
    let required = with_header(&bytes, |header| {
        column(header);
        header["requires"] = serde_json::json!(["more"]);
    });
    assert!(matches!(from_bytes(&required), Err(ModelFault::Version { .. })));
    let deep = "[".repeat(100_000);
    let prefix = [&bytes[..12], &(deep.len() as u32).to_le_bytes()].concat();
    assert!(from_bytes(&with_checksum([&prefix, deep.as_bytes(), &[0; 4]].concat())).is_err());
}

/// Curves that rise so steeply beyond their ends that scores would be infinite are refused.
#[test]
fn steep_ends_are_refused_or_give_numbers() {
    for (rise, allowed) in [(1e3f32, true), (-1e3, true), (1e7, true), (1e9, false), (-1e12, false)] {
        let detector = small_detector(1);
        let mut additive = detector.additive().clone();
        let curves = additive.parts.iter_mut().flat_map(|part| &mut part.functions.curves);
        curves.for_each(|curve| curve.beyond = [rise; 2]);
        let bytes = to_bytes(&detector.with(additive)).unwrap();
        assert_eq!(from_bytes(&bytes).is_ok(), allowed, "{rise}");
        refused_or_sound(&bytes);
    }
}

/// Grids of huge values are refused; of the largest that are allowed, the parts of an explanation still add up to the score.
#[test]
fn huge_grids_are_refused_or_explained() {
    let mut random = Stream::new(3, Purpose::Shuffle, 0);
    let table = normal(&mut random, ["a", "b", "Größe"], 50);
    for (value, allowed) in [(1e3f32, true), (-1e6, true), (9e7, true), (1.1e8, false), (1e12, false)] {
        let detector = small_detector(1);
        let mut additive = detector.additive().clone();
        let nodes = [vec![-1.0, 0.5, 1.0], vec![-1.0, 1.0]];
        let values = vec![value, -value, 0.0, 1.0, value, value];
        let part = &mut additive.parts[0];
        (part.factor, part.functions.grids) = (1.0, vec![Grid { features: [0, 2], nodes, values }]);
        let bytes = to_bytes(&detector.with(additive)).unwrap();
        let read = from_bytes(&bytes);
        assert_eq!(read.is_ok(), allowed, "{value}");
        let Ok(detector) = read else { continue };
        let explainer = Explainer::new(&detector);
        let explained = explainer.contributions(&table).unwrap();
        assert_eq!(explained.scores(), detector.score(&table).unwrap());
        for row in 0..table.rows() {
            let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
            let score = f64::from(explained.scores()[row]);
            assert!(
                (sum - score).abs() <= 1e-6 * f64::from(value.abs()),
                "{value}: {sum} instead of {score}"
            );
        }
    }
}

/// Numbers in the tensors at the edge of what is allowed give numbers; those beyond are refused.
#[test]
fn extreme_tensors_are_refused_or_give_numbers() {
    let detector = small_detector(1);
    for value in [1e12f32, -1e12, 40.0, -40.0, 0.0, -0.0, 1e-45, 1.1e12, f32::MAX, f32::INFINITY, f32::NAN] {
        for group in 0..6 {
            let (params, encoder) = (detector.params(), detector.encoder());
            let mut model = detector.model().clone();
            for layer in &mut model.layers {
                let mut groups = [
                    &mut layer.thresholds,
                    &mut layer.log_slopes,
                    &mut layer.leaf_weights,
                    &mut layer.keys,
                    &mut layer.queries,
                ];
                // The sixth time, all but the log slopes.
                let all = [0, 2, 3, 4];
                let chosen = if group == 5 { &all[..] } else { &[group] };
                chosen.iter().for_each(|&i| groups[i].fill(value));
            }
            let limit = if group == 1 { 40.0 } else { 1e12 };
            let read =
                from_bytes(&to_bytes(&Detector::new(params.clone(), encoder.clone(), model, 60)).unwrap());
            assert_eq!(read.is_ok(), value.abs() <= limit, "group {group} filled with {value}");
            if let Ok(detector) = read {
                let scores = scores(&detector);
                assert!(
                    scores.iter().all(|s| s.is_finite()),
                    "group {group} filled with {value}: {scores:?}"
                );
            }
        }
    }
}

proptest! {
    #[test]
    fn random_bytes_are_refused(bytes: Vec<u8>, honest_start: bool) {
        let mut file = Vec::new();
        if honest_start {
            file.extend(MAGIC);
            file.extend(VERSION.to_le_bytes());
            file.extend(((bytes.len() / 2) as u32).to_le_bytes());
        }
        file.extend(bytes);
        prop_assert!(from_bytes(&file).is_err());
        if file.len() >= 4 {
            prop_assert!(from_bytes(&with_checksum(file)).is_err());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn changed_files_with_the_right_checksum_never_break_the_reader(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let mut bytes = BYTES.get_or_init(|| to_bytes(&small_detector(1)).unwrap()).clone();
        for (position, value) in changes {
            let position = position.index(bytes.len());
            bytes[position] = value;
        }
        let bytes = with_checksum(bytes);
        refused_or_sound(&bytes);
        if let Ok(detector) = from_bytes(&bytes) {
            let explainer = Explainer::new(&detector);
            prop_assert!(explainer.intercept().is_finite());
            prop_assert!(explainer.terms().iter().all(|term| term.importance().is_finite()));
        }
    }

    /// The end of a file is what it says of the training rows.
    #[test]
    fn changed_memories_of_the_training_rows_never_break_explanations(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        let mut bytes = BYTES.get_or_init(|| to_bytes(&small_detector(1)).unwrap()).clone();
        let start = bytes.len() - 2500;
        for (position, value) in changes {
            let position = start + position.index(2500);
            bytes[position] = value;
        }
        if let Ok(detector) = from_bytes(&with_checksum(bytes)) {
            let explainer = Explainer::new(&detector);
            prop_assert!(explainer.intercept().is_finite());
            for (index, term) in explainer.terms().iter().enumerate() {
                prop_assert!(term.importance().is_finite());
                if term.columns().len() == 1 {
                    prop_assert!(explainer.line(index).values.iter().all(|value| value.is_finite()));
                }
            }
        }
    }
}
