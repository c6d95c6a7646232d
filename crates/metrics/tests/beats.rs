//! Measuring long texts and large samples can be given up.

use reground_metrics::mann_whitney::two_sided;
use reground_metrics::rouge::rouge_l;
use reground_metrics::squad::{exact_match, token_f1};
use reground_pulse::STRETCH;
use reground_pulse::felt::{self, check};

#[test]
fn texts_beat() {
    check("rouge_l", 1, |text| rouge_l("rye", text));
    check("rouge_l of", 1, |text| rouge_l(text, "rye"));
    check("token_f1", 1, |text| token_f1(text, "rye"));
    check("exact_match", 1, |text| exact_match("rye", text));
}

#[test]
fn a_long_common_subsequence_beats() {
    // A row of so many words for each word.
    let text = "rye ".repeat(1 << 14);
    let felt = felt::of(|| rouge_l(&text, &text));
    assert!(felt.beats >= (1 << 14) * (1 << 8) / STRETCH, "{felt:?}");
    assert!(felt.longest < 2 * STRETCH, "{felt:?}");
}

#[test]
fn samples_beat() {
    let sample: Vec<f64> = (0..2 * STRETCH).map(|n| n as f64).collect();
    let felt = felt::of(|| two_sided(&sample[8..], &sample[..8]));
    assert!(felt.beats >= 2, "{felt:?}");
    // Half the values of U are counted as well.
    let middle = [sample[STRETCH] + 0.5];
    let felt = felt::of(|| two_sided(&sample, &middle));
    assert!(felt.beats >= 3, "{felt:?}");
}
