//! Files that appear whole or not at all, and plain text on standard output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use diad::table::printable;
use tempfile::NamedTempFile;

/// Writes text to standard output.
pub fn say(text: &str) -> Result<()> {
    let mut standard = io::stdout().lock();
    standard
        .write_all(text.as_bytes())
        .and_then(|()| standard.flush())
        .map_err(|error| unwritable("standard output", error))
}

/// A sentence about a failed write that still knows its cause.
pub fn unwritable(target: &str, cause: io::Error) -> anyhow::Error {
    let sentence = format!("cannot write {target}: {cause}");
    anyhow::Error::new(cause).context(sentence)
}

/// A path as it may be shown.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Where a file will be written: a place in a folder that can be written to, and none of the `inputs`.
pub fn check(path: &Path, inputs: &[&Path]) -> Result<PathBuf> {
    // A link is followed, so that the file it points to is replaced and not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => {
            bail!("cannot write {}: it is a folder; name a file in it", shown(path))
        }
        Ok(found) if !found.is_file() => bail!("cannot write {}: it is not a plain file", shown(path)),
        _ => {}
    }
    for input in inputs {
        if fs::canonicalize(input).is_ok_and(|input| input == target) {
            bail!("{} is read and written at once; name another output", shown(path));
        }
    }
    // Dropped at once, which removes it.
    Pending::new(&target)?;
    Ok(target)
}

/// A file being written beside its target. It takes the target's place when it is whole, and is removed
/// when it is dropped before that.
pub struct Pending {
    file: NamedTempFile,
    target: PathBuf,
}

impl Pending {
    pub fn new(target: &Path) -> Result<Self> {
        let folder = match target.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".diad-").suffix(".part");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // As for any new file; the user's mask applies.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        // The reason in short: the name of the temporary file would not help.
        let file = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("cannot write {}: its folder does not exist; create it", shown(target))
            }
            kind => unwritable(&shown(target), kind.into()),
        })?;
        Ok(Self { file, target: target.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    pub fn unwritable(&self, cause: io::Error) -> anyhow::Error {
        unwritable(&shown(&self.target), cause)
    }

    /// Puts the file in its place.
    pub fn commit(self) -> Result<()> {
        let target = shown(&self.target);
        self.file.persist(&self.target).map_err(|error| unwritable(&target, error.error))?;
        Ok(())
    }
}
