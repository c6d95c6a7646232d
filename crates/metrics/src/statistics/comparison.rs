//! Comparison of two groups of answers: a difference with its interval, an effect size and a test.
//!
//! | figure | test | interval | effect size |
//! |---|---|---|---|
//! | a share of citations | clustered by answer: [`shares`] | Newcombe's, for effective sizes | Cohen's h |
//! | a number of each answer | Mann–Whitney U: [`numbers`] | bootstrap of the difference of means | Cliff's delta |
//!
//! Results do not depend on the order of the answers.

use reground_interrupt::checked;
use serde::{Deserialize, Serialize};

use super::interval::bootstrap_difference;
use super::mann_whitney::two_sided;
use super::normal;
use super::proportion::score_interval;

/// Confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// Resamples of a bootstrap interval.
const RESAMPLES: usize = 1000;

/// Seed of the bootstrap. A fixed seed gives the same interval each time.
const SEED: u64 = 1979;

/// Sum and number of the samples of an answer that belong to one group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Sum; for a share, the number of successes.
    pub sum: f64,
    /// Number.
    pub count: u64,
}

impl Samples {
    /// Returns the samples of an answer from a row. NULL and a negative count are no samples.
    #[must_use]
    pub fn of(sum: Option<f64>, count: Option<i64>) -> Self {
        Self {
            sum: sum.unwrap_or_default(),
            count: count
                .and_then(|count| u64::try_from(count).ok())
                .unwrap_or_default(),
        }
    }
}

/// An answer: its samples in the first and in the second group.
pub type Answer = [Samples; 2];

/// Two groups of answers, and the difference between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// Number of the answers of each group that have samples.
    pub answers: [u64; 2],
    /// Number of the samples of each group.
    pub samples: [u64; 2],
    /// The difference; `None` as in [`shares`] and [`numbers`].
    pub comparison: Option<Comparison>,
    /// Name of the effect size.
    pub effect_size: &'static str,
    /// Name of the test.
    pub test: &'static str,
}

/// Compares two groups of answers, whose samples are parts of a share or else numbers.
#[must_use]
pub fn compare(answers: &[Answer], is_share: bool) -> Compared {
    let (comparison, effect_size, test) = match is_share {
        true => (shares(answers), "cohen_h", "clustered_proportions"),
        false => (numbers(answers), "cliff_delta", "mann_whitney"),
    };
    let mut compared = Compared {
        answers: [0; 2],
        samples: [0; 2],
        comparison,
        effect_size,
        test,
    };
    for answer in checked(answers) {
        for (group, samples) in answer.iter().enumerate() {
            compared.answers[group] += u64::from(samples.count > 0);
            compared.samples[group] = compared.samples[group].saturating_add(samples.count);
        }
    }
    compared
}

/// The difference between two groups.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Share or mean of each group.
    pub means: [f64; 2],
    /// Median of each group; `None` for shares.
    pub medians: Option<[f64; 2]>,
    /// Mean of the first group minus mean of the second.
    pub difference: f64,
    /// Lower 95 % bound of the difference.
    pub low: f64,
    /// Upper 95 % bound of the difference.
    pub high: f64,
    /// Cohen's h for shares, Cliff's delta for numbers. 0 without a difference.
    pub effect: f64,
    /// Two-sided p-value.
    pub p_value: f64,
}

