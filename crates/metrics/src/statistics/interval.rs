//! Bootstrap confidence intervals of means.

use reground_interrupt::check_interrupt;
use serde::{Deserialize, Serialize};

/// A mean with its confidence bounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Mean of the sample itself.
    pub mean: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound.
    pub high: f64,
}

/// Percentile bootstrap interval of a mean (Efron 1979): draws `resamples` samples of the same size with replacement and
/// returns the `(1 − confidence) / 2` quantiles at both ends of their means.
///
/// Quantiles are interpolated linearly. The same seed gives the same interval on every machine. Takes time proportional to
/// `resamples · values.len()`.
///
/// `None` without values or resamples, if a value (or the sum of a cluster) is not finite, or unless 0 < `confidence` < 1.
pub fn bootstrap_mean(
    values: &[f64],
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let each_alone: Vec<Group> = values
        .iter()
        .map(|value| Group {
            sum: *value,
            count: 1,
        })
        .collect();
    bootstrap(&each_alone, confidence, resamples, seed)
}

/// Bootstrap interval for clustered values that are not independent within a cluster, such as the turns of a conversation.
/// Draws whole clusters (cluster bootstrap; Davison and Hinkley 1997, section 3.8). The mean is over all values of the drawn
/// clusters, so larger clusters weigh more. Empty clusters are ignored.
///
/// To compare two treatments of the same items, pass the difference of each item. The interval is then that of the paired
/// difference. `None` as for [`bootstrap_mean`].
pub fn bootstrap_clustered_mean(
    clusters: &[Vec<f64>],
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let groups: Vec<Group> = clusters
        .iter()
        .filter(|values| !values.is_empty())
        .map(|values| Group {
            sum: values.iter().sum(),
            count: values.len(),
        })
        .collect();
    bootstrap(&groups, confidence, resamples, seed)
}

/// Sum and count of values that are drawn together.
#[derive(Clone, Copy)]
struct Group {
    sum: f64,
    count: usize,
}

fn mean(groups: impl Iterator<Item = Group>) -> f64 {
    let (sum, count) = groups.fold((0.0, 0), |(sum, count), group| {
        (sum + group.sum, count + group.count)
    });
    sum / count as f64
}

fn bootstrap(groups: &[Group], confidence: f64, resamples: usize, seed: u64) -> Option<Interval> {
    let valid =
        groups.iter().all(|group| group.sum.is_finite()) && 0.0 < confidence && confidence < 1.0;
    if groups.is_empty() || resamples == 0 || !valid {
        return None;
    }
    let mut random = SplitMix64(seed);
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| {
            check_interrupt(groups.len());
            mean(groups.iter().map(|_| groups[random.below(groups.len())]))
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval {
        mean: mean(groups.iter().copied()),
        low: quantile(&means, tail),
        high: quantile(&means, 1.0 - tail),
    })
}

/// Percentile bootstrap interval of the difference of the means of two independent samples, first minus second. Each resample
/// draws both samples with replacement (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, section 8.3). The
/// interval's mean is the observed difference. `None` as for [`bootstrap_mean`], for either sample.
pub fn bootstrap_difference(
    first: &[f64],
    second: &[f64],
    confidence: f64,
    resamples: usize,
    seed: u64,
) -> Option<Interval> {
    let is_usable = |sample: &[f64]| !sample.is_empty() && sample.iter().all(|v| v.is_finite());
    let valid = is_usable(first) && is_usable(second) && 0.0 < confidence && confidence < 1.0;
    if !valid || resamples == 0 {
        return None;
    }
    let mut random = SplitMix64(seed);
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    let mut drawn = |sample: &[f64]| {
        check_interrupt(sample.len());
        let sum: f64 = (0..sample.len())
            .map(|_| sample[random.below(sample.len())])
            .sum();
        sum / sample.len() as f64
    };
    let mut differences: Vec<f64> = (0..resamples)
        .map(|_| drawn(first) - drawn(second))
        .collect();
    differences.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    Some(Interval {
        mean: mean(first) - mean(second),
        low: quantile(&differences, tail),
        high: quantile(&differences, 1.0 - tail),
    })
}

