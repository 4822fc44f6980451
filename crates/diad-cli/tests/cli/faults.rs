//! Faults and attacks: pipes, closed outputs, files that change, tables that would fill the memory, programs that are killed.

#![cfg(unix)]

use std::io::{BufRead, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use crate::common::Folder;

/// Runs a line of a shell in a folder, in which `$DIAD` is the program; gives its code and standard error.
fn shell(folder: &Folder, line: &str) -> (Option<i32>, String) {
    let output = Command::new("sh")
        .args(["-c", line])
        .env("DIAD", env!("CARGO_BIN_EXE_diad"))
        .env("TMPDIR", folder.path("tmp"))
        .current_dir(folder.path("."))
        .output()
        .expect("a shell");
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn with_model() -> Folder {
    let folder = Folder::with_model();
    std::fs::create_dir(folder.path("tmp")).expect("a folder");
    folder
}

#[test]
fn pipes_and_standard_input_work_everywhere() {
    let folder = with_model();
    let (code, said) = shell(&folder, "$DIAD score model.diad table.csv -o plain.csv");
    assert_eq!(code, Some(0), "{said}");
    for line in [
        "cat table.csv | $DIAD score model.diad - -o s.csv",
        "mkfifo p; cat table.csv > p & $DIAD score model.diad p -o s.csv",
        "cat table.csv | $DIAD score model.diad /dev/stdin -o s.csv",
    ] {
        let (code, said) = shell(&folder, line);
        assert_eq!((code, said.as_str()), (Some(0), ""), "{line}");
        assert_eq!(folder.read("s.csv"), folder.read("plain.csv"), "{line}");
        std::fs::remove_file(folder.path("s.csv")).expect("scores");
    }
    for line in [
        "cat table.csv | $DIAD explain model.diad - --top 2",
        "cat table.csv | $DIAD report model.diad - -o r.html",
        "cat table.csv | $DIAD eval model.diad - --label label",
        "cat table.csv | $DIAD fit - -o m.diad --steps 5 --trees 4 --ignore name",
        "rm -f p; mkfifo p; cat table.csv > p & $DIAD explain model.diad p --top 2",
    ] {
        let (code, said) = shell(&folder, line);
        assert_eq!(code, Some(0), "{line}: {said}");
    }
    assert_eq!(std::fs::read_dir(folder.path("tmp")).expect("a folder").count(), 0);
}

/// A copy of standard input has no name, so that it goes with the program, however that ends.
#[test]
fn nothing_is_left_of_standard_input_after_a_kill() {
    let folder = with_model();
    for signal in ["TERM", "HUP", "KILL"] {
        let mut child = folder
            .command(&["fit", "-", "-o", "m.diad"])
            .env("TMPDIR", folder.path("tmp"))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("diad starts");
        let input = child.stdin.as_mut().expect("a pipe");
        input.write_all(b"a,b\n1,2\n").and_then(|()| input.flush()).expect("written");
        std::thread::sleep(std::time::Duration::from_millis(300));
        let kill = ["-s", signal, &child.id().to_string()].map(String::from);
        assert!(Command::new("kill").args(kill).status().expect("a signal").success());
        child.wait().expect("an end");
        assert_eq!(std::fs::read_dir(folder.path("tmp")).expect("a folder").count(), 0, "{signal}");
        assert_eq!(folder.files(), ["model.diad", "table.csv", "tmp"], "{signal}");
    }
}

/// Ctrl-C ends a program that waits for input that does not come.
#[test]
fn ctrl_c_while_waiting_for_input_ends_at_once() {
    let folder = with_model();
    for command in [&["score", "model.diad", "-", "-o", "s.csv"][..], &["fit", "-", "-o", "m.diad"]] {
        let mut child = folder
            .command(command)
            .env("TMPDIR", folder.path("tmp"))
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("diad starts");
        // Once it has begun to read, too.
        let (input, table) = (child.stdin.as_mut().expect("a pipe"), folder.read_text("table.csv"));
        let begun: String = table.lines().take(2).map(|line| format!("{line}\n")).collect();
        input.write_all(begun.as_bytes()).and_then(|()| input.flush()).expect("written");
        std::thread::sleep(std::time::Duration::from_millis(500));
        let interrupt = ["-s", "INT", &child.id().to_string()].map(String::from);
        assert!(Command::new("kill").args(interrupt).status().expect("a signal").success());
        let started = std::time::Instant::now();
        assert_eq!(child.wait().expect("an end").code(), Some(130), "{command:?}");
        assert!(started.elapsed().as_secs() < 1, "{command:?} took {:?}", started.elapsed());
        assert_eq!(folder.files(), ["model.diad", "table.csv", "tmp"], "{command:?}");
    }
}

/// A table that grows while it is read, by a row that is like the others, is not trained on: nobody could say what the model knows.
#[test]
fn a_file_that_grows_while_it_is_read_is_refused() {
    let folder = with_model();
    let rows: String = (0..400_000).map(|i| format!("{},{}\n", i * 7 % 1009, i * 13 % 997)).collect();
    let mut refused = false;
    // The row is added when the table was looked through once and is being read for the training. A machine that is busy with other things may
    // let us be late; then once more.
    for _ in 0..20 {
        folder.write("t.csv", format!("a,b\n{rows}"));
        let mut child = folder
            .command(&["fit", "t.csv", "-o", "m.diad", "--steps", "2", "--trees", "2", "-v"])
            .stderr(Stdio::piped())
            .spawn()
            .expect("diad starts");
        let mut file = std::fs::OpenOptions::new().append(true).open(folder.path("t.csv")).expect("a file");
        let mut said = String::new();
        for line in std::io::BufReader::new(child.stderr.as_mut().expect("a pipe")).lines() {
            let line = line.expect("text");
            if line.contains("looked through the table") {
                file.write_all(b"5,5\n").expect("written");
            }
            said += &(line + "\n");
        }
        let code = child.wait().expect("an end").code();
        assert!(code == Some(0) || code == Some(2), "{said}");
        if code == Some(2) {
            assert!(said.contains("changed while it was being read"), "{said}");
            assert!(!folder.path("m.diad").exists());
            refused = true;
            break;
        }
        std::fs::remove_file(folder.path("m.diad")).expect("a model");
    }
    assert!(refused, "no row came while the table was read");
}

#[test]
fn a_full_temporary_folder_is_named() {
    let folder = with_model();
    let (code, said) = shell(&folder, "cat table.csv | TMPDIR=/nowhere $DIAD explain model.diad -");
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with("diad: cannot keep standard input in the temporary folder /nowhere ("),
        "{said}"
    );
    assert!(said.ends_with("make room there, or name another folder in TMPDIR\n"), "{said}");
}

#[test]
fn permissions_and_links_of_outputs_are_kept() {
    let folder = with_model();
    folder.write("s.csv", "");
    std::fs::set_permissions(folder.path("s.csv"), PermissionsExt::from_mode(0o600)).expect("a mode");
    symlink("later.csv", folder.path("link.csv")).expect("a link");
    for output in ["s.csv", "link.csv"] {
        folder.diad(&["score", "model.diad", "table.csv", "-o", output]).succeeds();
    }
    let mode = std::fs::metadata(folder.path("s.csv")).expect("scores").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(std::fs::symlink_metadata(folder.path("link.csv")).expect("a link").is_symlink());
    assert_eq!(folder.read("later.csv"), folder.read("s.csv"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_closed_standard_output_is_an_error_if_results_go_there() {
    let folder = with_model();
    for line in ["$DIAD score model.diad table.csv -o - >&-", "$DIAD explain model.diad table.csv >&-"] {
        let (code, said) = shell(&folder, line);
        assert_eq!(code, Some(2), "{line}");
        assert_eq!(
            said,
            "diad: cannot write to standard output: it is closed; redirect it to a file or a pipe\n"
        );
    }
    for line in
        ["$DIAD score model.diad table.csv -o s.csv >&-", "$DIAD score model.diad table.csv -o - > /dev/null"]
    {
        assert_eq!(shell(&folder, line), (Some(0), String::new()), "{line}");
    }
    assert_eq!(folder.read_text("s.csv").lines().count(), 101);
}

/// Megabytes of text in a file of a few kilobytes; the limit on the memory of the program is that of the shell.
#[test]
fn tables_that_would_fill_the_memory_are_refused_or_read() {
    let folder = with_model();
    let compressed = |name: &str, parts: &mut dyn Iterator<Item = Vec<u8>>| {
        let file = std::fs::File::create(folder.path(name)).expect("a file");
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        parts.for_each(|part| encoder.write_all(&part).expect("written"));
        encoder.finish().expect("a file");
    };
    // 20 million blank lines between two rows of one column.
    let blank = || std::iter::repeat_n(vec![b'\n'; 1 << 20], 20);
    compressed("blank.csv.gz", &mut [b"a\n1\n".to_vec()].into_iter().chain(blank()).chain([b"2\n".to_vec()]));
    // 20 lines of JSON, each with a list of a million numbers.
    let list = [b"{\"x\":1,\"y\":2,\"l\":[".to_vec(), b"0,".repeat(1_000_000), b"0]}\n".to_vec()].concat();
    compressed("lists.jsonl.gz", &mut std::iter::repeat_n(list, 20));
    // 5,000 different texts of 40 kB.
    let text = |i: usize| format!("{},{i:05}{}\n", i % 7, "x".repeat(40_000)).into_bytes();
    let texts = || (0..10_000).map(move |i| text(i % 5000));
    compressed("texts.csv.gz", &mut [b"n,t\n".to_vec()].into_iter().chain(texts()));
    for (table, refused) in [("blank.csv.gz", false), ("lists.jsonl.gz", false), ("texts.csv.gz", false)] {
        let limit = "ulimit -v 1500000; $DIAD inspect --threads 2 --max-memory 256M";
        let (code, said) = shell(&folder, &format!("{limit} {table}"));
        assert_eq!(code, Some(if refused { 2 } else { 0 }), "{table}: {said}");
    }
    let answer = folder.diad(&["inspect", "table.csv", "--max-memory", "3"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.stderr.contains("write a size such as 500M or 2G"), "{}", answer.stderr);
}
