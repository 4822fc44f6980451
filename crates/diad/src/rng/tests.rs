use proptest::prelude::*;

use super::{Purpose, Stream};

const PURPOSES: [Purpose; 5] =
    [Purpose::Parameters, Purpose::Thresholds, Purpose::Shuffle, Purpose::Uniform, Purpose::Dropout];

proptest! {
    #[test]
    fn numbers_stay_within_their_bounds(seed: u64, index: u64, bound in 1usize..) {
        let mut random = Stream::new(seed, Purpose::Uniform, index);
        for _ in 0..100 {
            prop_assert!(random.below(bound) < bound);
            prop_assert!((0.0..1.0).contains(&random.unit()));
            prop_assert!(random.signed_pair().iter().all(|x| (-1.0..1.0).contains(x)));
            prop_assert!(random.normal().is_finite());
        }
    }

    #[test]
    fn a_shuffle_is_a_permutation(seed: u64, length in 0usize..200, count in 0usize..250) {
        let mut items: Vec<usize> = (0..length).collect();
        Stream::new(seed, Purpose::Shuffle, 0).shuffle_front(&mut items, count);
        items.sort_unstable();
        prop_assert!(items.iter().copied().eq(0..length));
    }

    #[test]
    fn a_draw_is_the_front_of_a_shuffle(seed: u64, length in 0usize..200, count in 0usize..250) {
        let mut items: Vec<usize> = (0..length).collect();
        Stream::new(seed, Purpose::Shuffle, 0).shuffle_front(&mut items, count);
        items.truncate(count);
        prop_assert_eq!(Stream::new(seed, Purpose::Shuffle, 0).draw(length, count), items);
    }

    #[test]
    fn streams_differ_by_seed_purpose_and_index(seed: u64, index in 0u64..1 << 40) {
        let start = |seed, purpose, index| Stream::new(seed, purpose, index).unit();
        let mut starts: Vec<f64> = PURPOSES.iter().map(|&purpose| start(seed, purpose, index)).collect();
        starts.push(start(seed.wrapping_add(1), Purpose::Uniform, index));
        starts.push(start(seed, Purpose::Uniform, index + 1));
        starts.sort_unstable_by(f64::total_cmp);
        prop_assert!(starts.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", starts);
        prop_assert_eq!(start(seed, Purpose::Uniform, index), start(seed, Purpose::Uniform, index));
    }
}

/// Means and spreads to five standard errors.
#[test]
fn numbers_have_the_right_moments() {
    let mut random = Stream::new(3, Purpose::Uniform, 0);
    let n = 100_000;
    let mut moments = |mut draw: Box<dyn FnMut(&mut Stream) -> f64>| {
        let values: Vec<f64> = (0..n).map(|_| draw(&mut random)).collect();
        let mean = values.iter().sum::<f64>() / f64::from(n);
        (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / f64::from(n))
    };
    let near = |(mean, variance): (f64, f64), want: (f64, f64)| {
        let error = 5.0 / f64::from(n).sqrt();
        assert!((mean - want.0).abs() < error * want.1.sqrt(), "mean {mean}, not {}", want.0);
        assert!((variance / want.1 - 1.0).abs() < error * 2.0, "variance {variance}, not {}", want.1);
    };
    near(moments(Box::new(Stream::unit)), (0.5, 1.0 / 12.0));
    near(moments(Box::new(Stream::normal)), (0.0, 1.0));
    near(moments(Box::new(|r| f64::from(r.signed_pair()[0]))), (0.0, 1.0 / 3.0));
    near(moments(Box::new(|r| f64::from(r.signed_pair()[1]))), (0.0, 1.0 / 3.0));
    near(moments(Box::new(|r| r.below(7) as f64)), (3.0, 4.0));
}
