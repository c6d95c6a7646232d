//! Factuality: cases computed by hand, the publication's own examples and tables, and properties.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared functions of tests"
)]

use proptest::prelude::*;
use reground_metrics::factuality::decomposition::{omission_rate, smape};
use reground_metrics::factuality::measures::{Measures, measure};
use reground_metrics::factuality::published::{MODELS, RETRIEVAL, Setting};
use reground_metrics::factuality::report::{Beside, MeasuredRow, Report, Validation};
use reground_metrics::factuality::summary::{LargestCosts, summarize};
use reground_metrics::factuality::verdicts::{AnswerVerdicts, Entailment, Unmeasured};
use serde_json::json;

/// Verdicts from letters: e, c, n, and `?` for a failed one.
fn verdicts(letters: &str) -> Option<Vec<Option<Entailment>>> {
    let verdict = |letter| match letter {
        'e' => Some(Entailment::Entailed),
        'c' => Some(Entailment::Contradicted),
        'n' => Some(Entailment::Neutral),
        '?' => None,
        other => panic!("{other}"),
    };
    Some(letters.chars().map(verdict).collect())
}

fn answer(statements: &str, facts: &str, tokens: u64) -> AnswerVerdicts {
    AnswerVerdicts {
        statements: verdicts(statements),
        facts: verdicts(facts),
        tokens,
    }
}

fn measured(statements: &str, facts: &str, tokens: u64) -> Measures {
    measure(&answer(statements, facts, tokens)).unwrap()
}

#[test]
fn an_answer_computed_by_hand() {
    // 8 statements: 3 entailed, 2 contradicted. 5 facts: 2 entailed, 1 contradicted. 120 tokens.
    let m = measured("eeeccnnn", "eecnn", 120);
    let (precision, recall) = (3.0 / 8.0, 2.0 / 5.0);
    assert_eq!((m.factual_precision, m.factual_recall), (precision, recall));
    assert_eq!(
        m.factual_f1,
        2.0 * precision * recall / (precision + recall)
    );
    let (claims, facts) = (2.0 / 8.0, 1.0 / 5.0);
    assert_eq!(
        (m.false_claim_rate, m.misrepresentation_rate),
        (claims, facts)
    );
    assert_eq!(m.hallucination_f1, 2.0 * claims * facts / (claims + facts));
    // Facts of the reference, not statements of the answer.
    assert_eq!(m.tokens_per_entailed_fact, Some(120.0 / 2.0));
    assert_eq!(m.tokens_per_contradicted_fact, Some(120.0 / 1.0));
    assert_eq!(m.tokens_to_cover_all, Some(120.0 / recall));
}

#[test]
fn the_publications_counterexample() {
    // Appendix G.3: ten facts and ten statements; 5 of each are right. Case A contradicts nothing, case B 5 of each.
    let a = measured("eeeeennnnn", "eeeeennnnn", 100);
    let b = measured("eeeeeccccc", "eeeeeccccc", 100);
    assert_eq!((a.factual_f1, a.hallucination_f1), (0.5, 0.0));
    assert_eq!((b.factual_f1, b.hallucination_f1), (0.5, 0.5));
    assert_eq!(a.tokens_per_contradicted_fact, None);
    assert_eq!(b.tokens_per_contradicted_fact, Some(20.0));
}

#[test]
fn nothing_right_is_0_and_nothing_judged_is_no_measure() {
    let m = measured("nn", "nn", 10);
    assert_eq!((m.factual_f1, m.hallucination_f1), (0.0, 0.0));
    assert_eq!(
        (m.tokens_per_entailed_fact, m.tokens_to_cover_all),
        (None, None)
    );
    let outcome = |statements, facts| measure(&answer(statements, facts, 10)).unwrap_err().name();
    assert_eq!(outcome("", "en"), "no_statements");
    assert_eq!(outcome("en", ""), "no_facts");
    assert_eq!(outcome("", ""), "no_facts");
    assert_eq!(outcome("e?", "en"), "judge_failed");
    assert_eq!(outcome("en", "?n"), "judge_failed");
    // What no further call changes comes first.
    assert_eq!(outcome("", "e?"), "no_statements");
    let undecomposed = AnswerVerdicts {
        statements: None,
        ..answer("", "en", 10)
    };
    assert_eq!(measure(&undecomposed), Err(Unmeasured::JudgeFailed));
    let unknown = AnswerVerdicts {
        facts: None,
        ..answer("e", "", 10)
    };
    assert_eq!(measure(&unknown), Err(Unmeasured::JudgeFailed));
}

