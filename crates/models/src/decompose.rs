//! Decomposition of an answer into statements (KnowMT-Bench, section 3.3.1).

use reground_interrupt::checked;
use serde_json::{Value, json};

use crate::fence::Fence;
use crate::reading::{UnusableAnswer, only_key, wrong_type};
use crate::request::{ChatRequest, messages};

/// Version of the prompt. A changed prompt needs a new version, because verdicts are compared by it.
pub const PROMPT: &str = "decompose-1";
/// Most statements of an answer.
pub const MAX_STATEMENTS: usize = 200;
/// Most tokens of the model's answer: about 20 for each statement.
const MAX_TOKENS: u32 = 4096;
/// Key of the schema.
const KEY: &str = "statements";

const INSTRUCTIONS: &str = "You split an answer into its factual statements.

Rules:
- A statement is one fact: the smallest part of the answer that can be true or false alone.
- A statement can be understood without the answer. Replace pronouns by names, and take what is missing from the question.
- Keep what limits a fact: conditions, negations, numbers, units, dates, and words such as \"may\" or \"usually\".
- A list of several things gives one statement for each. Alternatives that only hold together stay together.
- Cover all facts of the answer, also wrong ones. Add none, correct none, and repeat none.
- Leave out what is no fact: greetings, questions, advice to ask somebody, remarks about the answer itself, citation marks.
- Write in the language of the answer. Give at most 200 statements.
- If the answer states no fact, give an empty list.";

const FORM: &str = "Reply only with a JSON object of the form {\"statements\": [\"first statement\", \"second statement\"]}.";

/// The request for the statements of an answer. The question helps to complete statements.
pub fn request(question: Option<&str>, answer: &str) -> ChatRequest {
    let texts: Vec<&str> = question.into_iter().chain([answer]).collect();
    let fence = Fence::around(&texts);
    let asked = question.map(|question| fence.enclose("question", question));
    let user = format!(
        "{}{}\nSplit the answer into its factual statements. {FORM}",
        asked.unwrap_or_default(),
        fence.enclose("answer", answer)
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
        premise: None,
        hypothesis: None,
        question: None,
    }
}

/// The JSON schema of the model's answer. It uses only keywords that all APIs with structured output accept; [`read`] checks the
/// rest.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {KEY: {"type": "array", "items": {"type": "string"}}},
        "required": [KEY],
        "additionalProperties": false,
    })
}

/// The statements of a model's answer, without surrounding white space. An empty list is valid: the text states nothing.
///
/// # Errors
/// Anything but one object of the schema, more than [`MAX_STATEMENTS`] statements, an empty statement or one with a zero character.
pub fn read(content: &str) -> Result<Vec<String>, UnusableAnswer> {
    let value = only_key(content, KEY)?;
    let Value::Array(items) = value else {
        return Err(wrong_type(format!("\"{KEY}\""), "an array", &value));
    };
    if items.len() > MAX_STATEMENTS {
        return Err(UnusableAnswer::TooManyStatements {
            found: items.len(),
            most: MAX_STATEMENTS,
        });
    }
    items
        .iter()
        .zip(1..)
        .map(|(item, n)| statement(item, n))
        .collect()
}

/// The statements of a task's result, `{"content": "the model's answer"}`.
///
/// # Errors
/// Another form of the result, and the errors of [`read`].
pub fn read_result(result: &Value) -> Result<Vec<String>, UnusableAnswer> {
    match result.as_object() {
        Some(object) if object.len() == 1 => object.get("content").and_then(Value::as_str),
        _ => None,
    }
    .ok_or(UnusableAnswer::WrongResult {
        expected: "\"content\", a string",
    })
    .and_then(read)
}

fn statement(item: &Value, number: usize) -> Result<String, UnusableAnswer> {
    let Value::String(text) = item else {
        return Err(wrong_type(format!("statement {number}"), "a string", item));
    };
    let is_visible = |c: char| !c.is_whitespace() && !c.is_control();
    if !checked(text.chars()).any(is_visible) {
        return Err(UnusableAnswer::EmptyStatement(number));
    }
    if text.contains('\0') {
        return Err(UnusableAnswer::ZeroCharacter(number));
    }
    Ok(text.trim().to_owned())
}