/// Compares shares whose samples are clustered by answer.
///
/// The test is the χ² test for two proportions, adjusted for clusters (Donner and Klar, "Design and Analysis of Cluster
/// Randomization Trials in Health Research", 2000): with the pooled share p, group g of N_g samples has the variance
/// p (1 − p) C_g / N_g, where C_g = Σ n (1 + (n − 1) ρ) / N_g over its answers with n samples each. ρ, the correlation of two
/// samples of an answer, is estimated over all pairs, from the residuals around the share of their group (Ridout, Demétrio and
/// Firth, "Estimating intraclass correlation for binary data", 1999), and is at least 0. An answer can have samples
/// in both groups, for example of two document types. The covariance of the shares, p (1 − p) ρ Σ n₁ n₂ / (N₁ N₂), is then
/// subtracted twice.
///
/// The interval is Newcombe's ("Interval estimation for the difference between independent proportions", 1998, method 10; for
/// correlated shares "Improved confidence intervals for the difference between binomial proportions based on paired data",
/// 1998), with the effective sample size N_g / C_g. So it is valid also for shares of 0 and 1.
///
/// The effect size is h = 2 asin √p₁ − 2 asin √p₂ (Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, chapter
/// 6). `None` if a group has no samples, or if a sum is negative, above its count or not finite.
#[must_use]
pub fn shares(answers: &[Answer]) -> Option<Comparison> {
    let valid = |samples: &Samples| 0.0 <= samples.sum && samples.sum <= samples.count as f64;
    if !answers.iter().flatten().all(valid) {
        return None;
    }
    let clusters = Clusters::of(answers);
    let sizes = clusters.sizes;
    if sizes[0] == 0.0 || sizes[1] == 0.0 {
        return None;
    }
    let means = [0, 1].map(|group| clusters.sums[group] / sizes[group]);
    let correlation = intraclass_correlation(answers, means);
    let inflation =
        [0, 1].map(|group| 1.0 + correlation * (clusters.squares[group] / sizes[group] - 1.0));
    let pooled = (clusters.sums[0] + clusters.sums[1]) / (sizes[0] + sizes[1]);
    let shared = correlation * clusters.products / (sizes[0] * sizes[1]);
    let variance = pooled
        * (1.0 - pooled)
        * (inflation[0] / sizes[0] + inflation[1] / sizes[1] - 2.0 * shared).max(0.0);
    let difference = means[0] - means[1];
    // With equal shares the difference is 0, also if both are 0 or 1 and the variance is 0.
    let p_value = if difference == 0.0 {
        1.0
    } else {
        (2.0 * normal::above(difference.abs() / variance.sqrt())).min(1.0)
    };
    let z = normal::central(CONFIDENCE);
    let [first, second] =
        [0, 1].map(|group| score_interval(means[group], sizes[group] / inflation[group], z));
    let together = (inflation[0] / sizes[0] * inflation[1] / sizes[1]).sqrt();
    let correlated = (shared / together).min(1.0);
    let reach = |a: f64, b: f64| (a * a - 2.0 * correlated * a * b + b * b).max(0.0).sqrt();
    let angle = |share: f64| 2.0 * share.sqrt().asin();
    Some(Comparison {
        means,
        medians: None,
        difference,
        low: difference - reach(means[0] - first.low, second.high - means[1]),
        high: difference + reach(first.high - means[0], means[1] - second.low),
        effect: angle(means[0]) - angle(means[1]),
        p_value,
    })
}

/// Sums over the answers.
#[derive(Default)]
struct Clusters {
    sums: [f64; 2],
    sizes: [f64; 2],
    /// Sums of the squares of the answers' sizes.
    squares: [f64; 2],
    /// Sum of the products of the sizes in both groups.
    products: f64,
}

impl Clusters {
    fn of(answers: &[Answer]) -> Self {
        let mut clusters = Self::default();
        for answer in checked(answers) {
            for (group, samples) in answer.iter().enumerate() {
                let size = samples.count as f64;
                clusters.sums[group] += samples.sum;
                clusters.sizes[group] += size;
                clusters.squares[group] += size * size;
            }
            clusters.products += answer[0].count as f64 * answer[1].count as f64;
        }
        clusters
    }
}

/// Returns the mean product of the residuals of two samples of an answer, divided by the mean square of a residual; at least 0, and 0
/// without such pairs.
fn intraclass_correlation(answers: &[Answer], means: [f64; 2]) -> f64 {
    let (mut squares, mut samples, mut products, mut pairs) = (0.0, 0.0, 0.0, 0.0);
    for answer in checked(answers) {
        let (mut sum, mut of_answer, mut size) = (0.0, 0.0, 0.0);
        for (group, own) in answer.iter().enumerate() {
            let (mean, count) = (means[group], own.count as f64);
            sum += own.sum - mean * count;
            of_answer += own.sum * (1.0 - mean) * (1.0 - mean) + (count - own.sum) * mean * mean;
            size += count;
        }
        squares += of_answer;
        samples += size;
        products += sum * sum - of_answer;
        pairs += size * (size - 1.0);
    }
    if pairs == 0.0 || squares == 0.0 {
        return 0.0;
    }
    (products / pairs / (squares / samples)).clamp(0.0, 1.0)
}