/// Returns the quantile `share` of sorted values, which must not be empty (type 7 of Hyndman and Fan 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len() - 1;
    let place = share * last as f64;
    let below = (place as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64)
}

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014): small, and every seed works.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns an index below `bound`: the high half of a 128-bit product. Its bias is less than `bound / 2^64`.
    fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn generator_produces_the_published_sequence() {
        let mut random = SplitMix64(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        let published = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(first, published);
    }

    #[test]
    fn agrees_with_all_resamples_of_a_small_sample() {
        // 4 values have 4^4 equally likely resamples, so the exact distribution is known.
        let values = [0.0, 0.1, 0.5, 1.0];
        let mut means: Vec<f64> = (0..256)
            .map(|code| {
                (0..4)
                    .map(|place| values[code >> (2 * place) & 3])
                    .sum::<f64>()
                    / 4.0
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let interval = bootstrap_mean(&values, 0.9, 100_000, 7).unwrap();
        // 13 of the 256 means are at or below the exact 5 % point. Neighbouring means are 0.025 apart there.
        assert!(
            (interval.low - means[12]).abs() <= 0.025,
            "{interval:?} {}",
            means[12]
        );
        assert!(
            (interval.high - means[243]).abs() <= 0.025,
            "{interval:?} {}",
            means[243]
        );
        assert!((interval.mean - 0.4).abs() < 1e-15);
    }

    #[test]
    fn coverage_is_close_to_the_confidence() {
        let mut random = SplitMix64(42);
        let covered = (0..400)
            .filter(|&round| {
                let sample: Vec<f64> = (0..50)
                    .map(|_| random.next() as f64 / u64::MAX as f64)
                    .collect();
                let interval = bootstrap_mean(&sample, 0.9, 400, round).unwrap();
                interval.low <= 0.5 && 0.5 <= interval.high
            })
            .count();
        // Expected: 360, standard deviation 6. The percentile interval is slightly narrow for 50 values.
        assert!((335..=378).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn a_difference_has_the_bounds_of_all_resamples() {
        // Samples of 3 and 2 values have 27 · 4 equally likely resamples.
        let (first, second) = ([0.0, 0.4, 1.0], [0.1, 0.3]);
        let mut differences: Vec<f64> = (0..108)
            .map(|code| {
                let a = first[code % 3] + first[code / 3 % 3] + first[code / 9 % 3];
                let b = second[code / 27 % 2] + second[code / 54];
                a / 3.0 - b / 2.0
            })
            .collect();
        differences.sort_unstable_by(f64::total_cmp);
        let interval = bootstrap_difference(&first, &second, 0.8, 100_000, 11).unwrap();
        // The tenth of 108 lies within a run of equal or neighbouring values, at most 0.07 apart.
        assert!(
            (interval.low - differences[10]).abs() < 0.07,
            "{interval:?}"
        );
        assert!(
            (interval.high - differences[97]).abs() < 0.07,
            "{interval:?}"
        );
        assert!((interval.mean - (1.4 / 3.0 - 0.2)).abs() < 1e-15);
        assert_eq!(bootstrap_difference(&first, &[], 0.8, 10, 1), None);
        assert_eq!(bootstrap_difference(&first, &[f64::NAN], 0.8, 10, 1), None);
    }

    #[test]
    fn clusters_are_drawn_as_a_whole() {
        // 3 clusters have 27 equally likely resamples, so the exact distribution of the ratio is known.
        let clusters = [vec![0.0, 0.2], vec![1.0], vec![0.5, 0.5, 0.8]];
        let mut means: Vec<f64> = (0..27)
            .map(|code| {
                let drawn: Vec<f64> = [code / 9, code / 3 % 3, code % 3]
                    .iter()
                    .flat_map(|&cluster: &usize| clusters[cluster].clone())
                    .collect();
                drawn.iter().sum::<f64>() / drawn.len() as f64
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let interval = bootstrap_clustered_mean(&clusters, 0.8, 100_000, 3).unwrap();
        // The 10 % point is within the third of the 27 steps, the 90 % point within the third from the top.
        assert!(
            (interval.low - means[2]).abs() < 1e-12,
            "{interval:?} {means:?}"
        );
        assert!(
            (interval.high - means[24]).abs() < 1e-12,
            "{interval:?} {means:?}"
        );
        assert!((interval.mean - 0.5).abs() < 1e-15);
    }

    #[test]
    fn clustered_values_give_a_wider_interval() {
        let clusters: Vec<Vec<f64>> = (0..20).map(|n| vec![f64::from(n % 2); 10]).collect();
        let alone = clusters.concat();
        let clustered = bootstrap_clustered_mean(&clusters, 0.95, 2000, 5).unwrap();
        let independent = bootstrap_mean(&alone, 0.95, 2000, 5).unwrap();
        // The variance of the mean is that of 20 values, not of 200: the interval is √10 times as wide.
        let ratio = (clustered.high - clustered.low) / (independent.high - independent.low);
        assert!((2.7..3.7).contains(&ratio), "{ratio}");
    }

    #[test]
    fn invalid_input_has_no_interval() {
        assert_eq!(bootstrap_mean(&[], 0.95, 100, 1), None);
        assert_eq!(bootstrap_mean(&[1.0], 0.95, 0, 1), None);
        assert_eq!(bootstrap_mean(&[1.0, f64::NAN], 0.95, 100, 1), None);
        assert_eq!(bootstrap_clustered_mean(&[vec![]], 0.95, 100, 1), None);
        for confidence in [0.0, 1.0, f64::NAN] {
            assert_eq!(bootstrap_mean(&[1.0], confidence, 100, 1), None);
        }
    }

    proptest! {
        #[test]
        fn stays_within_the_sample_and_widens_with_confidence(
            values in prop::collection::vec(0.0..1.0_f64, 1..30), seed: u64,
        ) {
            let narrow = bootstrap_mean(&values, 0.5, 200, seed).unwrap();
            let wide = bootstrap_mean(&values, 0.95, 200, seed).unwrap();
            prop_assert_eq!(bootstrap_mean(&values, 0.95, 200, seed), Some(wide));
            prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.high && narrow.high <= wide.high);
            let min = values.iter().copied().fold(f64::INFINITY, f64::min);
            let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(min - 1e-12 <= wide.low && wide.high <= max + 1e-12);
        }

        #[test]
        fn singleton_clusters_equal_a_plain_sample_and_empty_clusters_are_ignored(
            values in prop::collection::vec(-1.0..1.0_f64, 1..20), seed: u64,
        ) {
            let alone: Vec<Vec<f64>> = values.iter().map(|value| vec![*value]).collect();
            let gaps: Vec<Vec<f64>> = values.iter().flat_map(|value| [vec![], vec![*value]]).collect();
            let plain = bootstrap_mean(&values, 0.9, 100, seed);
            prop_assert_eq!(bootstrap_clustered_mean(&alone, 0.9, 100, seed), plain);
            prop_assert_eq!(bootstrap_clustered_mean(&gaps, 0.9, 100, seed), plain);
        }
    }
}
