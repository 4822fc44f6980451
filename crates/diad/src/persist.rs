//! The model file. Knows the data structures, no algorithm; a file from a stranger is hostile until every
//! number in it has been checked.
//!
//! Layout, all numbers little-endian: the magic bytes, the format version (u32), the length of the header
//! (u32), the header as JSON, the tensors in a fixed order, and a CRC-32 of everything before it. The header
//! determines the length of every tensor, so the file's length is known before the rest is read.

use std::collections::HashSet;
use std::io::{Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Params;
use crate::encode::Encoder;
use crate::error::{ModelFault, file_error};
use crate::function::{Curve, Functions, Grid, spaced};
use crate::model::{Layer, Model, Selectors, Shape};
use crate::profile::{MOST_NODES, MOST_PAIRS, Profile, Spread, Together};
use crate::score::additive::{Additive, Part, TREES};
use crate::tune::Origin;
use crate::{Detector, Error, Result, WholeFile};

const MAGIC: [u8; 8] = *b"DIAD\r\n\x1a\n";
/// The version this program writes, and the newest it reads.
const VERSION: u32 = 2;
/// What a header may require of its reader, by name: places in time, and times with one feature for their gaps.
const KNOWN: [&str; 1] = [TIMES];
const TIMES: &str = "times";
/// Most parts of a score, and most grids of a part.
const MOST_PARTS: usize = 64;
const MOST_GRIDS: usize = 1 << 14;
const HEADER_LIMIT: usize = 64 << 20;
/// Bytes before the header.
const PREFIX: usize = 16;
/// Bytes after the tensors.
const CHECKSUM: usize = 4;

/// The header. A reader leaves out fields that it does not know, unless `requires` names them.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    #[serde(deserialize_with = "crate::settings::of_any_version")]
    params: Params,
    encoder: Encoder,
    training_rows: u64,
    /// What is taken from the sum of all parts.
    shift: f32,
    parts: Vec<PartHeader>,
    /// Whether values beyond the training range count as its ends for all but curves that go on beyond it.
    held: bool,
    /// Values at which the spread of each column is known, and that of the scores.
    column_spreads: Vec<usize>,
    score_spread: usize,
    /// Pairs of columns counted together, and how many counts each has.
    pairs: Vec<([u32; 2], usize)>,
    /// Where a tuned model came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// The most by which the compiled score differs from the exact one; nothing if scores are always exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bound: Option<f64>,
    /// What a reader must know of to read the file rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    requires: Vec<String>,
    /// The version that the file was written in.
    #[serde(skip, default = "newest")]
    version: u32,
}

fn newest() -> u32 {
    VERSION
}

/// What a header requires, whatever else it says.
#[derive(Debug, Deserialize)]
struct Required {
    #[serde(default)]
    requires: Vec<String>,
}

/// A part of the score.
#[derive(Debug, Serialize, Deserialize)]
struct PartHeader {
    name: String,
    factor: f32,
    /// Feature and nodes of each curve.
    curves: Vec<(u32, usize)>,
    /// Features and nodes of each grid.
    grids: Vec<([u32; 2], [usize; 2])>,
}

/// The header of a file of the first version, in which the functions of all parts are added up.
#[derive(Debug, Deserialize)]
struct FirstHeader {
    #[serde(deserialize_with = "crate::settings::of_any_version")]
    params: Params,
    encoder: Encoder,
    training_rows: u64,
    tree_factor: f32,
    shift: f32,
    curves: Vec<(u32, usize)>,
    grids: Vec<([u32; 2], [usize; 2])>,
    column_spreads: Vec<usize>,
    score_spread: usize,
    pairs: Vec<([u32; 2], usize)>,
    origin: Option<Origin>,
    #[serde(default)]
    bound: Option<f64>,
}

impl From<FirstHeader> for Header {
    fn from(first: FirstHeader) -> Self {
        let FirstHeader { params, encoder, training_rows, tree_factor, shift, curves, grids, .. } = first;
        let FirstHeader { column_spreads, score_spread, pairs, origin, bound, .. } = first;
        let trees =
            PartHeader { name: TREES.into(), factor: tree_factor, curves: Vec::new(), grids: Vec::new() };
        let rest = PartHeader { name: "functions".into(), factor: 1.0, curves, grids };
        Self {
            requires: Vec::new(),
            params,
            encoder,
            training_rows,
            shift,
            parts: vec![trees, rest],
            held: false,
            column_spreads,
            score_spread,
            pairs,
            origin,
            bound,
            version: 1,
        }
    }
}

