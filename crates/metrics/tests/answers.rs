//! Measures of answers: cases computed by hand, and a comparison with brute force over sets of facts.

use std::collections::BTreeMap;

use proptest::prelude::*;
use reground_metrics::trec_rag::{Support, Weighting};
use reground_metrics::{Ratio, alce, claims, context, references, trec_rag};

#[test]
fn an_empty_ratio_has_no_value_and_ratios_add_up() {
    assert_eq!(Ratio::default().value(), None);
    assert_eq!(Ratio::of([]).value(), None);
    assert_eq!(Ratio::of([false]).value(), Some(0.0));
    let all: Ratio = [Ratio::of([true, false]), Ratio::of([]), Ratio::of([true])]
        .into_iter()
        .sum();
    assert_eq!((all.numerator, all.denominator), (2.0, 3));
}

#[test]
fn validity_counts_by_status() {
    let statuses = [
        "resolved_current",
        "unknown_id",
        "resolved_carried",
        "unknown_id",
        "malformed",
    ];
    let validity = references::validity(statuses, |status| status.starts_with("resolved"));
    assert_eq!(validity.ratio.value(), Some(0.4));
    let expected = BTreeMap::from([
        ("malformed", 1),
        ("resolved_carried", 1),
        ("resolved_current", 1),
        ("unknown_id", 2),
    ]);
    assert_eq!(validity.by_status, expected);
    assert_eq!(references::validity([""; 0], |_| true).ratio.value(), None);
}

#[test]
fn coverage_ignores_sentences_that_need_no_citation() {
    let sentence = |needs_citation, is_cited| references::Sentence {
        needs_citation,
        is_cited,
    };
    let sentences = [
        sentence(true, true),
        sentence(true, false),
        sentence(false, true),
        sentence(false, false),
    ];
    assert_eq!(references::coverage(sentences).value(), Some(0.5));
    assert_eq!(references::coverage([sentence(false, true)]).value(), None);
}

/// A sentence and its cited passages as sets of facts. A text entails another if it contains all its facts.
#[derive(Clone, Debug)]
struct SentenceCase {
    sentence: u8,
    /// `None` is a citation of a passage that is not in the context.
    passages: Vec<Option<u8>>,
}

impl SentenceCase {
    fn entails(&self, chosen: impl Iterator<Item = usize>) -> bool {
        let known = chosen
            .filter_map(|n| self.passages[n])
            .fold(0, |all, one| all | one);
        known & self.sentence == self.sentence
    }

    fn verdicts(&self) -> alce::Sentence {
        let all = 0..self.passages.len();
        let citation = |n: usize| alce::Citation {
            in_range: self.passages[n].is_some(),
            alone: self.entails(std::iter::once(n)),
            others: self.entails(all.clone().filter(|other| *other != n)),
        };
        alce::Sentence {
            joint: self.entails(all.clone()),
            citations: all.clone().map(citation).collect(),
        }
    }
}

/// Counts for one sentence as in the published evaluation, step by step: recall, precision, citations.
fn published(sentence_case: &SentenceCase) -> (u64, u64, u64) {
    let count = sentence_case.passages.len();
    if count == 0 || sentence_case.passages.contains(&None) {
        return (0, 0, 0);
    }
    if !sentence_case.entails(0..count) {
        return (0, 0, count as u64);
    }
    if count == 1 {
        return (1, 1, 1);
    }
    let needed = (0..count).filter(|&n| {
        sentence_case.entails(n..n + 1) || !sentence_case.entails((0..count).filter(|&o| o != n))
    });
    (1, needed.count() as u64, count as u64)
}

#[test]
fn alce_by_hand() {
    // Two passages that are both needed, and a third that adds nothing.
    let halves = SentenceCase {
        sentence: 0b11,
        passages: vec![Some(0b01), Some(0b10), Some(0b100)],
    }
    .verdicts();
    assert_eq!(alce::recall([&halves]).value(), Some(1.0));
    assert_eq!(
        alce::precision([&halves]),
        Ratio {
            numerator: 2.0,
            denominator: 3
        }
    );
    // Two passages with the same facts: each entails the sentence alone, both count.
    let twins = SentenceCase {
        sentence: 0b1,
        passages: vec![Some(0b1), Some(0b1)],
    }
    .verdicts();
    assert_eq!(alce::precision([&twins]).value(), Some(1.0));
    // A single passage that does not entail the sentence.
    let wrong = SentenceCase {
        sentence: 0b1,
        passages: vec![Some(0b10)],
    }
    .verdicts();
    assert_eq!(
        (
            alce::recall([&wrong]).value(),
            alce::precision([&wrong]).value()
        ),
        (Some(0.0), Some(0.0))
    );
    // No citation: recall is 0, and precision has no denominator.
    let bare = alce::Sentence {
        joint: true,
        citations: vec![],
    };
    assert_eq!(
        (
            alce::recall([&bare]).value(),
            alce::precision([&bare]).value()
        ),
        (Some(0.0), None)
    );
    assert_eq!(alce::recall([]).value(), None);
}

