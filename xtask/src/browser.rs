//! `cargo xtask browser`: opens reports in a real browser.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{build_diad, check, find, install_packages, target};

/// Programs the tests need, and the Debian packages they come from.
const NEEDED: [(&str, &[&str]); 3] =
    [("node", &["nodejs"]), ("npm", &["npm"]), ("chromium", &["chromium", "fonts-dejavu-core"])];

/// Builds the program, installs what is missing and runs the tests; with `--pictures` also renews those of the
/// documentation.
pub fn run(args: &[String]) -> Result<()> {
    let pictures = match args {
        [] => false,
        [flag] if flag == "--pictures" => true,
        _ => bail!("`cargo xtask browser` takes no argument but --pictures"),
    };
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let tests = root.join("tests/browser");
    install()?;
    let browser = find("chromium").context("there is no chromium; install it")?;
    build_diad()?;
    if ["playwright-core", "axe-core"].iter().any(|name| !tests.join("node_modules").join(name).is_dir()) {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-package-lock"]).current_dir(&tests);
        check(&mut npm, "npm install")?;
    }
    let mut node = Command::new("node");
    node.args(["--test", "report.test.mjs"]).current_dir(&tests);
    node.env("DIAD", target().join("debug/diad")).env("CHROMIUM", browser);
    if pictures {
        node.env("PICTURES", root.join("docs/pictures"));
    }
    check(&mut node, "the browser tests")
}

/// Installs the packages of what is missing, where that is possible.
fn install() -> Result<()> {
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(program, _)| find(program).is_none())
        .flat_map(|need| need.1)
        .copied()
        .collect();
    if missing.is_empty() { Ok(()) } else { install_packages("the browser tests", &missing) }
}
