//! Comparisons of simulated groups: how often equal groups differ by chance, and how often a planted difference is found.

use reground_metrics::comparison::{Answer, Samples, compare, numbers, shares};
use reground_metrics::interval::bootstrap_clustered_mean;

/// A linear congruential generator (Knuth's MMIX), enough for these simulations.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Adds answers with 1 to 6 citations to a group. Some answers hold or fail as a whole, so that their citations depend on each other.
fn add(answers: &mut Vec<Answer>, random: &mut Random, group: usize, count: usize, holding: f64) {
    for _ in 0..count {
        let citations = 1 + (random.unit() * 6.0) as u64;
        let whole = (random.unit() < 0.3).then(|| random.unit() < holding);
        let held = (0..citations).filter(|_| whole.unwrap_or_else(|| random.unit() < holding));
        let mut answer = Answer::default();
        answer[group] = Samples {
            sum: held.count() as f64,
            count: citations,
        };
        answers.push(answer);
    }
}

/// Returns the share of simulated pairs of groups with p < 0.05, and the share whose interval contains the true difference.
fn simulate(sizes: [usize; 2], holding: [f64; 2], rounds: u64) -> (f64, f64) {
    let (mut significant, mut covered) = (0, 0);
    for round in 0..rounds {
        let mut random = Random(round);
        let mut answers = Vec::new();
        for group in [0, 1] {
            add(
                &mut answers,
                &mut random,
                group,
                sizes[group],
                holding[group],
            );
        }
        let Some(found) = shares(&answers) else {
            continue;
        };
        significant += u32::from(found.p_value < 0.05);
        let difference = holding[0] - holding[1];
        covered += u32::from(found.low <= difference && difference <= found.high);
    }
    let of = |count| f64::from(count) / rounds as f64;
    (of(significant), of(covered))
}

#[test]
fn equal_groups_differ_in_a_twentieth_of_the_cases() {
    for (sizes, share) in [
        ([100, 100], 0.9),
        ([40, 400], 0.9),
        ([300, 300], 0.98),
        ([25, 25], 0.6),
    ] {
        let (significant, covered) = simulate(sizes, [share, share], 2000);
        // The standard deviation of a share of 0.05 over 2000 rounds is 0.005.
        assert!(
            (0.025..0.07).contains(&significant),
            "{sizes:?} {share}: {significant}"
        );
        assert!(covered > 0.93, "{sizes:?} {share}: {covered}");
    }
}

#[test]
fn a_planted_difference_is_found() {
    // 15 % against 5 % fabrications.
    let (power, covered) = simulate([200, 200], [0.85, 0.95], 500);
    assert!(power > 0.95, "{power}");
    assert!(covered > 0.92, "{covered}");
}

#[test]
fn an_answer_in_both_groups_keeps_the_rate_of_false_differences() {
    let mut significant = 0;
    for round in 0..2000 {
        let mut random = Random(round);
        let mut answers = Vec::new();
        for _ in 0..150 {
            let whole = (random.unit() < 0.4).then(|| random.unit() < 0.9);
            let sizes = [0, 1].map(|_| (random.unit() * 4.0) as u64);
            answers.push(sizes.map(|count| {
                let held = (0..count).filter(|_| whole.unwrap_or_else(|| random.unit() < 0.9));
                Samples {
                    sum: held.count() as f64,
                    count,
                }
            }));
        }
        significant += u32::from(shares(&answers).expect("citations").p_value < 0.05);
    }
    let rate = f64::from(significant) / 2000.0;
    assert!((0.025..0.07).contains(&rate), "{rate}");
}

#[test]
fn the_interval_of_a_share_is_as_wide_as_that_of_a_cluster_bootstrap() {
    let mut random = Random(5);
    let mut answers = Vec::new();
    add(&mut answers, &mut random, 0, 300, 0.8);
    add(&mut answers, &mut random, 1, 200_000, 0.8);
    let found = shares(&answers).expect("both groups have citations");
    let clusters: Vec<Vec<f64>> = answers[..300]
        .iter()
        .map(|[own, _]| {
            let held = own.sum as usize;
            let failing = own.count as usize - held;
            [vec![1.0; held], vec![0.0; failing]].concat()
        })
        .collect();
    let bootstrap = bootstrap_clustered_mean(&clusters, 0.95, 4000, 3).expect("values");
    // The second group is so large that only the first is uncertain.
    let ratio = (found.high - found.low) / (bootstrap.high - bootstrap.low);
    assert!((0.93..1.08).contains(&ratio), "{ratio}");
}

#[test]
fn numbers_of_answers_have_a_difference_and_a_delta() {
    let answers: Vec<Answer> = (0..60)
        .map(|n| {
            let mut answer = Answer::default();
            answer[n % 2] = Samples {
                sum: 2.0 * (n as f64 + if n % 2 == 0 { 40.0 } else { 0.0 }),
                count: 2,
            };
            answer
        })
        .collect();
    let found = numbers(&answers).expect("both groups have numbers");
    assert!((found.difference - 39.0).abs() < 1e-9, "{found:?}");
    assert!(found.low > 25.0 && found.high < 52.0, "{found:?}");
    assert_eq!(found.medians, Some([69.0, 30.0]));
    // By definition, over all pairs.
    let pairs = (0..30).flat_map(|a| (0..30).map(move |b| (2 * a + 40, 2 * b + 1)));
    let delta: i32 = pairs.map(|(a, b): (i32, i32)| (a - b).signum()).sum();
    assert!(
        (found.effect - f64::from(delta) / 900.0).abs() < 1e-12,
        "{found:?}"
    );
    assert!(found.p_value < 1e-6, "{found:?}");
}

#[test]
fn a_comparison_counts_answers_and_samples_and_names_its_test() {
    let none = Samples::of(None, None);
    let answers = [
        [Samples::of(Some(2.0), Some(3)), none],
        [
            Samples::of(Some(0.0), Some(1)),
            Samples::of(Some(1.0), Some(4)),
        ],
        [none, Samples::of(Some(1.0), Some(1))],
        [none, Samples::of(None, Some(-1))],
    ];
    let share = compare(&answers, true);
    assert_eq!((share.answers, share.samples), ([2, 2], [4, 5]));
    assert_eq!(share.comparison, shares(&answers));
    assert_eq!(
        (share.effect_size, share.test),
        ("cohen_h", "clustered_proportions")
    );
    let number = compare(&answers, false);
    assert_eq!((number.answers, number.samples), ([2, 2], [4, 5]));
    assert_eq!(number.comparison, numbers(&answers));
    assert_eq!(
        (number.effect_size, number.test),
        ("cliff_delta", "mann_whitney")
    );
    // An empty group has counts, but no difference.
    let alone = compare(&answers[..1], true);
    assert_eq!((alone.answers, alone.samples), ([1, 0], [3, 0]));
    assert_eq!(alone.comparison, None);
}
