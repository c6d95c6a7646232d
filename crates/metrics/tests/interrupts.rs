//! Measures over long texts and large samples are interruptible.

use reground_interrupt::CHECK_INTERVAL;
use reground_interrupt::test_support::{self, assert_checked};
use reground_metrics::agreement::{ConfusionMatrix, majority};
use reground_metrics::comparison::{Answer, Samples, numbers, shares};
use reground_metrics::factuality::measures::measure;
use reground_metrics::factuality::summary::summarize;
use reground_metrics::factuality::verdicts::{AnswerVerdicts, Entailment};
use reground_metrics::mann_whitney::two_sided;
use reground_metrics::ranking::{average_precision, ndcg, precision, recall, reciprocal_rank};
use reground_metrics::rouge::rouge_l;
use reground_metrics::squad::{exact_match, token_f1};

#[test]
fn text_measures_check_for_interrupts() {
    assert_checked("rouge_l", 1, |text| rouge_l("rye", text));
    assert_checked("rouge_l of", 1, |text| rouge_l(text, "rye"));
    assert_checked("token_f1", 1, |text| token_f1(text, "rye"));
    assert_checked("exact_match", 1, |text| exact_match("rye", text));
}

#[test]
fn a_long_common_subsequence_checks_for_interrupts() {
    // For each word, a row of 2^14 / 64 = 2^8 machine words is computed.
    let text = "rye ".repeat(1 << 14);
    let checks = test_support::measure(|| rouge_l(&text, &text));
    assert!(
        checks.count >= (1 << 14) * (1 << 8) / CHECK_INTERVAL,
        "{checks:?}"
    );
    assert!(checks.longest < 2 * CHECK_INTERVAL, "{checks:?}");
}

#[test]
fn samples_check_for_interrupts() {
    let sample: Vec<f64> = (0..2 * CHECK_INTERVAL).map(|n| n as f64).collect();
    let checks = test_support::measure(|| two_sided(&sample[8..], &sample[..8]));
    assert!(checks.count >= 2, "{checks:?}");
    // The exact distribution also counts half of the values of U.
    let middle = [sample[CHECK_INTERVAL] + 0.5];
    let checks = test_support::measure(|| two_sided(&sample, &middle));
    assert!(checks.count >= 3, "{checks:?}");
}

#[test]
fn comparisons_check_for_interrupts() {
    let samples = |sum| Samples { sum, count: 1 };
    let answers: Vec<Answer> = (0..2 * CHECK_INTERVAL)
        .map(|n| [samples((n % 2) as f64), samples(1.0)])
        .collect();
    let checks = test_support::measure(|| shares(&answers));
    assert!(checks.count >= 4, "{checks:?}");
    let checks = test_support::measure(|| numbers(&answers));
    // Each of the thousand resamples draws both samples.
    assert!(checks.count >= 2000, "{checks:?}");
}

#[test]
fn measures_of_long_rankings_check_for_interrupts() {
    let ranking: Vec<usize> = (0..4 * CHECK_INTERVAL).collect();
    let gains = ranking.iter().map(|document| (*document, 1.0)).collect();
    let checks = test_support::measure(|| {
        ndcg(&ranking, &gains, ranking.len());
        recall(&ranking, &gains, ranking.len());
        precision(&ranking, &gains, ranking.len());
        reciprocal_rank(&ranking, &gains);
        average_precision(&ranking, &gains)
    });
    assert!(checks.count >= 30, "{checks:?}");
    assert!(checks.longest < 2 * CHECK_INTERVAL, "{checks:?}");
}

#[test]
fn verdicts_and_votes_check_for_interrupts() {
    let many = 2 * CHECK_INTERVAL;
    let verdicts = AnswerVerdicts {
        statements: Some(vec![Some(Entailment::Neutral); many]),
        facts: Some(vec![Some(Entailment::Neutral)]),
        tokens: 1,
    };
    let checks = test_support::measure(|| measure(&verdicts));
    assert_eq!(checks.count, 2);
    let answers = vec![measure(&verdicts); CHECK_INTERVAL / 64];
    let checks = test_support::measure(|| summarize(&answers, None));
    // Six means and no costs, of 1,000 resamples each.
    assert!(checks.count >= 6 * 1000 / 64, "{checks:?}");
    assert!(checks.longest < 2 * CHECK_INTERVAL, "{checks:?}");
    let votes: Vec<u8> = (0..many).map(|n| (n % 2) as u8).collect();
    let checks = test_support::measure(|| majority(&votes, 2));
    assert!(checks.count >= 2, "{checks:?}");
    let pairs = votes.iter().map(|vote| (*vote, 1));
    let checks = test_support::measure(|| ConfusionMatrix::of(&[0, 1], pairs));
    assert!(checks.count >= 2, "{checks:?}");
}
