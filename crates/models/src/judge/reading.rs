//! Strict reading of judgements.

use reground_interrupt::{check_interrupt, checked};
use serde_json::Value;

use super::classifier::{of_probability, of_spans};
use super::judgement::Judgement;
use super::prompt::{Cited, MAX_EXPLANATION, MAX_QUOTE};
use super::verdict::Verdict;
use crate::fence::escape;
use crate::reading::{Pairs, UnusableAnswer, object, spans, wrong_type};

/// Keys of the schema, for errors.
const KEYS: &str = "verdict, confidence, passage, explanation and coordinates_match";
/// Values of the verdict, for errors.
const VERDICTS: &str = "\"ACCURATE\", \"PARTIAL\", \"HALLUCINATED\" and \"UNVERIFIABLE\"";
/// Forms of a result, for errors.
const FORMS: &str = "\"content\", \"probability\" or \"spans\"";

/// The judgement of a task's result: `{"content": …}` of a chat, `{"probability": …}` of a classifier or of any function that computes
/// the probability that the passage entails the claim, or `{"spans": […]}` of a classifier that marks unsupported spans of the claim.
///
/// # Errors
/// Another form of the result, and the errors of [`read`].
pub fn read_result(result: &Value, cited: Cited<'_>) -> Result<Judgement, UnusableAnswer> {
    let single = result.as_object().filter(|object| object.len() == 1);
    match single.and_then(|object| object.iter().next()) {
        Some((key, Value::String(content))) if key == "content" => read(content, cited.passage),
        Some((key, Value::Number(number))) if key == "probability" => {
            of_probability(number.as_f64().unwrap_or(f64::NAN))
        }
        Some((key, Value::Array(list))) if key == "spans" => {
            Ok(of_spans(&spans(list, cited.claim)?, cited.claim))
        }
        _ => Err(UnusableAnswer::WrongResult { expected: FORMS }),
    }
}

/// The judgement of a model's answer. Too long an explanation or quote is cut: models cannot count characters. A quote that is not in
/// the passage is left out.
///
/// # Errors
/// Anything but one object of the schema, a confidence that is no probability, a text with a zero character.
pub fn read(content: &str, passage: &str) -> Result<Judgement, UnusableAnswer> {
    let pairs = object(
        content,
        &[
            "verdict",
            "confidence",
            "passage",
            "explanation",
            "coordinates_match",
        ],
        KEYS,
    )?;
    let word = text(&pairs, "verdict")?;
    let verdict = Verdict::ALL.into_iter().find(|known| known.word() == word);
    let verdict = verdict.ok_or(UnusableAnswer::UnknownValue {
        key: "verdict",
        expected: VERDICTS,
    })?;
    let confidence = value(&pairs, "confidence")?;
    let Value::Number(confidence) = confidence else {
        return Err(wrong_type("\"confidence\"", "a number", confidence));
    };
    let confidence = confidence.as_f64().filter(|one| (0.0..=1.0).contains(one));
    let coordinates_match = match value(&pairs, "coordinates_match")? {
        Value::Null => None,
        Value::Bool(matches) => Some(*matches),
        other => {
            return Err(wrong_type(
                "\"coordinates_match\"",
                "true, false or null",
                other,
            ));
        }
    };
    let quote = text(&pairs, "passage")?;
    Ok(Judgement {
        verdict,
        confidence: confidence
            .ok_or_else(|| UnusableAnswer::NotAProbability("\"confidence\"".to_owned()))?,
        passage: Some(cut(quote, MAX_QUOTE)).filter(|_| occurs(quote, passage)),
        explanation: Some(cut(&folded(text(&pairs, "explanation")?), MAX_EXPLANATION))
            .filter(|text| !text.is_empty()),
        coordinates_match,
    })
}

fn value<'a>(pairs: &'a Pairs, key: &'static str) -> Result<&'a Value, UnusableAnswer> {
    pairs.get(key).ok_or(UnusableAnswer::MissingKey(key))
}

fn text<'a>(pairs: &'a Pairs, key: &'static str) -> Result<&'a str, UnusableAnswer> {
    match value(pairs, key)? {
        Value::String(text) if text.contains('\0') => Err(UnusableAnswer::ZeroCharacterIn(key)),
        Value::String(text) => Ok(text),
        other => Err(wrong_type(format!("\"{key}\""), "a string", other)),
    }
}

/// Whether a quote is part of the passage, as stored or as the model has seen it. White space and the case of letters are not compared.
fn occurs(quote: &str, passage: &str) -> bool {
    let fold = |text: &str| folded(text).to_lowercase();
    let quote = fold(quote);
    check_interrupt(passage.len());
    !quote.is_empty() && (fold(passage).contains(&quote) || fold(&escape(passage)).contains(&quote))
}

/// The text with single spaces in place of white space and controls.
fn folded(text: &str) -> String {
    let is_gap = |c: char| c.is_whitespace() || c.is_control();
    let words = checked(text.split(is_gap)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The first characters of a text; an ellipsis shows that it was cut.
fn cut(text: &str, most: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}