/// Writes a detector to a temporary file beside `path`, then renames it.
pub fn save(detector: &Detector, path: &Path) -> Result<()> {
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
pub fn load(path: &Path) -> Result<Detector> {
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
    from_bytes(&bytes).map_err(fault)
}

const UNREADABLE_HEADER: ModelFault = ModelFault::Damaged("its header cannot be read");

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
    let part = |Part { name, factor, functions }: &Part| PartHeader {
        name: name.clone(),
        factor: *factor,
        curves: functions.curves.iter().map(|curve| (curve.feature, curve.values.len())).collect(),
        grids: functions
            .grids
            .iter()
            .map(|grid| (grid.features, grid.nodes.each_ref().map(Vec::len)))
            .collect(),
    };
    let columns = detector.encoder().columns();
    let times = columns.iter().any(|column| column.is_date() || column.gaps.is_some_and(|gaps| gaps.told));
    let header = Header {
        requires: times.then(|| TIMES.to_owned()).into_iter().collect(),
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
        origin: detector.origin().cloned(),
        bound: detector.bound(),
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
    let check = crc32fast::hash(&bytes);
    bytes.extend(check.to_le_bytes());
    Ok(bytes)
}

fn tensors(layer: &Layer<f32>) -> [&[f32]; 5] {
    [&layer.thresholds, &layer.log_slopes, &layer.leaf_weights, &layer.keys, &layer.queries]
}

/// The length of the header, from the first bytes of a file.
fn header_length(prefix: &[u8]) -> std::result::Result<usize, ModelFault> {
    if prefix.get(..MAGIC.len()) != Some(&MAGIC) {
        return Err(ModelFault::Foreign);
    }
    let (Some(version), Some(length)) = (number(prefix, 8), number(prefix, 12)) else {
        return Err(ModelFault::Damaged("it ends inside its first bytes"));
    };
    match version {
        0 => Err(ModelFault::Damaged("its version is not one")),
        found if found > VERSION => Err(ModelFault::Version { found, newest: VERSION }),
        _ if length as usize > HEADER_LIMIT => Err(ModelFault::Damaged("its header is impossibly long")),
        _ => Ok(length as usize),
    }
}

/// A number at a place in the bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The header, checked.
fn read_header(bytes: &[u8]) -> std::result::Result<Header, ModelFault> {
    let length = header_length(bytes)?;
    let Some(json) = bytes.get(PREFIX..PREFIX + length) else {
        return Err(ModelFault::Damaged("it ends inside its header"));
    };
    let Ok(Required { requires }) = serde_json::from_slice(json) else { return Err(UNREADABLE_HEADER) };
    if requires.iter().any(|required| !KNOWN.contains(&required.as_str())) {
        return Err(ModelFault::Version { found: VERSION + 1, newest: VERSION });
    }
    let first = number(bytes, MAGIC.len()) == Some(1);
    let header: serde_json::Result<Header> = if first {
        serde_json::from_slice::<FirstHeader>(json).map(Header::from)
    } else {
        serde_json::from_slice(json)
    };
    let header = header.map_err(|error| match error.to_string().starts_with("unknown ") {
        true => ModelFault::Unknown,
        false => UNREADABLE_HEADER,
    })?;
    if header.params.validate().is_err()
        || !header.encoder.is_valid()
        || !header.has_sane_parts()
        || !header.has_sane_profile()
        || header.bound.is_some_and(|bound| !(bound.is_finite() && bound >= 0.0))
    {
        return Err(ModelFault::Damaged("its header makes no sense"));
    }
    Ok(header)
}

/// Reads the bytes of a model file, believing nothing.
pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Detector, ModelFault> {
    let header = read_header(bytes)?;
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
    let detector = Detector::new(header.params, header.encoder, model, header.training_rows);
    let detector = detector.with(additive).remembering(profile).bounded(header.bound);
    let detector = detector.holding(header.held);
    Ok(match header.origin {
        Some(origin) => detector.coming_from(origin),
        None => detector,
    })
}

impl Header {
    fn shape(&self) -> Shape {
        Shape::new(&self.params, self.encoder.features().len())
    }

    /// Numbers in all tensors. The limits on the settings keep this far from overflow.
    fn numbers(&self) -> usize {
        let shape = self.shape();
        let layer = |layer| 2 * shape.trees + tensor_lengths(shape, layer).iter().sum::<usize>();
        let trees: usize = (0..shape.layers).map(layer).sum();
        // The first version has no slopes beyond curves, and the nodes of grids are equally spaced.
        let slopes = if self.version > 1 { 2 } else { 0 };
        let sides = |nodes: [usize; 2]| if self.version > 1 { nodes[0] + nodes[1] } else { 0 };
        let curves = self.parts.iter().flat_map(|part| &part.curves).map(|&(_, nodes)| 2 * nodes + slopes);
        let grids = self.parts.iter().flat_map(|part| &part.grids);
        let grids = grids.map(|&(_, nodes)| nodes[0] * nodes[1] + sides(nodes));
        let functions: usize = curves.chain(grids).sum();
        let spreads: usize = self.column_spreads.iter().chain([&self.score_spread]).map(|n| 3 * n).sum();
        let pairs: usize = self.pairs.iter().map(|&(_, counts)| counts.div_ceil(2)).sum();
        trees + functions + spreads + pairs
    }

    /// Whether what is remembered of the training rows is of a size that fitting makes, and of columns that exist.
    fn has_sane_profile(&self) -> bool {
        let columns = self.encoder.columns().len();
        let most_counts = MOST_NODES * MOST_NODES;
        self.column_spreads.len() == columns
            && self
                .column_spreads
                .iter()
                .chain([&self.score_spread])
                .all(|n| (1..=Spread::most_values()).contains(n))
            && self.pairs.len() <= MOST_PAIRS
            && self.pairs.windows(2).all(|two| two[0].0 < two[1].0)
            && self.pairs.iter().all(|&([a, b], counts)| {
                a < b && (b as usize) < columns && (4..=most_counts).contains(&counts)
            })
    }

    /// Whether there are parts with names of their own, and curves and grids in them of a size and number that fitting
    /// makes and of features that exist.
    fn has_sane_parts(&self) -> bool {
        let features = self.encoder.features().len();
        let known = |&feature: &u32| (feature as usize) < features;
        let sized = |nodes: &usize| (2..=1024).contains(nodes);
        let names: HashSet<&str> = self.parts.iter().map(|part| part.name.as_str()).collect();
        let sane = |part: &PartHeader| {
            part.curves.len() <= features
                && part.grids.len() <= MOST_GRIDS
                && part.curves.iter().all(|(feature, nodes)| known(feature) && sized(nodes))
                && part.grids.iter().all(|(pair, nodes)| pair.iter().all(known) && nodes.iter().all(sized))
        };
        self.parts.len() <= MOST_PARTS && names.len() == self.parts.len() && self.parts.iter().all(sane)
    }
}

fn read_additive(
    header: &Header,
    words: &mut impl Iterator<Item = u32>,
) -> std::result::Result<Additive, ModelFault> {
    let mut parts = Vec::with_capacity(header.parts.len());
    for PartHeader { name, factor, curves, grids } in &header.parts {
        let mut functions = Functions::default();
        for &(feature, count) in curves {
            functions.curves.push(read_curve(header.version, feature, count, words)?);
        }
        for &(features, counts) in grids {
            functions.grids.push(read_grid(header.version, features, counts, words)?);
        }
        parts.push(Part { name: name.clone(), factor: *factor, functions });
    }
    let mut constants = parts.iter().map(|part| part.factor).chain([header.shift]);
    if !constants.all(|value| value.abs() <= LARGEST) {
        return Err(SENSELESS_NUMBERS);
    }
    // Single precision could not tell the rest of a score beside larger numbers.
    let values = |part: &Part| {
        let curves = part.functions.curves.iter().flat_map(|curve| &curve.values);
        let grids = part.functions.grids.iter().flat_map(|grid| &grid.values);
        curves.chain(grids).fold(0.0f32, |largest, value| largest.max(value.abs()))
    };
    if parts.iter().any(|part| part.factor.abs() * values(part) > LARGEST_PIECE) {
        return Err(SENSELESS_NUMBERS);
    }
    Ok(Additive { parts, shift: header.shift })
}

const LARGEST: f32 = 1e12;
/// The most that a function may add to a score; no fit comes near it.
const LARGEST_PIECE: f32 = 1e8;
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
    Ok(Profile { columns, scores, pairs })
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

/// The lengths of a layer's tensors, in file order.
fn tensor_lengths(shape: Shape, layer: usize) -> [usize; 5] {
    let splits = shape.trees * shape.depth;
    let earlier = shape.earlier(layer);
    [
        splits,
        splits,
        shape.trees * shape.outputs * shape.leaves(),
        shape.outputs * shape.attention * earlier,
        if earlier == 0 { 0 } else { shape.trees * shape.attention },
    ]
}

#[cfg(test)]
mod tests;
