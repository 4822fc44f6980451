//! Options that several commands share.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use clap::Args;
use diad::Params;
use diad::settings::Value;

use crate::environment;

/// The options that every study has.
#[derive(Debug, Args)]
pub struct Common {
    /// Folder of the Parquet files.
    #[arg(long, env = "DIAD_DATA", value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Folder of the results: a line for each run, and tables for programs.
    #[arg(long, default_value = "bench/results", value_name = "DIR")]
    pub out: PathBuf,
    /// Folder of the pages and pictures.
    #[arg(long, default_value = "docs/benchmarks", value_name = "DIR")]
    pub pages: PathBuf,
    #[command(flatten)]
    pub settings: Settings,
    /// Seeds 0 to this less one; most studies stop at four on sets of more than 200,000 rows.
    #[arg(long, value_name = "N")]
    pub seeds: Option<u64>,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    pub sets: Vec<String>,
    /// The Python interpreter for other methods; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    pub render: bool,
}

impl Common {
    /// The data folder.
    ///
    /// # Errors
    /// If neither the option nor the variable names it.
    pub fn data(&self) -> Result<PathBuf> {
        self.data.clone().context("say where the data are: --data DIR, or set DIAD_DATA")
    }

    /// Whether a set is asked for; all are where none is named.
    pub fn wants(&self, set: &str) -> bool {
        asked(&self.sets, set)
    }
}

/// Whether a name is among those asked for; all are where none is.
pub fn asked(names: &[String], name: &str) -> bool {
    names.is_empty() || names.iter().any(|asked| asked == name)
}

/// Refuses names that do not exist.
///
/// # Errors
/// Names the first one and lists those that do.
pub fn known(what: &str, names: &[String], all: &[&str]) -> Result<()> {
    match names.iter().find(|name| !all.contains(&name.as_str())) {
        Some(name) => bail!("there is no {what} {name}; there are {}", all.join(", ")),
        None => Ok(()),
    }
}

/// Where the settings start from.
#[derive(Debug, Clone, Copy, PartialEq, clap::ValueEnum)]
pub enum Preset {
    /// The default settings.
    Default,
    /// The paper's.
    Paper,
}

/// The settings of the fits.
#[derive(Debug, Args)]
pub struct Settings {
    /// The settings to start from.
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub preset: Preset,
    /// Overrides a setting, for example `--set trees=100`; may be repeated.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub overrides: Vec<String>,
    /// Threads (all cores by default).
    #[arg(long)]
    pub threads: Option<usize>,
}

impl Settings {
    /// The preset with the overrides.
    ///
    /// # Errors
    /// Names the setting that does not exist or the value that does not fit.
    pub fn params(&self) -> Result<Params> {
        let mut params = match self.preset {
            Preset::Default => Params::default(),
            Preset::Paper => Params::paper(),
        };
        if let Some(given) = self.overrides.iter().find(|given| !given.contains('=')) {
            bail!("{given} is not NAME=VALUE");
        }
        for (name, text) in self.pairs() {
            if name == "seed" {
                bail!("the benchmark chooses the seeds; use --seeds");
            }
            let setting = Params::declared().iter().find(|setting| setting.name == name);
            let value = setting.map_or(Ok(Value::Word(text.into())), |setting| setting.parse(text))?;
            params.set(&name, &value)?;
        }
        params.validate()?;
        Ok(params)
    }

    /// The names of the settings overridden, as in [`Params`], and the values given.
    pub fn pairs(&self) -> impl Iterator<Item = (String, &str)> {
        let pairs = self.overrides.iter().filter_map(|given| given.split_once('='));
        pairs.map(|(name, value)| (name.replace('-', "_"), value))
    }

    /// The preset and the overrides in words.
    pub fn name(&self) -> String {
        let preset = if self.preset == Preset::Paper { "paper" } else { "default" };
        [vec![preset.to_string()], self.overrides.clone()].concat().join(", ")
    }

    /// Preset and overrides as they are written on the command line, each with a space before it.
    pub fn command_line(&self) -> String {
        let preset = if self.preset == Preset::Paper { " --preset paper" } else { "" };
        let overrides: String = self.overrides.iter().map(|given| format!(" --set {given}")).collect();
        format!("{preset}{overrides}")
    }

    /// Makes the pool of the wanted threads, `otherwise` where none is asked for. Call it once.
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn start_threads(&self, otherwise: Option<usize>) -> Result<()> {
        if let Some(threads) = self.threads.or(otherwise) {
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
        }
        eprintln!("{}, commit {}", environment::machine(), environment::commit());
        Ok(())
    }
}

/// A short digest of all settings but the seed: runs with equal digests may share a table. A setting that came later does not count
/// while it is as it was for all before, so that earlier results keep their digests.
///
/// # Errors
/// If the settings cannot be written as JSON.
pub fn digest(params: &Params) -> Result<String> {
    let mut value = serde_json::to_value(params)?;
    if let Some(fields) = value.as_object_mut() {
        fields.remove("seed");
        for (setting, (name, value)) in Params::declared().iter().zip(params.values()) {
            if setting.before == Some(value) {
                fields.remove(name);
            }
        }
    }
    Ok(format!("{:016x}", hash(&value.to_string())))
}

/// The FNV-1a hash of a text.
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(overrides: &[&str]) -> Settings {
        let overrides = overrides.iter().map(ToString::to_string).collect();
        Settings { preset: Preset::Default, overrides, threads: None }
    }

    #[test]
    fn any_setting_can_be_overridden() {
        let params = settings(&["trees=100", "min-temperature=0.2"]).params().expect("both exist");
        assert_eq!((params.trees, params.min_temperature), (100, 0.2));
        assert_eq!(params.layers, Params::default().layers);
        let paper = Settings { preset: Preset::Paper, ..settings(&["trees=100"]) };
        let expected = Params::paper().trees(100);
        assert_eq!(paper.params().expect("it exists"), expected);
        assert_eq!(paper.command_line(), " --preset paper --set trees=100");
    }

    #[test]
    fn minus_signs_change_in_names_only() {
        let settings = settings(&["learning-rate=1e-2"]);
        assert_eq!(settings.pairs().collect::<Vec<_>>(), [("learning_rate".to_string(), "1e-2")]);
        assert_eq!(settings.params().expect("it exists").learning_rate, 1e-2);
    }

    #[test]
    fn wrong_overrides_are_refused() {
        for (given, says) in [
            ("tree=1", "no setting \"tree\""),
            ("trees", "not NAME=VALUE"),
            ("trees=many", "must be a whole number"),
            ("seed=1", "--seeds"),
        ] {
            let error = settings(&[given]).params().expect_err(given);
            assert!(error.to_string().contains(says), "{given}: {error}");
        }
        assert!(settings(&["dropout=2"]).params().is_err());
    }

    #[test]
    fn digest_depends_on_settings_but_not_on_the_seed() {
        let plain = Params::default();
        let seeded = Params::default().seed(5);
        let smaller = Params::default().trees(299);
        let digest = |params| digest(params).expect("a digest");
        assert_eq!(digest(&plain), digest(&seeded));
        assert_ne!(digest(&plain), digest(&smaller));
    }
}
