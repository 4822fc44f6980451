//! The paper's tables: Chang, Yoon, Arik, Udell, Pfister, KDD 2023. ROC-AUC in %.

use anyhow::{Context, Result};

/// The methods of the paper, in the order of its table.
pub const METHODS: [&str; 11] =
    ["DIAD", "PIDForest", "IF", "COPOD", "PCA", "SCAD", "GIF", "kNN", "RRCF", "LOF", "OC-SVM"];

/// A figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The mean.
    pub mean: f64,
    /// The standard error, where the paper gives one.
    pub error: Option<f64>,
}

/// One of the paper's tables: a row of figures for each set, in the order of [`METHODS`].
#[derive(Debug)]
pub struct PaperTable {
    rows: Vec<(String, Vec<Figure>)>,
}

impl PaperTable {
    /// The table without labels, 18 sets.
    ///
    /// # Errors
    /// If the stored text is malformed.
    pub fn unsupervised() -> Result<Self> {
        Self::parse(include_str!("../data/paper_unsupervised.csv"))
    }

    /// The table with 50 columns of noise, two sets.
    ///
    /// # Errors
    /// If the stored text is malformed.
    pub fn noise() -> Result<Self> {
        Self::parse(include_str!("../data/paper_noise.csv"))
    }

    /// The figures of a set, or `None` where the paper has none.
    pub fn row(&self, set: &str) -> Option<&[Figure]> {
        self.rows.iter().find(|(name, _)| name == set).map(|(_, figures)| figures.as_slice())
    }

    fn parse(text: &str) -> Result<Self> {
        let mut lines = text.lines();
        let header: Vec<_> = lines.next().context("the paper's table is empty")?.split(',').collect();
        let places = METHODS
            .iter()
            .map(|method| header.iter().position(|name| name == method))
            .collect::<Option<Vec<_>>>()
            .context("a method is missing in the paper's table")?;
        let rows = lines
            .map(|line| {
                let cells: Vec<_> = line.split(',').collect();
                let figures =
                    places.iter().map(|place| figure(cells.get(*place)?)).collect::<Option<Vec<_>>>();
                let figures = figures.with_context(|| format!("the paper's row {line} is malformed"))?;
                Ok((cells[0].to_string(), figures))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Self { rows })
    }
}

fn figure(cell: &str) -> Option<Figure> {
    match cell.split_once('±') {
        Some((mean, error)) => {
            Some(Figure { mean: mean.trim().parse().ok()?, error: Some(error.trim().parse().ok()?) })
        }
        None => Some(Figure { mean: cell.trim().parse().ok()?, error: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sets, stats};

    /// The averages the paper prints. GIF's is left out: it prints 71.2, but its rows average to 72.3.
    const AVERAGE: [f64; 11] = [82.5, 80.7, 81.2, 81.0, 80.5, 80.3, f64::NAN, 70.6, 76.8, 40.2, 71.0];

    #[test]
    fn stored_figures_average_to_the_papers_average() {
        let table = PaperTable::unsupervised().expect("well formed");
        let sets = sets::select(&[], false).expect("all sets");
        for (place, average) in AVERAGE.iter().enumerate().filter(|(_, average)| !average.is_nan()) {
            let column: Vec<_> = sets
                .iter()
                .map(|set| table.row(set.name).expect("a row for every set")[place].mean)
                .collect();
            let ours = stats::mean(&column).expect("18 figures");
            assert!((ours - average).abs() < 0.051, "{}: {ours} is not {average}", METHODS[place]);
        }
    }

    #[test]
    fn noise_table_is_read_by_method_name() {
        let table = PaperTable::noise().expect("well formed");
        let row = table.row("thyroid").expect("a row");
        assert_eq!(row[0], Figure { mean: 71.1, error: Some(1.2) });
        assert_eq!(row[2], Figure { mean: 64.4, error: Some(1.6) });
        assert_eq!(row[10], Figure { mean: 49.4, error: None });
        assert!(table.row("vowels").is_none());
    }
}
