//! A function of two axes as a short sum of products.

/// A term of the sum: a function of the first axis times one of the second, at the points of both.
#[derive(Debug, Clone)]
pub struct Product {
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    /// The largest absolute value of the product.
    pub size: f64,
}

/// Writes Σ first[i]·second[i] as a sum of products that get small as quickly as possible: the singular value
/// decomposition of the table of its values at all pairs of points, by way of an orthonormal basis of either side. Largest first.
pub fn shortest(first: &[Vec<f64>], second: &[Vec<f64>]) -> Vec<Product> {
    let points = |side: &[Vec<f64>]| side.first().map_or(0, Vec::len);
    if first.len() > points(first).min(points(second)) {
        let (first, second) = fewer(first, second);
        return shortest(&first, &second);
    }
    let ((first, a), (second, b)) = (orthonormal(first), orthonormal(second));
    // The table in the two bases: a · bᵀ, kept column after column of the second basis.
    let mut core: Vec<Vec<f64>> = vec![vec![0.0; first.len()]; second.len()];
    for (a, b) in a.iter().zip(&b) {
        for (column, &y) in core.iter_mut().zip(b) {
            column.iter_mut().zip(a).for_each(|(value, x)| *value += x * y);
        }
    }
    let turned = diagonalise(&mut core);
    let mut products: Vec<Product> = core
        .iter()
        .zip(&turned)
        .map(|(column, turn)| {
            let (mut u, mut v) = (combine(&first, column), combine(&second, turn));
            let (most_u, most_v) = (largest(&u), largest(&v));
            if most_u > 0.0 && most_v > 0.0 {
                let balance = (most_v / most_u).sqrt();
                u.iter_mut().for_each(|x| *x *= balance);
                v.iter_mut().for_each(|x| *x /= balance);
            }
            Product { first: u, second: v, size: most_u * most_v }
        })
        .collect();
    products.sort_by(|a, b| b.size.total_cmp(&a.size));
    products
}

/// The same sum with no more terms than the shorter side has points: a basis of that side, each vector of it beside the sum of
/// what it is multiplied by. A column of a thousand categories has as many terms, beside a few points of the other column.
fn fewer(first: &[Vec<f64>], second: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let turned = first.first().map_or(0, Vec::len) < second.first().map_or(0, Vec::len);
    let (short, long) = if turned { (first, second) } else { (second, first) };
    let (basis, weights) = orthonormal(short);
    let along = |place: usize| weights.iter().map(|weights| weights[place]).collect::<Vec<f64>>();
    let sums = (0..basis.len()).map(|place| combine(long, &along(place))).collect();
    if turned { (basis, sums) } else { (sums, basis) }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| most.max(value.abs()))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums beside each other become vector code.
    let mut sums = [0.0; 4];
    let (whole_a, whole_b) = (a.chunks_exact(4), b.chunks_exact(4));
    let rest: f64 = whole_a.remainder().iter().zip(whole_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in whole_a.zip(whole_b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

fn combine(basis: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; basis.first().map_or(0, Vec::len)];
    for (vector, &weight) in basis.iter().zip(weights) {
        sum.iter_mut().zip(vector).for_each(|(sum, x)| *sum += weight * x);
    }
    sum
}

/// An orthonormal basis of some vectors, and each of them in it. What rounding leaves of a vector that the others
/// already span is dropped.
fn orthonormal(vectors: &[Vec<f64>]) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut weights: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let mut rest = vector.clone();
        let mut own = vec![0.0; basis.len()];
        let length = dot(&rest, &rest).sqrt();
        // Once more, for what rounding left.
        for _ in 0..2 {
            for (unit, weight) in basis.iter().zip(&mut own) {
                let along = dot(&rest, unit);
                *weight += along;
                rest.iter_mut().zip(unit).for_each(|(rest, x)| *rest -= along * x);
            }
        }
        let left = dot(&rest, &rest).sqrt();
        if left > 1e-13 * length && left > 1e-200 {
            rest.iter_mut().for_each(|x| *x /= left);
            basis.push(rest);
            own.push(left);
        }
        weights.push(own);
    }
    let size = basis.len();
    weights.iter_mut().for_each(|weights| weights.resize(size, 0.0));
    (basis, weights)
}

/// Turns pairs of columns until all are orthogonal (one-sided Jacobi); gives the turns, column after column.
fn diagonalise(columns: &mut [Vec<f64>]) -> Vec<Vec<f64>> {
    let size = columns.len();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    let mut turned: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for _ in 0..30 {
        let mut done = true;
        for j in 1..size {
            for i in 0..j {
                let (a, b) = (dot(&columns[i], &columns[i]), dot(&columns[j], &columns[j]));
                let c = dot(&columns[i], &columns[j]);
                if c.abs() <= 1e-15 * (a * b).sqrt() || c.abs() < 1e-200 {
                    continue;
                }
                done = false;
                let tau = (b - a) / (2.0 * c);
                let t = 1.0_f64.copysign(tau) / (tau.abs() + (1.0 + tau * tau).sqrt());
                let cosine = 1.0 / (1.0 + t * t).sqrt();
                for set in [&mut *columns, &mut turned] {
                    let (left, right) = set.split_at_mut(j);
                    for (x, y) in left[i].iter_mut().zip(&mut right[0]) {
                        (*x, *y) = (cosine * (*x - t * *y), cosine * (*y + t * *x));
                    }
                }
            }
        }
        if done {
            break;
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    #[test]
    fn a_sum_of_products_keeps_its_values_and_loses_what_is_dependent() {
        let mut random = Stream::new(8, Purpose::Uniform, 0);
        let mut vector = |length: usize| (0..length).map(|_| random.normal()).collect::<Vec<f64>>();
        let mut first: Vec<Vec<f64>> = (0..5).map(|_| vector(37)).collect();
        let mut second: Vec<Vec<f64>> = (0..5).map(|_| vector(20)).collect();
        // Two terms more that depend on those before.
        first.push(first[0].iter().zip(&first[1]).map(|(a, b)| a - 2.0 * b).collect());
        second.push(vector(20));
        first.push(vector(37));
        second.push(vec![0.0; 20]);
        let products = shortest(&first, &second);
        assert!(products.iter().filter(|product| product.size > 1e-9).count() <= 5);
        assert!(products.windows(2).all(|two| two[0].size >= two[1].size));
        for i in 0..37 {
            for j in 0..20 {
                let plain: f64 = first.iter().zip(&second).map(|(a, b)| a[i] * b[j]).sum();
                let short: f64 = products.iter().map(|product| product.first[i] * product.second[j]).sum();
                assert!((plain - short).abs() < 1e-10, "{short} instead of {plain}");
            }
        }
    }

    #[test]
    fn many_terms_over_few_points_are_first_made_fewer() {
        let mut random = Stream::new(9, Purpose::Uniform, 0);
        let mut side = |length: usize| {
            (0..60).map(|_| (0..length).map(|_| random.normal()).collect()).collect::<Vec<Vec<f64>>>()
        };
        let (long, short) = (side(40), side(7));
        for (first, second) in [(&long, &short), (&short, &long)] {
            let products = shortest(first, second);
            assert!(products.len() <= 7);
            for i in 0..first[0].len() {
                for j in 0..second[0].len() {
                    let plain: f64 = first.iter().zip(second).map(|(a, b)| a[i] * b[j]).sum();
                    let found: f64 =
                        products.iter().map(|product| product.first[i] * product.second[j]).sum();
                    assert!((plain - found).abs() < 1e-9, "{found} instead of {plain}");
                }
            }
        }
    }
}
