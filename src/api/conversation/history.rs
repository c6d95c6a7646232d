//! `history`: the history of a conversation for the next prompt.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::end::parse_answer;
use reground_grounding::history::context_share;
use reground_grounding::history::{
    CitedSource, History, HistoryRules, HistoryTurn, Ledger, Role, TurnSelection,
    history as compose_history, turns_in_reach,
};
use reground_grounding::memory::ContextSource;
use reground_grounding::settings::Settings;
use serde::Serialize;

use crate::api::given;
use crate::error::{Error, Result};
use crate::retrieve::visibility::Reader;
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
    let mut rules = HistoryRules {
        max_tokens: budget(max_tokens)?,
        exchanges: 0,
        dependency: parse_dependency(turn_nos, given(dependency, "dependency")?)?,
    };
    let conversation_id = conversations::id(&tenant, name)?
        .ok_or_else(|| Error::Unknown("conversation", name.to_owned()))?;
    let Some(latest) = turns::latest(conversation_id)? else {
        // A conversation with only settings or pins has no turn. An empty set must be returned all the same.
        rows::emit::<Message<'_>>(fcinfo, &[])?;
        return Ok(());
    };
    let settings: Settings = serde_json::from_value(latest.settings).map_err(Error::from)?;
    rules.exchanges = settings.history_exchanges;
    if rules.max_tokens.is_none() {
        let sources = latest.context_tokens;
        rules.max_tokens = context_share::history_limit(sources, &settings).map_err(Error::from)?;
    }
    let mut reader = Reader::of(&tenant);
    let history = compose(
        &mut reader,
        conversation_id,
        &rules,
        &settings,
        &latest.context,
    )?;
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

/// Composes the history of a conversation. Omits cited sources that the reader may not read, and answers of turns with such a source. The
/// grammar for its answers is that of the settings and of a context.
pub(in crate::api) fn compose(
    reader: &mut Reader,
    conversation_id: i64,
    rules: &HistoryRules,
    settings: &Settings,
    context: &[ContextSource],
) -> Result<History> {
    let cited = markers::cited(conversation_id)?;
    let hidden = reader.hidden(cited.iter().map(markers::CitedMarker::key))?;
    let cited: Vec<CitedSource> = cited
        .into_iter()
        .filter(|cited| hidden.is_empty() || !hidden.contains(&cited.key()))
        .map(markers::CitedMarker::source)
        .collect();
    let ledger = Ledger::of(&cited, rules);
    let ended = store::ended(conversation_id, turns_in_reach(rules, &ledger))?;
    let turn_ids: Vec<i64> = ended.iter().map(|ended| ended.turn_id).collect();
    let hidden = reader.hidden_turns(&turn_ids)?;
    let turns: Vec<HistoryTurn> = ended
        .into_iter()
        .map(|ended| match hidden.contains(&ended.turn_id) {
            true => ended.turn.without_answer(),
            false => ended.turn,
        })
        .collect();
    let grammar = parse_answer::grammar(settings, context)?;
    Ok(compose_history(&turns, ledger, rules, &grammar))
}

fn budget(max_tokens: Option<i32>) -> Result<Option<usize>> {
    max_tokens
        .map(|tokens| {
            usize::try_from(tokens).map_err(|_| Error::Bad {
                argument: "max_tokens",
                fault: tokens.to_string(),
                hint: "0 or more tokens; NULL for the budget of the latest turn.".into(),
            })
        })
        .transpose()
}

fn parse_dependency(turn_nos: Option<Vec<Option<i32>>>, dependency: &str) -> Result<TurnSelection> {
    let how = match dependency {
        "hard" => TurnSelection::Hard,
        "soft" => TurnSelection::Soft,
        other => {
            return Err(Error::Bad {
                argument: "dependency",
                fault: format!("\"{other}\""),
                hint: "hard or soft.".into(),
            });
        }
    };
    let Some(turn_nos) = turn_nos else {
        return Ok(TurnSelection::All);
    };
    let turn_nos = turn_nos.into_iter().flatten();
    Ok(how(turn_nos
        .filter_map(|n| u32::try_from(n).ok())
        .collect()))
}