#[test]
fn verdicts_are_read_from_json() {
    let read = |value| serde_json::from_value::<AnswerVerdicts>(value);
    let all = json!({"statements": ["entailed", null], "facts": null, "tokens": 7});
    let expected = AnswerVerdicts {
        statements: verdicts("e?"),
        facts: None,
        tokens: 7,
    };
    assert_eq!(read(all).unwrap(), expected);
    assert!(read(json!({"statements": ["true"], "facts": [], "tokens": 7})).is_err());
    for verdict in Entailment::ALL {
        assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
    }
    for outcome in Unmeasured::ALL {
        assert_eq!(serde_json::to_value(outcome).unwrap(), outcome.name());
    }
}

#[test]
fn a_data_set_computed_by_hand() {
    let answers: Vec<Result<Measures, Unmeasured>> = [
        // P 1/2, R 1, F1 2/3; 100 per entailed fact, 100 to cover all.
        answer("en", "e", 100),
        // P 1, R 1/2, F1 2/3; false claims 0, misrepresented 1/2; 60 per entailed, 60 per contradicted, 120 to cover all.
        answer("e", "ec", 60),
        // All 0. Both costs of entailed facts become the largest.
        answer("n", "nn", 900),
        answer("", "e", 5),
        answer("e", "", 5),
        answer("?", "e", 5),
    ]
    .iter()
    .map(measure)
    .collect();
    let s = summarize(&answers, None);
    assert_eq!((s.answers, s.measured), (6, 3));
    assert_eq!((s.no_statements, s.no_facts, s.judge_failed), (1, 1, 1));
    let close =
        |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    close(s.factual_precision.unwrap().mean, (0.5 + 1.0 + 0.0) / 3.0);
    close(s.factual_recall.unwrap().mean, (1.0 + 0.5 + 0.0) / 3.0);
    // The mean of F1, not the F1 of the means, which is 1/2.
    close(
        s.factual_f1.unwrap().mean,
        (2.0 / 3.0 + 2.0 / 3.0 + 0.0) / 3.0,
    );
    close(s.misrepresentation_rate.unwrap().mean, 0.5 / 3.0);
    close(s.hallucination_f1.unwrap().mean, 0.0);
    let entailed = s.tokens_per_entailed_fact.unwrap();
    close(entailed.tokens.mean, (100.0 + 60.0 + 100.0) / 3.0);
    assert_eq!(entailed.replaced, 1);
    let contradicted = s.tokens_per_contradicted_fact.unwrap();
    close(contradicted.tokens.mean, 60.0);
    assert_eq!(contradicted.replaced, 2);
    close(
        s.tokens_to_cover_all.unwrap().tokens.mean,
        (100.0 + 120.0 + 120.0) / 3.0,
    );
    // Another data set's maximum.
    let largest = LargestCosts {
        per_entailed_fact: Some(500.0),
        ..LargestCosts::default()
    };
    let s = summarize(&answers, Some(largest));
    close(
        s.tokens_per_entailed_fact.unwrap().tokens.mean,
        (100.0 + 60.0 + 500.0) / 3.0,
    );
    assert_eq!(s.tokens_per_contradicted_fact, None);
    let nothing = summarize(&[Err(Unmeasured::JudgeFailed)], None);
    assert_eq!(
        (nothing.factual_f1, nothing.tokens_to_cover_all),
        (None, None)
    );
}

#[test]
fn smape_and_omissions_computed_by_hand() {
    // |8 − 12| / 10, 0 of 5 and 5, 0 of nothing, |0 − 3| / 1.5.
    let pairs = [(8, 12), (5, 5), (0, 0), (0, 3)];
    assert_eq!(smape(pairs), Some((0.4 + 0.0 + 0.0 + 2.0) / 4.0));
    assert_eq!(smape([]), None);
    let rate = omission_rate([true, true, false, true]);
    assert_eq!(rate.value(), Some(0.25));
    assert_eq!(omission_rate([]).value(), None);
}