/// Compares a number of each answer, its mean over the answer's samples. An answer with samples in both groups counts in both.
///
/// The test is Mann–Whitney's, as [`two_sided`]. The effect size is Cliff's delta ("Dominance statistics: ordinal analyses to answer
/// ordinal questions", 1993), in [−1, 1]: the share of pairs in which the first group's number is larger, minus the share in which
/// it is smaller. `None` if a group is empty, or if a number is not finite.
#[must_use]
pub fn numbers(answers: &[Answer]) -> Option<Comparison> {
    let [first, second] = [0, 1].map(|group| {
        let own = checked(answers).map(|answer| answer[group]);
        let mut numbers: Vec<f64> = own
            .filter(|samples| samples.count > 0)
            .map(|samples| samples.sum / samples.count as f64)
            .collect();
        // The bootstrap draws by position, and sums depend on the order.
        numbers.sort_unstable_by(f64::total_cmp);
        numbers
    });
    let test = two_sided(&first, &second)?;
    let interval = bootstrap_difference(&first, &second, CONFIDENCE, RESAMPLES, SEED)?;
    let mean = |sample: &[f64]| sample.iter().sum::<f64>() / sample.len() as f64;
    let median = |sorted: &[f64]| {
        let last = sorted.len() - 1;
        (sorted[last / 2] + sorted[last - last / 2]) / 2.0
    };
    Some(Comparison {
        means: [mean(&first), mean(&second)],
        medians: Some([median(&first), median(&second)]),
        difference: interval.mean,
        low: interval.low,
        high: interval.high,
        effect: 2.0 * test.effect - 1.0,
        p_value: test.p_value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(first: (u32, u64), second: (u32, u64)) -> Answer {
        [first, second].map(|(sum, count)| Samples {
            sum: f64::from(sum),
            count,
        })
    }

    /// Repeats answers.
    fn of(groups: &[(usize, Answer)]) -> Vec<Answer> {
        let repeated = groups
            .iter()
            .flat_map(|(times, answer)| std::iter::repeat_n(*answer, *times));
        repeated.collect()
    }

    #[test]
    fn single_citations_are_the_plain_test() {
        // 56 of 70 against 48 of 80: the interval is in Newcombe 1998, table II, contrast (a), method 10.
        let none = (0, 0);
        let answers = of(&[
            (56, answer((1, 1), none)),
            (14, answer((0, 1), none)),
            (48, answer(none, (1, 1))),
            (32, answer(none, (0, 1))),
        ]);
        let found = shares(&answers).unwrap();
        assert!((found.difference - 0.2).abs() < 1e-12);
        assert!((found.low - 0.0524).abs() < 5e-5, "{found:?}");
        assert!((found.high - 0.3339).abs() < 5e-5, "{found:?}");
        // χ² = 150 (56·32 − 14·48)² / (70 · 80 · 104 · 46) without continuity correction.
        let z: f64 = (150.0 * 1120.0_f64.powi(2) / (70.0 * 80.0 * 104.0 * 46.0)).sqrt();
        assert!((found.p_value - 2.0 * normal::above(z)).abs() < 1e-12);
    }

    #[test]
    fn equal_answers_count_once() {
        // If all citations of an answer agree, ten of them say as much as one.
        let none = (0, 0);
        let with = |size: u32| {
            let many = u64::from(size);
            of(&[
                (30, answer((size, many), none)),
                (10, answer((0, many), none)),
                (20, answer(none, (size, many))),
                (20, answer(none, (0, many))),
            ])
        };
        let (one, ten) = (shares(&with(1)).unwrap(), shares(&with(10)).unwrap());
        assert!((one.p_value - ten.p_value).abs() < 1e-12);
        assert!((one.low - ten.low).abs() < 1e-12 && (one.high - ten.high).abs() < 1e-12);
    }

    #[test]
    fn pairs_within_an_answer_are_compared_within_it() {
        // Both groups in each answer, fully correlated but for two answers: the difference is far more certain than for independent
        // answers.
        let answers = of(&[
            (40, answer((3, 3), (3, 3))),
            (8, answer((0, 3), (0, 3))),
            (6, answer((3, 3), (0, 3))),
        ]);
        let found = shares(&answers).unwrap();
        let apart: Vec<Answer> = answers
            .iter()
            .flat_map(|[a, b]| [[*a, Samples::default()], [Samples::default(), *b]])
            .collect();
        let apart = shares(&apart).unwrap();
        assert!(found.p_value < apart.p_value && found.low > apart.low);
    }

    #[test]
    fn groups_without_samples_and_wrong_sums_have_no_result() {
        let none = (0, 0);
        assert_eq!(shares(&[]), None);
        assert_eq!(shares(&[answer((1, 2), none)]), None);
        assert_eq!(shares(&[answer((3, 2), (1, 1))]), None);
        assert_eq!(numbers(&[answer((3, 2), none)]), None);
        let equal = shares(&[answer((2, 2), (3, 3))]).unwrap();
        assert_eq!((equal.difference, equal.p_value), (0.0, 1.0));
        assert!(equal.low < 0.0 && 0.0 < equal.high);
    }

    #[test]
    fn the_order_of_answers_does_not_matter() {
        let none = (0, 0);
        let mut answers: Vec<Answer> = (0..40)
            .map(|n| answer(((n * 7) % 3, 3), none))
            .chain((0..30).map(|n| answer(none, ((n * 5) % 4, 4))))
            .collect();
        let before = (shares(&answers), numbers(&answers));
        answers.reverse();
        let after = (shares(&answers), numbers(&answers));
        assert_eq!(before, after);
    }
}
