//! The model file. Knows the data structures, no algorithm; a file from a stranger is hostile until every
//! number in it has been checked.
//!
//! Layout, all numbers little-endian: the magic bytes, the format version (u32), the length of the header
//! (u32), the header as JSON, the tensors in a fixed order, and a CRC-32 of everything before it. The header
//! determines the length of every tensor, so the file's length is known before the rest is read.

mod header;

use std::io::{Read, Write};
use std::path::Path;

use crate::calibration::Calibration;
use crate::encode::Column;
use crate::error::{ModelFault, file_error};
use crate::function::{Curve, Functions, Grid, spaced};
use crate::model::{Layer, Model, Selectors};
use crate::origin::Digest;
use crate::profile::{Counts, Group, Groups, Profile, Ranges, Spread, Together, Usual};
use crate::score::additive::{Additive, Summand};
use crate::score::purify;
use crate::{Detector, Error, Result, WholeFile};
use header::{
    CALIBRATION, CHECKSUM, CalibrationHeader, GROUPS, HEADER_LIMIT, Header, MAGIC, PREFIX, PartHeader,
    SEGMENTS, TIMES, UNITS, UNREADABLE_HEADER, VERSION, header_length, number, read_header, tensor_lengths,
};

impl Detector {
    /// The bytes of the model file.
    ///
    /// # Errors
    /// If the names of its columns are too long for a file.
    pub fn to_bytes(&self) -> std::result::Result<Vec<u8>, ModelFault> {
        to_bytes(self)
    }

    /// Reads the bytes of a model file and checks everything in it.
    ///
    /// ```
    /// use diad::{Detector, ModelFault};
    ///
    /// assert_eq!(Detector::from_bytes(b"no model").unwrap_err(), ModelFault::Foreign);
    /// ```
    ///
    /// # Errors
    /// If the bytes are not a model, are damaged, or were written by a newer version.
    pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Self, ModelFault> {
        from_bytes(bytes)
    }

    /// Writes the model file atomically: to a temporary file beside `path`, which is then renamed.
    ///
    /// # Errors
    /// If the file cannot be written; an earlier file of that name is then still there.
    pub fn save(&self, path: &Path) -> Result<()> {
        save(self, path)
    }

    /// Reads a model file and checks everything in it.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, is damaged, or was written by a newer version.
    pub fn load(path: &Path) -> Result<Self> {
        load(path)
    }

    /// The digest of the model file: equal for equal detectors.
    ///
    /// # Errors
    /// If the detector cannot be written as a file.
    pub fn identity(&self) -> Result<Digest> {
        to_bytes(self).map(Digest::of).map_err(Error::Unwritable)
    }
}

/// Writes a detector to a temporary file beside `path`, then renames it.
fn save(detector: &Detector, path: &Path) -> Result<()> {
    let failed = |source| file_error("write", path, source);
    let bytes = to_bytes(detector).map_err(|fault| Error::Model { path: path.to_owned(), fault })?;
    let mut file = WholeFile::new(path).map_err(failed)?;
    file.file().write_all(&bytes).and_then(|()| file.file().sync_all()).map_err(failed)?;
    let written = file.read_back().map_err(failed)?;
    if let Err(fault) = from_bytes(&written) {
        return Err(Error::Unreadable { path: path.to_owned(), fault });
    }
    file.commit().map_err(failed)?;
    Ok(())
}

/// Reads and checks a model file.
fn load(path: &Path) -> Result<Detector> {
    let fault = |fault| Error::Model { path: path.to_owned(), fault };
    let failed = |source| file_error("read", path, source);
    let mut file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    (&mut file).take(PREFIX as u64).read_to_end(&mut bytes).map_err(failed)?;
    let header_len = header_length(&bytes).map_err(fault)?;
    (&mut file).take(header_len as u64).read_to_end(&mut bytes).map_err(failed)?;
    let header = read_header(&bytes).map_err(|found| match found {
        // A header that a newer program wrote belongs to a file that is whole.
        ModelFault::Unknown | ModelFault::Version { .. } if !is_whole(path) => fault(UNREADABLE_HEADER),
        found => fault(found),
    })?;
    // The header says how long the rest must be; nothing beyond that is read.
    let rest = 4 * header.numbers() as u64 + CHECKSUM as u64;
    if file.metadata().map_err(failed)?.len() != (PREFIX + header_len) as u64 + rest {
        return Err(fault(ModelFault::Damaged("its length does not fit its header")));
    }
    file.take(rest).read_to_end(&mut bytes).map_err(failed)?;
    read_body(header, &bytes).map_err(fault)
}

