//! The plots of `diad explain --plots`: every term as an SVG file and, with the feature `png`, as a PNG file.

use std::io::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use diad::explain::{Explainer, compare};
use diad_report::plot::{self, Earlier};

use crate::output::{self, Pending, shown};
use crate::stop;

/// Writes the plots of all terms into a folder, with a row marked if there is one, and the terms of an earlier model drawn beside
/// them, the most changed first. Says how many terms there are.
pub fn write(
    explainer: &Explainer,
    before: Option<&Explainer>,
    marked: Option<&[f64]>,
    folder: &Path,
) -> Result<usize> {
    let comparison = stop::at_once(|| before.map(|before| compare(before, explainer)).transpose())?;
    if folder.exists() && !folder.is_dir() {
        bail!("cannot write plots to {}: it is a file; name a folder", shown(folder));
    }
    std::fs::create_dir_all(folder).map_err(|error| output::unwritable(folder, error))?;
    let change = |term: usize| comparison.as_ref()?.changes.iter().find(|change| change.after == Some(term));
    let mut terms: Vec<usize> = (0..explainer.terms().len()).collect();
    let weight =
        |term: usize| change(term).map_or(explainer.terms()[term].importance(), |change| change.size);
    terms.sort_by(|&a, &b| weight(b).total_cmp(&weight(a)));
    #[cfg(feature = "png")]
    let renderer = diad_report::png::Renderer::new();
    for (place, &term) in terms.iter().enumerate() {
        let earlier = before.zip(comparison.as_ref()).zip(change(term).and_then(|change| change.before));
        let earlier = earlier.map(|((explainer, comparison), term)| Earlier {
            explainer,
            term,
            scale: comparison.scale,
        });
        if stop::requested() {
            return Err(diad::Error::Stopped.into());
        }
        let svg = plot::term(explainer, term, marked, earlier);
        let name = format!("{:03}-{}", place + 1, plain(&explainer.name(term)));
        save(&folder.join(format!("{name}.svg")), svg.as_bytes())?;
        #[cfg(feature = "png")]
        {
            let png = renderer.png(&svg).map_err(|error| anyhow::anyhow!("cannot draw a plot: {error}"))?;
            save(&folder.join(format!("{name}.png")), &png)?;
        }
    }
    Ok(terms.len())
}

fn save(file: &Path, content: &[u8]) -> Result<()> {
    let mut pending = Pending::new(file)?;
    pending.file().write_all(content).map_err(|error| pending.unwritable(error))?;
    pending.commit()
}

/// A term's name as part of a file name.
fn plain(name: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    name.replace(" × ", "-x-").chars().map(keep).take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn names_of_files_are_plain() {
        assert_eq!(plain("T3 × a/b"), "T3-x-a_b");
        assert_eq!(plain("../<script>"), "____script_");
    }
}
