//! Atomic files, and text on standard output.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use diad::WholeFile;
use diad::table::printable;

/// Says on standard output that something was done. Nobody needs to hear it.
pub fn tell(text: &str) -> Result<()> {
    if is_closed() { Ok(()) } else { say(text) }
}

/// Refuses to write to standard output if it is closed.
pub fn check_open() -> Result<()> {
    if is_closed() {
        bail!("cannot write to standard output: it is closed; redirect it to a file or a pipe");
    }
    Ok(())
}

/// Whether standard output was closed before the program started. It leads to nowhere then, for reading and writing, as no shell
/// opens it.
fn is_closed() -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{OFlags, fcntl_getfl, fstat, stat};

        let standard = io::stdout();
        let (flags, found, nowhere) = (fcntl_getfl(&standard), fstat(&standard), stat("/dev/null"));
        if let (Ok(flags), Ok(found), Ok(nowhere)) = (flags, found, nowhere) {
            return flags.contains(OFlags::RDWR) && found.st_rdev == nowhere.st_rdev;
        }
    }
    false
}

/// Writes text to standard output.
pub fn say(text: &str) -> Result<()> {
    check_open()?;
    let mut standard = io::stdout().lock();
    standard
        .write_all(text.as_bytes())
        .and_then(|()| standard.flush())
        .map_err(|error| unwritable("standard output", error))
}

/// The error of a failed write, with its cause.
pub fn unwritable(target: impl Into<PathBuf>, cause: io::Error) -> anyhow::Error {
    diad::table::Error::file("write", &target.into(), cause).into()
}

/// A path, safe to print.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// A name from the data as it is typed in a shell, quoted where it has to be; nothing if it is long, or not easily typed.
pub fn typed(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    match name {
        _ if !(1..=40).contains(&name.len()) || name.starts_with('-') => None,
        _ if name.chars().all(plain) => Some(name.to_owned()),
        // Between apostrophes, all but an apostrophe is itself.
        _ if name.contains('\'') || printable(name) != name => None,
        _ => Some(format!("'{name}'")),
    }
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
            bail!("{} is both input and output; choose another output", shown(path));
        }
    }
    // Dropped at once, which removes it.
    Pending::new(&target)?;
    Ok(target)
}

/// A file that is written beside its target and renamed when complete; dropped before that, it is removed.
pub struct Pending {
    file: WholeFile,
    target: PathBuf,
}

impl Pending {
    pub fn new(target: &Path) -> Result<Self> {
        // The reason in short: the name of the temporary file would not help.
        let file = WholeFile::new(target).map_err(|error| unwritable(target, error.kind().into()))?;
        Ok(Self { file, target: target.to_owned() })
    }

    pub fn file(&mut self) -> &mut File {
        self.file.file()
    }

    pub fn unwritable(&self, cause: io::Error) -> anyhow::Error {
        unwritable(&self.target, cause)
    }

    /// Syncs the file and renames it.
    pub fn commit(self) -> Result<()> {
        let target = self.target;
        self.file.commit().map_err(|error| unwritable(target, error))
    }
}

/// The message of an error, with settings named as options.
pub fn sentence(error: &anyhow::Error) -> String {
    match error.chain().next().and_then(|first| first.downcast_ref::<diad::Error>()) {
        Some(error) => error.message(diad::Naming::Options),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_for_a_shell_where_they_have_to_be() {
        let long = "a".repeat(40);
        for name in ["x", "T3", "mean_of.x", "0", long.as_str()] {
            assert_eq!(typed(name).as_deref(), Some(name));
        }
        for name in ["a b", "a-b", "$(reboot)", "é", "~", "*", "\"x\"", "#", "a\\b"] {
            assert_eq!(typed(name), Some(format!("'{name}'")));
        }
        let longer = "a".repeat(41);
        for name in ["", "-o", "';rm -r x;'", "a\nb", "\u{202e}b", &longer] {
            assert_eq!(typed(name), None, "{name:?}");
        }
    }
}
