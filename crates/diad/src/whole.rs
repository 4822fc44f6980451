//! Files that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

/// Links of an output that are followed.
const MOST_LINKS: usize = 16;

/// A file being written beside its target. It takes the target's place when it is whole. Where the system can, it has no name before
/// that, so that nothing is left of it whatever ends the program; elsewhere it is removed when it is dropped.
///
/// A file that is replaced keeps its permissions; one at the end of a link is replaced, and not the link.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("notes.txt");
/// let mut whole = diad::WholeFile::new(&path)?;
/// whole.file().write_all(b"all of it")?;
/// assert!(!path.exists());
/// whole.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"all of it");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    /// Its name, if it has one.
    named: Option<TempPath>,
    target: PathBuf,
}

impl WholeFile {
    /// Begins a file that is to be `path`, or what the link `path` points to.
    ///
    /// # Errors
    /// If nothing can be written to the folder.
    pub fn new(path: &Path) -> io::Result<Self> {
        let target = followed(path);
        if let Some(file) = nameless(folder(&target)) {
            return Ok(Self { file, named: None, target });
        }
        let (file, named) = named_file(folder(&target))?;
        Ok(Self { file, named: Some(named), target })
    }

    /// What is written to.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Where it will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// What was written, read again.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read_back(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.rewind()?;
        self.file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Puts the file in its place, once all of it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written, or not take that place; what was there before is then still there.
    pub fn commit(mut self) -> io::Result<()> {
        if let Ok(before) = fs::metadata(&self.target) {
            self.file.set_permissions(before.permissions())?;
        }
        self.file.sync_all()?;
        let named = match self.named.take() {
            Some(named) => named,
            None => match give_name(&self.file, folder(&self.target)) {
                Ok(named) => named,
                // A system that makes files without names but cannot give them one.
                Err(_) => self.copy()?,
            },
        };
        named.persist(&self.target).map_err(|error| error.error)?;
        // The new name is on the disk too, where folders can be synced.
        #[cfg(unix)]
        let _ = File::open(folder(&self.target)).and_then(|folder| folder.sync_all());
        Ok(())
    }

    fn copy(&mut self) -> io::Result<TempPath> {
        let (mut file, named) = named_file(folder(&self.target))?;
        self.file.rewind()?;
        io::copy(&mut self.file, &mut file)?;
        file.set_permissions(self.file.metadata()?.permissions())?;
        file.sync_all()?;
        Ok(named)
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Where a path leads, also if nothing is there yet.
fn followed(path: &Path) -> PathBuf {
    let mut target = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&target) {
            Ok(link) => target = folder(&target).join(link),
            Err(_) => break,
        }
    }
    target
}

fn named_file(folder: &Path) -> io::Result<(File, TempPath)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".diad-").suffix(".part");
    // A temporary file is its owner's alone; this one will be an ordinary file, subject to the user's mask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    Ok(builder.tempfile_in(folder)?.into_parts())
}

#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> Option<File> {
    use rustix::fs::{CWD, Mode, OFlags};

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, folder, flags, Mode::from_raw_mode(0o666)).ok().map(File::from)
}

#[cfg(target_os = "linux")]
fn give_name(file: &File, folder: &Path) -> io::Result<TempPath> {
    use std::os::fd::AsRawFd;

    use rustix::fs::{AtFlags, CWD};

    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |path: &Path| Ok(rustix::fs::linkat(CWD, open.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW)?);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".diad-").suffix(".part");
    Ok(builder.make_in(folder, link)?.into_temp_path())
}

#[cfg(not(target_os = "linux"))]
fn nameless(_folder: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
fn give_name(_file: &File, _folder: &Path) -> io::Result<TempPath> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(path: &Path, text: &str) {
        let mut whole = WholeFile::new(path).unwrap();
        whole.file().write_all(text.as_bytes()).unwrap();
        assert_eq!(whole.read_back().unwrap(), text.as_bytes());
        whole.commit().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_file_appears_whole_and_nothing_is_left_of_one_that_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        drop(WholeFile::new(&path).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write(&path, "one");
        write(&path, "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_and_links_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let [path, link, dangling] = ["a.txt", "link", "dangling"].map(|name| folder.path().join(name));
        write(&path, "one");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write(&path, "two");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        symlink("a.txt", &link).unwrap();
        symlink("new.txt", &dangling).unwrap();
        write(&link, "three");
        write(&dangling, "four");
        assert_eq!(fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(fs::read_to_string(folder.path().join("new.txt")).unwrap(), "four");
        assert!([link, dangling].iter().all(|link| fs::symlink_metadata(link).unwrap().is_symlink()));
    }
}
