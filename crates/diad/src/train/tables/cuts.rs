//! A forest of fair cuts in one or two columns: rows are cut apart again and again, each time where the two sides vary least
//! within themselves, until each is alone. Rows far from all others are alone soon. After Cortes, *Revisiting randomized choices
//! in isolation forests* (2021).

use crate::rng::Stream;

/// Trees of a forest, and rows that each cuts apart.
const TREES: usize = 50;
const ROWS: usize = 256;

/// A tree: its cuts, the first one first.
struct Tree(Vec<Node>);

enum Node {
    /// Values below go on at the next node, all others at `right`.
    Cut { side: usize, at: f64, right: usize },
    /// How many cuts it took to come here.
    Alone { cuts: f64 },
}

/// Trees of the same columns.
pub struct Forest<const D: usize> {
    trees: Vec<Tree>,
    /// How many rows each has cut apart.
    rows: usize,
}

impl<const D: usize> Forest<D> {
    /// Cuts apart points, given by their rows. Of few rows every tree has all, and in one column trees differ by ties alone.
    pub fn grow(rows: usize, point: impl Fn(usize) -> [f64; D], mut random: Stream) -> Self {
        let chosen = ROWS.min(rows);
        let mut order: Vec<usize> = (0..rows).collect();
        let tree = |_| {
            random.shuffle_front(&mut order, chosen);
            let mut points: Vec<[f64; D]> = order[..chosen].iter().map(|&row| point(row)).collect();
            let mut tree = Tree(Vec::new());
            tree.grow(&mut points, 0, &mut random);
            tree
        };
        Self { trees: (0..TREES).map(tree).collect(), rows: chosen }
    }

    /// How soon a point is alone: 1 if at once, a half if it takes as many cuts as it would at random.
    pub fn alone(&self, point: [f64; D]) -> f64 {
        let cuts = self.trees.iter().map(|tree| tree.cuts(point)).sum::<f64>() / self.trees.len() as f64;
        libm::exp2(-cuts / more_cuts(self.rows))
    }
}

impl Tree {
    fn grow<const D: usize>(&mut self, points: &mut [[f64; D]], cuts: usize, random: &mut Stream) {
        let varies = |side: &usize| points.iter().any(|point| point[*side] != points[0][*side]);
        let sides: Vec<usize> = (0..D).filter(varies).collect();
        if sides.is_empty() {
            self.0.push(Node::Alone { cuts: cuts as f64 + more_cuts(points.len()) });
            return;
        }
        let side = sides[random.below(sides.len())];
        points.sort_unstable_by(|a, b| a[side].total_cmp(&b[side]));
        let (first, at) = fair_cut(points, side, random.below(2) == 0);
        let here = self.0.len();
        self.0.push(Node::Cut { side, at, right: 0 });
        let (left, right) = points.split_at_mut(first);
        self.grow(left, cuts + 1, random);
        let start = self.0.len();
        if let Node::Cut { right, .. } = &mut self.0[here] {
            *right = start;
        }
        self.grow(right, cuts + 1, random);
    }

    fn cuts<const D: usize>(&self, point: [f64; D]) -> f64 {
        let mut node = 0;
        loop {
            match self.0[node] {
                Node::Cut { side, at, right } => node = if point[side] < at { node + 1 } else { right },
                Node::Alone { cuts } => return cuts,
            }
        }
    }
}

/// Where sorted points are best cut in two: how many are on the left, and the value between. The standard deviations of both
/// sides, weighed by their rows, are together as small as can be. Of cuts that are as good, the first or the last is taken.
fn fair_cut<const D: usize>(points: &[[f64; D]], side: usize, first: bool) -> (usize, f64) {
    let low = points[0][side];
    let range = points[points.len() - 1][side] - low;
    let value = |point: &[f64; D]| (point[side] - low) / range;
    let add = |[sum, squares]: [f64; 2], x: f64| [sum + x, squares + x * x];
    let all = points.iter().map(value).fold([0.0; 2], add);
    // Rows times the standard deviation.
    let spread = |[sum, squares]: [f64; 2], n: f64| (n * squares - sum * sum).max(0.0).sqrt();
    let (mut best, mut least, mut left) = (1, f64::INFINITY, [0.0; 2]);
    for (i, two) in points.windows(2).enumerate() {
        left = add(left, value(&two[0]));
        if two[0][side] == two[1][side] {
            continue;
        }
        let n = (i + 1) as f64;
        let right = [all[0] - left[0], all[1] - left[1]];
        let within = spread(left, n) + spread(right, points.len() as f64 - n);
        if within < least || !first && within == least {
            (best, least) = (i + 1, within);
        }
    }
    let (below, above) = (points[best - 1][side], points[best][side]);
    // The middle, unless the two are so close that there is none.
    let middle = below + (above - below) / 2.0;
    (best, if middle > below { middle } else { above })
}

