//! Checkpoints of a fit, so that one that was killed resumes where it was and ends with the same model.
//!
//! Layout of the file, all numbers little-endian: magic bytes, format version (u32), the digest of settings and data (32
//! hexadecimal digits), steps done (u64), whether the trees have chosen their features (u32), how many words follow
//! (u64), the words, and a CRC-32 of everything before it.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use xxhash_rust::xxh3::Xxh3;

use crate::encode::{Encoder, Matrix};
use crate::error::{CheckpointFault, file_error};
use crate::model::Model;
use crate::train::snapshot::{Keeper, Snapshot};
use crate::{Error, Params, Progress, Result, train};

const MAGIC: [u8; 8] = *b"DIADCKP\n";
const VERSION: u32 = 2;
/// Hexadecimal digits of the digest.
const DIGEST: usize = 32;
/// Bytes before the words.
const PREFIX: usize = MAGIC.len() + 4 + DIGEST + 8 + 4 + 8;
const CHECKSUM: usize = 4;
/// The default time between checkpoints.
const INTERVAL: Duration = Duration::from_secs(5);

/// A folder to which a fit saves its state from time to time.
///
/// ```
/// use diad::{Checkpoints, Error, Params, table::Table};
/// use std::ops::ControlFlow;
///
/// let folder = tempfile::tempdir().expect("a folder");
/// let table = Table::new(vec!["x".into()], vec![(0..40).map(|i| f64::from(i % 7)).collect()])?;
/// let params = Params::default().with_steps(8).trees(4).batch(16);
///
/// let mut first = Checkpoints::new(folder.path())?;
/// let stopped = params
///     .fitting(&table)
///     .checkpoints(&mut first)
///     .progress(&mut |progress| match progress.step == 5 {
///         true => ControlFlow::Break(()),
///         false => ControlFlow::Continue(()),
///     })
///     .run();
/// assert!(matches!(stopped, Err(Error::Stopped)));
/// drop(first);
///
/// let mut second = Checkpoints::new(folder.path())?;
/// let detector = params.fitting(&table).checkpoints(&mut second).run()?;
/// assert_eq!(second.resumed(), Some(5));
/// // Save the detector, then:
/// second.finish();
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    interval: Duration,
    /// Held as long as this value lives, so that no two fits write to one folder.
    _lock: File,
    resumed: Option<u64>,
}

impl Checkpoints {
    /// Keeps checkpoints in `folder`, which is created if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be created or written to, or another fit is using it.
    pub fn new(folder: impl Into<PathBuf>) -> Result<Self> {
        let folder = folder.into();
        let failed = |source| file_error("write to", &folder, source);
        if folder.is_file() {
            return Err(failed(io::ErrorKind::NotADirectory.into()));
        }
        fs::create_dir_all(&folder).map_err(failed)?;
        let lock = File::create(folder.join(LOCK)).map_err(failed)?;
        if let Err(TryLockError::WouldBlock) = lock.try_lock() {
            let path = folder.join(NAME);
            return Err(Error::Checkpoint { path, fault: CheckpointFault::InUse });
        }
        Ok(Self { folder, interval: INTERVAL, _lock: lock, resumed: None })
    }

