//! The model file. Knows the data structures, no algorithm; a file from a stranger is hostile until every
//! number in it has been checked.
//!
//! Layout, all numbers little-endian: the magic bytes, the format version (u32), the length of the header
//! (u32), the header as JSON, the tensors in a fixed order, and a CRC-32 of everything before it. The header
//! determines the length of every tensor, so the file's length is known before anything is read.

use std::io::{Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::encode::Encoder;
use crate::error::{ModelFault, file_error};
use crate::model::{Layer, Model, Selectors, Shape};
use crate::params::Params;
use crate::{Detector, Error, Result};

const MAGIC: [u8; 8] = *b"DIAD\r\n\x1a\n";
/// The version this program writes, and the newest it reads.
const VERSION: u32 = 1;
const HEADER_LIMIT: usize = 64 << 20;
const PAYLOAD_LIMIT: usize = 4 << 30;
/// Bytes before the header.
const PREFIX: usize = 16;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    params: Params,
    encoder: Encoder,
    training_rows: u64,
}

/// Writes a detector to a temporary file beside `path`, then renames it.
pub fn save(detector: &Detector, path: &Path) -> Result<()> {
    let bytes = to_bytes(detector);
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path.file_name().ok_or_else(|| {
        let reason = std::io::Error::new(std::io::ErrorKind::InvalidInput, "it does not name a file");
        file_error("write", path, reason)
    })?;
    let temporary = folder.join(format!(".{}.{}.part", name.to_string_lossy(), std::process::id()));
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&temporary)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&temporary, path)
    };
    write().map_err(|source| {
        // The error that matters is the first one; a left-over that cannot be removed changes nothing.
        let _ = std::fs::remove_file(&temporary);
        file_error("write", path, source)
    })
}

/// Reads and checks a model file.
pub fn load(path: &Path) -> Result<Detector> {
    let fault = |fault| Error::Model { path: path.to_owned(), fault };
    let read = |source| file_error("read", path, source);
    let mut file = std::fs::File::open(path).map_err(read)?;
    let mut prefix = [0; PREFIX];
    let mut got = 0;
    while got < PREFIX {
        match file.read(&mut prefix[got..]).map_err(read)? {
            0 => break,
            n => got += n,
        }
    }
    if got < MAGIC.len() || prefix[..MAGIC.len()] != MAGIC {
        return Err(fault(ModelFault::Foreign));
    }
    if got < PREFIX {
        return Err(fault(ModelFault::Damaged("it ends inside its first bytes")));
    }
    let mut bytes = prefix.to_vec();
    file.take((HEADER_LIMIT + PAYLOAD_LIMIT) as u64).read_to_end(&mut bytes).map_err(read)?;
    from_bytes(&bytes).map_err(fault)
}

/// The bytes of a model file.
pub fn to_bytes(detector: &Detector) -> Vec<u8> {
    let (params, encoder, model) = detector.parts();
    let header =
        Header { params: params.clone(), encoder: encoder.clone(), training_rows: detector.training_rows() };
    // Plain structs of numbers and strings always serialise.
    let header = serde_json::to_vec(&header).unwrap_or_default();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend(header);
    for layer in &model.layers {
        if let Selectors::Fixed(pairs) = &layer.selectors {
            bytes.extend(pairs.iter().flatten().flat_map(|f| f.to_le_bytes()));
        }
        for tensor in tensors(layer) {
            bytes.extend(tensor.iter().flat_map(|x| x.to_le_bytes()));
        }
    }
    let check = crc32fast::hash(&bytes);
    bytes.extend(check.to_le_bytes());
    bytes
}

fn tensors(layer: &Layer<f32>) -> [&[f32]; 5] {
    [&layer.thresholds, &layer.log_slopes, &layer.leaf_weights, &layer.keys, &layer.queries]
}

/// Reads the bytes of a model file, believing nothing.
pub fn from_bytes(bytes: &[u8]) -> std::result::Result<Detector, ModelFault> {
    if bytes.len() < MAGIC.len() || bytes[..MAGIC.len()] != MAGIC {
        return Err(ModelFault::Foreign);
    }
    let short = ModelFault::Damaged("it is shorter than it should be");
    let Some((version, header_len)) = bytes.get(8..12).zip(bytes.get(12..16)) else { return Err(short) };
    let number = |b: &[u8]| u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let version = number(version);
    if version == 0 || version > VERSION {
        return Err(ModelFault::Version { found: version, newest: VERSION });
    }
    let header_len = number(header_len) as usize;
    if header_len > HEADER_LIMIT {
        return Err(ModelFault::Damaged("its header is impossibly long"));
    }
    let Some(header) = bytes.get(PREFIX..PREFIX + header_len) else { return Err(short) };
    let (body, check) = bytes.split_at(bytes.len().saturating_sub(4).max(PREFIX + header_len));
    if check.len() != 4 {
        return Err(short);
    }
    if number(check) != crc32fast::hash(body) {
        return Err(ModelFault::Damaged("its checksum does not fit"));
    }
    let header: Header =
        serde_json::from_slice(header).map_err(|_| ModelFault::Damaged("its header cannot be read"))?;
    if header.params.validate().is_err() || !header.encoder.is_valid() {
        return Err(ModelFault::Damaged("its header makes no sense"));
    }
    let model = read_model(&header, &body[PREFIX + header_len..])?;
    Ok(Detector::new(header.params, header.encoder, model, header.training_rows))
}

fn read_model(header: &Header, payload: &[u8]) -> std::result::Result<Model<f32>, ModelFault> {
    let params = &header.params;
    let shape = Shape {
        features: header.encoder.features().len(),
        layers: params.layers,
        trees: params.trees,
        depth: params.depth,
        outputs: params.outputs,
        attention: params.attention,
    };
    let lengths: Vec<[usize; 5]> = (0..shape.layers).map(|layer| tensor_lengths(shape, layer)).collect();
    let numbers: usize = lengths.iter().map(|l| 2 * shape.trees + l.iter().sum::<usize>()).sum();
    if payload.len() != numbers * 4 {
        return Err(ModelFault::Damaged("its length does not fit its header"));
    }
    let mut words = payload.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let mut layers = Vec::with_capacity(shape.layers);
    for lengths in lengths {
        let chosen: Vec<u32> = words.by_ref().take(2 * shape.trees).collect();
        if chosen.iter().any(|&f| f as usize >= shape.features) {
            return Err(ModelFault::Damaged("a tree uses a feature that is not there"));
        }
        let mut tensor = |n: usize| words.by_ref().take(n).map(f32::from_bits).collect::<Vec<f32>>();
        let [thresholds, log_slopes, leaf_weights, keys, queries] = lengths.map(&mut tensor);
        let layer = Layer {
            selectors: Selectors::Fixed(chosen.chunks_exact(2).map(|p| [p[0], p[1]]).collect()),
            thresholds,
            log_slopes,
            leaf_weights,
            keys,
            queries,
        };
        let sane = |values: &[f32], bound: f32| values.iter().all(|x| x.abs() <= bound);
        if !(tensors(&layer).iter().all(|t| sane(t, 1e12)) && sane(&layer.log_slopes, 40.0)) {
            return Err(ModelFault::Damaged("it holds numbers that make no sense"));
        }
        layers.push(layer);
    }
    Ok(Model { shape, layers })
}

/// The lengths of a layer's tensors, in file order. The limits on the settings keep them far from overflow.
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
