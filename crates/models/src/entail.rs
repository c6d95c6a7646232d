//! Entailment of one statement by a text (KnowMT-Bench, section 3.3.1).

use reground_metrics::factuality::verdicts::Entailment;
use serde_json::{Value, json};

use crate::fence::Fence;
use crate::reading::{UnusableAnswer, only_key, spans, wrong_type};
use crate::request::{ChatRequest, messages};

/// Version of the prompt. A changed prompt needs a new version, because verdicts are compared by it.
pub const PROMPT: &str = "entail-1";
/// Probability from which a classifier's verdict holds.
pub const THRESHOLD: f64 = 0.5;
/// Most tokens of the model's answer. The verdict takes about ten; some models write white space.
const MAX_TOKENS: u32 = 100;
/// Key of the schema.
const KEY: &str = "verdict";
/// Values of the schema, for errors.
const VALUES: &str = "\"entailed\", \"contradicted\" and \"neutral\"";
/// Forms of a result, for errors.
const FORMS: &str = "\"content\", \"probability\" or \"spans\"";

const INSTRUCTIONS: &str = "You decide how a hypothesis relates to a premise.

Verdicts:
- entailed: the premise states the whole hypothesis, or it follows from the premise.
- contradicted: the premise and the hypothesis cannot both be true.
- neutral: neither. The premise does not say whether the hypothesis is true.

Rules:
- Use only the premise. What you know yourself does not count, also if the premise is wrong.
- Other words with the same meaning entail. A general statement does not entail a more special one.
- Numbers, dates, names, negations and conditions must agree.
- A hypothesis with several parts is entailed if all parts are, contradicted if at least one is, otherwise neutral.";

const FORM: &str = "Reply only with a JSON object: {\"verdict\": \"entailed\"}, {\"verdict\": \"contradicted\"} or {\"verdict\": \"neutral\"}.";

/// The request for the verdict of a premise (the full text of one side) on a hypothesis (a statement of the other side).
pub fn request(premise: &str, hypothesis: &str) -> ChatRequest {
    let fence = Fence::around(&[premise, hypothesis]);
    let user = format!(
        "{}{}\nDecide how the hypothesis relates to the premise. {FORM}",
        fence.enclose("premise", premise),
        fence.enclose("hypothesis", hypothesis)
    );
    ChatRequest {
        messages: messages(
            format!("{INSTRUCTIONS}\n\n{}\n\n{FORM}", fence.rule()),
            user,
        ),
        schema_name: KEY.to_owned(),
        schema: schema(),
        temperature: 0,
        max_tokens: MAX_TOKENS,
        premise: Some(premise.to_owned()),
        hypothesis: Some(hypothesis.to_owned()),
        question: None,
    }
}

/// The JSON schema of the model's answer.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {KEY: {"type": "string", "enum": Entailment::ALL.map(Entailment::name)}},
        "required": [KEY],
        "additionalProperties": false,
    })
}

/// The verdict of a model's answer.
///
/// # Errors
/// Anything but one object of the schema.
pub fn read(content: &str) -> Result<Entailment, UnusableAnswer> {
    let value = only_key(content, KEY)?;
    let Value::String(word) = &value else {
        return Err(wrong_type(format!("\"{KEY}\""), "a string", &value));
    };
    Entailment::parse(word).ok_or(UnusableAnswer::UnknownValue {
        key: KEY,
        expected: VALUES,
    })
}

/// The verdict of a classifier that gives the probability of entailment: entailed from [`THRESHOLD`], otherwise neutral. Such a
/// classifier cannot find contradictions.
///
/// # Errors
/// A number that is no probability.
pub fn verdict_of(probability: f64) -> Result<Entailment, UnusableAnswer> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(UnusableAnswer::NotAProbability(
            "the probability".to_owned(),
        ));
    }
    Ok(if probability >= THRESHOLD {
        Entailment::Entailed
    } else {
        Entailment::Neutral
    })
}

/// The verdict of a task's result: `{"content": …}` of a chat, `{"probability": …}` of a classifier, or `{"spans": […]}` of a
/// classifier that marks unsupported spans of the hypothesis. A span from [`THRESHOLD`] makes the verdict neutral.
///
/// # Errors
/// Another form of the result, and the errors of [`read`] and [`verdict_of`].
pub fn read_result(result: &Value, hypothesis: &str) -> Result<Entailment, UnusableAnswer> {
    let wrong = UnusableAnswer::WrongResult { expected: FORMS };
    let object = result.as_object().filter(|object| object.len() == 1);
    match object.and_then(|object| object.iter().next()) {
        Some((key, Value::String(content))) if key == "content" => read(content),
        Some((key, Value::Number(number))) if key == "probability" => {
            verdict_of(number.as_f64().unwrap_or(f64::NAN))
        }
        Some((key, Value::Array(spans))) if key == "spans" => verdict_of_spans(spans, hypothesis),
        _ => Err(wrong),
    }
}

fn verdict_of_spans(list: &[Value], hypothesis: &str) -> Result<Entailment, UnusableAnswer> {
    let spans = spans(list, hypothesis)?;
    let is_unsupported = spans.iter().any(|span| span.probability >= THRESHOLD);
    Ok(if is_unsupported {
        Entailment::Neutral
    } else {
        Entailment::Entailed
    })
}