/// Table 8's changes from single turn to multi-turn in percent, as printed, in the order of its columns.
const CHANGES: [(&str, [f64; 9]); 12] = [
    (
        "Gemini-2.5-Pro",
        [-10.0, -3.2, -6.6, 44.8, 12.5, 42.6, 3.6, -12.7, 19.7],
    ),
    ("GPT-4o", [1.4, -10.4, -4.0, 4.2, 2.6, 9.6, 12.2, 9.6, 22.4]),
    (
        "GPT-4o-mini",
        [4.1, -13.3, -4.9, 1.9, 22.8, 19.5, 35.3, 42.9, 60.4],
    ),
    (
        "DeepSeek-R1",
        [-2.6, -13.2, -8.7, 3.9, 0.3, 5.2, 4.0, -4.1, -24.5],
    ),
    (
        "DeepSeek-V3",
        [1.1, -24.3, -18.6, 4.7, 5.6, 5.9, 29.4, 20.0, 70.1],
    ),
    (
        "Qwen-2.5-72B",
        [3.0, -21.8, -15.7, -3.4, 13.3, 13.6, 35.4, 9.7, 18.5],
    ),
    (
        "Llama-3.3-70B",
        [-0.6, -15.5, -11.9, 12.1, 15.7, 21.8, 34.9, 15.4, 24.4],
    ),
    (
        "Qwen-2.5-32B",
        [8.2, -12.7, -3.9, 3.8, 6.5, 17.6, 18.6, 8.8, 4.8],
    ),
    (
        "QwQ-32B",
        [1.7, -17.0, -8.5, 0.2, 53.4, 43.7, -10.9, -11.3, -31.6],
    ),
    (
        "Qwen-2.5-14B",
        [6.5, -12.2, -4.6, -2.6, 8.0, -2.7, 44.2, 60.5, 37.3],
    ),
    (
        "Llama-3.1-8B",
        [5.1, -6.5, 1.8, -39.3, 10.2, 2.8, 18.2, 27.8, 13.7],
    ),
    (
        "Qwen-2.5-7B",
        [5.3, -23.7, -12.8, -7.4, 17.1, 5.6, 49.2, 43.9, 41.1],
    ),
];

#[test]
fn published_rows_give_the_published_changes() {
    let row = |system, setting| {
        let row = MODELS
            .iter()
            .find(|row| row.system == system && row.setting == setting)
            .unwrap();
        [
            row.factual_recall.unwrap(),
            row.factual_precision.unwrap(),
            row.factual_f1,
            row.false_claim_rate.unwrap(),
            row.misrepresentation_rate.unwrap(),
            row.hallucination_f1,
            row.tokens_per_entailed_fact,
            row.tokens_per_contradicted_fact,
            row.tokens_to_cover_all.unwrap(),
        ]
    };
    for (system, changes) in CHANGES {
        let (before, after) = (
            row(system, Setting::SingleTurn),
            row(system, Setting::MultiTurn),
        );
        for (column, printed) in changes.iter().enumerate() {
            let change = (after[column] / before[column] - 1.0) * 100.0;
            // The table rounds its values before and after.
            assert!(
                (change - printed).abs() < 0.35,
                "{system} {column}: {change} {printed}"
            );
        }
    }
    // Table 3's rows without retrieval are table 8's rows of the same model.
    for row in &RETRIEVAL[..2] {
        let same = MODELS
            .iter()
            .find(|one| one.system == "Qwen-2.5-7B" && one.setting == row.setting)
            .unwrap();
        assert_eq!(
            (row.factual_f1, row.hallucination_f1),
            (same.factual_f1, same.hallucination_f1)
        );
        assert_eq!(
            row.tokens_per_entailed_fact.round(),
            same.tokens_per_entailed_fact
        );
        assert_eq!(
            row.tokens_per_contradicted_fact.round(),
            same.tokens_per_contradicted_fact
        );
    }
    // F1 of each answer and then the mean: below the F1 of both means in every row.
    for row in &MODELS {
        let (p, r) = (row.factual_precision.unwrap(), row.factual_recall.unwrap());
        assert!(row.factual_f1 < 2.0 * p * r / (p + r), "{}", row.system);
    }
}

#[test]
fn a_report_shows_measured_and_published_rows() {
    let answers = [
        measure(&answer("en", "e", 100)),
        measure(&answer("", "e", 5)),
    ];
    let report = Report {
        measured: vec![MeasuredRow {
            system: "ours | rounds".to_owned(),
            setting: "multi-turn".to_owned(),
            summary: summarize(&answers, None),
        }],
        beside: Beside::Retrieval,
    };
    let text = report.markdown();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[2],
        "| **ours \\| rounds** | multi-turn | 100.00 | 50.00 | 66.67 | 0.00 | 0.00 | 0.00 | 100 | – | 100 |"
    );
    assert!(lines.contains(
        &"| Rounds (source, table 3) | multi-turn | – | – | 43.15 | – | – | 2.14 | 216 | 677 | – |"
    ));
    assert!(
        text.contains(
            "1 of 2 answers measured (1 `no_statements`, 0 `no_facts`, 0 `judge_failed`)"
        )
    );
    assert!(
        text.contains("tokens per contradicted fact ↑")
            && text.contains("tokens per entailed fact ↓")
    );
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let table = lines.iter().take_while(|line| line.starts_with('|'));
    assert!(table.clone().all(|line| cells(line) == 12), "{text}");
    assert_eq!(table.count(), 2 + 1 + RETRIEVAL.len());
    let all = Report {
        measured: Vec::new(),
        beside: Beside::Models,
    }
    .markdown();
    assert_eq!(all.matches("(source, table 8)").count(), 24);
}

