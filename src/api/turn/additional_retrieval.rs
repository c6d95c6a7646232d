//! Sources added to an open turn: `retrieve` searches again, and `add_passages` adds passages of the caller.

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::CallerPassage;
use reground_grounding::begin;
use reground_grounding::begin::warnings::Warning;
use reground_grounding::caller::additional_sources::{self, AdditionalSources};
use reground_grounding::memory::MarkerRegister;
use reground_grounding::passage::{Candidate, Dropped};
use reground_grounding::prompt;
use reground_grounding::settings::Settings;
use reground_grounding::settings::hook::Reranker;
use serde_json::{Value, json};

use crate::api::conversation::conversation_state::{ConversationState, TurnContext};
use crate::api::turn::begin_turn::warning_names;
use crate::api::turn::hooks;
use crate::api::turn::question::Question;
use crate::api::turn::retrieval::{AdditionalSearch, gather_additional};
use crate::api::turn::source_rows::emit;
use crate::api::{given, names, not_empty, writable};
use crate::datum::{Json, Vector};
use crate::error::{Error, Result};
use crate::profile::{self, stage};
use crate::retrieve::visibility::Reader;
use crate::store::conversations::{self, Conversation};
use crate::store::register;
use crate::store::retrievals::{self, NewRetrieval};
use crate::store::turn_writes::{self, Retrieved};
use crate::store::turns::{self, Turn};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn retrieve(
    turn_id: Option<i64>,
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    max_results: Option<i32>,
    corpora: Option<Vec<Option<String>>>,
    embedding_model: Option<&str>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("retrieve")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let search = Search {
        query: not_empty(query, "query")?,
        corpus,
        corpora: names(corpora, "corpora")?,
        embedding: embedding.map(|vector| vector.0),
        embedding_model,
        filter: Json::optional(filter, "filter")?,
        max_results: max_results.map(result_limit).transpose()?,
    };
    profile::call("retrieve", || search.run(&tenant, turn_id, fcinfo))?;
    Ok(())
}

#[pg_extern(sql = false)]
fn add_passages(
    turn_id: Option<i64>,
    passages: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("add_passages")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn_id, "turn_id")?;
    let passages = given(passages, "passages")?.value("passages")?;
    let passages = CallerPassage::parse_list(&passages).map_err(Error::from)?;
    let candidates = additional_sources::caller_sources(passages).map_err(Error::from)?;
    profile::call("add_passages", || {
        add_candidates(&tenant, turn_id, candidates, fcinfo)
    })?;
    Ok(())
}

fn result_limit(max_results: i32) -> Result<i32> {
    match max_results {
        1..=100 => Ok(max_results),
        other => Err(Error::Bad {
            argument: "max_results",
            fault: other.to_string(),
            hint: "From 1 to 100.".into(),
        }),
    }
}

/// The arguments of `retrieve`.
struct Search<'a> {
    query: &'a str,
    corpus: Option<&'a str>,
    corpora: Option<Vec<String>>,
    embedding: Option<Vec<f32>>,
    embedding_model: Option<&'a str>,
    filter: Option<Value>,
    max_results: Option<i32>,
}

