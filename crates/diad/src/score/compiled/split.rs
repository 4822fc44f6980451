//! One split of a tree as a function of the position on an axis, with bounds of its values and derivatives.

/// From the least to the largest value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
}

impl Range {
    pub fn of(a: f64, b: f64) -> Self {
        Self { low: a.min(b), high: a.max(b) }
    }

    /// The largest difference between two of its values.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// The largest absolute value.
    pub fn size(self) -> f64 {
        self.high.max(-self.low)
    }

    fn with(self, value: f64) -> Self {
        Self { low: self.low.min(value), high: self.high.max(value) }
    }

    pub fn times(self, other: Self) -> Self {
        let ends =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        let first = Self { low: ends[0], high: ends[0] };
        ends.into_iter().fold(first, Self::with)
    }

    fn plus(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }
    }
}

/// From the asinh scale of a column to its plain one: factor · sinh(rate · (x + 1) + start) + offset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Warp {
    pub start: f64,
    pub rate: f64,
    pub factor: f64,
    pub offset: f64,
}

impl Warp {
    /// The place on the plain scale, and its first and second derivative by the asinh one.
    pub fn at(&self, x: f64) -> [f64; 3] {
        let inner = self.rate * (x + 1.0) + self.start;
        let (sinh, cosh) = (libm::sinh(inner), libm::cosh(inner));
        [
            self.factor * sinh + self.offset,
            self.factor * self.rate * cosh,
            self.factor * self.rate * self.rate * sinh,
        ]
    }

    /// The place on the asinh scale.
    pub fn back(&self, plain: f64) -> f64 {
        (libm::asinh((plain - self.offset) / self.factor) - self.start) / self.rate - 1.0
    }

    pub fn is_sane(&self) -> bool {
        let all = [self.start, self.rate, self.factor, self.offset];
        all.iter().all(|value| value.abs() < 1e9) && self.rate > 1e-9 && self.factor > 1e-12
    }
}

/// A place on an axis, in the axis's own scale and in the second one.
#[derive(Debug, Clone, Copy)]
pub struct Position {
    pub x: f64,
    /// Where splits see it.
    seen: f64,
    /// The place on the second scale, and its first and second derivative by the first.
    second: [f64; 3],
}

impl Position {
    pub fn new(x: f64, warp: Option<Warp>) -> Self {
        Self { x, seen: x, second: warp.map_or([x, 1.0, 0.0], |warp| warp.at(x)) }
    }

    /// A place that splits see at the end of [-1, 1] that it lies beyond.
    pub fn held(x: f64, warp: Option<Warp>) -> Self {
        Self { x, ..Self::new(x.clamp(-1.0, 1.0), warp) }
    }
}

/// A split: entmoid15 of the distance from a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Split {
    pub threshold: f64,
    pub steepness: f64,
    /// Whether it looks at the second scale of the axis's column.
    pub warped: bool,
}

/// What a split and its first two derivatives can be between two places.
#[derive(Debug, Clone, Copy)]
pub struct Ranges {
    pub value: Range,
    pub first: Range,
    pub second: Range,
}

/// The sigmoid of [`crate::kernel`]: -1 to 1, for u from -1 to 1.
fn sigmoid(u: f64) -> f64 {
    let u = u.clamp(-1.0, 1.0);
    u * (2.0 - u * u).sqrt()
}

impl Split {
    fn position(&self, place: &Position) -> f64 {
        let value = if self.warped { place.second[0] } else { place.seen };
        (value - self.threshold) * self.steepness
    }

    /// Its value.
    pub fn at(&self, place: &Position) -> f64 {
        sigmoid(self.position(place))
    }

    /// The interval outside of which it is constant.
    pub fn reach(&self, warp: Option<Warp>) -> [f64; 2] {
        let back = |place: f64| warp.filter(|_| self.warped).map_or(place, |warp| warp.back(place));
        [-1.0, 1.0].map(|end| back(self.threshold + end / self.steepness))
    }

