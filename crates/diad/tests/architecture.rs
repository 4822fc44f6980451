//! The modules of the library use each other as ARCHITECTURE.md says, and never in a circle.
//!
//! Its first table has a row for each module, with those it may use in the last column. To allow one more, name it there.

#![expect(clippy::unwrap_used, reason = "a test that cannot read the sources may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

type Edges = BTreeMap<String, BTreeSet<String>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The names between backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The modules of the first table of ARCHITECTURE.md, each with those it may use.
fn allowed() -> Edges {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| module ")).skip(2);
    let mut edges = Edges::new();
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').collect();
        for module in quoted(cells[0]) {
            edges.insert(module, quoted(cells[cells.len() - 1]));
        }
    }
    assert!(edges.len() > 5, "ARCHITECTURE.md has a table of modules");
    edges
}

/// The source of a file without comments and without its tests, which stand at its end.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Where the names stand that the root of the crate gives away: `Detector` in `score`.
fn given_away() -> BTreeMap<String, String> {
    let text = code(&root().join("crates/diad/src/lib.rs"));
    let mut names = BTreeMap::new();
    for line in text.split("pub use ").skip(1) {
        let path = line.split(';').next().unwrap_or_default();
        if let Some((module, items)) = path.split_once("::") {
            let items = items.trim_matches(['{', '}', ' ', '\n']).split(',').map(str::trim);
            names.extend(items.map(|item| (item.to_owned(), module.trim().to_owned())));
        }
    }
    names
}

/// The first names of the paths that begin with `crate::`.
fn used(code: &str) -> BTreeSet<String> {
    let first =
        |path: &str| path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            names.insert(first(rest));
            continue;
        };
        let (mut depth, mut start) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => start = true,
                c if start && !c.is_whitespace() => {
                    names.insert(first(&list[at..]));
                    start = false;
                }
                _ => {}
            }
        }
    }
    names
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.file_name().and_then(|name| name.to_str()) {
            Some("tests" | "tests.rs" | "lib.rs") => {}
            _ if path.is_dir() => files.extend(sources(&path)),
            _ => files.push(path),
        }
    }
    files
}

/// The modules of the library, each with those it uses.
fn found() -> Edges {
    let source = root().join("crates/diad/src");
    let given_away = given_away();
    let mut edges = Edges::new();
    for path in sources(&source) {
        let inside = path.strip_prefix(&source).unwrap().with_extension("");
        let module = inside.iter().next().unwrap().to_str().unwrap().to_owned();
        let names = used(&code(&path)).into_iter().map(|name| given_away.get(&name).cloned().unwrap_or(name));
        let others: BTreeSet<String> = names.filter(|name| *name != module && name != "Result").collect();
        edges.entry(module).or_default().extend(others);
    }
    edges
}

/// A circle, if there is one.
fn circle(edges: &Edges) -> Option<Vec<String>> {
    fn visit<'a>(module: &'a str, edges: &'a Edges, path: &mut Vec<&'a str>) -> bool {
        if path.contains(&module) {
            path.push(module);
            return true;
        }
        path.push(module);
        let next = edges.get(module).into_iter().flatten();
        let found = next.into_iter().any(|next| visit(next, edges, path));
        if !found {
            path.pop();
        }
        found
    }
    edges.keys().find_map(|module| {
        let mut path = Vec::new();
        visit(module, edges, &mut path).then(|| path.into_iter().map(str::to_owned).collect())
    })
}

#[test]
fn modules_use_only_those_they_may() {
    let (allowed, found) = (allowed(), found());
    let mut wrong = Vec::new();
    for (module, used) in &found {
        match allowed.get(module) {
            Some(allowed) => {
                wrong.extend(used.difference(allowed).map(|other| format!("{module} uses {other}")))
            }
            None => wrong.push(format!("{module} is not in the table of ARCHITECTURE.md")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(circle(&found), None);
}

#[test]
fn the_table_has_no_circle() {
    assert_eq!(circle(&allowed()), None);
}

#[test]
fn paths_are_understood() {
    let names = used("use crate::{Error, table::{self, Table}, a::b}; let x = crate::rng::new();");
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["Error", "a", "rng", "table"]);
    let edges = |pairs: &[(&str, &str)]| {
        let mut edges = Edges::new();
        for (a, b) in pairs {
            edges.entry((*a).to_owned()).or_default().insert((*b).to_owned());
        }
        edges
    };
    assert_eq!(circle(&edges(&[("a", "b"), ("a", "c"), ("b", "c")])), None);
    assert!(circle(&edges(&[("a", "b"), ("b", "c"), ("c", "b")])).is_some());
}

/// Where CONTRIBUTING.md sends those who add something; NAME stands for what they add.
#[test]
fn every_place_to_add_something_exists() {
    let text = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let places = text.split("## To add something").nth(1).unwrap().split("\n## ").next().unwrap();
    let paths =
        quoted(places).into_iter().filter(|path| path.starts_with("crates/") || path.starts_with("docs/"));
    let mut known = 0;
    for path in paths {
        let place = root().join(path.split("NAME").next().unwrap());
        assert!(place.exists(), "there is no {path}");
        known += 1;
    }
    assert!(known > 10, "{known} paths");
}

/// The example that is tested is that of the library's own page.
#[test]
fn both_pages_have_the_same_example() {
    let example = |path: &str| {
        let text = fs::read_to_string(root().join(path)).unwrap();
        text.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```")).unwrap().0.to_owned()
    };
    assert_eq!(example("README.md"), example("crates/diad/README.md"));
}
