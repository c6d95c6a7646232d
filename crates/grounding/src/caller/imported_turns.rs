//! Turns that another system finished: they are parsed and checked before they are judged.

use std::collections::BTreeMap;

use reground_documents::CallerPassage;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::caller::caller_passages::Naming;
use crate::caller::check;
use crate::caller::fingerprint::Fingerprint;
use crate::error::GroundingError;
use crate::memory::ContextSource;

/// A finished turn from an application.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an object with conversation_ref, query and answer"
)]
pub struct ImportedTurn {
    /// The application's id of its conversation.
    pub conversation_ref: String,
    /// The user's query.
    pub query: String,
    /// The answer.
    pub answer: String,
    /// The passages shown to the model, in the shape that `check_answer` takes.
    #[serde(default)]
    pub passages: Option<Value>,
    /// The time of the answer in PostgreSQL's input format; without it, the current time.
    #[serde(default)]
    pub at: Option<String>,
    /// The application's id of the answer.
    #[serde(default)]
    pub message_ref: Option<String>,
    /// The model that wrote the answer.
    #[serde(default)]
    pub model: Option<String>,
    /// The application's tags.
    #[serde(default)]
    pub tags: Option<Map<String, Value>>,
    /// The citations that the model's API returned beside the text.
    #[serde(default)]
    pub citations: Option<Value>,
    /// The application's id of the user who asked.
    #[serde(default)]
    pub user_ref: Option<String>,
}

impl ImportedTurn {
    /// Parses `[{"conversation_ref": …, "query": …, "answer": …}, …]`.
    ///
    /// # Errors
    /// [`GroundingError::ImportedTurn`] with the position of the first invalid turn.
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
        if turn.conversation_ref.trim().is_empty() {
            return Err("conversation_ref is empty".to_owned());
        }
        if turn
            .user_ref
            .as_deref()
            .is_some_and(|name| name.trim().is_empty())
        {
            return Err("user_ref is empty".to_owned());
        }
        match turn.at.as_deref().filter(|at| !is_iso(at)) {
            Some(at) => Err(format!("\"{at}\" is not an ISO 8601 time")),
            None => Ok(turn),
        }
    }

    /// Its passages; empty if there are none.
    #[must_use]
    pub fn passages(&self) -> Value {
        match &self.passages {
            None | Some(Value::Null) => Value::Array(Vec::new()),
            Some(passages) => passages.clone(),
        }
    }
}

/// Whether a time starts with year, month and day. Other orders depend on the locale.
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

/// The passages shown to another system's model, as the context of its turn, under their own markers. `corpus` is used
/// to look up documents that the answer names; a passage belongs to it if it has an id or a document.
///
/// # Errors
/// Those of [`check::context`].
pub fn context(
    passages: Vec<CallerPassage>,
    corpus: &str,
) -> Result<Vec<ContextSource>, GroundingError> {
    check::with_markers(passages, corpus, |_| Naming::Text)
}

/// The error of the turn at a position, from 1.
#[must_use]
pub fn turn_error(place: usize, fault: String) -> GroundingError {
    GroundingError::ImportedTurn { place, fault }
}

/// The identity of a turn within an import.
#[derive(Clone, Copy, Debug)]
pub struct ImportKey<'a> {
    /// The application's id of its conversation.
    pub conversation_ref: &'a str,
    /// The application's id of its answer. A turn without one equals no other.
    pub message_ref: Option<&'a str>,
    /// The fingerprint of the answer.
    pub fingerprint: &'a Fingerprint,
}

/// An answer that is stored under an id of an import.
#[derive(Clone, Debug)]
pub struct StoredAnswer<R> {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// Its stored row.
    pub row: R,
}

/// The action for a turn of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportAction<'k, R> {
    /// It is recorded.
    New,
    /// An earlier call has recorded the answer of that id.
    Before(&'k R),
    /// The same answer is earlier in this import, at that position (from 0).
    Earlier(usize),
}

/// The action for each turn of an import. `known` contains the stored answers, by conversation and message.
///
/// # Errors
/// The id of an answer that occurs twice with different text or citations.
pub fn import_actions<'k, R>(
    named: &[ImportKey<'_>],
    known: &'k BTreeMap<(String, String), StoredAnswer<R>>,
) -> Result<Vec<ImportAction<'k, R>>, String> {
    let mut seen: BTreeMap<(&str, &str), (usize, &Fingerprint)> = BTreeMap::new();
    let mut import_actions = Vec::with_capacity(named.len());
    for (place, turn) in named.iter().enumerate() {
        let Some(message) = turn.message_ref else {
            import_actions.push(ImportAction::New);
            continue;
        };
        let id = (turn.conversation_ref, message);
        let stored = known.get(&(turn.conversation_ref.to_owned(), message.to_owned()));
        let (fingerprint, action) = match (stored, seen.get(&id)) {
            (Some(stored), _) => (&stored.fingerprint, ImportAction::Before(&stored.row)),
            (None, Some(&(first, fingerprint))) => (fingerprint, ImportAction::Earlier(first)),
            (None, None) => {
                seen.insert(id, (place, turn.fingerprint));
                (turn.fingerprint, ImportAction::New)
            }
        };
        if fingerprint != turn.fingerprint {
            return Err(message.to_owned());
        }
        import_actions.push(action);
    }
    Ok(import_actions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn errors_name_the_turn() {
        let fault = |turns: Value| ImportedTurn::list(turns).unwrap_err().to_string();
        assert!(fault(json!({})).contains("array"));
        let good = json!({"conversation_ref": "c", "query": "q", "answer": "a"});
        assert_eq!(ImportedTurn::list(json!([good])).unwrap().len(), 1);
        for (bad, what) in [
            (json!({"query": "q", "answer": "a"}), "conversation_ref"),
            (
                json!({"conversation_ref": "", "query": "q", "answer": "a"}),
                "empty",
            ),
            (
                json!({"conversation_ref": "c", "query": "q", "anwser": "a"}),
                "anwser",
            ),
            (
                json!({"conversation_ref": "c", "query": "q", "answer": "a", "at": "03/04/2025"}),
                "ISO 8601",
            ),
            (
                json!({"conversation_ref": "c", "query": "q", "answer": "a", "at": "infinity"}),
                "ISO 8601",
            ),
            (
                json!({"conversation_ref": "c", "query": "q", "answer": "a", "tags": 3}),
                "map",
            ),
        ] {
            let said = fault(json!([good, bad]));
            assert!(said.contains("turn 2") && said.contains(what), "{said}");
        }
    }

    #[test]
    fn repeated_answers_are_recorded_once() {
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
                .map(|&(conversation_ref, message_ref, fingerprint)| ImportKey {
                    conversation_ref,
                    message_ref,
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
