//! The Mann–Whitney U test: whether one of two independent samples tends to have larger values (Mann and Whitney, "On a test of
//! whether one of two random variables is stochastically larger than the other", 1947).

use reground_interrupt::{check_interrupt, checked};
use serde::{Deserialize, Serialize};

use super::normal;

/// Maximum size of the smaller sample for the exact distribution, as in scipy's method `auto`.
const SMALL: usize = 8;

/// Maximum U for the exact distribution, which takes 64 MB of counts then. More would need a sample of two million against one
/// of [`SMALL`].
const MAX_EXACT_U: f64 = (1 << 23) as f64;

/// Result of a test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MannWhitney {
    /// U of the first sample: the number of pairs in which the first sample's value is larger, ties counted as half.
    pub statistic: f64,
    /// Probability of a U at least as far from the middle if both samples have the same distribution, in [0, 1].
    pub p_value: f64,
    /// Common-language effect size, U / (n₁ · n₂): the share of pairs in which the first sample's value is larger. In [0, 1];
    /// 0.5 if neither sample tends to be larger.
    pub effect: f64,
    /// Distribution behind `p_value`.
    pub method: Method,
}

/// The distribution with which U is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// The exact distribution over all orders of both samples.
    Exact,
    /// The normal approximation, with the variance corrected for ties and a continuity correction of ½.
    Asymptotic,
}

/// Two-sided test, equal to `scipy.stats.mannwhitneyu(first, second)`: exact if a sample has at most 8 values and there are no
/// ties, otherwise asymptotic. (Unlike in scipy, exact only while the smaller U is below 2²³. The time of scipy's method grows with
/// the square of U.)
///
/// `None` if a sample is empty or contains a value that is not finite. Takes O(n log n) time; the exact distribution takes time
/// and memory proportional to the larger sample.
pub fn two_sided(first: &[f64], second: &[f64]) -> Option<MannWhitney> {
    let is_usable = |sample: &[f64]| !sample.is_empty() && sample.iter().all(|v| v.is_finite());
    if !is_usable(first) || !is_usable(second) {
        return None;
    }
    let Pooled { wins, ties } = Pooled::of(first, second);
    let pairs = first.len() as f64 * second.len() as f64;
    let lesser = wins.min(pairs - wins);
    let smaller = first.len().min(second.len());
    let method = if smaller <= SMALL && ties == 0.0 && lesser < MAX_EXACT_U {
        Method::Exact
    } else {
        Method::Asymptotic
    };
    let one_sided = match method {
        Method::Exact => {
            let larger = first.len().max(second.len());
            share_up_to(lesser as usize, smaller, larger)
        }
        Method::Asymptotic => {
            let n = (first.len() + second.len()) as f64;
            let variance = pairs / 12.0 * (n + 1.0 - ties / (n * (n - 1.0)));
            // If all values are equal, the variance is 0 and this is −½ / 0 = −∞: the p-value is 1.
            let beyond = pairs - lesser - pairs / 2.0 - 0.5;
            normal::above(beyond / variance.max(0.0).sqrt())
        }
    };
    Some(MannWhitney {
        statistic: wins,
        // The middle itself belongs to both sides, so the sum can exceed 1.
        p_value: (2.0 * one_sided).min(1.0),
        effect: wins / pairs,
        method,
    })
}

/// Statistics of both samples sorted together.
struct Pooled {
    /// U of the first sample.
    wins: f64,
    /// Sum of t³ − t over the groups of t equal values.
    ties: f64,
}

impl Pooled {
    fn of(first: &[f64], second: &[f64]) -> Self {
        let mark = |sample: &[f64], is_first| -> Vec<(f64, bool)> {
            sample.iter().map(|value| (*value, is_first)).collect()
        };
        let mut values = mark(first, true);
        values.extend(mark(second, false));
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut pooled = Self {
            wins: 0.0,
            ties: 0.0,
        };
        let mut below = 0.0;
        // 0 and −0 sort apart but are equal.
        for tied in checked(values.chunk_by(|a, b| a.0 == b.0)) {
            let size = tied.len() as f64;
            let of_first = tied.iter().filter(|(_, is_first)| *is_first).count() as f64;
            let of_second = size - of_first;
            pooled.wins += of_first * (below + of_second / 2.0);
            pooled.ties += size * size * size - size;
            below += of_second;
        }
        pooled
    }
}

/// Returns the share of all orders of `smaller` and `larger` different values in which U of one sample is at most `max_u`.
///
/// The number of orders with a given U is the number of partitions of U into at most `smaller` parts of at most `larger` each
/// (Mann and Whitney 1947). These are the coefficients of the Gaussian binomial ∏ (1 − q^(larger + i)) / (1 − q^i),
/// i = 1 … `smaller`, multiplied out up to q^`max_u`. Counts are exact up to 2⁵³ and keep about 13 digits above.
fn share_up_to(max_u: usize, smaller: usize, larger: usize) -> f64 {
    let mut orders = vec![0.0; max_u + 1];
    orders[0] = 1.0;
    let mut all = 1.0;
    for part in 1..=smaller {
        check_interrupt(2 * orders.len());
        let above = larger + part;
        for u in (above..=max_u).rev() {
            orders[u] -= orders[u - above];
        }
        for u in part..=max_u {
            orders[u] += orders[u - part];
        }
        all *= above as f64 / part as f64;
    }
    orders.iter().sum::<f64>() / all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the counts by the recurrence of Mann and Whitney, in integers: the largest value belongs to one of the samples.
    fn orders(first: usize, second: usize) -> Vec<u128> {
        let mut row: Vec<Vec<u128>> = (0..=second).map(|_| vec![1]).collect();
        for m in 1..=first {
            let mut next = vec![vec![1]];
            for n in 1..=second {
                let mut counts = vec![0; m * n + 1];
                for (u, count) in row[n].iter().enumerate() {
                    counts[u + n] += count;
                }
                for (u, count) in next[n - 1].iter().enumerate() {
                    counts[u] += count;
                }
                next.push(counts);
            }
            row = next;
        }
        row.swap_remove(second)
    }

    #[test]
    fn counts_equal_the_recurrence() {
        for (smaller, larger) in [(1, 1), (1, 9), (2, 3), (5, 5), (7, 40), (8, 8), (8, 600)] {
            let orders = orders(smaller, larger);
            let all: u128 = orders.iter().sum();
            let middle = smaller * larger / 2;
            for u in (0..=middle).step_by(1 + middle / 50) {
                let up_to: u128 = orders[..=u].iter().sum();
                let expected = up_to as f64 / all as f64;
                let share = share_up_to(u, smaller, larger);
                let off = (share / expected - 1.0).abs();
                assert!(off < 1e-12, "{smaller} {larger} {u}: {share} {expected}");
            }
        }
    }

    #[test]
    fn the_larger_sample_can_be_large() {
        // One value against n: every U from 0 to n is equally likely.
        let share = share_up_to(500_000, 1, 3_000_000);
        assert!((share - 500_001.0 / 3_000_001.0).abs() < 1e-12, "{share}");
        // Near the middle of a symmetric distribution.
        let share = share_up_to(4 * 300_000 - 1, 8, 300_000);
        assert!((share - 0.5).abs() < 1e-6, "{share}");
    }
}
