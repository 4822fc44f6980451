//! A disk that is full or may not be written to: one sentence, and nothing half-written.

#![cfg(target_os = "linux")]

use std::process::Command;

use crate::common::{Answer, Folder};

/// Runs the program where no file may grow beyond some blocks of 512 bytes. What a full disk answers to a write differs
/// only in its name.
fn limited(folder: &Folder, blocks: usize, args: &str) -> Answer {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec {} {args}", env!("CARGO_BIN_EXE_diad"));
    let output = Command::new("bash").args(["-c", &script]).current_dir(folder.path("")).output();
    let output = output.expect("a shell");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn nothing_half_written_is_left_when_there_is_no_room() {
    let folder = Folder::with_model();
    let mut long = folder.read_text("table.csv");
    let rows = long.split_once('\n').expect("rows").1.repeat(100);
    long.push_str(&rows);
    folder.write("long.csv", long);
    folder.write("old.csv", "old");
    folder.write("old.diad", "old");
    let files = folder.files();
    let limit = "the file would be larger than the system allows; choose another path\n";
    for (name, args) in [
        ("new.diad", "fit table.csv -o new.diad --ignore name --steps 2"),
        ("old.diad", "fit table.csv -o old.diad --ignore name --steps 2"),
        ("s.csv", "score model.diad long.csv -o s.csv"),
        ("old.csv", "score model.diad long.csv -o old.csv"),
        ("s.parquet", "score model.diad long.csv -o s.parquet"),
        ("r.html", "report model.diad table.csv -o r.html"),
        (
            "progress/fit.checkpoint",
            "fit table.csv -o new.diad --ignore name --checkpoint progress --checkpoint-every 0",
        ),
    ] {
        let sentence = limited(&folder, 8, args).fails();
        assert!(sentence.starts_with("diad: cannot write ") && sentence.contains(name), "{sentence}");
        assert!(sentence.ends_with(limit), "{sentence}");
        if name.starts_with("progress") {
            assert_eq!(
                std::fs::read_dir(folder.path("progress")).expect("a folder").count(),
                1,
                "only the lock"
            );
            std::fs::remove_dir_all(folder.path("progress")).expect("a folder");
        }
        assert_eq!(folder.files(), files, "{name}");
    }
    assert_eq!((folder.read_text("old.csv"), folder.read_text("old.diad")), ("old".into(), "old".into()));
}

#[test]
fn a_full_disk_behind_standard_output_is_said() {
    let folder = Folder::with_model();
    for args in ["score model.diad table.csv -o -", "info model.diad"] {
        let answer = limited(&folder, 1000, &format!("{args} > /dev/full"));
        assert_eq!(
            answer.fails(),
            "diad: cannot write standard output: the disk is full; free some space or choose another path\n"
        );
    }
}

/// Nobody may make files there, not even the superuser.
#[test]
fn a_folder_that_may_not_be_written_to_is_said() {
    let folder = Folder::with_model();
    for args in [
        &["fit", "table.csv", "-o", "/sys/out.diad"][..],
        &["score", "model.diad", "table.csv", "-o", "/sys/out.csv"],
        &["report", "model.diad", "table.csv", "-o", "/sys/out.html"],
        &["fit", "table.csv", "-o", "m.diad", "--checkpoint", "/sys"],
    ] {
        let sentence = folder.diad(args).fails();
        assert!(sentence.starts_with("diad: cannot write "), "{sentence}");
        let permission = "permission denied; change the permissions or the path\n";
        assert!(
            sentence.ends_with(permission)
                || sentence.ends_with("the disk is read-only; choose another path\n"),
            "{sentence}"
        );
    }
    assert_eq!(folder.files(), ["model.diad", "table.csv"]);
}