impl Search<'_> {
    /// Searches without a lock, so that searches of one turn run in parallel, and then locks the conversation to write.
    fn run(&self, tenant: &str, turn_id: i64, fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
        let turn = stage("turn", || turns::load(tenant, turn_id))?;
        check_open(&turn)?;
        let conversation = conversations::behind_turn(tenant, turn_id)?
            .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
        let corpora = match (self.corpus, &self.corpora) {
            (None, None) => Some(turn.searched_corpora()),
            (_, corpora) => corpora.clone(),
        };
        let call_settings = self.settings(&turn);
        let question = Question {
            corpus: self.corpus,
            corpora: corpora.as_deref(),
            embedding: self.embedding.as_deref(),
            embedding_model: self.embedding_model,
            filter: self.filter.as_ref(),
            as_of: turn.as_of.as_deref(),
            call_roles: hooks::of_turn(turn.call_role.as_deref())?,
            ..Question::of(self.query, &call_settings)
        };
        let settings: Settings = serde_json::from_value(turn.settings.clone())?;
        let mut search =
            gather_additional(tenant, &conversation, &question, &turn.context, &settings)?;
        let scores = self.rerank(&mut search)?;
        self.write(tenant, turn_id, search, scores, fcinfo)
    }

    /// Composes the results into sources, adds these to the turn, and returns them.
    fn write(
        &self,
        tenant: &str,
        turn_id: i64,
        mut search: AdditionalSearch<'_>,
        mut scores: Option<Vec<Option<f64>>>,
        fcinfo: pg_sys::FunctionCallInfo,
    ) -> Result<()> {
        let addition = Addition::to(tenant, turn_id)?;
        additional_sources::match_known_sources(
            &mut search.gathered,
            scores.as_mut(),
            &addition.turn.context,
        );
        let documents = search.gathered.documents();
        // All markers of a turn have the same style, whatever the settings of the searched corpus.
        let style = addition.settings.marker_style;
        search.resolved.settings.marker_style = style;
        let register = MarkerRegister {
            taken: additional_sources::taken_markers(&addition.turn.context),
            ..register::load(&addition.conversation, documents, style)?
        };
        let composed = stage("compose", || {
            begin::compose(
                search.gathered,
                scores.as_deref(),
                &register,
                self.query,
                &search.resolved.settings,
            )
        })?;
        let (dropped, warnings) = (composed.dropped.clone(), warning_names(&composed.warnings));
        let answerability = composed.answerability;
        let context = &addition.turn.context;
        let sources = additional_sources::add_found(context, composed, addition.retrieval_no);
        let corpora = search.resolved.corpora.names();
        let row = NewRetrieval {
            query: Some(self.query),
            corpora: Some(&corpora),
            filter: self.filter.as_ref(),
            max_results: self.max_results,
            search_us: Some(search.search_us),
            ..addition.row("search", &sources, &warnings)
        };
        addition.write(&row, self.embedding.clone(), &sources, &dropped)?;
        stage("rows", || {
            emit(fcinfo, turn_id, &sources.shown, answerability)
        })
    }

    /// The settings of the call that began the turn, with `max_results`.
    fn settings(&self, turn: &Turn) -> Value {
        let mut settings = turn.call_settings.clone();
        if let Some(count) = self.max_results {
            settings["max_sources"] = json!(count);
        }
        settings
    }

    /// Scores of the reranker function. A deferred rerank exists only for `begin_turn`: here the fused order is kept, with a warning.
    fn rerank(&self, search: &mut AdditionalSearch<'_>) -> Result<Option<Vec<Option<f64>>>> {
        let gathered = &mut search.gathered;
        let reranker = search.resolved.settings.reranker.as_deref();
        match reranker.and_then(Reranker::of) {
            None => Ok(None),
            Some(Reranker::Deferred | Reranker::Model(_)) => {
                let candidates = gathered.candidates.len();
                gathered.warnings.push(Warning::RerankMissing {
                    missing: candidates,
                    candidates,
                });
                Ok(None)
            }
            Some(Reranker::Function(name)) => stage("rerank", || {
                let roles = &search.resolved.roles;
                hooks::rerank(name, roles, self.query, &gathered.candidates).map(Some)
            }),
        }
    }
}

/// Adds passages of the caller to a turn and returns them.
fn add_candidates(
    tenant: &str,
    turn_id: i64,
    candidates: Vec<Candidate>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Result<()> {
    let addition = Addition::to(tenant, turn_id)?;
    let Addition { turn, settings, .. } = &addition;
    let documents = candidates.iter().map(|candidate| {
        let passage = &candidate.passage;
        (passage.corpus.as_str(), passage.doc_id.as_str())
    });
    let register = MarkerRegister {
        taken: additional_sources::taken_markers(&turn.context),
        ..register::load(&addition.conversation, documents, settings.marker_style)?
    };
    let sources = additional_sources::add_caller_sources(
        &turn.context,
        candidates,
        &register,
        &turn.query,
        settings,
        addition.retrieval_no,
    );
    let row = addition.row("passages", &sources, &[]);
    addition.write(&row, None, &sources, &[])?;
    stage("rows", || emit(fcinfo, turn_id, &sources.shown, None))
}

/// An open turn that gets additional sources. Its conversation is locked.
struct Addition<'a> {
    tenant: &'a str,
    conversation: Conversation,
    turn: Turn,
    /// The settings of the turn.
    settings: Settings,
    /// Number of the additional retrieval within the turn.
    retrieval_no: u32,
}

