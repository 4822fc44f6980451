//! `diad fit --checkpoint`: killed at any moment and started again, it ends with the same model, bit for bit.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;

use crate::common::Folder;

const SETTINGS: [&str; 8] = ["--steps", "300", "--trees", "40", "--batch", "256", "--seed", "11"];

/// A table that takes a moment to read and to learn.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut text = String::from("colour,x,y,z\n");
    let mut state = 1u64;
    for row in 0..3000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let [x, y] = [state >> 40, state >> 20 & 0xfffff].map(|bits| bits as f64 / 1e5);
        let colour = ["red", "green", "blue", ""][row % 4];
        text.push_str(&format!("{colour},{x},{y},{}\n", x + y * 0.5));
    }
    folder.write("t.csv", text);
    folder
}

fn fit(folder: &Folder, output: &str, more: &[&str]) -> Command {
    folder.command(&[&["fit", "t.csv", "-o", output], &SETTINGS[..], more].concat())
}

/// The model of a fit that nobody disturbs, and how long it takes.
fn undisturbed(folder: &Folder) -> (Vec<u8>, Duration) {
    let started = Instant::now();
    assert!(fit(folder, "whole.diad", &[]).output().expect("diad starts").status.success());
    (folder.read("whole.diad"), started.elapsed())
}

/// Random numbers from 0 to below 1.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Kills fits at random moments until so many were killed; each that gets to its end must have the same model, and a
/// model file is whole at any moment. Gives how many fits ended and how many went on from a checkpoint.
fn kill(kills: usize, seed: u64) -> (usize, usize) {
    let folder = folder();
    let (whole, time) = undisturbed(&folder);
    let mut random = random(seed);
    let (mut killed, mut ended, mut went_on) = (0, 0, 0);
    while killed < kills {
        let checkpoint = ["--checkpoint", "progress", "--checkpoint-every", "0"];
        let mut child = fit(&folder, "m.diad", &checkpoint)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("diad starts");
        // A kill may also come while the model is written, and after it.
        thread::sleep(time.mul_f64(1.3 * random()));
        child.kill().expect("a process");
        let output = child.wait_with_output().expect("an end");
        let said = String::from_utf8(output.stderr).expect("text");
        went_on += usize::from(said.starts_with("diad: note: resuming after step "));
        match output.status.code() {
            None => killed += 1,
            Some(0) => ended += 1,
            Some(other) => panic!("exit code {other}: {said}"),
        }
        if folder.files().iter().any(|name| name == "m.diad") {
            assert!(folder.read("m.diad") == whole, "after {killed} kills");
            std::fs::remove_file(folder.path("m.diad")).expect("a model");
        }
    }
    let last = fit(&folder, "m.diad", &["--checkpoint", "progress"]).output().expect("diad starts");
    assert!(last.status.success() && folder.read("m.diad") == whole);
    assert_eq!(std::fs::read_dir(folder.path("progress")).expect("a folder").count(), 0);
    (ended, went_on)
}

#[test]
fn a_fit_killed_at_random_moments_ends_with_the_same_model() {
    let (_, went_on) = kill(6, 1);
    assert!(went_on > 0, "no kill came during the training");
}

#[test]
#[ignore = "takes minutes; run it with --ignored"]
fn two_hundred_kills() {
    let (ended, went_on) = kill(200, 2);
    println!(
        "200 kills; {went_on} fits went on from a checkpoint, {ended} came to their end before the kill"
    );
    assert!(went_on > 50 && ended > 0);
}

/// Kills that come while a model file is written: a model is there whole, or the one before is.
#[test]
#[ignore = "takes minutes; run it with --ignored"]
fn two_hundred_kills_during_the_writing() {
    let folder = folder();
    let mut random = random(3);
    let quick = ["--steps", "1", "--warmup", "0", "--anneal", "0", "--trees", "1500", "--layers", "3"];
    let run = |seed: &'static str| [&["fit", "t.csv", "-o", "m.diad", "--seed", seed][..], &quick].concat();
    let whole = ["1", "2"].map(|seed| {
        assert!(folder.command(&run(seed)).output().expect("diad starts").status.success());
        folder.read("m.diad")
    });
    let (mut during, mut killed) = (0, 0);
    while killed < 200 {
        let mut child = folder
            .command(&run(["1", "2"][killed % 2]))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("diad starts");
        // The part that is written says that the writing has begun.
        let parts = || folder.files().iter().filter(|name| name.ends_with(".part")).count();
        let before = parts();
        while parts() <= before && child.try_wait().expect("a process").is_none() {
            thread::sleep(Duration::from_micros(200));
        }
        thread::sleep(Duration::from_micros((random() * 8000.0) as u64));
        during += usize::from(parts() > before);
        child.kill().expect("a process");
        killed += usize::from(child.wait().expect("an end").code().is_none());
        assert!(whole.contains(&folder.read("m.diad")), "after {killed} kills");
    }
    println!("200 kills, {during} of them while a part of the model was there");
    assert!(during > 50);
}

#[test]
fn a_checkpoint_of_another_fit_is_refused() {
    let folder = folder();
    let tiny = ["--steps", "20", "--trees", "4", "--checkpoint", "progress", "--checkpoint-every", "0"];
    let args = |more: &[&'static str]| [&["fit", "t.csv", "-o", "m.diad"], &tiny[..], more].concat();
    let endless = ["fit", "t.csv", "-o", "m.diad", "--steps", "1000000", "--checkpoint", "progress"];
    let mut child = folder.command(&endless).stderr(Stdio::piped()).spawn().expect("diad starts");
    let started = Instant::now();
    while !folder.path("progress/fit.checkpoint").exists() && started.elapsed() < Duration::from_secs(30) {
        thread::sleep(Duration::from_millis(20));
    }
    assert_snapshot!(folder.diad(&args(&[])).fails(), @"diad: cannot resume from progress/fit.checkpoint: another fit is using its folder; wait for it to finish, or choose another folder");
    child.kill().expect("a process");
    child.wait().expect("an end");
    assert_snapshot!(folder.diad(&args(&[])).fails(), @"diad: cannot resume from progress/fit.checkpoint: it is from a fit of another table or with other settings; choose another folder, or delete the file to start over");
    folder.write("progress/fit.checkpoint", "rubbish");
    assert_snapshot!(folder.diad(&args(&[])).fails(), @"diad: cannot resume from progress/fit.checkpoint: it is damaged, or another version of diad wrote it; delete the file to start over");
    folder.write("file", "");
    assert_snapshot!(folder.diad(&["fit", "t.csv", "-o", "m.diad", "--checkpoint", "file"]).fails(), @"diad: cannot write to file: it is a file; name a folder");
    assert_snapshot!(folder.diad(&["fit", "t.csv", "-o", "m.diad", "--checkpoint-every", "1"]).fails(), @"diad: the following required arguments were not provided: --checkpoint <DIR>; try --help");
    assert_eq!(folder.files(), ["file", "progress", "t.csv"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_the_last_step() {
    let folder = folder();
    let args = ["fit", "t.csv", "-o", "m.diad", "--steps", "1000000", "--checkpoint", "progress"];
    let child = folder.command(&args).stderr(Stdio::piped()).spawn().expect("diad starts");
    thread::sleep(Duration::from_millis(1500));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    let output = child.wait_with_output().expect("an end");
    assert_eq!(output.status.code(), Some(130));
    assert_snapshot!(String::from_utf8(output.stderr).expect("text"), @"diad: stopped before it finished; run the same command again to resume");
    assert!(folder.path("progress/fit.checkpoint").exists());
}
