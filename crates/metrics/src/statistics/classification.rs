//! Quality of a score as a binary classifier.

/// Area under the ROC curve: the probability that a positive scores higher than a negative, ties counted as half (U of Mann and
/// Whitney / number of pairs). In [0, 1]; 0.5 is chance.
///
/// `None` without a positive or without a negative. NaN scores are below all others. O(n log n).
pub fn auroc(scored: &[(f64, bool)]) -> Option<f64> {
    let mut scored = scored.to_vec();
    let key = |score: f64| {
        if score.is_nan() {
            f64::NEG_INFINITY
        } else {
            score
        }
    };
    scored.sort_unstable_by(|a, b| key(a.0).total_cmp(&key(b.0)));
    // 0 and −0 sort apart but are equal.
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in scored.chunk_by(|a, b| key(a.0) == key(b.0)) {
        let positives = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let negatives = tied.len() as f64 - positives;
        wins += positives * (below + negatives / 2.0);
        below += negatives;
    }
    let positives = scored.len() as f64 - below;
    let pairs = positives * below;
    (pairs > 0.0).then(|| wins / pairs)
}

/// Macro F1: the mean of the F1 of both classes, for pairs of (decision, truth). In [0, 1]. A class that occurs neither as a
/// decision nor as a truth has an F1 of 0, as in scikit-learn.
///
/// `None` without pairs.
pub fn macro_f1(decided: impl IntoIterator<Item = (bool, bool)>) -> Option<f64> {
    let mut counts = [[0.0_f64; 2]; 2];
    for (decided, truth) in decided {
        counts[usize::from(decided)][usize::from(truth)] += 1.0;
    }
    let wrong = counts[0][1] + counts[1][0];
    let f1 = |right: f64| {
        if right > 0.0 {
            2.0 * right / (2.0 * right + wrong)
        } else {
            0.0
        }
    };
    let (negative, positive) = (counts[0][0], counts[1][1]);
    (negative + positive + wrong > 0.0).then(|| (f1(negative) + f1(positive)) / 2.0)
}

/// Returns the threshold with the best [`macro_f1`], if scores at or above it are positive: one of the scores, the lowest in case
/// of ties. `None` without scores. O(n log n).
pub fn best_threshold(scored: &[(f64, bool)]) -> Option<f64> {
    let mut scored: Vec<_> = scored.iter().filter(|(score, _)| !score.is_nan()).collect();
    scored.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let positives = scored.iter().filter(|(_, positive)| *positive).count() as f64;
    let all = scored.len() as f64;
    // Counts of the scores below the current threshold.
    let (mut passed, mut passed_positives) = (0.0, 0.0);
    let mut best: Option<(f64, f64)> = None;
    for tied in scored.chunk_by(|a, b| a.0 == b.0) {
        let negative = passed - passed_positives;
        let positive = positives - passed_positives;
        let wrong = all - negative - positive;
        let f1 = |right: f64| {
            if right > 0.0 {
                2.0 * right / (2.0 * right + wrong)
            } else {
                0.0
            }
        };
        let value = (f1(negative) + f1(positive)) / 2.0;
        if let Some((score, _)) = tied
            .first()
            .filter(|_| best.is_none_or(|(held, _)| value > held))
        {
            best = Some((value, *score));
        }
        passed += tied.len() as f64;
        passed_positives += tied.iter().filter(|(_, positive)| *positive).count() as f64;
    }
    best.map(|(_, score)| score)
}
