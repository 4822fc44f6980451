//! Functions of one and of two features given by their values at nodes within [-1, 1], linear in between and
//! constant beyond.

/// Most pairs of columns that cuts have grids of.
pub const CUT_PAIRS: usize = 300;

/// A function of one feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The feature.
    pub feature: u32,
    /// The places of its nodes, ascending, two or more.
    pub nodes: Vec<f32>,
    /// Its values there.
    pub values: Vec<f32>,
}

/// A function of two features.
#[derive(Debug, Clone, PartialEq)]
pub struct Grid {
    /// The features.
    pub features: [u32; 2],
    /// Nodes along each of them, two or more, equally spaced from -1 to 1.
    pub nodes: [usize; 2],
    /// Values at the nodes, the second feature the fastest index.
    pub values: Vec<f32>,
}

/// A sum of curves and grids.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tables {
    /// Functions of one feature.
    pub curves: Vec<Curve>,
    /// Functions of two features.
    pub grids: Vec<Grid>,
}

/// The score as a whole: the mean of the trees times a factor, plus the tables, less a constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Combination {
    /// What the mean of the trees is multiplied by.
    pub tree_factor: f32,
    /// What is taken from the sum.
    pub shift: f32,
    /// What is added to the trees.
    pub tables: Tables,
}

/// So many equally spaced nodes from -1 to 1.
pub fn spaced(nodes: usize) -> Vec<f32> {
    (0..nodes).map(|node| (node as f32 * 2.0 - (nodes - 1) as f32) / (nodes - 1) as f32).collect()
}

/// The node at or below a value, of so many equally spaced ones, and the share of the next one.
#[inline]
pub fn place(x: f32, nodes: usize) -> (usize, f32) {
    let position = (x.clamp(-1.0, 1.0) + 1.0) * (0.5 * (nodes - 1) as f32);
    let node = (position as usize).min(nodes - 2);
    (node, position - node as f32)
}

/// The node at or below a value, of two or more ascending ones, and the share of the next one.
#[inline]
pub fn place_between(x: f32, nodes: &[f32]) -> (usize, f64) {
    let node = nodes[1..nodes.len() - 1].partition_point(|&node| node <= x);
    let share =
        (f64::from(x) - f64::from(nodes[node])) / (f64::from(nodes[node + 1]) - f64::from(nodes[node]));
    (node, share.clamp(0.0, 1.0))
}

/// The value of a function, given by its values at nodes, at a place that [`place_between`] has found.
#[inline]
pub fn line_between((node, share): (usize, f64), values: &[f64]) -> f64 {
    values[node] + share * (values[node + 1] - values[node])
}

impl Curve {
    /// The value at `x`.
    #[inline]
    pub fn at(&self, x: f32) -> f32 {
        let last = self.nodes.len() - 1;
        let node = self.nodes[1..last].partition_point(|&node| node <= x);
        let share = (x - self.nodes[node]) / (self.nodes[node + 1] - self.nodes[node]);
        self.values[node] + share.clamp(0.0, 1.0) * (self.values[node + 1] - self.values[node])
    }
}

impl Grid {
    /// The value at `(x, y)`.
    #[inline]
    pub fn at(&self, x: f32, y: f32) -> f32 {
        let ((i, a), (j, b)) = (place(x, self.nodes[0]), place(y, self.nodes[1]));
        let row = |i: usize| {
            let start = i * self.nodes[1] + j;
            self.values[start] + b * (self.values[start + 1] - self.values[start])
        };
        row(i) + a * (row(i + 1) - row(i))
    }
}