#[test]
fn a_validation_shows_both_columns() {
    let validation = Validation {
        smape: Some(0.2),
        ..Validation::default()
    };
    let text = validation.markdown();
    assert!(
        text.contains("| SMAPE of the number of statements, % ↓ | 20.0 | 18.1 |"),
        "{text}"
    );
    assert!(text.contains("| omission rate, % ↓ | – | 5.9 |"));
    assert!(text.contains("| F1 against the majority, % ↑ | – | 83.6 |"));
    assert!(text.contains("| κ with the majority ↑ | – | 0.79 to 0.81, of single humans |"));
}

fn side() -> impl Strategy<Value = Vec<Option<Entailment>>> {
    let verdict = prop::sample::select(Entailment::ALL.to_vec());
    prop::collection::vec(verdict.prop_map(Some), 1..20)
}

fn judged() -> impl Strategy<Value = AnswerVerdicts> {
    (side(), side(), 1..2000_u64).prop_map(|(statements, facts, tokens)| AnswerVerdicts {
        statements: Some(statements),
        facts: Some(facts),
        tokens,
    })
}

proptest! {
    #[test]
    fn measures_are_bounded_and_ignore_the_order(mut answer in judged()) {
        let m = measure(&answer).unwrap();
        for share in [m.factual_precision, m.factual_recall, m.false_claim_rate, m.misrepresentation_rate] {
            prop_assert!((0.0..=1.0).contains(&share));
        }
        let between = |f1: f64, a: f64, b: f64| a.min(b) - 1e-12 <= f1 && f1 <= a.max(b) + 1e-12;
        prop_assert!(between(m.factual_f1, m.factual_precision, m.factual_recall));
        prop_assert!(between(m.hallucination_f1, m.false_claim_rate, m.misrepresentation_rate));
        // Appendix G.3: no statement and no fact is both right and false.
        prop_assert!(m.factual_precision + m.false_claim_rate <= 1.0 + 1e-12);
        prop_assert!(m.factual_recall + m.misrepresentation_rate <= 1.0 + 1e-12);
        let tokens = answer.tokens as f64;
        for cost in [m.tokens_per_entailed_fact, m.tokens_per_contradicted_fact] {
            prop_assert!(cost.is_none_or(|cost| 0.0 < cost && cost <= tokens));
        }
        prop_assert!(m.tokens_to_cover_all.is_none_or(|cost| cost >= tokens - 1e-9));
        for side in [&mut answer.statements, &mut answer.facts] {
            side.as_mut().unwrap().sort();
        }
        prop_assert_eq!(measure(&answer), Ok(m));
    }

    #[test]
    fn another_contradicted_fact_lowers_only_its_cost(answer in judged()) {
        let before = measure(&answer).unwrap();
        let mut worse = answer.clone();
        let facts = worse.facts.as_mut().unwrap();
        let Some(neutral) = facts.iter_mut().find(|one| **one == Some(Entailment::Neutral)) else {
            return Ok(());
        };
        *neutral = Some(Entailment::Contradicted);
        let after = measure(&worse).unwrap();
        // Higher is better: the worse answer has the lower value.
        let cost = after.tokens_per_contradicted_fact.unwrap();
        prop_assert!(before.tokens_per_contradicted_fact.is_none_or(|before| cost < before));
        prop_assert_eq!(after.tokens_per_entailed_fact, before.tokens_per_entailed_fact);
        prop_assert!(after.hallucination_f1 >= before.hallucination_f1);
    }

    #[test]
    fn summaries_ignore_the_order_and_stay_between_the_answers(answers in prop::collection::vec(judged(), 1..12)) {
        let mut measured: Vec<_> = answers.iter().map(measure).collect();
        let s = summarize(&measured, None);
        measured.reverse();
        let reversed = summarize(&measured, None);
        let f1 = s.factual_f1.unwrap();
        prop_assert!((f1.mean - reversed.factual_f1.unwrap().mean).abs() < 1e-12);
        prop_assert!(f1.low <= f1.high && 0.0 <= f1.low && f1.high <= 1.0);
        if let Some(cost) = s.tokens_per_entailed_fact {
            let largest = LargestCosts::of(measured.iter().flatten()).per_entailed_fact.unwrap();
            prop_assert!(cost.tokens.mean <= largest + 1e-9);
            prop_assert!((cost.replaced as usize) < answers.len());
        }
    }

    #[test]
    fn smape_is_symmetric_and_bounded(pairs in prop::collection::vec((0..500_u64, 0..500_u64), 1..30)) {
        let value = smape(pairs.iter().copied()).unwrap();
        prop_assert_eq!(smape(pairs.iter().map(|(a, b)| (*b, *a))), Some(value));
        prop_assert!((0.0..=2.0).contains(&value));
        prop_assert_eq!(smape(pairs.iter().map(|(a, _)| (*a, *a))), Some(0.0));
        prop_assert_eq!(value == 0.0, pairs.iter().all(|(a, b)| a == b));
    }
}
