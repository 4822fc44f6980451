//! Functions of one and of two features, given by their values at nodes and linear in between: the one place that
//! finds a value among nodes and interpolates.

/// Equal parts of [-1, 1] for each of which a [`Ruler`] knows where to start looking.
const PARTS: usize = 512;

/// A function of one feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curve {
    /// The feature.
    pub feature: u32,
    /// The places of its nodes, ascending, two or more.
    pub nodes: Vec<f32>,
    /// Its values there.
    pub values: Vec<f32>,
    /// Its rise per unit below the first node and above the last one.
    pub beyond: [f32; 2],
}

/// A function of two features, constant beyond its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The features.
    pub features: [u32; 2],
    /// The places of its nodes along each of them, ascending, two or more.
    pub nodes: [Vec<f32>; 2],
    /// Values at the nodes, the second feature the fastest index.
    pub values: Vec<f32>,
}

/// A sum of functions of one and of two features.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Functions {
    /// Functions of one feature.
    pub curves: Vec<Curve>,
    /// Functions of two features.
    pub grids: Vec<Grid>,
}

/// Equally spaced nodes from -1 to 1.
pub fn spaced(nodes: usize) -> Vec<f32> {
    (0..nodes).map(|node| (node as f32 * 2.0 - (nodes - 1) as f32) / (nodes - 1) as f32).collect()
}

/// The node at or below a value, of two or more ascending ones, and the share of the next one.
#[inline]
pub fn locate(x: f64, nodes: &[f32]) -> (usize, f64) {
    let node = nodes[1..nodes.len() - 1].partition_point(|&node| f64::from(node) <= x);
    let [low, high] = [nodes[node], nodes[node + 1]].map(f64::from);
    (node, ((x - low) / (high - low)).clamp(0.0, 1.0))
}

/// The value of a function, given by its values at nodes, at a place that [`locate`] has found.
#[inline]
pub fn interpolate<T: Copy + Into<f64>>((node, share): (usize, f64), values: &[T]) -> f64 {
    let [low, high] = [values[node].into(), values[node + 1].into()];
    low + share * (high - low)
}

/// Nodes among which many values are found, quickly.
#[derive(Debug, Clone, PartialEq)]
pub struct Ruler {
    nodes: Vec<f32>,
    /// The last node at or before the start of each part.
    starts: Vec<u16>,
}

impl Ruler {
    /// Prepares nodes, ascending, two or more.
    pub fn new(nodes: &[f32]) -> Self {
        let start = |part: usize| {
            let x = part as f32 * (2.0 / PARTS as f32) - 1.0;
            nodes.partition_point(|&node| node <= x).saturating_sub(1) as u16
        };
        Self { nodes: nodes.to_vec(), starts: (0..PARTS).map(start).collect() }
    }

    /// The nodes.
    pub fn nodes(&self) -> &[f32] {
        &self.nodes
    }

    /// The first node and the last one.
    pub fn ends(&self) -> [f32; 2] {
        [self.nodes[0], self.nodes[self.nodes.len() - 1]]
    }

    /// As [`locate`], in single precision.
    #[inline]
    pub fn find(&self, x: f32) -> (usize, f32) {
        let last = self.nodes.len() - 1;
        let part = ((x + 1.0) * (PARTS as f32 / 2.0)).clamp(0.0, (PARTS - 1) as f32) as usize;
        let mut node = (self.starts[part] as usize).min(last - 1);
        while node + 1 < last && self.nodes[node + 1] <= x {
            node += 1;
        }
        let share = (x - self.nodes[node]) / (self.nodes[node + 1] - self.nodes[node]);
        (node, share.clamp(0.0, 1.0))
    }
}

impl Curve {
    /// The value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        let ends = [self.nodes[0], self.nodes[self.nodes.len() - 1]].map(f64::from);
        let rise = |distance: f64, slope: f32| if distance > 0.0 { distance * f64::from(slope) } else { 0.0 };
        interpolate(locate(x, &self.nodes), &self.values)
            + rise(ends[0] - x, self.beyond[0])
            + rise(x - ends[1], self.beyond[1])
    }
}

impl Grid {
    /// The value at `(x, y)`, plainly.
    pub fn at(&self, x: f64, y: f64) -> f64 {
        let across = self.nodes[1].len();
        let ((i, share), second) = (locate(x, &self.nodes[0]), locate(y, &self.nodes[1]));
        let row = |i: usize| interpolate(second, &self.values[i * across..(i + 1) * across]);
        row(i) + share * (row(i + 1) - row(i))
    }
}

impl Functions {
    /// Adds other functions times a factor. Curves and grids of the same features and nodes become one.
    pub fn add(&mut self, other: &Self, factor: f32) {
        let plus = |values: &mut [f32], more: &[f32]| {
            values.iter_mut().zip(more).for_each(|(value, more)| *value += factor * more);
        };
        for curve in &other.curves {
            let same = |known: &&mut Curve| known.feature == curve.feature && known.nodes == curve.nodes;
            if let Some(known) = self.curves.iter_mut().find(same) {
                plus(&mut known.values, &curve.values);
                plus(&mut known.beyond, &curve.beyond);
            } else {
                let values = curve.values.iter().map(|value| factor * value).collect();
                let beyond = curve.beyond.map(|slope| factor * slope);
                self.curves.push(Curve {
                    feature: curve.feature,
                    nodes: curve.nodes.clone(),
                    values,
                    beyond,
                });
            }
        }
        for grid in &other.grids {
            let same = |known: &&mut Grid| known.features == grid.features && known.nodes == grid.nodes;
            if let Some(known) = self.grids.iter_mut().find(same) {
                plus(&mut known.values, &grid.values);
            } else {
                let values = grid.values.iter().map(|value| factor * value).collect();
                self.grids.push(Grid { features: grid.features, nodes: grid.nodes.clone(), values });
            }
        }
    }

    /// The smallest value the sum can have for any row.
    pub fn least(&self) -> f64 {
        let least = |values: &[f32]| values.iter().copied().fold(f32::INFINITY, f32::min);
        let curves = self.curves.iter().map(|curve| f64::from(least(&curve.values)));
        curves.chain(self.grids.iter().map(|grid| f64::from(least(&grid.values)))).sum()
    }

    /// The sum for one row of features, plainly.
    #[cfg(test)]
    pub fn at(&self, row: &[f32]) -> f64 {
        let value = |feature: u32| f64::from(row[feature as usize]);
        let curves = self.curves.iter().map(|curve| curve.at(value(curve.feature)));
        let grids = self.grids.iter().map(|grid| grid.at(value(grid.features[0]), value(grid.features[1])));
        curves.chain(grids).sum()
    }
}
