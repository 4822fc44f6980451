//! Runs the `diad` program in a folder of its own.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Settings that train in an instant.
pub const TINY: [&str; 12] =
    ["--steps", "20", "--warmup", "10", "--anneal", "10", "--trees", "8", "--layers", "2", "--batch", "64"];

/// An empty folder to run the program in.
pub struct Folder(TempDir);

/// What the program answered.
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("a file");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file")
    }

    pub fn read_text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("text")
    }

    /// Names of the files in the folder, sorted.
    pub fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diad"));
        command.args(args).current_dir(self.0.path());
        command
    }

    pub fn diad(&self, args: &[&str]) -> Answer {
        let Output { status, stdout, stderr } = self.command(args).output().expect("diad starts");
        let text = |bytes| String::from_utf8(bytes).expect("text");
        Answer { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs `diad fit` with tiny settings and more arguments.
    pub fn fit(&self, args: &[&str]) -> Answer {
        self.diad(&[&["fit"], args, &TINY].concat())
    }

    /// A small table with a label, and a model of it without the label.
    pub fn with_model() -> Self {
        let folder = Self::new();
        folder.write("table.csv", small_table());
        folder.fit(&["table.csv", "-o", "model.diad", "--label", "label", "--ignore", "name"]).succeeds();
        folder
    }
}

impl Answer {
    /// Checks that all went well without a word on standard error; gives standard output.
    pub fn succeeds(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "{}", self.stdout);
        self.stdout
    }

    /// Checks that the program gave up with one sentence and no output; gives the sentence.
    pub fn fails(self) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{}", self.stderr);
        assert!(self.stderr.starts_with("diad: ") && self.stderr.ends_with('\n'), "{}", self.stderr);
        assert_eq!(self.stderr.lines().count(), 1, "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self.stderr
    }
}

/// 100 rows: a circle with two points inside, which are the anomalies.
fn small_table() -> String {
    let mut text = String::from("name,x,y,label\n");
    for i in 0..100 {
        let angle = f64::from(i) * 0.7;
        let anomaly = i % 50 == 7;
        let radius = if anomaly { 0.1 } else { 1.0 };
        let (x, y, label) = (radius * angle.cos(), radius * angle.sin(), u8::from(anomaly));
        writeln!(text, "row {i},{x:.6},{y:.6},{label}").expect("a string grows");
    }
    text
}
