//! How well a score tells two classes apart.

/// Area under the ROC curve: the chance that a positive scores higher than a negative, a tie counted as half (Mann and
/// Whitney's U over the number of pairs). In [0, 1]; 0.5 is chance.
///
/// `None` without a positive or without a negative. A score that is not a number is below all others. O(n log n).
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
    // 0 and −0 sort apart and are equal.
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

/// Mean of the F1 of either class, for pairs of what was decided and what is true: in [0, 1]. A class that is neither
/// decided nor true anywhere has an F1 of 0, as in scikit-learn.
///
/// `None` without any pair.
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

/// The threshold at and above which scores are best called positive, by [`macro_f1`]: one of the scores, the lowest of
/// equals. `None` without scores. O(n log n).
pub fn best_threshold(scored: &[(f64, bool)]) -> Option<f64> {
    let mut scored: Vec<_> = scored.iter().filter(|(score, _)| !score.is_nan()).collect();
    scored.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let positives = scored.iter().filter(|(_, positive)| *positive).count() as f64;
    let all = scored.len() as f64;
    // Below the threshold so far.
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
