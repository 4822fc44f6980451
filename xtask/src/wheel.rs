//! `cargo xtask wheel`: builds a wheel as it is published, with the `diad` command in it, and tests it where there is no Rust.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::python::{self, Environment};
use crate::{cargo, check, root, target};

/// The oldest system that a wheel for Linux runs on: that of glibc 2.28, of 2018.
const LINUX: &str = "2.28";

/// Builds and tests; with `--no-test`, builds only.
pub fn run(options: &[String]) -> Result<()> {
    if let Some(other) = options.iter().find(|option| *option != "--no-test") {
        bail!("there is no option {other}; run `cargo xtask help`");
    }
    let tools = Environment::new(&target().join("wheel/tools"))?;
    tools.install(&["maturin[zig]>=1.16,<2", "cargo-zigbuild"])?;
    let wheel = build(&tools)?;
    println!("built {}", wheel.display());
    if options.is_empty() { test(&wheel) } else { Ok(()) }
}

fn build(tools: &Environment) -> Result<PathBuf> {
    let package = root().join("crates/diad-python");
    let command = command(tools)?;
    // What is in this folder is installed beside the interpreter.
    let data = package.join("diad._diad.data");
    let scripts = data.join("scripts");
    fs::create_dir_all(&scripts).context("cannot make the folder of the command")?;
    let name = command.file_name().context("the command has no name")?;
    fs::copy(&command, scripts.join(name)).context("cannot copy the command")?;
    let wheels = target().join("wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).context("cannot remove earlier wheels")?;
    }
    let mut build = tools.command("maturin");
    build.args(["build", "--release", "--locked", "--out"]).arg(&wheels).current_dir(&package);
    if cfg!(target_os = "linux") {
        let compatibility = format!("manylinux_{}", LINUX.replace('.', "_"));
        build.args(["--zig", "--target", &triple(), "--compatibility", &compatibility]);
    }
    let built = check(&mut build, "maturin build");
    fs::remove_dir_all(&data).context("cannot remove the folder of the command")?;
    built?;
    let found = fs::read_dir(&wheels)?.filter_map(Result::ok).map(|entry| entry.path());
    found
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "whl"))
        .context("there is no wheel")
}

/// The `diad` command, built for the same systems as the wheel.
fn command(tools: &Environment) -> Result<PathBuf> {
    if !cfg!(target_os = "linux") {
        check(
            cargo().args(["build", "--release", "--locked", "-p", "diad-cli", "--features", "png"]),
            "the build of the command",
        )?;
        return Ok(target().join("release").join(format!("diad{}", std::env::consts::EXE_SUFFIX)));
    }
    let mut build = tools.command("cargo-zigbuild");
    build.args(["zigbuild", "--release", "--locked", "-p", "diad-cli", "--features", "png", "--target"]);
    check(build.arg(format!("{}.{LINUX}", triple())).current_dir(root()), "the build of the command")?;
    Ok(target().join(triple()).join("release/diad"))
}

fn triple() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// Runs the tests of the package on an installed wheel, where no program for Rust can be found.
fn test(wheel: &Path) -> Result<()> {
    let fresh = Environment::new(&target().join("wheel/fresh"))?;
    fresh.install(&python::TESTED_WITH)?;
    let mut install = fresh.pip();
    check(install.arg("--no-deps").arg(wheel).env("PATH", fresh.path_alone()?), "pip install of the wheel")?;
    let mut version = Command::new(fresh.program("diad"));
    check(version.arg("--version").env_clear(), "the diad command of the wheel")?;
    fresh.test(&fresh.program("diad"), &[])
}