impl<'a> Addition<'a> {
    /// Locks the conversation and reads the turn. Errors: 55000 if the turn is not open, P0002 if it does not exist.
    fn to(tenant: &'a str, turn_id: i64) -> Result<Self> {
        let conversation = stage("conversation", || conversations::of_turn(tenant, turn_id))?
            .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
        let turn = stage("turn", || turns::load(tenant, turn_id))?;
        check_open(&turn)?;
        Ok(Self {
            tenant,
            conversation,
            settings: serde_json::from_value(turn.settings.clone())?,
            turn,
            retrieval_no: retrievals::next(turn_id)?,
        })
    }

    /// The row of the retrieval without the columns of a search.
    fn row<'b>(
        &'b self,
        kind: &'static str,
        sources: &'b AdditionalSources,
        warnings: &'b [String],
    ) -> NewRetrieval<'b> {
        NewRetrieval {
            turn_id: self.turn.turn_id,
            retrieval_no: self.retrieval_no,
            tenant: self.tenant,
            kind,
            query: None,
            corpora: None,
            filter: None,
            max_results: None,
            markers: sources.shown.iter().map(|source| &*source.marker).collect(),
            added_count: sources.added.len(),
            warnings,
            search_us: None,
        }
    }

    /// Writes the retrieval and what it changes in the turn.
    fn write(
        &self,
        row: &NewRetrieval<'_>,
        embedding: Option<Vec<f32>>,
        sources: &AdditionalSources,
        dropped: &[Dropped],
    ) -> Result<()> {
        let (turn, settings) = (&self.turn, &self.settings);
        let context = [&turn.context[..], &sources.added[..]].concat();
        let tokens = prompt::block_tokens(&context, settings.into());
        let searched = row.query.is_some() && !sources.added.is_empty();
        let state = ConversationState::of(
            &self.conversation,
            Some(turn.turn_no),
            Reader::of(self.tenant),
        )?;
        let measures = state.measures(&TurnContext {
            turn_no: turn.turn_no,
            searched: turn.searched() || searched,
            context: &context,
            tokens,
            embedding: state.before.own_embedding.as_deref(),
            as_of: turn.as_of.as_deref(),
            settings,
        })?;
        let more = turns::TurnChanges {
            added: &sources.added,
            tokens,
            measures: &measures,
            searched,
            warnings: row.warnings.to_vec(),
        };
        stage("write retrieval", || {
            retrievals::insert(row, embedding)?;
            turns::add(row.tenant, turn.turn_id, more)?;
            conversations::touch(&self.conversation)
        })?;
        let retrieved = Retrieved {
            turn_id: turn.turn_id,
            turn_no: turn.turn_no,
            retrieval_no: self.retrieval_no,
            further: sources,
            dropped,
        };
        turn_writes::add(
            self.tenant,
            self.conversation.conversation_id,
            &retrieved,
            settings,
        )
    }
}

/// Checks that sources can be added to a turn. Errors: 55000 if it is not open.
fn check_open(turn: &Turn) -> Result<()> {
    let hint = match turn.state.as_str() {
        "open" => return Ok(()),
        "deferred" => "Call reground.apply_rerank first (with '[]' to go on in fused order).",
        _ => "Begin a new turn: the sources of an answer do not change.",
    };
    Err(Error::WrongState {
        turn: turn.turn_id,
        state: turn.state.clone(),
        wanted: "added to",
        hint,
    })
}
