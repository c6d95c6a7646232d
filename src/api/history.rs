//! The history of a conversation, as it goes into the next prompt.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::end::parse_answer;
use reground_grounding::history::context_share;
use reground_grounding::history::{
    CitedSource, Dependence, History, HistoryRules, Role, history as made, turns_in_reach,
};
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::Serialize;

use crate::api::given;
use crate::error::{Error, Result};
use crate::rows;
use crate::store::{conversations, history as store, markers, turns};
use crate::tenant;

/// A row of `history`.
#[derive(Serialize)]
struct Message<'a> {
    entry_no: usize,
    turn_no: Option<u32>,
    role: Role,
    content: &'a str,
    tokens: usize,
    shortened: bool,
    over_budget: bool,
}

#[pg_extern(sql = false)]
fn history(
    conversation_ref: Option<&str>,
    max_tokens: Option<i32>,
    turn_nos: Option<Vec<Option<i32>>>,
    dependency: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    let tenant = tenant::required()?;
    let name = given(conversation_ref, "conversation_ref")?;
    let mut asked = Asked {
        max_tokens: budget(max_tokens)?,
        dependency: judged(turn_nos, given(dependency, "dependency")?)?,
    };
    let conversation_id = conversations::id(&tenant, name)?
        .ok_or_else(|| Error::Unknown("conversation", name.to_owned()))?;
    let Some(latest) = turns::latest(conversation_id)? else {
        // No turn yet, as of a conversation that only has settings or a pin: a set without rows is a set too.
        rows::emit::<Message<'_>>(fcinfo, &[])?;
        return Ok(());
    };
    let settings: Settings = serde_json::from_value(latest.settings).map_err(Error::from)?;
    if asked.max_tokens.is_none() {
        let sources = latest.context_tokens;
        asked.max_tokens = context_share::history_limit(sources, &settings).map_err(Error::from)?;
    }
    let history = compose(conversation_id, asked, &settings, &latest.context)?;
    let messages: Vec<Message<'_>> = (1..)
        .zip(&history.blocks)
        .map(|(entry_no, block)| Message {
            entry_no,
            turn_no: block.turn_no,
            role: block.role,
            content: &block.content,
            tokens: block.tokens,
            shortened: block.shortened,
            over_budget: history.over_budget,
        })
        .collect();
    rows::emit(fcinfo, &messages)?;
    Ok(())
}

/// What a history is asked to be.
#[derive(Default)]
pub(super) struct Asked {
    /// Most tokens; `None` is no limit.
    pub max_tokens: Option<usize>,
    /// The turns that matter.
    pub dependency: Dependence,
}

/// The history of a conversation, its answers read by the grammar of the settings and of a context.
pub(super) fn compose(
    conversation_id: i64,
    asked: Asked,
    settings: &Settings,
    context: &[ContextSource],
) -> Result<History> {
    let turns = store::ended(conversation_id, turns_in_reach(asked.max_tokens))?;
    let cited: Vec<CitedSource> = markers::cited(conversation_id)?
        .iter()
        .map(|row| row.bound().into())
        .collect();
    let rules = HistoryRules {
        max_tokens: asked.max_tokens,
        dependency: asked.dependency,
    };
    let grammar = parse_answer::grammar(settings, context)?;
    Ok(made(&turns, &cited, &rules, &grammar))
}

fn budget(max_tokens: Option<i32>) -> Result<Option<usize>> {
    max_tokens
        .map(|tokens| {
            usize::try_from(tokens).map_err(|_| Error::Bad {
                argument: "max_tokens",
                fault: tokens.to_string(),
                hint: "0 or more tokens; NULL for what the strategy leaves it.".into(),
            })
        })
        .transpose()
}

fn judged(turn_nos: Option<Vec<Option<i32>>>, dependency: &str) -> Result<Dependence> {
    let how = match dependency {
        "hard" => Dependence::Hard,
        "soft" => Dependence::Soft,
        other => {
            return Err(Error::Bad {
                argument: "dependency",
                fault: format!("\"{other}\""),
                hint: "hard or soft.".into(),
            });
        }
    };
    let Some(turn_nos) = turn_nos else {
        return Ok(Dependence::All);
    };
    let turn_nos = turn_nos.into_iter().flatten();
    Ok(how(turn_nos
        .filter_map(|n| u32::try_from(n).ok())
        .collect()))
}
