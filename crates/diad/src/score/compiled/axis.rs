//! A column divided into cells; on each, the functions of the column are parabolas.

use super::split::{Branch, Position};

/// The largest number of cells of an axis.
pub const MOST_CELLS: usize = 4096;
/// The largest number of bins: equal parts of an axis, each of which knows where to start looking for the cell.
const MOST_BINS: usize = 4096;
/// Cells of one bin that are searched without a loop.
const FEW: usize = 2;

/// The cells of an axis.
#[derive(Debug, Clone)]
pub struct Axis {
    /// For each cell, where it begins and the reciprocal of its width.
    cells: Vec<[f32; 2]>,
    /// Where the cells after the first begin, then infinity.
    begins: Vec<f32>,
    /// For each bin, the cell of the last node in an earlier bin.
    starts: Vec<u16>,
    low: f32,
    high: f32,
    /// The first and the last cell have no outer end: the lines in them go on.
    open: bool,
    scale: f32,
    /// The largest number of cells that begin in one bin.
    steps: usize,
}

impl Axis {
    /// An axis with cells between ascending nodes. Values beyond the ends count as the ends, or lie, if it is open, in
    /// the cell at that end. `None` if nodes are too close together.
    pub fn new(nodes: &[f32], open: bool) -> Option<Self> {
        let (&low, &high) = (nodes.first()?, nodes.last()?);
        let count = nodes.len() - 1;
        let cells: Vec<[f32; 2]> = nodes.windows(2).map(|two| [two[0], 1.0 / (two[1] - two[0])]).collect();
        if !(1..=MOST_CELLS).contains(&count) || cells.iter().any(|cell| !cell[1].is_finite()) {
            return None;
        }
        let mut axis =
            Self { cells, begins: Vec::new(), starts: Vec::new(), low, high, open, scale: 0.0, steps: 0 };
        let mut bins = (2 * count).next_power_of_two().clamp(16, MOST_BINS);
        loop {
            axis.scale = bins as f32 / (high - low);
            axis.starts = vec![0; bins];
            let mut inside = vec![0; bins];
            // A node at or above a value is in its bin or a later one, since finding a bin never reverses an order.
            for (cell, &node) in nodes[..count].iter().enumerate().skip(1) {
                let bin = axis.bin(node) as usize;
                inside[bin] += 1;
                if let Some(next) = axis.starts.get_mut(bin + 1) {
                    *next = cell as u16;
                }
            }
            let mut last = 0;
            for start in &mut axis.starts {
                last = last.max(*start);
                *start = last;
            }
            axis.steps = inside.into_iter().max().unwrap_or(0);
            if axis.steps <= FEW || bins == MOST_BINS {
                break;
            }
            bins *= 2;
        }
        axis.begins = nodes[1..count].to_vec();
        axis.begins.resize(count + axis.steps.max(FEW), f32::INFINITY);
        Some(axis)
    }

    /// The number of cells.
    #[cfg(test)]
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The bin of a value between the ends: the nearest whole number, by way of a number whose last bits are whole.
    #[inline(always)]
    fn bin(&self, x: f32) -> u32 {
        const WHOLE: f32 = 8_388_608.0;
        let last = (self.starts.len() - 1) as f32;
        let place = (x - self.low) * self.scale;
        let place = if place < last { place } else { last };
        (place + WHOLE).to_bits().wrapping_sub(WHOLE.to_bits())
    }

    /// A value, or the end that it lies beyond.
    #[inline(always)]
    fn within(&self, x: f32) -> f32 {
        let x = if x > self.low { x } else { self.low };
        if x < self.high { x } else { self.high }
    }

    /// The cell of a value, and how far into it the value lies: from 0 to 1, unless it lies beyond an open end.
    #[cfg(test)]
    pub fn find(&self, x: f32) -> (usize, f32) {
        let (mut cell, mut share) = ([0], [0.0]);
        self.find_all(&[x], 1, &mut cell, &mut share);
        (cell[0] as usize, share[0])
    }

    /// For each value, the number of its cell times a stride, and how far into it the value lies: from 0 to 1, unless it lies
    /// beyond an open end.
    pub fn find_all(&self, x: &[f32], stride: u32, cells: &mut [u32], shares: &mut [f32]) {
        if self.steps <= FEW {
            return self.find_by(x, stride, cells, shares, |start, x| {
                let begins = &self.begins[start..start + FEW];
                start + usize::from(begins[0] <= x) + usize::from(begins[1] <= x)
            });
        }
        self.find_by(x, stride, cells, shares, |start, x| {
            start + self.begins[start..start + self.steps].iter().filter(|begin| **begin <= x).count()
        });
    }

