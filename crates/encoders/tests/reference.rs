//! Compares each kind of model with transformers, on the tiny models that `reference/make.py` makes. `REGROUND_TINY_MODELS` names
//! another folder than `tests/models`.

use std::path::{Path, PathBuf};

use reground_encoders::{CrossEncoder, Model};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Largest difference to transformers. Both compute in single precision.
const TOLERANCE: f32 = 1e-4;

#[derive(Deserialize)]
struct Embeddings {
    texts: Vec<String>,
    embeddings: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Logits {
    pairs: Vec<(String, String)>,
    logits: Vec<f32>,
}

#[derive(Deserialize)]
struct Probabilities {
    pairs: Vec<(String, String)>,
    probabilities: Vec<f32>,
}

#[derive(Deserialize)]
struct Spans {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    passages: Vec<String>,
    question: Option<String>,
    answer: String,
    /// Start, end, mean and largest probability.
    spans: Vec<(usize, usize, f32, f32)>,
}

fn folder(name: &str) -> PathBuf {
    let made = std::env::var_os("REGROUND_TINY_MODELS").map(PathBuf::from);
    let stored = || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models");
    made.unwrap_or_else(stored).join(name)
}

fn expected<T: DeserializeOwned>(name: &str) -> std::io::Result<T> {
    let content = std::fs::read(folder(name).join("expected.json"))?;
    Ok(serde_json::from_slice(&content)?)
}

fn borrowed(pairs: &[(String, String)]) -> Vec<(&str, &str)> {
    pairs
        .iter()
        .map(|(first, second)| (first.as_str(), second.as_str()))
        .collect()
}

#[track_caller]
fn assert_near(name: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (number, (a, b)) in found.iter().zip(expected).enumerate() {
        let bound = TOLERANCE * b.abs().max(1.0);
        assert!((a - b).abs() < bound, "{name} {number}: {a} is not {b}");
    }
}

#[test]
fn embeddings_are_those_of_transformers_in_any_batch() {
    for name in [
        "bert-mean",
        "distilbert-cls",
        "modernbert-max",
        "xlm-roberta-mean",
    ] {
        let Model::Sentence(encoder) = Model::open(&folder(name)).unwrap() else {
            panic!("{name} is another kind of model");
        };
        assert_eq!((encoder.dimensions(), encoder.max_tokens()), (16, 64));
        let Embeddings { texts, embeddings } = expected(name).unwrap();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = encoder.encode(&texts).unwrap();
        assert_near(name, &found.concat(), &embeddings.concat());

        for (text, embedding) in texts.iter().zip(&found) {
            let alone = encoder.encode(&[text]).unwrap();
            assert_near(name, &alone[0], embedding);
        }
        // Several batches of each thread.
        let many = texts.repeat(40);
        let repeated = encoder.encode(&many).unwrap();
        for (found_again, embedding) in repeated.iter().zip(found.iter().cycle()) {
            assert_near(name, found_again, embedding);
        }
        assert!(encoder.encode(&[]).unwrap().is_empty());
    }
}

#[test]
fn logits_of_pairs_are_those_of_transformers() {
    for name in ["bert-cross", "modernbert-cross", "xlm-roberta-cross"] {
        let Model::Cross(encoder) = Model::open(&folder(name)).unwrap() else {
            panic!("{name} is another kind of model");
        };
        let Logits { pairs, logits } = expected(name).unwrap();
        let found = encoder.score(&borrowed(&pairs)).unwrap();
        let found_logits: Vec<f32> = found.iter().map(|found| found.logit).collect();
        assert_near(name, &found_logits, &logits);
        for relevance in found {
            let odds = relevance.probability / (1.0 - relevance.probability);
            assert_near(name, &[odds.ln()], &[relevance.logit]);
        }
    }
}

#[test]
fn probabilities_of_entailment_are_those_of_transformers() {
    for name in ["roberta-minicheck", "roberta-nli", "deberta-entailment"] {
        let Model::Entailment(classifier) = Model::open(&folder(name)).unwrap() else {
            panic!("{name} is another kind of model");
        };
        let Probabilities {
            pairs,
            probabilities,
        } = expected(name).unwrap();
        let found = classifier.probabilities(&borrowed(&pairs)).unwrap();
        assert_near(name, &found, &probabilities);
        let largest = probabilities.iter().copied().fold(0.0, f32::max);
        let smallest = probabilities.iter().copied().fold(1.0, f32::min);
        assert!(largest - smallest > 0.05, "{name} does not distinguish");
    }
}

#[test]
fn a_cross_encoder_with_several_labels_uses_the_last() {
    let name = "roberta-nli";
    let encoder = CrossEncoder::load(&folder(name)).unwrap();
    let Probabilities { pairs, .. } = expected(name).unwrap();
    let found = encoder.score(&borrowed(&pairs[..1])).unwrap();
    assert!(found[0].logit.is_finite());
}

#[test]
fn spans_are_those_of_transformers_in_characters() {
    let name = "modernbert-spans";
    let Model::Spans(classifier) = Model::open(&folder(name)).unwrap() else {
        panic!("{name} is another kind of model");
    };
    let Spans { cases } = expected(name).unwrap();
    assert!(cases.iter().any(|case| case.spans.len() > 1));
    for case in cases {
        let passages: Vec<&str> = case.passages.iter().map(String::as_str).collect();
        let found = classifier
            .unsupported(&passages, case.question.as_deref(), &case.answer)
            .unwrap();
        let places: Vec<_> = found.iter().map(|span| (span.start, span.end)).collect();
        let expected: Vec<_> = case.spans.iter().map(|span| (span.0, span.1)).collect();
        assert_eq!(places, expected);
        for (found, (_, _, mean, max)) in found.iter().zip(case.spans) {
            assert_near(
                name,
                &[found.mean_probability, found.max_probability],
                &[mean, max],
            );
        }
    }
}
