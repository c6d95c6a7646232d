//! Functions that return parts of the prompt.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{GrammarFormat, UnknownGrammarFormat};
use reground_grounding::prompt::{self, Detail, Format};
use reground_grounding::settings::SETTINGS;
use reground_grounding::settings::{MarkerStyle, Settings};
use serde_json::json;

use crate::api::answer::judging::source_conflicts;
use crate::api::given;
use crate::error::{Error, Result};
use crate::retrieve::visibility;
use crate::rows;
use crate::store::turns::{self, Turn};
use crate::tenant;

#[pg_extern(sql = false)]
fn prompt_context(
    turn_id: Option<i64>,
    format: Option<&str>,
    detail: Option<&str>,
) -> std::result::Result<String, ErrorReport> {
    let format = parsed(format)?;
    let detail = given(detail, "detail")?.parse::<Detail>();
    let detail = detail.map_err(Error::from)?;
    let tenant = tenant::required()?;
    let mut turn = with_context(turn_id)?;
    turn.context = visibility::visible(&tenant, turn.context)?;
    let settings: Settings = serde_json::from_value(turn.settings.clone()).map_err(Error::from)?;
    let rules = prompt::BlockRules {
        detail,
        ..(&settings).into()
    };
    // Facts need not contain the statements.
    let conflicts = match settings.source_conflicts && detail != Detail::Facts {
        true => source_conflicts::of_turn(&tenant, &turn)?,
        false => Vec::new(),
    };
    let context = &turn.context;
    Ok(prompt::render_with_conflicts(
        context, &conflicts, format, rules,
    ))
}

#[pg_extern(sql = false)]
fn citation_grammar(
    turn_id: Option<i64>,
    format: Option<&str>,
) -> std::result::Result<String, ErrorReport> {
    let format: GrammarFormat =
        given(format, "format")?
            .parse()
            .map_err(|error: UnknownGrammarFormat| Error::Bad {
                argument: "format",
                fault: error.to_string(),
                hint: "One of gbnf, regex, json_schema.".into(),
            })?;
    let turn = with_context(turn_id)?;
    let context = visibility::visible(&tenant::required()?, turn.context)?;
    let markers: Vec<&str> = context
        .iter()
        .map(|source| source.marker.as_str())
        .collect();
    let grammar = reground_citations::citation_grammar(&markers, format);
    Ok(grammar.map_err(|error| Error::Stored(error.to_string()))?)
}

/// Reads a turn that has its context. Errors: 55000 before apply_rerank, P0002 if the turn does not exist.
pub(in crate::api) fn with_context(turn_id: Option<i64>) -> Result<Turn> {
    let turn_id = given(turn_id, "turn_id")?;
    let turn = turns::load(&tenant::required()?, turn_id)?;
    if turn.state == "deferred" {
        return Err(Error::WrongState {
            turn: turn_id,
            state: turn.state,
            wanted: "put into a prompt",
            hint: "Call reground.apply_rerank first (with '[]' to go on in fused order).",
        });
    }
    Ok(turn)
}

#[pg_extern(sql = false)]
fn citation_instructions(
    format: Option<&str>,
    marker_style: Option<&str>,
    turn_id: Option<i64>,
) -> std::result::Result<String, ErrorReport> {
    let format = parsed(format)?;
    let settings = match turn_id {
        Some(turn_id) => {
            let turn = turns::load(&tenant::required()?, turn_id)?;
            serde_json::from_value(turn.settings).map_err(Error::from)?
        }
        None => Settings::default(),
    };
    let style = match marker_style {
        Some(style) => style.parse::<MarkerStyle>().map_err(Error::from)?,
        None => settings.marker_style,
    };
    let locators = settings.citation_forms.as_ref();
    let locators = locators.and_then(|forms| forms.locators.as_ref());
    Ok(prompt::instructions(format, style, locators))
}

/// Rows of the view `settings`.
#[pg_extern(sql = false)]
fn settings(fcinfo: pg_sys::FunctionCallInfo) -> std::result::Result<(), ErrorReport> {
    let rows: Vec<_> = SETTINGS
        .iter()
        .map(|setting| {
            json!({"name": setting.name, "default_value": setting.default_value(), "expects": setting.expects, "meaning": setting.meaning})
        })
        .collect();
    rows::emit(fcinfo, &rows)?;
    Ok(())
}

/// Parses a format. Errors: 22004 if it is NULL, 22023 if it is unknown.
fn parsed(format: Option<&str>) -> Result<Format> {
    Ok(given(format, "format")?.parse::<Format>()?)
}