#[test]
fn trec_rag_by_hand() {
    use Support::{Full, None, Partial};
    // Support of the first citations: full, partial, none. One sentence has no citation.
    let sentences = [vec![Full, None], vec![Partial, Full], vec![None], vec![]];
    let values = |measure: fn(&[Vec<Support>], Weighting) -> Ratio| {
        [Weighting::Weighted, Weighting::Hard]
            .map(|weighting| measure(&sentences, weighting).value())
    };
    assert_eq!(values(trec_rag::precision), [Some(0.5), Some(1.0 / 3.0)]);
    assert_eq!(values(trec_rag::recall), [Some(0.375), Some(0.25)]);
    assert_eq!(
        values(trec_rag::all_citations_precision),
        [Some(0.5), Some(0.4)]
    );
    assert_eq!(
        values(trec_rag::all_citations_recall),
        [Some(0.5), Some(0.5)]
    );
    let uncited: [Vec<Support>; 1] = [vec![]];
    assert_eq!(
        trec_rag::precision(&uncited, Weighting::Hard).value(),
        Option::None
    );
    assert_eq!(
        trec_rag::recall(&uncited, Weighting::Hard).value(),
        Some(0.0)
    );
    assert_eq!(
        trec_rag::recall::<Vec<Support>>(&[], Weighting::Hard).value(),
        Option::None
    );
}

#[test]
fn ragas_by_hand() {
    assert_eq!(
        claims::faithfulness([true, true, false]),
        Ratio {
            numerator: 2.0,
            denominator: 3
        }
    );
    assert_eq!(claims::context_recall([]).value(), None);
}

#[test]
fn a_passage_counts_once_when_it_is_cited_twice() {
    let used = context::utilisation(["a", "a", "x"], ["a", "b", "b", "c"]);
    assert_eq!(
        used,
        Ratio {
            numerator: 1.0,
            denominator: 3
        }
    );
    assert_eq!(
        context::carry_over_hit_rate(["a"], ["b", "a"]).value(),
        Some(0.5)
    );
    assert_eq!(context::carry_over_hit_rate(["a"], []).value(), None);
}

fn sentence_case() -> impl Strategy<Value = SentenceCase> {
    let passage = prop_oneof![9 => (0..16_u8).prop_map(Some), 1 => Just(None)];
    (1..16_u8, prop::collection::vec(passage, 0..5))
        .prop_map(|(sentence, passages)| SentenceCase { sentence, passages })
}

fn support() -> impl Strategy<Value = Support> {
    prop::sample::select(vec![Support::None, Support::Partial, Support::Full])
}

proptest! {
    #[test]
    fn alce_equals_the_published_evaluation(sentence_case in prop::collection::vec(sentence_case(), 0..8)) {
        let verdicts: Vec<_> = sentence_case.iter().map(SentenceCase::verdicts).collect();
        let counted: Vec<_> = sentence_case.iter().map(published).collect();
        let recall = alce::recall(&verdicts);
        prop_assert_eq!(recall.numerator, counted.iter().map(|c| c.0).sum::<u64>() as f64);
        prop_assert_eq!(recall.denominator, sentence_case.len() as u64);
        let precision = alce::precision(&verdicts);
        prop_assert_eq!(precision.numerator, counted.iter().map(|c| c.1).sum::<u64>() as f64);
        prop_assert_eq!(precision.denominator, counted.iter().map(|c| c.2).sum::<u64>());
    }

    #[test]
    fn trec_rag_variants_agree_when_each_sentence_has_one_citation(sentences in prop::collection::vec([support()], 0..9)) {
        for weighting in [Weighting::Weighted, Weighting::Hard] {
            let precision = trec_rag::precision(&sentences, weighting);
            prop_assert_eq!(precision, trec_rag::recall(&sentences, weighting));
            prop_assert_eq!(precision, trec_rag::all_citations_precision(&sentences, weighting));
            prop_assert_eq!(precision, trec_rag::all_citations_recall(&sentences, weighting));
        }
    }

    #[test]
    fn weighted_and_hard_recall_differ_by_half_of_the_partial_support(sentences in prop::collection::vec(prop::collection::vec(support(), 0..4), 0..9)) {
        let partial = sentences.iter().filter(|s| s.first() == Some(&Support::Partial)).count();
        let weighted = trec_rag::recall(&sentences, Weighting::Weighted);
        let hard = trec_rag::recall(&sentences, Weighting::Hard);
        prop_assert_eq!(weighted.numerator - hard.numerator, partial as f64 / 2.0);
        prop_assert_eq!(weighted.denominator, sentences.len() as u64);
    }
}
