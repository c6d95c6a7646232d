//! Where a turn stands in its conversation: whether it retrieves, and what the history takes from its sources.

use reground_grounding::attention_model::topic_drift;
use reground_grounding::history::context_share::{self, ContextShare};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::similarity::SourceSimilarities;
use reground_grounding::settings::Settings;

use crate::api::history;
use crate::error::Result;
use crate::profile::{stage, timed};
use crate::retrieve::similarity;
use crate::store::conversations::Conversation;
use crate::store::history::{Before, before};
use crate::store::turns::Standing;

/// What of the conversation weighs on a turn.
pub(super) struct ConversationState {
    conversation_id: i64,
    /// Tokens of all turns that have ended.
    spoken_tokens: u64,
    pub before: Before,
}

impl ConversationState {
    /// Reads it: before the next turn, or before the turn of that number.
    pub fn of(conversation: &Conversation, turn_no: Option<i32>) -> Result<Self> {
        Ok(Self {
            conversation_id: conversation.conversation_id,
            spoken_tokens: conversation.history_tokens,
            before: before(conversation.conversation_id, turn_no)?,
        })
    }

    /// Whether the turn retrieves.
    pub fn retrieves(&self, settings: &Settings) -> Result<bool> {
        let has_sources = self.before.context_turn_no.is_some();
        settings.preset().retrieves(has_sources).decide(|| {
            let sources = self.before.context_tokens.unwrap_or_default();
            let history = self.history_tokens(sources, &[], settings)?;
            Ok(context_share::share_and_least(sources, history, settings)?)
        })
    }

    /// Where a turn of a tenant stands that has its context.
    pub fn standing(&self, tenant: &str, turn: &Composed<'_>) -> Result<Standing> {
        let (dilution, took) = timed(|| stage("history", || self.measure(turn)));
        Ok(Standing {
            retrieved: turn.fresh,
            context_turn_no: self.context_turn_no(turn),
            dilution: Some(dilution?),
            compress_us: (turn.settings.compress && self.spoken_tokens > 0).then_some(took),
            likeness: similarity::of_context(tenant, turn.context, turn.embedding, turn.settings)?,
        })
    }

    /// Where a turn stands that waits for a rerank.
    pub fn waiting(&self, fresh: bool) -> Standing {
        Standing {
            retrieved: fresh,
            context_turn_no: self.before.context_turn_no,
            dilution: None,
            compress_us: None,
            likeness: SourceSimilarities::default(),
        }
    }

    /// Number of the turn whose retrieval gave the context: a search that found nothing leaves the one before.
    fn context_turn_no(&self, turn: &Composed<'_>) -> Option<i32> {
        if turn.fresh && !turn.context.is_empty() {
            Some(turn.turn_no)
        } else {
            self.before.context_turn_no
        }
    }

    /// What history takes from a turn's sources.
    fn measure(&self, turn: &Composed<'_>) -> Result<ContextShare> {
        let context_tokens = turn.tokens as u64;
        let drift = |from: &Option<Vec<f32>>| topic_drift(from.as_deref()?, turn.embedding?);
        // The first turn is where drift begins, and has no row yet.
        let first = match turn.turn_no {
            1 => turn.embedding.and_then(|own| topic_drift(own, own)),
            _ => drift(&self.before.first_embedding),
        };
        let measured = context_share::Turn {
            turn_no: u32::try_from(turn.turn_no).unwrap_or(u32::MAX),
            context_tokens,
            history_tokens: self.history_tokens(context_tokens, turn.context, turn.settings)?,
            topic_drift: first,
            sources_drift: (!turn.fresh)
                .then(|| drift(&self.before.sources_embedding))
                .flatten(),
        };
        Ok(context_share::measure(measured, turn.settings)?)
    }

    /// Tokens of the history beside a context: what `history()` gives where it is compressed, else everything.
    fn history_tokens(
        &self,
        context_tokens: u64,
        context: &[ContextSource],
        settings: &Settings,
    ) -> Result<u64> {
        let Some(limit) = context_share::history_limit(context_tokens, settings)? else {
            return Ok(self.spoken_tokens);
        };
        if self.spoken_tokens == 0 {
            return Ok(0);
        }
        let asked = history::Asked {
            max_tokens: Some(limit),
            ..history::Asked::default()
        };
        let history = history::compose(self.conversation_id, asked, settings, context)?;
        Ok(history.tokens as u64)
    }
}

/// A turn that has its context.
pub(super) struct Composed<'a> {
    pub turn_no: i32,
    /// Whether it retrieved.
    pub fresh: bool,
    pub context: &'a [ContextSource],
    /// Tokens of the context.
    pub tokens: usize,
    pub embedding: Option<&'a [f32]>,
    pub settings: &'a Settings,
}