    /// Bounds of its values from `low` to `high`; `None` where it is constant.
    ///
    /// With u the position on the sigmoid, the value grows with u, its derivative falls with |u|, and its second
    /// derivative falls with u; both are 0 beyond ±1.
    pub fn ranges(&self, low: &Position, high: &Position) -> Option<Ranges> {
        let (u, v) = (self.position(low), self.position(high));
        if u >= 1.0 || v <= -1.0 {
            return None;
        }
        let slope = |u: f64| 2.0 * (1.0 - u * u) / (2.0 - u * u).sqrt();
        let bending = |u: f64| 2.0 * u * (u * u - 3.0) / ((2.0 - u * u) * (2.0 - u * u).sqrt());
        let (inner_low, inner_high) = (u.max(-1.0), v.min(1.0));
        let mut first = Range::of(slope(inner_low), slope(inner_high));
        if inner_low < 0.0 && inner_high > 0.0 {
            first = first.with(slope(0.0));
        }
        let mut second = Range::of(bending(inner_low), bending(inner_high));
        if u < -1.0 || v > 1.0 {
            (first, second) = (first.with(0.0), second.with(0.0));
        }
        // The chain rule. The second scale grows with the first, with a slope that is convex: largest at an end.
        let steep = self.steepness;
        let (rate, change) = if self.warped {
            let [from, to] = [low.second, high.second];
            let turns = from[2] < 0.0 && to[2] > 0.0;
            let least = if turns { 0.0 } else { from[1].min(to[1]) };
            let rate = Range { low: steep * least, high: steep * from[1].max(to[1]) };
            (rate, Range::of(steep * from[2], steep * to[2]))
        } else {
            (Range::of(steep, steep), Range::of(0.0, 0.0))
        };
        Some(Ranges {
            value: Range::of(sigmoid(u), sigmoid(v)),
            first: first.times(rate),
            second: second.times(rate.times(rate)).plus(first.times(change)),
        })
    }
}

/// The splits of a tree that look at one axis, and how much the tree can change with each set of them.
#[derive(Debug, Clone)]
pub struct Branch {
    pub splits: Vec<Split>,
    /// For each set of the splits, the largest mixed difference of the tree by them, whatever its other splits are.
    pub sway: Vec<f64>,
}

impl Branch {
    /// A branch of a tree, given as a polynomial with one coefficient for each set of its splits, of which
    /// `chosen` (a set) are on the axis.
    pub fn new(coefficients: &[f64], chosen: usize, splits: Vec<Split>) -> Self {
        let count = splits.len();
        let places: Vec<usize> = (0..usize::BITS as usize).filter(|i| chosen >> i & 1 == 1).collect();
        let spread =
            |set: usize| (0..count).filter(|i| set >> i & 1 == 1).map(|i| 1 << places[i]).sum::<usize>();
        let sway = (0..1 << count).map(|set| largest(coefficients, spread(set))).collect();
        Self { splits, sway }
    }

    /// The largest difference between two values of the tree's second derivative along the axis, between two positions, with
    /// the other axis held fixed. A tree is linear in each of its splits, so the derivative is a sum over splits and pairs of
    /// splits, each with a factor that is linear in the others.
    pub fn unevenness(&self, low: &Position, high: &Position) -> f64 {
        let count = self.splits.len();
        let mut ranges = [None; 8];
        for (slot, split) in ranges.iter_mut().zip(&self.splits) {
            *slot = split.ranges(low, high);
        }
        let mut total = 0.0;
        for (i, of_i) in ranges[..count].iter().enumerate() {
            let Some(a) = of_i else { continue };
            let set = 1 << i;
            total += a.second.width() * self.sway[set] + a.second.size() * self.drift(&ranges, set);
            for (j, of_j) in ranges[..i].iter().enumerate() {
                let Some(b) = of_j else { continue };
                let (both, set) = (a.first.times(b.first), set | 1 << j);
                total += 2.0 * (both.width() * self.sway[set] + both.size() * self.drift(&ranges, set));
            }
        }
        total
    }

    /// How much the mixed difference by a set of splits can change by way of the other splits on the axis.
    fn drift(&self, ranges: &[Option<Ranges>; 8], set: usize) -> f64 {
        let others = ranges[..self.splits.len()].iter().enumerate();
        others
            .filter(|(k, _)| set >> k & 1 == 0)
            .filter_map(|(k, range)| range.map(|range| range.value.width() * self.sway[set | 1 << k]))
            .sum()
    }

    /// Whether it changes at all between two places.
    pub fn changes(&self, low: &Position, high: &Position) -> bool {
        self.splits.iter().any(|split| split.ranges(low, high).is_some())
    }

    /// A measure of how much it bends.
    pub fn bending(&self) -> f64 {
        let squares = |(i, split): (usize, &Split)| split.steepness * split.steepness * self.sway[1 << i];
        self.splits.iter().enumerate().map(squares).sum()
    }
}

/// The largest absolute value, over all corners, of the part of a polynomial that has all of `set`, divided by it.
fn largest(coefficients: &[f64], set: usize) -> f64 {
    let sets = coefficients.len();
    let value = |corner: usize| {
        (0..sets)
            .filter(|others| others & set == 0)
            .map(|others| {
                let sign = if (others & corner).count_ones() % 2 == 1 { -1.0 } else { 1.0 };
                sign * coefficients[others | set]
            })
            .sum::<f64>()
            .abs()
    };
    (0..sets).filter(|corner| corner & set == 0).map(value).fold(0.0, f64::max)
}