/// Whether the checksum at the end of a file fits.
fn is_whole(path: &Path) -> bool {
    let check = || -> std::io::Result<bool> {
        let file = std::fs::File::open(path)?;
        let body = file.metadata()?.len().saturating_sub(CHECKSUM as u64);
        let (mut hasher, mut buffer) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
        let mut content = (&file).take(body);
        loop {
            match content.read(&mut buffer)? {
                0 => break,
                read => hasher.update(&buffer[..read]),
            }
        }
        let mut end = Vec::new();
        (&file).take(CHECKSUM as u64).read_to_end(&mut end)?;
        Ok(number(&end, 0) == Some(hasher.finalize()))
    };
    check().unwrap_or(false)
}

/// The bytes of a model file.
pub fn to_bytes(detector: &Detector) -> std::result::Result<Vec<u8>, ModelFault> {
    let (additive, profile) = (detector.additive(), detector.profile());
    let part = |Summand { name, factor, deviation, functions }: &Summand| PartHeader {
        name: name.clone(),
        factor: *factor,
        deviation: *deviation,
        curves: functions.curves.iter().map(|curve| (curve.feature, curve.values.len())).collect(),
        grids: functions
            .grids
            .iter()
            .map(|grid| (grid.features, grid.nodes.each_ref().map(Vec::len)))
            .collect(),
    };
    let columns = detector.encoder().columns();
    let times = columns.iter().any(|column| column.is_date() || column.gaps.is_some_and(|gaps| gaps.told));
    let calibration = detector.kept_calibration();
    let calibrated = calibration.is_some() || !profile.usual.is_empty();
    let grouped = !profile.next.is_empty();
    let segmented = detector.encoder().segments().is_some();
    let required = [
        times.then_some(TIMES),
        grouped.then_some(GROUPS),
        calibrated.then_some(CALIBRATION),
        segmented.then_some(SEGMENTS),
        columns.iter().any(Column::has_unit).then_some(UNITS),
    ];
    let header = Header {
        requires: required.into_iter().flatten().map(str::to_owned).collect(),
        params: detector.params().clone(),
        encoder: detector.encoder().clone(),
        training_rows: detector.training_rows(),
        shift: additive.shift,
        parts: additive.parts.iter().map(part).collect(),
        held: detector.held(),
        version: VERSION,
        column_spreads: profile.columns.iter().map(|spread| spread.values().len()).collect(),
        score_spread: profile.scores.values().len(),
        pairs: profile.pairs.iter().map(|pair| (pair.columns, pair.counts.len())).collect(),
        counts: profile.counts.iter().map(|pair| (pair.columns, pair.cells.len())).collect(),
        ranges: profile.ranges.iter().map(|pair| (pair.columns, pair.groups.len())).collect(),
        next: !profile.next.is_empty(),
        usual: profile.usual.iter().map(|usual| usual.columns).collect(),
        origin: detector.origin().cloned(),
        bound: detector.bound(),
        calibration: calibration.map(|calibration| CalibrationHeader {
            scores: calibration.scores().len(),
            unseen: calibration.is_unseen(),
        }),
        edits: detector.edits().to_vec(),
        alert: detector.alert(),
    };
    let header =
        serde_json::to_vec(&header).map_err(|_| ModelFault::Damaged("its header cannot be written"))?;
    if header.len() > HEADER_LIMIT {
        return Err(ModelFault::Damaged("the names of its columns are too long"));
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    for layer in &detector.model().layers {
        if let Selectors::Fixed(pairs) = &layer.selectors {
            bytes.extend(pairs.iter().flatten().flat_map(|f| f.to_le_bytes()));
        }
        for tensor in tensors(layer) {
            bytes.extend(tensor.iter().flat_map(|x| x.to_le_bytes()));
        }
    }
    for part in &additive.parts {
        for Curve { nodes, values, beyond, .. } in &part.functions.curves {
            bytes.extend(nodes.iter().chain(values).chain(beyond).flat_map(|x| x.to_le_bytes()));
        }
        for Grid { nodes, values, .. } in &part.functions.grids {
            bytes.extend(nodes.iter().flatten().chain(values).flat_map(|x| x.to_le_bytes()));
        }
    }
    let spreads = profile.columns.iter().chain([&profile.scores]).flat_map(Spread::tensors).flatten();
    bytes.extend(spreads.flat_map(|x| x.to_le_bytes()));
    for pair in &profile.pairs {
        // Two counts make a word.
        let padding = pair.counts.len() % 2;
        bytes.extend(pair.counts.iter().chain(&[0][..padding]).flat_map(|count| count.to_le_bytes()));
    }
    for Counts { cells, rest, .. } in &profile.counts {
        for ([i, j], rows) in cells {
            bytes.extend(i.to_le_bytes().into_iter().chain(j.to_le_bytes()).chain(rows.to_le_bytes()));
        }
        bytes.extend(rest.to_le_bytes());
    }
    for Group { rows, usual: [low, high] } in profile.ranges.iter().flat_map(|pair| &pair.groups) {
        bytes.extend(rows.to_le_bytes().into_iter().chain(low.to_le_bytes()).chain(high.to_le_bytes()));
    }
    bytes.extend(profile.next.iter().flatten().flat_map(|x| x.to_le_bytes()));
    let usual = profile.usual.iter().flat_map(|usual| [usual.mean, usual.deviation, usual.rare]);
    bytes.extend(usual.flat_map(f32::to_le_bytes));
    bytes.extend(calibration.into_iter().flat_map(Calibration::scores).flat_map(|score| score.to_le_bytes()));
    let check = crc32fast::hash(&bytes);
    bytes.extend(check.to_le_bytes());
    Ok(bytes)
}

fn tensors(layer: &Layer<f32>) -> [&[f32]; 5] {
    [&layer.thresholds, &layer.log_slopes, &layer.leaf_weights, &layer.keys, &layer.queries]
}

/// Reads the bytes of a model file, believing nothing.
pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Detector, ModelFault> {
    read_body(read_header(bytes)?, bytes)
}

/// Reads what follows the header of a model file.
fn read_body(header: Header, bytes: &[u8]) -> std::result::Result<Detector, ModelFault> {
    let start = PREFIX + header_length(bytes)?;
    if bytes.len() != start + 4 * header.numbers() + CHECKSUM {
        return Err(ModelFault::Damaged("its length does not fit its header"));
    }
    let (body, _) = bytes.split_at(bytes.len() - CHECKSUM);
    if number(bytes, body.len()) != Some(crc32fast::hash(body)) {
        return Err(ModelFault::Damaged("its checksum does not fit"));
    }
    let mut words = body[start..].chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let model = read_model(&header, &mut words)?;
    let additive = read_additive(&header, &mut words)?;
    let profile = read_profile(&header, &mut words)?;
    let calibration = header.calibration.map(|told| read_calibration(told, &mut words)).transpose()?;
    let detector = Detector::new(header.params, header.encoder, model, header.training_rows);
    let detector = detector.with(additive).remembering(profile).bounded(header.bound);
    let detector = detector.holding(header.held).alerting(header.alert).noting_edits(header.edits);
    let detector = match calibration {
        Some(calibration) => detector.calibrated(calibration),
        None => detector,
    };
    Ok(match header.origin {
        Some(origin) => detector.coming_from(origin),
        None => detector,
    })
}

fn read_additive(
    header: &Header,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Additive, ModelFault> {
    let mut parts = Vec::with_capacity(header.parts.len());
    for PartHeader { name, factor, deviation, curves, grids } in &header.parts {
        let mut functions = Functions::default();
        for &(feature, count) in curves {
            functions.curves.push(read_curve(header.version, feature, count, words)?);
        }
        for &(features, counts) in grids {
            functions.grids.push(read_grid(header.version, features, counts, words)?);
        }
        parts.push(Summand { name: name.clone(), factor: *factor, deviation: *deviation, functions });
    }
    let mut constants = parts.iter().flat_map(|part| [part.factor, part.deviation]).chain([header.shift]);
    if !constants.all(|value| value.abs() <= LARGEST) {
        return Err(SENSELESS_NUMBERS);
    }
    // Single precision could not tell the rest of a score beside larger numbers.
    let values = |part: &Summand| {
        let curves = part.functions.curves.iter().flat_map(|curve| &curve.values);
        let grids = part.functions.grids.iter().flat_map(|grid| &grid.values);
        curves.chain(grids).fold(0.0f32, |largest, value| largest.max(value.abs()))
    };
    let rises = parts.iter().flat_map(|part| {
        let beyond = part.functions.curves.iter().flat_map(|curve| curve.beyond);
        beyond.map(|rise| f64::from(part.factor) * f64::from(rise))
    });
    if parts.iter().any(|part| part.factor.abs() * values(part) > LARGEST_PIECE)
        || rises.map(f64::abs).sum::<f64>() > LARGEST_RISE
    {
        return Err(SENSELESS_NUMBERS);
    }
    Ok(Additive { parts, shift: header.shift })
}

const LARGEST: f32 = 1e12;
/// The most that a function may add to a score; no fit comes near it.
const LARGEST_PIECE: f32 = 1e8;
/// The most that all curves together may rise per unit beyond their ends: values of up to 1e30 then still have a score in single precision.
const LARGEST_RISE: f64 = 1e8;
const SENSELESS_NUMBERS: ModelFault = ModelFault::Damaged("it holds numbers that make no sense");

/// So many numbers, none of them absurdly large.
fn read_numbers(
    count: usize,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Vec<f32>, ModelFault> {
    let numbers: Vec<f32> = words.take(count).map(f32::from_bits).collect();
    let sane = numbers.len() == count && numbers.iter().all(|number| number.abs() <= LARGEST);
    if sane { Ok(numbers) } else { Err(SENSELESS_NUMBERS) }
}

/// As [`read_numbers`], each larger than the one before.
fn read_nodes(
    count: usize,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Vec<f32>, ModelFault> {
    let nodes = read_numbers(count, words)?;
    match nodes.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(nodes),
        false => Err(ModelFault::Damaged("the nodes of a function are out of order")),
    }
}

fn read_curve(
    version: u32,
    feature: u32,
    count: usize,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Curve, ModelFault> {
    let (nodes, values) = (read_nodes(count, words)?, read_numbers(count, words)?);
    let beyond = if version > 1 { read_numbers(2, words)? } else { vec![0.0; 2] };
    Ok(Curve { feature, nodes, values, beyond: [beyond[0], beyond[1]] })
}

fn read_grid(
    version: u32,
    features: [u32; 2],
    counts: [usize; 2],
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Grid, ModelFault> {
    let nodes = match version {
        1 => counts.map(spaced),
        _ => [read_nodes(counts[0], words)?, read_nodes(counts[1], words)?],
    };
    Ok(Grid { features, nodes, values: read_numbers(counts[0] * counts[1], words)? })
}

fn read_profile(
    header: &Header,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Profile, ModelFault> {
    const SENSELESS: ModelFault = ModelFault::Damaged("what it says of the training rows makes no sense");
    let mut spread = |n: usize| {
        let mut values = || words.by_ref().take(n).map(f32::from_bits).collect::<Vec<f32>>();
        Spread::from_tensors([values(), values(), values()]).ok_or(SENSELESS)
    };
    let columns =
        header.column_spreads.iter().map(|&n| spread(n)).collect::<std::result::Result<Vec<_>, _>>()?;
    if columns.iter().flat_map(Spread::values).any(|value| value.abs() > 1.0) {
        return Err(SENSELESS);
    }
    let scores = spread(header.score_spread)?;
    let nodes: Vec<usize> = columns.iter().map(|spread| spread.nodes().len()).collect();
    let mut pairs = Vec::with_capacity(header.pairs.len());
    for &(columns, count) in &header.pairs {
        let halves =
            words.by_ref().take(count.div_ceil(2)).flat_map(|word| [word as u16, (word >> 16) as u16]);
        let counts: Vec<u16> = halves.take(count).collect();
        let [first, second] = columns.map(|column| nodes[column as usize]);
        if count != first * second || counts.iter().all(|&count| count == 0) {
            return Err(SENSELESS);
        }
        pairs.push(Together { columns, counts });
    }
    let mut profile = Profile { columns, scores, pairs, ..Profile::unknown(0) };
    read_groups(header, words, &mut profile).ok_or(SENSELESS)?;
    for &columns in &header.usual {
        let numbers = read_numbers(3, words)?;
        if numbers[1] < 0.0 || !(0.0..=1.0).contains(&numbers[2]) {
            return Err(SENSELESS);
        }
        profile.usual.push(Usual { columns, mean: numbers[0], deviation: numbers[1], rare: numbers[2] });
    }
    Ok(profile)
}

/// Counts of categories, what is usual in groups, and values next to the ends; nothing if they make no sense.
fn read_groups(header: &Header, words: &mut impl Iterator<Item = u32>, profile: &mut Profile) -> Option<()> {
    let encoder = &header.encoder;
    let nodes: Vec<usize> = purify::nodes(encoder, profile).iter().map(Vec::len).collect();
    for &(columns, count) in &header.counts {
        let mut cells = Vec::new();
        for _ in 0..count {
            let (at, rows) = (words.next()?, words.next()?);
            cells.push(([at as u16, (at >> 16) as u16], rows));
        }
        let counts = Counts { columns, cells, rest: words.next()? };
        profile.counts.push(counts.is_sane(columns.map(|c| nodes[c as usize])).then_some(counts)?);
    }
    for &(columns, count) in &header.ranges {
        let mut groups = Vec::new();
        for _ in 0..count {
            let (rows, low, high) = (words.next()?, words.next()?, words.next()?);
            groups.push(Group { rows, usual: [low, high].map(f32::from_bits) });
        }
        let given = &encoder.columns()[columns[0] as usize];
        let places = if given.positions() > 0 { given.places() } else { Vec::new() };
        let cut = Groups::new(&profile.columns[columns[0] as usize], &places);
        let ranges = Ranges { columns, groups };
        profile.ranges.push(ranges.is_sane(&cut).then_some(ranges)?);
    }
    for _ in 0..if header.next { encoder.columns().len() } else { 0 } {
        let next = [words.next()?, words.next()?].map(f32::from_bits);
        profile.next.push(next.iter().all(|value| value.abs() <= 1.0).then_some(next)?);
    }
    Some(())
}

fn read_calibration(
    CalibrationHeader { scores, unseen }: CalibrationHeader,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Calibration, ModelFault> {
    let scores = read_numbers(scores, words)?;
    let ascending = scores.windows(2).all(|two| two[0] <= two[1]);
    Calibration::new(scores, unseen).filter(|_| ascending).ok_or(SENSELESS_NUMBERS)
}

fn read_model(
    header: &Header,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Model<f32>, ModelFault> {
    let shape = header.shape();
    let mut layers = Vec::with_capacity(shape.layers);
    for layer in 0..shape.layers {
        let chosen: Vec<u32> = words.by_ref().take(2 * shape.trees).collect();
        if chosen.iter().any(|&f| f as usize >= shape.features) {
            return Err(ModelFault::Damaged("a tree uses a feature that is not there"));
        }
        let pairs: Vec<[u32; 2]> = chosen.chunks_exact(2).map(|p| [p[0], p[1]]).collect();
        if header.params.interactions == 1 && pairs.iter().any(|[a, b]| a != b) {
            return Err(ModelFault::Damaged("a tree uses two features where one is allowed"));
        }
        let mut tensor = |n: usize| words.by_ref().take(n).map(f32::from_bits).collect::<Vec<f32>>();
        let [thresholds, log_slopes, leaf_weights, keys, queries] =
            tensor_lengths(shape, layer).map(&mut tensor);
        let selectors = Selectors::Fixed(pairs);
        layers.push(Layer { selectors, thresholds, log_slopes, leaf_weights, keys, queries });
    }
    let model = Model { shape, layers };
    if model.is_sane() { Ok(model) } else { Err(ModelFault::Damaged("it holds numbers that make no sense")) }
}

#[cfg(test)]
mod tests;