    /// Writes a checkpoint when so much time has passed since the last one; with zero, after every step.
    pub fn every(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// The file of the checkpoint.
    pub fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// The number of steps that were already done when the last fit began.
    pub fn resumed(&self) -> Option<u64> {
        self.resumed
    }

    /// Trains, resuming from the checkpoint if there is one.
    pub(crate) fn train(
        &mut self,
        params: &Params,
        encoder: &Encoder,
        (matrix, features): (&Matrix, &[u32]),
        observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Model<f32>> {
        let fit = digest(params, encoder, matrix);
        let mut file =
            CheckpointFile { path: self.path(), fit, interval: self.interval, last: Instant::now() };
        // Read before the settings are checked: its content decides whether this is the right folder.
        self.resumed = file.resume()?.map(|kept| kept.step);
        if let Some(step) = self.resumed {
            tracing::info!(step, "going on from a checkpoint");
        }
        train::train(params, (matrix, features), Some(&mut file), observe)
    }

    /// Removes the checkpoint, once the model is saved.
    pub fn finish(self) {
        // Whatever cannot be removed does no harm: it is of this fit.
        for name in [NAME, PART, LOCK] {
            let _ = fs::remove_file(self.folder.join(name));
        }
    }
}

const NAME: &str = "fit.checkpoint";
/// What is being written.
const PART: &str = "fit.part";
const LOCK: &str = "fit.lock";

/// A digest of everything that determines a fit. It guards against mistakes, not against forgery.
fn digest(params: &Params, encoder: &Encoder, matrix: &Matrix) -> Digest {
    let mut hash = Xxh3::new();
    hash.update(&serde_json::to_vec(&(params, encoder)).unwrap_or_default());
    let mut bytes = Vec::new();
    for values in matrix.values.chunks(DIGESTED) {
        bytes.clear();
        bytes.extend(values.iter().flat_map(|value| value.to_bits().to_le_bytes()));
        hash.update(&bytes);
    }
    Digest(hash.digest128())
}

/// Values digested at a time.
const DIGESTED: usize = 1 << 14;

/// What tells one fit from another.
#[derive(Debug, Clone, Copy)]
struct Digest(u128);

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// The checkpoint of one fit.
struct CheckpointFile {
    path: PathBuf,
    fit: Digest,
    interval: Duration,
    last: Instant,
}

impl CheckpointFile {
    fn refused(&self, fault: CheckpointFault) -> Error {
        Error::Checkpoint { path: self.path.clone(), fault }
    }
}

impl Keeper for CheckpointFile {
    fn resume(&mut self) -> Result<Option<Snapshot>> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file_error("read", &self.path, error)),
        };
        from_bytes(&bytes, self.fit).map(Some).map_err(|fault| self.refused(fault))
    }

    fn misfit(&self) -> Error {
        self.refused(CheckpointFault::Damaged)
    }

    fn is_due(&mut self) -> bool {
        self.last.elapsed() >= self.interval
    }

    fn keep(&mut self, snapshot: &Snapshot) -> Result<()> {
        replace(&self.path, &to_bytes(snapshot, self.fit))
            .map_err(|source| file_error("write", &self.path, source))?;
        self.last = Instant::now();
        tracing::debug!(step = snapshot.step, "wrote a checkpoint");
        Ok(())
    }
}

/// Writes a file that is whole or absent, whenever the program or the machine stops. Only one program at a
/// time may do so. A part that was left behind is written over.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let part = path.with_file_name(PART);
    let written = (|| {
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    #[cfg(unix)]
    if let (Ok(()), Some(folder)) = (&written, path.parent()) {
        // The name must reach the disk too. Where a folder cannot be synced, it does in its own time.
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    written
}

fn to_bytes(snapshot: &Snapshot, fit: Digest) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PREFIX + 4 * snapshot.words.len() + CHECKSUM);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(fit.to_string().as_bytes());
    bytes.extend(snapshot.step.to_le_bytes());
    bytes.extend(u32::from(snapshot.hardened).to_le_bytes());
    bytes.extend((snapshot.words.len() as u64).to_le_bytes());
    bytes.extend(snapshot.words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn from_bytes(bytes: &[u8], fit: Digest) -> std::result::Result<Snapshot, CheckpointFault> {
    const DAMAGED: CheckpointFault = CheckpointFault::Damaged;
    let (body, check) = bytes.split_last_chunk::<CHECKSUM>().ok_or(DAMAGED)?;
    if u32::from_le_bytes(*check) != crc32fast::hash(body) {
        return Err(DAMAGED);
    }
    let (prefix, words) = body.split_at_checked(PREFIX).ok_or(DAMAGED)?;
    let mut rest = prefix;
    let mut take = |count: usize| {
        let (taken, left) = rest.split_at(count);
        rest = left;
        taken
    };
    if take(MAGIC.len()) != MAGIC || take(4) != VERSION.to_le_bytes() {
        return Err(DAMAGED);
    }
    if take(DIGEST) != fit.to_string().as_bytes() {
        return Err(CheckpointFault::OtherFit);
    }
    let long = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).map_err(|_| DAMAGED);
    let (step, hardened, count) = (long(take(8))?, take(4) == 1u32.to_le_bytes(), long(take(8))?);
    if words.len() as u64 != count.saturating_mul(4) {
        return Err(DAMAGED);
    }
    let words = words.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    Ok(Snapshot { step, hardened, words: words.collect() })
}

#[cfg(test)]
mod tests;
