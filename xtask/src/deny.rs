//! `cargo xtask deny`: the licences, advisories and sources of all dependencies, by `deny.toml`.

use anyhow::{Context, Result, bail};

use crate::{cargo, check, find};

/// What cargo-deny says when it cannot fetch the advisories.
const UNREACHABLE: &str = "failed to fetch advisory database";

/// Runs cargo-deny where it is installed. Advisories are left out where their database cannot be reached.
pub fn run() -> Result<()> {
    if find("cargo-deny").is_none() {
        println!("Skipped: cargo-deny is not installed; run `cargo install cargo-deny`");
        return Ok(());
    }
    check(cargo().args(["deny", "check", "bans", "licenses", "sources"]), "cargo deny")?;
    let advisories =
        cargo().args(["deny", "check", "advisories"]).output().context("cannot start cargo deny")?;
    let said = String::from_utf8_lossy(&advisories.stderr);
    if advisories.status.success() {
        return Ok(());
    }
    if said.contains(UNREACHABLE) {
        println!("Skipped: the advisory database cannot be reached");
        return Ok(());
    }
    eprint!("{said}");
    bail!("cargo deny check advisories failed")
}
