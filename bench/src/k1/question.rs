//! A question at the end of a dialogue, and its context in one setting.

use std::collections::BTreeSet;

use serde::Serialize;

use super::setting::Setting;

/// A judged question with the context that it got as the last turn of its dialogue.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Question {
    /// Setting.
    pub setting: Setting,
    /// Conversation and turn, as in the judgements.
    pub question: String,
    /// Conversation.
    pub conversation: String,
    /// Number of the turn, from 2.
    pub turn_no: u32,
    /// Turns up to this one that searched.
    pub searches: u64,
    /// Share of the relevant passages that the context contains.
    pub context_recall: f64,
    /// Share of the sources that are relevant; 0 without sources.
    pub context_precision: f64,
    /// Sources that were carried over from earlier turns.
    pub carried: usize,
    /// o200k_base tokens of the sources.
    pub context_tokens: i32,
    /// o200k_base tokens of the history.
    pub history_tokens: i64,
    /// Time of `begin_turn` in milliseconds, as the client sees it.
    pub begin_ms: f64,
    /// The sources, in prompt order.
    pub chunk_ids: Vec<String>,
    /// What a model gets before the question, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<Prompt>,
}

/// The prompt of a question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Prompt {
    /// The sources, from `prompt_context`.
    pub context: String,
    /// Earlier questions and answers, as pairs of role and text, from `history`.
    pub history: Vec<(String, String)>,
    /// The question itself.
    pub question: String,
}

/// Context recall and precision: the share of the relevant passages among the sources, and of the relevant sources. Both are
/// classes of passages with equal text.
pub fn recall_and_precision(sources: &[String], gold: &BTreeSet<String>) -> (f64, f64) {
    let found: BTreeSet<&String> = sources.iter().filter(|one| gold.contains(*one)).collect();
    let relevant = sources.iter().filter(|one| gold.contains(*one)).count();
    (
        found.len() as f64 / gold.len().max(1) as f64,
        relevant as f64 / sources.len().max(1) as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_counts_passages_and_precision_sources() {
        let own = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        let gold: BTreeSet<String> = own(&["a", "b", "c", "d"]).into_iter().collect();
        // The passage a is shown twice.
        let sources = own(&["a", "x", "a", "b", "y"]);
        assert_eq!(recall_and_precision(&sources, &gold), (0.5, 0.6));
        assert_eq!(recall_and_precision(&[], &gold), (0.0, 0.0));
    }
}
