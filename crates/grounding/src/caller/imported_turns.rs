//! Turns that another system finished: what is said of them, before they are judged.

use std::collections::BTreeMap;

use reground_documents::GivenPassage;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::caller::caller_passages::Naming;
use crate::caller::check;
use crate::caller::fingerprint::Fingerprint;
use crate::error::GroundingError;
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
            .map(|(place, turn)| Self::read(turn).map_err(|fault| turn_error(place, fault)))
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
pub fn turn_error(place: usize, fault: String) -> GroundingError {
    GroundingError::ImportedTurn { place, fault }
}

/// How a turn of an import is told from others.
#[derive(Clone, Copy, Debug)]
pub struct ImportKey<'a> {
    /// The application's id of its conversation.
    pub conversation: &'a str,
    /// The application's id of its answer; without one it is like no other.
    pub message: Option<&'a str>,
    /// What is said.
    pub fingerprint: &'a Fingerprint,
}

/// An answer that is stored under an id of an import.
#[derive(Clone, Debug)]
pub struct StoredAnswer<R> {
    /// What it says.
    pub fingerprint: Fingerprint,
    /// What there is to tell of it.
    pub row: R,
}

/// What becomes of a turn of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportAction<'k, R> {
    /// It is recorded.
    New,
    /// The answer of that id was recorded before, by an earlier call.
    Before(&'k R),
    /// The same answer stands earlier in this import, at that place (from 0).
    Earlier(usize),
}

/// Says which turns of an import are new; `known` is what is stored under their ids, by conversation and message.
///
/// # Errors
/// The id of an answer that was given twice, with different words or citations.
pub fn import_actions<'k, R>(
    named: &[ImportKey<'_>],
    known: &'k BTreeMap<(String, String), StoredAnswer<R>>,
) -> Result<Vec<ImportAction<'k, R>>, String> {
    let mut seen: BTreeMap<(&str, &str), (usize, &Fingerprint)> = BTreeMap::new();
    let mut import_actions = Vec::with_capacity(named.len());
    for (place, turn) in named.iter().enumerate() {
        let Some(message) = turn.message else {
            import_actions.push(ImportAction::New);
            continue;
        };
        let id = (turn.conversation, message);
        let stored = known.get(&(turn.conversation.to_owned(), message.to_owned()));
        let (said, fate) = match (stored, seen.get(&id)) {
            (Some(stored), _) => (&stored.fingerprint, ImportAction::Before(&stored.row)),
            (None, Some(&(first, said))) => (said, ImportAction::Earlier(first)),
            (None, None) => {
                seen.insert(id, (place, turn.fingerprint));
                (turn.fingerprint, ImportAction::New)
            }
        };
        if said != turn.fingerprint {
            return Err(message.to_owned());
        }
        import_actions.push(fate);
    }
    Ok(import_actions)
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
        let said = |answer: &str| Fingerprint::of(answer, None);
        let (one, two, three) = (said("one"), said("two"), said("three"));
        let cited = Fingerprint::of("one", Some(&json!([])));
        let stored = StoredAnswer {
            fingerprint: one.clone(),
            row: 7,
        };
        let known = BTreeMap::from([(("c".to_owned(), "old".to_owned()), stored)]);
        let of = |named: &[(&str, Option<&str>, &Fingerprint)]| {
            let named = named
                .iter()
                .map(|&(conversation, message, fingerprint)| ImportKey {
                    conversation,
                    message,
                    fingerprint,
                });
            import_actions(&named.collect::<Vec<_>>(), &known)
        };
        assert_eq!(
            of(&[
                ("c", Some("old"), &one),
                ("d", Some("old"), &two),
                ("c", None, &one),
                ("c", None, &one),
                ("c", Some("new"), &three),
                ("c", Some("new"), &three),
            ]),
            Ok(vec![
                ImportAction::Before(&7),
                ImportAction::New,
                ImportAction::New,
                ImportAction::New,
                ImportAction::New,
                ImportAction::Earlier(4)
            ])
        );
        for other in [&two, &cited] {
            assert_eq!(of(&[("c", Some("old"), other)]), Err("old".into()));
            let twice = [("c", Some("new"), &one), ("c", Some("new"), other)];
            assert_eq!(of(&twice), Err("new".into()));
        }
    }
}
