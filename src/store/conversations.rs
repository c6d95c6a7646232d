//! Conversations, and the row lock that orders all that happens in one.

use pgrx::pg_sys;
use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::run_as::as_owner;
use crate::sql;
use crate::store::roles::Roles;

/// A conversation, its row locked until the transaction ends.
#[derive(Clone, Debug, Deserialize)]
pub struct Conversation {
    pub conversation_id: i64,
    pub corpus: Option<String>,
    /// Where its latest turn asked several.
    corpora: Option<Vec<String>>,
    pub settings: Value,
    #[serde(flatten)]
    pub roles: Roles,
    pub last_ended_turn_id: Option<i64>,
    /// o200k_base tokens of all its questions that were answered, with the answers that stand.
    pub history_tokens: u64,
}

impl Conversation {
    /// One that has no row, and so remembers nothing.
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

const COLUMNS: &str = "SELECT row_to_json(r)::text FROM (SELECT conversation_id, corpus, corpora, settings, reranker_role::oid::bigint AS reranker_role, \
     intent_role::oid::bigint AS intent_role, last_ended_turn_id, history_tokens FROM reground.conversations";

/// How often a conversation that is forgotten while we wait for it is made anew.
const OPENINGS: usize = 5;

/// The conversation of that id, made if need be.
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
        // Under REPEATABLE READ a conversation that another transaction has just made is in the way, but not visible.
        Err(Error::Retry("conversation", conversation_ref.to_owned()))
    })
}

/// The conversation of that id, if there is one.
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

/// The conversation of that id as it stands, without a lock: for what writes nothing.
pub fn look(tenant: &str, conversation_ref: &str) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::read_json(
            &format!("{COLUMNS} WHERE tenant = $1 AND conversation_ref = $2) AS r"),
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// A locked conversation as it stands after a change.
pub fn again(conversation: Conversation) -> Result<Conversation> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} WHERE conversation_id = $1) AS r"),
            &[conversation.conversation_id.into()],
        )
    })?
    .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))
}

/// The conversation that a turn belongs to as it stands, without a lock; `None` if the tenant has no such turn.
pub fn behind_turn(tenant: &str, turn_id: i64) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::read_json(
            &format!("{COLUMNS} {OF_TURN}) AS r"),
            &[tenant.into(), turn_id.into()],
        )
    })
}

/// Which conversation a turn ($2) of a tenant ($1) belongs to: it is of the same tenant.
const OF_TURN: &str = "WHERE conversation_id = (SELECT t.conversation_id FROM reground.turns AS t WHERE t.turn_id = $2 AND t.tenant = $1)";

/// Locks the conversation that a turn belongs to; `None` if the tenant has no such turn.
pub fn of_turn(tenant: &str, turn_id: i64) -> Result<Option<Conversation>> {
    as_owner(|| {
        sql::write_json(
            &format!("{COLUMNS} {OF_TURN} FOR NO KEY UPDATE) AS r"),
            &[tenant.into(), turn_id.into()],
        )
    })
}

/// Counts a turn and remembers its corpora; the turn's number. A reranker may have begun a turn of its own meanwhile, so
/// the number is that of the row, not of what was read.
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

/// The id of a conversation, where there is one of that name.
pub fn id(tenant: &str, conversation_ref: &str) -> Result<Option<i64>> {
    as_owner(|| {
        sql::write_one(
            "SELECT conversation_id FROM reground.conversations WHERE tenant = $1 AND conversation_ref = $2",
            &[tenant.into(), conversation_ref.into()],
        )
    })
}

/// Counts what was said: the difference that an answer makes to the tokens of the history.
pub fn count_tokens(conversation: &Conversation, difference: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET history_tokens = history_tokens + $2 WHERE conversation_id = $1",
            &[conversation.conversation_id.into(), difference.into()],
        )
    })?;
    Ok(())
}

/// Remembers which turn ended last.
pub fn ended(conversation: &Conversation, turn_id: i64) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET last_ended_turn_id = $2 WHERE conversation_id = $1",
            &[conversation.conversation_id.into(), turn_id.into()],
        )
    })?;
    Ok(())
}

/// Leaves a mark on the row for whoever waits for its lock under an older snapshot: without a new version of the row, such a
/// transaction would go on with what it saw before, where it must begin anew (40001). Every change of a conversation updates
/// its row, this way if no other.
pub fn touch(conversation: &Conversation) -> Result<()> {
    as_owner(|| {
        sql::run(
            "UPDATE reground.conversations SET turn_count = turn_count WHERE conversation_id = $1",
            &[conversation.conversation_id.into()],
        )
    })?;
    Ok(())
}

/// Replaces the settings; `roles` are who set the functions that they name.
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

/// The order number of a new pin.
pub fn next_pin(conversation: &Conversation) -> Result<i64> {
    as_owner(|| {
        sql::write_one(
            "UPDATE reground.conversations SET next_pin_order = next_pin_order + 1 WHERE conversation_id = $1 RETURNING next_pin_order - 1",
            &[conversation.conversation_id.into()],
        )
    })?
    .ok_or_else(|| Error::Stored("a locked conversation is gone".into()))
}
