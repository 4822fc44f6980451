//! The reference of the settings and the arguments of the Python package follow from the declarations. `cargo xtask settings`
//! writes them.

use std::fmt::Write;
use std::path::Path;

use diad::settings::{Kind, Setting, Value, Word};
use diad::{DescentParams, FunctionParams, Learner, Params};

const INTRODUCTION: &str = "\
# Settings

Written by `cargo xtask settings` from the declarations in `crates/diad/src/settings`.

A setting is an option of the command line, an argument in Python and a method in Rust: `--feature-share 0.2`,
`feature_share=0.2`, `Params::default().feature_share(0.2)`. On the command line, minus signs take the place of underscores; in
Python, the seed is `random_state`.
";

const FIT: &str = "
## Fit

`--preset paper` starts from the paper's values; `-` is where the paper has the default.
";

const TUNE: &str = "
## Tune

`learner` is `functions`, or `descent` where a loss is given. Settings of the other learner are refused.
";

fn words(words: &[Word], quote: &str) -> String {
    let all: Vec<String> = words.iter().map(|word| format!("{quote}{}{quote}", word.name)).collect();
    all.join(", ")
}

fn table<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> String {
    let mut text =
        "\n| setting | default | paper | allowed | what it does |\n|---|---|---|---|---|\n".to_owned();
    for setting in settings {
        let allowed = match (setting.range, setting.kind) {
            (Some(range), _) => range.to_owned(),
            (None, Kind::Word(all)) => words(all, "`"),
            (None, Kind::Switch) => "`true`, `false`".into(),
            (None, _) => "any whole number".into(),
        };
        let paper = setting.paper.as_ref().map_or("-".into(), Value::typed);
        let (name, default, help) = (setting.name, setting.default.typed(), setting.help);
        writeln!(text, "| `{name}` | {default} | {paper} | {allowed} | {help} |")
            .expect("a string takes all");
    }
    text
}

fn reference() -> String {
    let mut text = [INTRODUCTION, FIT, &table(Params::declared()), TUNE].concat();
    let declared = [FunctionParams::declared(), DescentParams::declared()];
    for (word, settings) in Learner::NAMES.iter().zip(declared) {
        write!(text, "\n### `{}`\n\n{}.\n{}", word.name, word.help, table(settings))
            .expect("a string takes all");
    }
    text
}

/// A name as a type has it.
fn capital(name: &str) -> String {
    let capital = |part: &str| {
        part.char_indices().map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c }).collect::<String>()
    };
    name.split('_').map(capital).collect()
}

fn python_type(setting: &Setting) -> String {
    match setting.kind {
        Kind::Count => "int".into(),
        Kind::Number => "float".into(),
        Kind::Switch => "bool".into(),
        _ => capital(setting.name),
    }
}

/// The keywords of a fit. The seed is given as `random_state`.
fn arguments() -> String {
    let settings = Params::declared().iter().filter(|setting| setting.name != "seed");
    settings
        .map(|setting| format!("        {}: {} | None = None,\n", setting.name, python_type(setting)))
        .collect()
}

fn types() -> String {
    let tuning = || Learner::declared().into_iter().map(|(setting, _)| setting);
    let literal =
        |name: &str, all: &[Word]| format!("{}: TypeAlias = Literal[{}]\n", capital(name), words(all, "\""));
    let mut text: String =
        (Params::declared().iter().chain(tuning()))
            .filter_map(|setting| {
                if let Kind::Word(all) = setting.kind { Some(literal(setting.name, all)) } else { None }
            })
            .collect();
    text += &literal("learner", Learner::NAMES);
    text += "\n\nclass TuneSettings(TypedDict, total=False):\n    \"\"\"The settings of a tuning.\"\"\"\n\n    learner: Learner\n";
    for setting in tuning().filter(|setting| setting.name != "seed") {
        writeln!(text, "    {}: {}", setting.name, python_type(setting)).expect("a string takes all");
    }
    text
}

/// A file whose generated part is this.
fn with_part(file: &str, part: &str) -> String {
    const BEGIN: &str = "# Settings, written by `cargo xtask settings`.\n";
    const END: &str = "# End of the settings.";
    let begin = file.find(BEGIN).expect("a beginning") + BEGIN.len();
    let end = file.find(END).expect("an end");
    let indent = file[..end].rfind('\n').map_or(0, |line| line + 1);
    [&file[..begin], part, &file[indent..]].concat()
}

#[test]
fn what_is_written_about_settings_is_what_is_declared() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let python = root.join("crates/diad-python/python/diad");
    let write = std::env::var_os("DIAD_WRITE_SETTINGS").is_some();
    let read = |path: &Path| std::fs::read_to_string(path).unwrap_or_default();
    let (base, kinds) = (python.join("_base.py"), python.join("_types.py"));
    for (path, expected) in [
        (root.join("docs/settings.md"), reference()),
        (base.clone(), with_part(&read(&base), &arguments())),
        (kinds.clone(), with_part(&read(&kinds), &types())),
    ] {
        if write {
            std::fs::write(&path, expected).expect("a file that can be written");
        } else {
            assert!(read(&path) == expected, "{} is out of date; run `cargo xtask settings`", path.display());
        }
    }
}
