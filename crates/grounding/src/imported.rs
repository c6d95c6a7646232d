//! Turns that another system finished: what is said of them, before they are judged.

use std::collections::BTreeMap;

use reground_documents::GivenPassage;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::check;
use crate::error::GroundingError;
use crate::given::Naming;
use crate::memory::ContextSource;

/// A finished turn, as an application hands it over.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with conversation, query and answer"
)]
pub struct ImportedTurn {
    /// The application's id of its conversation.
    pub conversation: String,
    /// The user's words.
    pub query: String,
    /// The answer.
    pub answer: String,
    /// What the model was shown, in the shape that `check_answer` takes.
    #[serde(default)]
    pub passages: Option<Value>,
    /// When the answer was given, as PostgreSQL reads it; now where that is not said.
    #[serde(default)]
    pub at: Option<String>,
    /// The application's id of the answer.
    #[serde(default)]
    pub message: Option<String>,
    /// What wrote it.
    #[serde(default)]
    pub model: Option<String>,
    /// The application's tags.
    #[serde(default)]
    pub tags: Option<Map<String, Value>>,
    /// What the model's API returned beside the text.
    #[serde(default)]
    pub citations: Option<Value>,
}

impl ImportedTurn {
    /// Reads `[{"conversation": …, "query": …, "answer": …}, …]`.
    ///
    /// # Errors
    /// [`GroundingError::ImportedTurn`] with the place of the first that is something else.
    pub fn list(turns: Value) -> Result<Vec<Self>, GroundingError> {
        let Value::Array(turns) = turns else {
            return Err(GroundingError::ImportedTurns);
        };
        (1..)
            .zip(turns)
            .map(|(place, turn)| Self::read(turn).map_err(|fault| fault_of(place, fault)))
            .collect()
    }

    fn read(turn: Value) -> Result<Self, String> {
        let turn: Self = serde_json::from_value(turn).map_err(|error| error.to_string())?;
        if turn.conversation.trim().is_empty() {
            return Err("its conversation is empty".to_owned());
        }
        match turn.at.as_deref().filter(|at| !is_iso(at)) {
            Some(at) => Err(format!("\"{at}\" is no time as ISO 8601 writes it")),
            None => Ok(turn),
        }
    }

    /// Its passages: none where none are said.
    #[must_use]
    pub fn passages(&self) -> Value {
        match &self.passages {
            None | Some(Value::Null) => Value::Array(Vec::new()),
            Some(passages) => passages.clone(),
        }
    }
}

/// Whether a time begins with year, month and day: any other order is read by the reader's customs.
fn is_iso(at: &str) -> bool {
    let date: Vec<&[u8]> = at.as_bytes().split(|byte| *byte == b'-').take(3).collect();
    let digits = |part: &[u8], count| part.len() == count && part.iter().all(u8::is_ascii_digit);
    match date[..] {
        [year, month, day] => {
            let day = day.split_at(day.len().min(2)).0;
            digits(year, 4) && digits(month, 2) && digits(day, 2)
        }
        _ => false,
    }
}

/// What another system's model was shown, as the context of its turn, under its own markers. `corpus` is where documents that the
/// answer names are looked up; a passage is of it that says its own id or its document's.
///
/// # Errors
/// Those of [`check::context`].
pub fn context(
    passages: Vec<GivenPassage>,
    corpus: &str,
) -> Result<Vec<ContextSource>, GroundingError> {
    check::marked(passages, corpus, |_| Naming::Text)
}

/// What is wrong with the turn at a place, from 1.
#[must_use]
pub fn fault_of(place: usize, fault: String) -> GroundingError {
    GroundingError::ImportedTurn { place, fault }
}

/// What becomes of a turn of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is recorded.
    New,
    /// The answer of that id was recorded before, by an earlier call.
    Before(i64),
    /// The same answer stands earlier in this import, at that place (from 0).
    Earlier(usize),
}

/// An answer that goes by an id in a conversation: its hash, and its own id where it is stored.
pub struct Known {
    /// Hash of its text.
    pub answer_hash: String,
    /// Its key.
    pub message_id: i64,
}

/// Says which turns of an import are new: `named` gives for each the conversation, the id of its answer where it has one, and
/// the hash of its text; `known` what is stored under such ids.
///
/// # Errors
/// The id of an answer that was given twice, with different texts.
pub fn fates(
    named: &[(&str, Option<&str>, &str)],
    known: &BTreeMap<(String, String), Known>,
) -> Result<Vec<Fate>, String> {
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut fates = Vec::with_capacity(named.len());
    for (place, &(conversation, message, hash)) in named.iter().enumerate() {
        let Some(message) = message else {
            fates.push(Fate::New);
            continue;
        };
        let stored = known.get(&(conversation.to_owned(), message.to_owned()));
        let before = seen.get(&(conversation, message)).copied();
        let (other, fate) = match (stored, before) {
            (Some(stored), _) => (Some(&*stored.answer_hash), Fate::Before(stored.message_id)),
            (None, Some(first)) => (
                named.get(first).map(|&(_, _, hash)| hash),
                Fate::Earlier(first),
            ),
            (None, None) => (None, Fate::New),
        };
        if other.is_some_and(|other| other != hash) {
            return Err(message.to_owned());
        }
        seen.entry((conversation, message)).or_insert(place);
        fates.push(fate);
    }
    Ok(fates)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fault_says_which_turn() {
        let fault = |turns: Value| ImportedTurn::list(turns).unwrap_err().to_string();
        assert!(fault(json!({})).contains("array"));
        let good = json!({"conversation": "c", "query": "q", "answer": "a"});
        assert_eq!(ImportedTurn::list(json!([good])).unwrap().len(), 1);
        for (bad, what) in [
            (json!({"query": "q", "answer": "a"}), "conversation"),
            (
                json!({"conversation": "", "query": "q", "answer": "a"}),
                "empty",
            ),
            (
                json!({"conversation": "c", "query": "q", "anwser": "a"}),
                "anwser",
            ),
            (
                json!({"conversation": "c", "query": "q", "answer": "a", "at": "03/04/2025"}),
                "ISO 8601",
            ),
            (
                json!({"conversation": "c", "query": "q", "answer": "a", "at": "infinity"}),
                "ISO 8601",
            ),
            (
                json!({"conversation": "c", "query": "q", "answer": "a", "tags": 3}),
                "map",
            ),
        ] {
            let said = fault(json!([good, bad]));
            assert!(said.contains("turn 2") && said.contains(what), "{said}");
        }
    }

    #[test]
    fn an_answer_is_recorded_once() {
        let known = BTreeMap::from([(
            ("c".to_owned(), "old".to_owned()),
            Known {
                answer_hash: "h1".into(),
                message_id: 7,
            },
        )]);
        let of = |named: &[(&str, Option<&str>, &str)]| fates(named, &known);
        assert_eq!(
            of(&[
                ("c", Some("old"), "h1"),
                ("d", Some("old"), "h2"),
                ("c", None, "h1"),
                ("c", None, "h1"),
                ("c", Some("new"), "h3"),
                ("c", Some("new"), "h3"),
            ]),
            Ok(vec![
                Fate::Before(7),
                Fate::New,
                Fate::New,
                Fate::New,
                Fate::New,
                Fate::Earlier(4)
            ])
        );
        assert_eq!(of(&[("c", Some("old"), "h2")]), Err("old".into()));
        assert_eq!(
            of(&[("c", Some("new"), "h1"), ("c", Some("new"), "h2")]),
            Err("new".into())
        );
    }
}