    #[inline(always)]
    fn find_by(
        &self,
        x: &[f32],
        stride: u32,
        cells: &mut [u32],
        shares: &mut [f32],
        from: impl Fn(usize, f32) -> usize,
    ) {
        // Bins first: a loop without look-ups becomes vector code.
        for ((bin, share), &x) in cells.iter_mut().zip(&mut *shares).zip(x) {
            let within = self.within(x);
            (*bin, *share) = (self.bin(within), if self.open { x } else { within });
        }
        for (cell, share) in cells.iter_mut().zip(shares).take(x.len()) {
            let x = *share;
            let found = from(usize::from(self.starts[*cell as usize]), x);
            let [begin, per_width] = self.cells[found];
            let inside = (x - begin) * per_width;
            (*cell, *share) = (found as u32 * stride, if inside < 1.0 || self.open { inside } else { 1.0 });
        }
    }
}

/// The points at which functions must be known: both ends and the middle of every cell.
pub fn points(nodes: &[f32]) -> Vec<f64> {
    let pairs = nodes.windows(2).map(|two| [f64::from(two[0]), f64::from(two[1])]);
    let last = nodes.last().map(|&node| f64::from(node));
    pairs.flat_map(|[a, b]| [a, 0.5 * (a + b)]).chain(last).collect()
}

/// Halves cells until the sum of all trees differs from its parabolas by no more than `wanted`; returns the nodes and a
/// bound of the difference. `None` if there would be too many.
///
/// On a cell of width h, the second derivative of a function minus a parabola is at most d/2, with d the largest
/// difference between two values of the function's second derivative. The parabola through both ends and the middle is nowhere further than
/// d·h²/64 from the two straight lines through them, and neither is the function: d·h²/32 in all.
pub fn refine(
    nodes: &[f32],
    branches: &[Branch],
    place: impl Fn(f64) -> Position,
    wanted: f64,
) -> Option<(Vec<f32>, f64)> {
    let place = |node: f32| place(f64::from(node));
    let mut found = vec![*nodes.first()?];
    let mut worst = 0.0_f64;
    for two in nodes.windows(2) {
        let all: Vec<&Branch> = branches.iter().collect();
        let mut waiting = vec![(place(two[0]), place(two[1]), all)];
        while let Some((low, high, within)) = waiting.pop() {
            let within: Vec<&Branch> =
                within.into_iter().filter(|branch| branch.changes(&low, &high)).collect();
            let width = high.x - low.x;
            let uneven: f64 = within.iter().map(|branch| branch.unevenness(&low, &high)).sum();
            let error = uneven * width * width / 32.0;
            let middle = (0.5 * (low.x + high.x)) as f32;
            let splittable = f64::from(middle) > low.x && f64::from(middle) < high.x;
            if error > wanted && splittable {
                let middle = place(middle);
                waiting.push((middle, high, within.clone()));
                waiting.push((low, middle, within));
            } else {
                worst = worst.max(error);
                found.push(high.x as f32);
            }
            if found.len() + waiting.len() > MOST_CELLS {
                return None;
            }
        }
    }
    Some((found, worst))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Against a plain search, also on nodes, beside them and beyond the ends.
    #[test]
    fn values_are_found_in_their_cells() {
        let mut random = Stream::new(5, Purpose::Uniform, 0);
        for count in [2, 3, 17, 700, 4000] {
            let mut nodes: Vec<f32> = (0..count)
                .map(|i| ((random.unit() * 2.0 - 1.0) * if i % 3 == 0 { 2.0 } else { 0.01 }) as f32)
                .collect();
            nodes.sort_unstable_by(f32::total_cmp);
            nodes.dedup();
            let axis = Axis::new(&nodes, false).unwrap();
            assert_eq!(axis.cells(), nodes.len() - 1);
            let beside = nodes.iter().flat_map(|&node| [node, node.next_up(), node.next_down()]);
            let others = (0..1000).map(|_| (random.unit() * 5.0 - 2.5) as f32).chain([1e30, -1e30, 0.0]);
            for x in beside.chain(others) {
                let (cell, share) = axis.find(x);
                let inside = x.clamp(nodes[0], nodes[nodes.len() - 1]);
                let plain = nodes[1..nodes.len() - 1].iter().filter(|&&node| node <= inside).count();
                assert_eq!(cell, plain, "{x}");
                let back = nodes[cell] + share * (nodes[cell + 1] - nodes[cell]);
                assert!((0.0..=1.0).contains(&share) && (back - inside).abs() < 1e-6, "{x} {back}");
            }
        }
    }
}
