//! `cargo xtask site`: the documentation as a web site, with the reference of Rust, of Python and of the command.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::python::Environment;
use crate::{cargo, check, links, root, target};

const REPOSITORY: &str = "https://github.com/diad-project/diad";

/// What builds the site.
const TOOLS: [&str; 3] = ["mkdocs-material>=9,<10", "mkdocstrings[python]>=0.27,<2", "numpy"];

/// The commands of `diad` that work on tables and models, in the order of its help.
const COMMANDS: [&str; 13] = [
    "fit", "score", "tune", "eval", "explain", "report", "drift", "next", "edit", "export", "inspect",
    "info", "demo",
];

/// Builds it.
pub fn run() -> Result<()> {
    let folder = target().join("site");
    let pages = folder.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages).context("cannot remove the earlier pages")?;
    }
    copy(&root().join("docs"), &pages)?;
    // It is beside the folder of the pages, and becomes one of them.
    let changes = fs::read_to_string(root().join("CHANGELOG.md")).context("cannot read the changelog")?;
    fs::write(pages.join("changelog.md"), changes.replace("](docs/", "]("))
        .context("cannot write the changelog")?;
    let environment = Environment::new(&folder.join("venv"))?;
    environment.install(&[&["maturin>=1.16,<2", "scikit-learn>=1.9"], &TOOLS[..]].concat())?;
    // The settings stand in docstrings only once the package is imported.
    environment.install_diad()?;
    fs::write(pages.join("command.md"), command_page()?).context("cannot write the page of the command")?;
    let mut build = environment.command("mkdocs");
    build.args(["build", "--quiet", "--strict", "--config-file"]).arg(root().join("mkdocs.yml"));
    check(&mut build, "mkdocs build")?;
    let mut rust = cargo();
    rust.args(["doc", "--no-deps", "-p", "diad", "-p", "diad-table", "-p", "diad-report"]);
    check(&mut rust, "cargo doc")?;
    copy(&target().join("doc"), &folder.join("html/rust"))?;
    links::check(&folder.join("html"))?;
    println!("the site is in {}", folder.join("html/index.html").display());
    Ok(())
}

/// What the command says of itself.
fn command_page() -> Result<String> {
    let program = target().join(format!("debug/diad{}", std::env::consts::EXE_SUFFIX));
    let mut page = "# The command\n\nWritten from the command's own help.\n".to_owned();
    for command in std::iter::once("").chain(COMMANDS) {
        let mut help = Command::new(&program);
        help.args((!command.is_empty()).then_some(command)).arg("--help").env("NO_COLOR", "1");
        let said = help.output().context("cannot run the command")?;
        let title = format!("diad {command}");
        write!(page, "\n## {}\n\n```text\n{}```\n", title.trim(), String::from_utf8_lossy(&said.stdout))?;
    }
    Ok(page)
}

/// Links to files that are no pages lead to the repository.
fn outward(page: &str) -> String {
    ["crates", "bench", "fixtures", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
        .iter()
        .fold(page.to_owned(), |page, place| {
            let there = format!("]({REPOSITORY}/blob/main/{place}");
            (1..=3)
                .rev()
                .fold(page, |page, up| page.replace(&format!("]({}{place}", "../".repeat(up)), &there))
        })
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else if target.extension().is_some_and(|end| end == "md") {
            let page = fs::read_to_string(entry.path())?;
            fs::write(&target, outward(&page))
                .with_context(|| format!("cannot write {}", target.display()))?;
        } else {
            fs::copy(entry.path(), &target)
                .with_context(|| format!("cannot copy {}", entry.path().display()))?;
        }
    }
    Ok(())
}
