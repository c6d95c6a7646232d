//! State of a conversation at a turn: whether the turn searches, and the share of its sources in the prompt.

use std::cell::RefCell;

use reground_grounding::attention_model::drift;
use reground_grounding::history::HistoryRules;
use reground_grounding::history::context_share::{self, ContextShare};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::similarity::SourceSimilarities;
use reground_grounding::settings::Settings;

use crate::api::conversation::history;
use crate::error::Result;
use crate::profile::{stage, timed};
use crate::retrieve::similarity;
use crate::retrieve::visibility::Reader;
use crate::store::conversations::Conversation;
use crate::store::history::{Before, before};
use crate::store::turns::TurnMeasures;

/// State of a conversation before a turn.
pub(in crate::api) struct ConversationState {
    conversation_id: i64,
    /// Tokens of all turns that have ended.
    history_tokens: u64,
    pub before: Before,
    /// What the caller may read of the history.
    reader: RefCell<Reader>,
}

impl ConversationState {
    /// Reads the state before a turn; `None`: before the next turn.
    pub fn of(conversation: &Conversation, turn_no: Option<i32>, reader: Reader) -> Result<Self> {
        Ok(Self {
            conversation_id: conversation.conversation_id,
            history_tokens: conversation.history_tokens,
            before: before(conversation.conversation_id, turn_no)?,
            reader: reader.into(),
        })
    }

    /// Whether the turn searches.
    pub fn retrieves(&self, settings: &Settings) -> Result<bool> {
        let has_sources = self.before.context_turn_no.is_some();
        settings.preset().retrieves(has_sources).decide(|| {
            let sources = self.before.context_tokens.unwrap_or_default();
            let history = self.prompt_history_tokens(sources, &[], settings)?;
            Ok(context_share::share_and_minimum(
                sources, history, settings,
            )?)
        })
    }

    /// The columns that a turn with a context stores.
    pub fn measures(&self, turn: &TurnContext<'_>) -> Result<TurnMeasures> {
        let (context_share, took) = timed(|| stage("history", || self.context_share(turn)));
        Ok(TurnMeasures {
            retrieved: turn.searched,
            context_turn_no: self.context_turn_no(turn),
            context_share: Some(context_share?),
            compress_us: (turn.settings.compress && self.history_tokens > 0).then_some(took),
            similarities: similarity::of_context(
                self.reader.borrow().tenant(),
                turn.context,
                turn.embedding,
                turn.as_of,
                turn.settings,
            )?,
        })
    }

    /// The columns that a turn stores while it waits for a rerank.
    pub fn measures_before_rerank(&self, searched: bool) -> TurnMeasures {
        TurnMeasures {
            retrieved: searched,
            context_turn_no: self.before.context_turn_no,
            context_share: None,
            compress_us: None,
            similarities: SourceSimilarities::default(),
        }
    }

    /// Number of the turn whose search found the context. A search without results keeps the previous one.
    fn context_turn_no(&self, turn: &TurnContext<'_>) -> Option<i32> {
        let found = turn.context.iter().any(|source| !source.is_remembered());
        if turn.searched && found {
            Some(turn.turn_no)
        } else {
            self.before.context_turn_no
        }
    }

    /// The share of a turn's sources in the prompt.
    fn context_share(&self, turn: &TurnContext<'_>) -> Result<ContextShare> {
        let context_tokens = turn.tokens as u64;
        let drift_from = |from: &Option<Vec<f32>>| drift(from.as_deref()?, turn.embedding?);
        let measured = context_share::Turn {
            turn_no: u32::try_from(turn.turn_no).unwrap_or(u32::MAX),
            context_tokens,
            history_tokens: self.prompt_history_tokens(
                context_tokens,
                turn.context,
                turn.settings,
            )?,
            full_history_tokens: self.history_tokens,
            sources_drift: (!turn.searched)
                .then(|| drift_from(&self.before.sources_embedding))
                .flatten(),
        };
        Ok(context_share::measure(measured, turn.settings)?)
    }

    /// Tokens of the history in a prompt with a context: those of `history()` if the history is compressed, otherwise all.
    fn prompt_history_tokens(
        &self,
        context_tokens: u64,
        context: &[ContextSource],
        settings: &Settings,
    ) -> Result<u64> {
        let Some(limit) = context_share::history_limit(context_tokens, settings)? else {
            return Ok(self.history_tokens);
        };
        if self.history_tokens == 0 {
            return Ok(0);
        }
        let rules = HistoryRules {
            max_tokens: Some(limit),
            exchanges: settings.history_exchanges,
            ..HistoryRules::default()
        };
        let reader = &mut self.reader.borrow_mut();
        let history = history::compose(reader, self.conversation_id, &rules, settings, context)?;
        Ok(history.tokens as u64)
    }
}

/// A turn with its context.
pub(in crate::api) struct TurnContext<'a> {
    pub turn_no: i32,
    /// Whether the turn searched.
    pub searched: bool,
    pub context: &'a [ContextSource],
    /// Tokens of the context.
    pub tokens: usize,
    pub embedding: Option<&'a [f32]>,
    /// Time whose versions the turn searches.
    pub as_of: Option<&'a str>,
    pub settings: &'a Settings,
}
