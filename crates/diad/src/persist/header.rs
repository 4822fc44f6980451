//! The header of the model file: its fields in every version, and which values they may have.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::Edit;
use crate::Params;
use crate::alert::Alert;
use crate::calibration::MOST_SCORES;
use crate::encode::Encoder;
use crate::error::ModelFault;
use crate::model::Shape;
use crate::origin::Origin;
use crate::profile::{MOST_CELLS, MOST_GROUPS, MOST_NODES, MOST_PAIRS, Spread};
use crate::score::additive::TREES;

pub const MAGIC: [u8; 8] = *b"DIAD\r\n\x1a\n";
/// The version this program writes, and the newest it reads.
pub const VERSION: u32 = 2;
/// What a header may require of its reader, by name: places in time, and times with one feature for their gaps; counts of categories,
/// what is usual in groups, and values next to the ends; scores that calibrate, and what terms usually contribute; what is usual in
/// segments; how times of a day, durations and numbers with units are written.
const KNOWN: [&str; 5] = [TIMES, GROUPS, CALIBRATION, SEGMENTS, NOTATIONS];
pub const TIMES: &str = "times";
pub const GROUPS: &str = "groups";
pub const CALIBRATION: &str = "calibration";
pub const SEGMENTS: &str = "segments";
pub const NOTATIONS: &str = "notations";
/// Most parts of a score, and most grids of a part.
const MOST_PARTS: usize = 64;
const MOST_GRIDS: usize = 1 << 14;
pub const HEADER_LIMIT: usize = 64 << 20;
/// Bytes before the header.
pub const PREFIX: usize = 16;
/// Bytes after the tensors.
pub const CHECKSUM: usize = 4;

/// The header. A reader leaves out fields that it does not know, unless `requires` names them.
#[derive(Debug, Serialize, Deserialize)]
pub struct Header {
    #[serde(deserialize_with = "crate::settings::of_any_version")]
    pub params: Params,
    pub encoder: Encoder,
    pub training_rows: u64,
    /// What is taken from the sum of all parts.
    pub shift: f32,
    pub parts: Vec<PartHeader>,
    /// Whether values beyond the training range count as its ends for all but curves that go on beyond it.
    pub held: bool,
    /// Values at which the spread of each column is known, and that of the scores.
    pub column_spreads: Vec<usize>,
    pub score_spread: usize,
    /// Pairs of columns counted together, and how many counts each has.
    pub pairs: Vec<([u32; 2], usize)>,
    /// Pairs of columns with categories, and how many cells each has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counts: Vec<([u32; 2], usize)>,
    /// Columns that are cut into groups, with another column each, and how many groups there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranges: Vec<([u32; 2], usize)>,
    /// Whether the values next to the ends of the columns are known.
    #[serde(default)]
    pub next: bool,
    /// The columns of the terms of which it is known what they usually contribute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub usual: Vec<[u32; 2]>,
    /// Where a tuned model came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The most by which the compiled score differs from the exact one; nothing if scores are always exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<f64>,
    /// The scores that calibrate it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationHeader>,
    /// What people have changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// Which rows are alerts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alert: Option<Alert>,
    /// What a reader must know of to read the file rightly.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requires: Vec<String>,
    /// The version that the file was written in.
    #[serde(skip, default = "newest")]
    pub version: u32,
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
pub struct PartHeader {
    pub name: String,
    pub factor: f32,
    /// Its standard deviation over the training rows, before the factor; 0 in older files.
    #[serde(default)]
    pub deviation: f32,
    /// Feature and nodes of each curve.
    pub curves: Vec<(u32, usize)>,
    /// Features and nodes of each grid.
    pub grids: Vec<([u32; 2], [usize; 2])>,
}

/// The scores that calibrate a model.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct CalibrationHeader {
    /// How many there are.
    pub scores: usize,
    /// Whether the model did not see their rows.
    pub unseen: bool,
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
        let trees = PartHeader {
            name: TREES.into(),
            factor: tree_factor,
            deviation: 0.0,
            curves: Vec::new(),
            grids: Vec::new(),
        };
        let rest = PartHeader { name: "functions".into(), factor: 1.0, deviation: 0.0, curves, grids };
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
            counts: Vec::new(),
            ranges: Vec::new(),
            next: false,
            origin,
            bound,
            usual: Vec::new(),
            calibration: None,
            edits: Vec::new(),
            alert: None,
            version: 1,
        }
    }
}

/// A header that is not one.
pub const UNREADABLE_HEADER: ModelFault = ModelFault::Damaged("its header cannot be read");

/// The length of the header, from the first bytes of a file.
pub fn header_length(prefix: &[u8]) -> std::result::Result<usize, ModelFault> {
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
pub fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// The header, checked.
pub fn read_header(bytes: &[u8]) -> std::result::Result<Header, ModelFault> {
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
        || header.edits.iter().any(|edit| edit.parse::<Edit>().is_err())
        || header.bound.is_some_and(|bound| !(bound.is_finite() && bound >= 0.0))
    {
        return Err(ModelFault::Damaged("its header makes no sense"));
    }
    Ok(header)
}

impl Header {
    pub fn shape(&self) -> Shape {
        Shape::new(&self.params, self.encoder.features().len())
    }

    /// Numbers in all tensors. The limits on the settings keep this far from overflow.
    pub fn numbers(&self) -> usize {
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
        let counts: usize = self.counts.iter().map(|(_, cells)| 2 * cells + 1).sum();
        let ranges: usize = self.ranges.iter().map(|(_, groups)| 3 * groups).sum();
        let next = if self.next { 2 * self.encoder.columns().len() } else { 0 };
        let calibration = self.calibration.map_or(0, |calibration| calibration.scores);
        trees + functions + spreads + pairs + counts + ranges + next + calibration + 3 * self.usual.len()
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
            && self.calibration.is_none_or(|calibration| (1..=MOST_SCORES).contains(&calibration.scores))
            && self.pairs.len() <= MOST_PAIRS
            && self.usual.len() <= columns + MOST_GRIDS * MOST_PARTS
            && self.usual.iter().all(|&[a, b]| a <= b && (b as usize) < columns)
            && self.pairs.windows(2).all(|two| two[0].0 < two[1].0)
            && self.pairs.iter().all(|&([a, b], counts)| {
                a < b && (b as usize) < columns && (4..=most_counts).contains(&counts)
            })
            && self.counts.len() <= MOST_PAIRS
            && self.counts.windows(2).all(|two| two[0].0 < two[1].0)
            && self
                .counts
                .iter()
                .all(|&([a, b], cells)| a < b && (b as usize) < columns && (1..=MOST_CELLS).contains(&cells))
            && self.ranges.len() <= 2 * MOST_PAIRS
            && self.ranges.windows(2).all(|two| two[0].0 < two[1].0)
            && self.ranges.iter().all(|&([a, b], groups)| {
                a != b && (a.max(b) as usize) < columns && (1..=MOST_GROUPS).contains(&groups)
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

/// The lengths of a layer's tensors, in file order.
pub fn tensor_lengths(shape: Shape, layer: usize) -> [usize; 5] {
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
