//! The compressed history after a turn: whether it keeps every citation and its limit.

use anyhow::Result;
use postgres::GenericClient;
use reground_grounding::history::context_share::history_limit;
use reground_grounding::settings::Settings;

/// The history after a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Compressed {
    /// L_max for the turn's sources, in o200k_base tokens.
    pub limit: usize,
    /// Tokens of the history.
    pub tokens: i64,
    /// Distinct sources that answers have cited so far.
    pub cited: usize,
    /// Of these, sources whose marker the ledger lacks.
    pub lost: usize,
}

impl Compressed {
    /// Reads the history of a conversation; `context_tokens` are the tokens of the last turn's sources.
    ///
    /// # Errors
    /// Errors of the server.
    pub fn after(
        client: &mut impl GenericClient,
        conversation: &str,
        context_tokens: i32,
    ) -> Result<Self> {
        let mut after = Self {
            limit: history_limit(u64::try_from(context_tokens)?, &Settings::default())?
                .unwrap_or(usize::MAX),
            ..Self::default()
        };
        let mut ledger = String::new();
        let rows = client.query(
            "SELECT role, content, tokens::bigint FROM reground.history($1)",
            &[&conversation],
        )?;
        for row in &rows {
            after.tokens += row.get::<_, i64>(2);
            if row.get::<_, String>(0) == "sources" {
                ledger = row.get(1);
            }
        }
        let cited = client.query(
            "SELECT DISTINCT c.marker FROM reground.message_citations AS c \
             JOIN reground.conversations AS v USING (conversation_id) WHERE v.conversation_ref = $1 AND c.doc_id IS NOT NULL AND c.marker IS NOT NULL",
            &[&conversation],
        )?;
        for row in &cited {
            after.cited += 1;
            let marker = format!("[{}]", row.get::<_, String>(0));
            after.lost += usize::from(!ledger.contains(&marker));
        }
        Ok(after)
    }
}