/// How many cuts it takes until a row is alone among so many, were they cut at random: 2 (H(n) - 1), where H(n) is the sum of
/// 1, 1/2, … 1/n. As many are added where rows are all the same and cannot be cut.
fn more_cuts(rows: usize) -> f64 {
    let harmonic: f64 = (1..=rows).map(|i| (i as f64).recip()).sum();
    2.0 * (harmonic - 1.0).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Purpose;

    fn forest(values: &[f64]) -> Forest<1> {
        Forest::grow(values.len(), |row| [values[row]], Stream::new(1, Purpose::Cuts, 0))
    }

    /// Rows times standard deviation, plainly.
    fn spread(values: &[f64]) -> f64 {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        n * (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt()
    }

    #[test]
    fn a_fair_cut_leaves_the_least_spread_within() {
        let mut random = Stream::new(2, Purpose::Shuffle, 0);
        for _ in 0..50 {
            let mut values: Vec<f64> = (0..20).map(|_| (random.normal() * 3.0).round()).collect();
            values.sort_by(f64::total_cmp);
            let points: Vec<[f64; 1]> = values.iter().map(|&x| [x]).collect();
            let (cut, at) = fair_cut(&points, 0, true);
            assert!(values[cut - 1] < at && at <= values[cut]);
            let within = |cut: usize| spread(&values[..cut]) + spread(&values[cut..]);
            let places = (1..20).filter(|&i| values[i - 1] < values[i]);
            let best = places.map(within).fold(f64::INFINITY, f64::min);
            assert!(within(cut) <= best + 1e-9, "{} instead of {best}", within(cut));
        }
    }

    #[test]
    fn cuts_of_so_many_rows_at_random_are_those_of_isolation_forests() {
        // c(n) of Liu, Ting and Zhou: 2 H(n - 1) - 2 (n - 1) / n.
        assert_eq!([more_cuts(1), more_cuts(2)], [0.0, 1.0]);
        let plain = 2.0 * (1..256).map(|i| 1.0 / f64::from(i)).sum::<f64>() - 2.0 * 255.0 / 256.0;
        assert!((more_cuts(256) - plain).abs() < 1e-12);
    }

    #[test]
    fn a_point_far_away_is_alone_first_and_both_ends_alike() {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let mut values: Vec<f64> = (0..2000).map(|_| random.normal()).collect();
        values.extend([40.0; 20]);
        let forest = forest(&values);
        let alone = |x: f64| forest.alone([x]);
        assert!(alone(40.0) > alone(0.0) + 0.1 && alone(200.0) == alone(40.0));
        let even: Vec<f64> = (0..99).map(|i| f64::from(i % 3)).collect();
        let forest = self::forest(&even);
        let (low, high) = (forest.alone([0.0]), forest.alone([2.0]));
        assert!((low - high).abs() < 0.03, "{low} and {high}");
    }

    #[test]
    fn few_rows_and_strange_values_do_no_harm() {
        for values in [
            vec![1.0, 2.0],
            vec![5.0; 9],
            vec![0.0, -0.0, 0.0, -0.0],
            vec![1e-300, 2e-300, 1e150, -1e150, 3.0],
            vec![1.0, 1.0 + f64::EPSILON, 1.0, 1.0 + f64::EPSILON],
        ] {
            let forest = forest(&values);
            for &value in &values {
                let alone = forest.alone([value]);
                assert!((0.0..=1.0).contains(&alone), "{alone} of {value} in {values:?}");
            }
        }
    }
}
