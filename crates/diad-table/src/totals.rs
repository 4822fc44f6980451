//! Rows at the end of a table that have the sums of the others.

/// What the first text of such a row says.
const WORDS: [&str; 22] = [
    "total",
    "totals",
    "sum",
    "sums",
    "grand total",
    "overall total",
    "total sum",
    "overall",
    "sum total",
    "summe",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "total general",
    "total général",
    "totale",
    "totaal",
    "totalt",
    "suma",
    "somme",
    "razem",
    "итого",
];
/// Rows that are summed, at least.
const LEAST_ROWS: u64 = 3;
/// How far a sum may be off, as a share of the sum of all sizes: what adding in another order makes of it.
const ROUNDING: f64 = 1e-9;

/// Whether a text is what rows of sums begin with.
pub(crate) fn is_total(text: &str) -> bool {
    let plain = text.trim().trim_end_matches([':', '.', '=']).trim_end();
    plain.len() <= 32 && WORDS.contains(&plain.to_lowercase().as_str())
}

/// The sum of a column so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    sum: f64,
    sizes: f64,
    numbers: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, number: Option<f64>) {
        if let Some(number) = number.filter(|number| !number.is_nan()) {
            self.sum += number;
            self.sizes += number.abs();
            self.numbers += 1;
        }
    }
}

/// Whether the numbers of a row are the sums of their columns: each of them, and one at least.
pub(crate) fn are_sums(sums: &[Sum], said: &[Option<f64>]) -> bool {
    let is_sum = |(sum, said): (&Sum, &Option<f64>)| {
        said.is_none_or(|said| {
            sum.numbers >= LEAST_ROWS && (said - sum.sum).abs() <= ROUNDING * sum.sizes.max(1e-300)
        })
    };
    said.iter().any(|said| said.is_some_and(|said| said != 0.0)) && sums.iter().zip(said).all(is_sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_sums_are_told() {
        assert!(["Total", " GRAND TOTAL:", "Summe", "Gesamt"].iter().all(|text| is_total(text)));
        assert!(["Total Wine", "subtotal", "", "sumo", "Totals 2024"].iter().all(|text| !is_total(text)));
    }

    #[test]
    fn every_number_must_be_a_sum() {
        let mut sums = [Sum::default(); 3];
        for i in 0..100 {
            sums[0].add(Some(f64::from(i) / 10.0));
            sums[1].add(Some(1.0));
        }
        assert!(are_sums(&sums, &[Some(495.0), None, None]));
        assert!(are_sums(&sums, &[Some(495.0), Some(100.0), None]));
        for said in [
            [Some(495.0), Some(1.0), None],
            [None; 3],
            [Some(495.0), None, Some(0.0)],
            [Some(495.01), None, None],
        ] {
            assert!(!are_sums(&sums, &said), "{said:?}");
        }
    }
}
