//! The table `conversations`. The lock on its row orders all changes of a conversation.

use pgrx::pg_sys;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql;
use crate::store::roles::Roles;

/// A conversation. Its row is locked until the transaction ends, unless it was read without a lock.
#[derive(Clone, Debug, Deserialize)]
pub struct Conversation {
    pub conversation_id: i64,
    pub corpus: Option<String>,
    /// Corpora of its latest turn, if they were several.
    corpora: Option<Vec<String>>,
    pub settings: Value,
    #[serde(flatten)]
    pub roles: Roles,
    pub last_ended_turn_id: Option<i64>,
    /// Tokens (o200k_base) of its answered questions and their current answers.
    pub history_tokens: u64,
}

impl Conversation {
    /// An empty conversation without a row.
    pub fn imagined() -> Self {
        Self {
            conversation_id: 0,
            corpus: None,
            corpora: None,
            settings: Value::Null,
            roles: Roles::default(),
            last_ended_turn_id: None,
            history_tokens: 0,
        }
    }

    /// The corpora of its latest turn.
    pub fn corpora(&self) -> Option<Vec<String>> {
        let one = || self.corpus.clone().map(|corpus| vec![corpus]);
        self.corpora.clone().or_else(one)
    }
}

/// Beginning of a query for a [`Conversation`].
const COLUMNS: &str = "SELECT row_to_json(r)::text FROM (SELECT conversation_id, corpus, corpora, settings, reranker_role::oid::bigint AS reranker_role, \
     intent_role::oid::bigint AS intent_role, last_ended_turn_id, history_tokens FROM reground.conversations";

/// Attempts to open a conversation that other sessions erase meanwhile.
const OPENINGS: usize = 5;

/// The conversation with this reference; creates it if it does not exist.
///
/// # Errors
/// 40001 if a concurrent transaction has created it and this transaction cannot see it.
pub fn open(tenant: &str, conversation_ref: &str) -> Result<Conversation> {
    as_owner(|| {
        for _ in 0..OPENINGS {
            sql::run(
                "INSERT INTO reground.conversations (tenant, conversation_ref) VALUES ($1, $2) ON CONFLICT (tenant, conversation_ref) DO NOTHING",
                &[tenant.into(), conversation_ref.into()],
            )?;
            let opened = sql::write_json(
                &format!(
                    "{COLUMNS} WHERE tenant = $1 AND conversation_ref = $2 FOR NO KEY UPDATE) AS r"
                ),
                &[tenant.into(), conversation_ref.into()],
            )?;
            if let Some(conversation) = opened {
                return Ok(conversation);
            }
        }
        // Under REPEATABLE READ a row that another transaction has just inserted conflicts, but is not visible.
        Err(Error::Retry("conversation", conversation_ref.to_owned()))
    })
}

/// The conversation with this reference, if it exists.
pub fn find(tenant: &str, conversation_ref: &str) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::write_json(
            &format!(
                "{COLUMNS} WHERE tenant = $1 AND conversation_ref = $2 FOR NO KEY UPDATE) AS r"
            ),
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// The conversation with this reference, without a lock.
pub fn look(tenant: &str, conversation_ref: &str) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::read_json(
            &format!("{COLUMNS} WHERE tenant = $1 AND conversation_ref = $2) AS r"),
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// Reads a locked conversation again.
pub fn again(conversation: Conversation) -> Result<Conversation> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} WHERE conversation_id = $1) AS r"),
            &[conversation.conversation_id.into()],
        )
    })?
    .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))
}

/// The conversation of a turn, without a lock; `None` if the tenant has no such turn.
pub fn behind_turn(tenant: &str, turn_id: i64) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::read_json(
            &format!("{COLUMNS} {OF_TURN}) AS r"),
            &[tenant.into(), turn_id.into()],
        )
    })
}

/// Condition for the conversation of a turn ($2) of a tenant ($1). Both have the same tenant.
const OF_TURN: &str = "WHERE conversation_id = (SELECT t.conversation_id FROM reground.turns AS t WHERE t.turn_id = $2 AND t.tenant = $1)";

/// The conversation of a turn; `None` if the tenant has no such turn.
pub fn of_turn(tenant: &str, turn_id: i64) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} {OF_TURN} FOR NO KEY UPDATE) AS r"),
            &[tenant.into(), turn_id.into()],
        )
    })
}

/// Counts a turn, stores its corpora and returns its number. The number comes from the row and not from the conversation as read,
/// because a reranker function may have begun a turn meanwhile.
pub fn count_turn(conversation: &Conversation, corpora: &[String]) -> Result<i32> {
    let corpora = corpora.to_vec();
    as_owner(|| {
        sql::write_one(
            "UPDATE reground.conversations SET turn_count = turn_count + 1, corpus = $2[1], corpora = CASE WHEN cardinality($2) > 1 THEN $2 END \
             WHERE conversation_id = $1 RETURNING turn_count",
            &[conversation.conversation_id.into(), corpora.into()],
        )
    })?
    .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))
}

/// The id of the conversation with this reference, if it exists.
pub fn id(tenant: &str, conversation_ref: &str) -> Result<Option<i64>> {
    as_owner(|| {
        sql::write_one(
            "SELECT conversation_id FROM reground.conversations WHERE tenant = $1 AND conversation_ref = $2",
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// Stores that a turn was answered. `tokens` are added to those of the history; they are negative if a shorter answer replaces another.
/// Without a `last_ended_turn_id`, the present one stays.
pub fn answered(
    conversation: &Conversation,
    tokens: i64,
    last_ended_turn_id: Option<i64>,
) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET history_tokens = history_tokens + $2, last_ended_turn_id = coalesce($3, last_ended_turn_id) \
             WHERE conversation_id = $1",
            &[
                conversation.conversation_id.into(),
                tokens.into(),
                last_ended_turn_id.into(),
            ],
        )
    })?;
    Ok(())
}

/// Makes a new version of the row without changing it. A transaction that waits for the lock under an older snapshot then fails with
/// 40001; without a new version it would continue with outdated data. So every change of a conversation updates its row, at least in
/// this way.
pub fn touch(conversation: &Conversation) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET turn_count = turn_count WHERE conversation_id = $1",
            &[conversation.conversation_id.into()],
        )
    })?;
    Ok(())
}

/// Replaces the settings. `roles` are the roles that set the functions named in them.
pub fn set_settings(conversation: &Conversation, settings: &Value, roles: Roles) -> Result<()> {
    let settings = sql::json(settings)?;
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET settings = $2::jsonb, reranker_role = $3::oid::regrole, intent_role = $4::oid::regrole WHERE conversation_id = $1",
            &[
                conversation.conversation_id.into(),
                settings.into(),
                roles.reranker_role.map(pg_sys::Oid::from_u32).into(),
                roles.intent_role.map(pg_sys::Oid::from_u32).into(),
            ],
        )
    })?;
    Ok(())
}

/// Takes the order number of a new pin.
pub fn next_pin(conversation: &Conversation) -> Result<i64> {
    as_owner(|| {
        sql::write_one(
            "UPDATE reground.conversations SET next_pin_order = next_pin_order + 1 WHERE conversation_id = $1 RETURNING next_pin_order - 1",
            &[conversation.conversation_id.into()],
        )
    })?
    .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))
}
