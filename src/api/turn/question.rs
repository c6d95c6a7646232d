//! The question of a turn, and the corpora that it searches.

use pgrx::datum::{ToIsoString, transaction_timestamp};
use reground_grounding::passage::date::epoch_seconds;
use reground_grounding::query::intent::Intent;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::store::conversations::Conversation;
use crate::store::corpora;
use crate::store::roles::Roles;

/// The question of a turn, with everything that decides its retrieval.
pub(in crate::api) struct Question<'a> {
    pub query: &'a str,
    pub corpus: Option<&'a str>,
    /// Several corpora, the leading one first, instead of `corpus`.
    pub corpora: Option<&'a [String]>,
    pub embedding: Option<&'a [f32]>,
    /// Embedding of the question with the turn before it.
    pub context_embedding: Option<&'a [f32]>,
    /// Model that the embedding was computed with, as the caller says.
    pub embedding_model: Option<&'a str>,
    pub filter: Option<&'a Value>,
    /// Time whose versions are searched, as text; `None` for the current ones.
    pub as_of: Option<&'a str>,
    pub rewrite: Option<&'a str>,
    /// The intent given by the caller.
    pub intent: Option<Intent>,
    /// The settings of the call.
    pub settings: &'a Value,
    /// Roles of the functions that these settings name; none: the caller.
    pub call_roles: Roles,
    /// When a turn that is repeated began, as text; `None`: now.
    pub begun_at: Option<&'a str>,
    /// Number of the turn that is repeated; `None` for the next turn of the conversation.
    pub repeated_turn_no: Option<i32>,
}

/// Returns a time in seconds since 1970, from its text; that of the transaction without one.
pub(in crate::api) fn seconds(time: Option<&str>) -> Option<f64> {
    match time {
        Some(time) => epoch_seconds(time),
        None => epoch_seconds(&transaction_timestamp().to_iso_string()),
    }
}

impl<'a> Question<'a> {
    /// A new question in its own words, with settings of the call, and nothing else.
    pub fn of(query: &'a str, settings: &'a Value) -> Self {
        Self {
            query,
            corpus: None,
            corpora: None,
            embedding: None,
            context_embedding: None,
            embedding_model: None,
            filter: None,
            as_of: None,
            rewrite: None,
            intent: None,
            settings,
            call_roles: Roles::default(),
            begun_at: None,
            repeated_turn_no: None,
        }
    }

    /// Checks that a context embedding comes with an embedding of the same dimensions.
    pub fn check_embeddings(&self) -> Result<()> {
        let Some(context) = self.context_embedding else {
            return Ok(());
        };
        let bad = |fault: String| {
            Error::Bad {
            argument: "context_embedding",
            fault,
            hint: "Embed the query and the result of context_text with the same model, and pass both embeddings.".into(),
        }
        };
        match self.embedding {
            None => Err(bad("there is no embedding of the query".into())),
            Some(own) if own.len() != context.len() => Err(bad(format!(
                "it has {} dimensions, the embedding {}",
                context.len(),
                own.len()
            ))),
            Some(_) => Ok(()),
        }
    }

    /// Returns the time from which the ages of documents are measured, in seconds since 1970.
    pub fn time(&self) -> Option<f64> {
        seconds(self.as_of.or(self.begun_at))
    }

    /// Returns the names of the corpora to search: those of the question, otherwise those of the previous turn, otherwise the only
    /// corpus of the tenant. Errors: 22023 if the choice is ambiguous.
    pub fn corpus_names(&self, tenant: &str, conversation: &Conversation) -> Result<Vec<String>> {
        match (self.corpus, self.corpora) {
            (Some(_), Some(_)) => {
                return Err(Error::Bad {
                    argument: "corpora",
                    fault: "corpus was given too".into(),
                    hint: "Name one as corpus, or all of them as corpora, the leading one first."
                        .into(),
                });
            }
            (Some(name), None) => return Ok(vec![name.to_owned()]),
            (None, Some([])) => {
                return Err(Error::Bad {
                    argument: "corpora",
                    fault: "it is empty".into(),
                    hint: "Name at least one corpus, or leave it out.".into(),
                });
            }
            (None, Some(names)) => return Ok(names.to_vec()),
            (None, None) => {}
        }
        if let Some(names) = conversation.corpora() {
            return Ok(names);
        }
        let names = corpora::names(tenant)?;
        match names.len() {
            1 => Ok(names),
            0 => Err(Error::AmbiguousCorpus("there is no corpus yet".into())),
            _ => Err(Error::AmbiguousCorpus(
                "the first turn of a conversation must name its corpus".into(),
            )),
        }
    }
}
