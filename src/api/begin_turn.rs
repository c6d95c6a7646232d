//! A turn begins: read everything, compute, write everything.

use std::collections::BTreeSet;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::exact_hash_hex;
use reground_grounding::begin::{self, Composed, GatherInput, Gathered};
use reground_grounding::intent::{self, Intent, Judged};
use reground_grounding::keep::keep;
use reground_grounding::plan::{Asking, plan};
use reground_grounding::settings::Settings;
use reground_grounding::warnings::Warning;
use serde_json::{Value, json};

use crate::api::footing::{self, Footing};
use crate::api::rerank::{self, DEFERRED};
use crate::api::source_rows::{emit, emit_candidates};
use crate::api::{given, writable};
use crate::datum::Json;
use crate::datum::Vector;
use crate::error::{Error, Result};
use crate::guc;
use crate::profile::{self, stage};
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::Wanted;
use crate::retrieve::neighbours::{self, Nominated};
use crate::retrieve::turn::{Searched, carried, elsewhere, others, remembered, search};
use crate::retrieve::{earlier, kept as retrieve_kept, nearest, passages};
use crate::store::conversations::{self, Conversation};
use crate::store::corpora::{self, Corpus};
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::turns::{self, NewTurn, Standing};
use crate::store::{composed, history, sources};
use crate::tenant;

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn begin_turn(
    conversation: Option<&str>,
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<Json>,
    request_id: Option<&str>,
    rewrite: Option<&str>,
    intent: Option<&str>,
    settings: Option<Json>,
    tags: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("begin_turn")?;
    let tenant = tenant::required()?;
    let request = Request {
        conversation: not_empty(conversation, "conversation")?,
        query: not_empty(query, "query")?,
        corpus,
        embedding: embedding.map(|vector| vector.0),
        filter: Json::optional(filter, "filter")?,
        rewrite,
        intent: intent
            .map(str::parse::<Intent>)
            .transpose()
            .map_err(Error::from)?,
        settings: Json::optional(settings, "settings")?.unwrap_or_default(),
        tags: Json::object(tags, "tags")?,
        request_id,
    };
    profile::call("begin_turn", || begin(&tenant, &request, fcinfo))?;
    Ok(())
}

/// Begins the turn, or gives the one that this request began before.
fn begin(tenant: &str, request: &Request<'_>, fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
    let conversation = stage("conversation", || {
        conversations::open(tenant, request.conversation)
    })?;
    let request_hash = request.hash()?;
    if let Some(request_id) = request.request_id
        && let Some(turn) = turns::of_request(conversation.conversation_id, request_id)?
    {
        if turn.request_hash != request_hash {
            return Err(Error::Conflict("request", request_id.to_owned()));
        }
        return match turn.pool {
            Some(pool) => {
                let gathered: Gathered = serde_json::from_value(pool)?;
                emit_candidates(fcinfo, turn.turn_id, &gathered)
            }
            None => emit(fcinfo, turn.turn_id, &turn.context),
        };
    }
    let Read { known, gathered } = Read::all(tenant, &conversation, request)?;
    let outcome = outcome(&known, gathered, request.query)?;
    let turn_id = write(
        tenant,
        &conversation,
        request,
        &request_hash,
        &known,
        &outcome,
    )?;
    stage("rows", || match &outcome {
        Outcome::Composed(turn) => emit(fcinfo, turn_id, &turn.context),
        Outcome::Deferred(pool) => emit_candidates(fcinfo, turn_id, pool),
    })
}

/// The arguments of a call.
struct Request<'a> {
    conversation: &'a str,
    query: &'a str,
    corpus: Option<&'a str>,
    embedding: Option<Vec<f32>>,
    filter: Option<Value>,
    rewrite: Option<&'a str>,
    intent: Option<Intent>,
    settings: Value,
    tags: Value,
    /// The application's id of it; not part of what tells it from another.
    request_id: Option<&'a str>,
}

impl Request<'_> {
    /// Tells a repeated request from another one under the same id.
    fn hash(&self) -> Result<String> {
        let arguments = json!([
            self.query,
            self.corpus,
            self.embedding,
            self.filter,
            self.rewrite,
            self.intent,
            self.settings,
            self.tags
        ]);
        Ok(exact_hash_hex(&serde_json::to_string(&arguments)?))
    }
}

/// Everything that the read phase found.
struct Read {
    known: Known,
    gathered: Gathered,
}

/// What later phases need of it besides the gathered candidates.
struct Known {
    corpus: Corpus,
    settings: Settings,
    judged: Judged,
    /// What was searched for beside the query.
    retrieval: Value,
    registry: Vec<MarkerRow>,
    footing: Footing,
    /// Whether the turn retrieved; else it keeps the sources that there are.
    fresh: bool,
    /// Role that the reranker is called as; `None` is the caller.
    reranker_role: Option<u32>,
}

impl Read {
    /// Reads, and computes as far as a reranker's candidates.
    fn all(tenant: &str, conversation: &Conversation, request: &Request<'_>) -> Result<Self> {
        let corpus = stage("corpus", || {
            corpora::load(tenant, &corpus_name(tenant, conversation, request)?)
        })?;
        let settings = Settings::resolve(&[
            ("server", &guc::turn_settings()),
            ("corpus", &corpus.settings),
            ("conversation", &conversation.settings),
            ("call", &request.settings),
        ])?;
        let embedding = request.embedding.as_deref();
        if let Some(embedding) = embedding {
            nearest::check_dimensions(&corpus, embedding)?;
        } else if settings.require_embedding {
            return Err(Error::EmbeddingRequired);
        }
        let earlier = stage("memory", || {
            turns::earlier(
                conversation.conversation_id,
                &corpus.name,
                settings.query_history,
            )
        })?;
        let before = stage("earlier turns", || {
            earlier::read(&corpus, request.query, embedding, earlier)
        })?;
        let footing = stage("strategy", || Footing::of(conversation, None))?;
        let fresh = stage("strategy", || footing.retrieves(&settings))?;
        let judged = stage("intent", || {
            intent::classify(request.query, &before.past, request.intent)
        });
        if !fresh {
            let asked = (tenant, request);
            let gathered = kept(asked, conversation, &corpus, &settings, &footing)?;
            let known = Known {
                reranker_role: None,
                registry: stage("memory", || {
                    markers::of_documents(conversation.conversation_id, gathered.documents())
                })?,
                footing,
                fresh,
                corpus,
                settings,
                judged,
                retrieval: json!({}),
            };
            return Ok(Self { known, gathered });
        }
        let asking = Asking {
            query: request.query,
            rewrite: request.rewrite,
            embedding,
            judged: &judged,
            earlier: &before.past,
        };
        let plan = stage("plan", || {
            plan(asking, &before.words, &before.said, &settings)
        });
        let filter = Filter::resolve(&corpus, request.filter.as_ref())?;
        let now = [Some(request.query), request.rewrite].into_iter().flatten();
        let Nominated { nodes, list } = neighbours::of(
            &corpus,
            now,
            &before.past,
            judged.intent,
            &filter,
            &settings,
        )?;
        let live = stage("memory", || sources::load(conversation.conversation_id))?;

        let mut warnings = Vec::new();
        if embedding.is_none() {
            warnings.push(Warning::NoEmbedding);
        }
        let here = Wanted::of(&live, &corpus.name);
        let Searched {
            lists,
            scores,
            lacks_index,
        } = search(
            &corpus,
            &plan,
            &filter,
            &here,
            list,
            &settings,
            settings.candidates,
        )?;
        if lacks_index {
            warnings.push(Warning::NoLexicalIndex);
        }
        let hits = lists.iter().flat_map(|list| &list.hits);
        let keys: BTreeSet<&String> = hits.map(|hit| &hit.key).chain(&here.passages).collect();
        let found = stage("passages", || passages::by_key(&corpus, &filter, keys))?;
        let options = stage("carried passages", || {
            let embedding = plan.embedding.as_deref();
            let mut options = remembered(&corpus, embedding, &filter, &here, &scores, &found)?;
            // Sources of other corpora: a filter on this one's columns says nothing of them, so under one they stay out.
            if request.filter.is_none() {
                for name in others(&live, &corpus.name) {
                    options.extend(elsewhere(tenant, &name, &plan, &live, &settings)?);
                }
            }
            Ok::<_, Error>(options)
        })?;
        let input = GatherInput {
            lists,
            scores,
            passages: found,
            carried: carried(live, &options),
            judged: judged.clone(),
            metric: nearest::metric(&corpus),
            warnings,
        };
        let gathered = stage("gather", || begin::gather(input, &settings));
        let known = Known {
            reranker_role: reranker_role(&request.settings, conversation, &corpus),
            registry: stage("memory", || {
                markers::of_documents(conversation.conversation_id, gathered.documents())
            })?,
            footing,
            fresh,
            corpus,
            settings,
            judged,
            retrieval: plan.trace(&nodes),
        };
        Ok(Self { known, gathered })
    }
}

/// Reranks and composes, unless the rerank is deferred.
fn outcome(known: &Known, gathered: Gathered, query: &str) -> Result<Outcome> {
    let scores = match known.settings.reranker.as_deref() {
        _ if !known.fresh => None,
        None => None,
        Some(DEFERRED) => return Ok(Outcome::Deferred(gathered)),
        Some(name) => Some(stage("rerank", || {
            rerank::call(name, known.reranker_role, query, &gathered)
        })?),
    };
    let bound: Vec<_> = known.registry.iter().map(MarkerRow::bound).collect();
    let composed = stage("compose", || {
        begin::compose(gathered, scores.as_deref(), &bound, query, &known.settings)
    })?;
    Ok(Outcome::Composed(composed))
}

/// Writes the turn as far as it came; its id.
fn write(
    tenant: &str,
    conversation: &Conversation,
    request: &Request<'_>,
    request_hash: &str,
    known: &Known,
    outcome: &Outcome,
) -> Result<i64> {
    let (state, pool, context, tokens, warnings) = match outcome {
        Outcome::Composed(turn) => ("open", None, &turn.context[..], turn.tokens, &turn.warnings),
        Outcome::Deferred(pool) => (
            "deferred",
            Some(serde_json::to_value(pool)?),
            &[][..],
            0,
            &pool.warnings,
        ),
    };
    let (number, turn_id) = stage("write turn", || {
        let number = conversations::count_turn(conversation, &known.corpus.name)?;
        let new = NewTurn {
            tenant,
            conversation_id: conversation.conversation_id,
            number,
            state,
            request_id: request.request_id,
            request_hash,
            query: request.query,
            corpus: &known.corpus.name,
            filter: request.filter.as_ref(),
            intent: known.judged.intent.name(),
            intent_confidence: known.judged.confidence,
            intent_signals: &known.judged.signals,
            retrieval: known.retrieval.clone(),
            settings: serde_json::to_value(&known.settings)?,
            pool,
            context,
            context_tokens: tokens,
            query_tokens: reground_tokens::count(request.query),
            standing: standing(known, request, number, outcome)?,
            warnings: warning_names(warnings),
            tags: request.tags.clone(),
        };
        Ok::<_, Error>((number, turns::insert(&new, request.embedding.clone())?))
    })?;
    if let Outcome::Composed(turn) = outcome {
        let conversation_id = conversation.conversation_id;
        composed::write(
            tenant,
            conversation_id,
            turn_id,
            number,
            turn,
            &known.settings,
        )?;
    }
    Ok(turn_id)
}

/// The sources that there are, for a turn that does not retrieve.
fn kept(
    (tenant, request): (&str, &Request<'_>),
    conversation: &Conversation,
    corpus: &Corpus,
    settings: &Settings,
    footing: &Footing,
) -> Result<Gathered> {
    let filter = Filter::resolve(corpus, request.filter.as_ref())?;
    let live = stage("memory", || sources::load(conversation.conversation_id))?;
    let from = footing.before.context_from;
    let shown = from.map(|number| history::shown(conversation.conversation_id, number));
    let asking = retrieve_kept::Asking {
        tenant,
        corpus,
        filter: &filter,
        filtered: request.filter.is_some(),
        query: request.rewrite.unwrap_or(request.query),
        embedding: request.embedding.as_deref(),
        settings,
    };
    let input = stage("kept passages", || {
        retrieve_kept::read(&asking, shown.transpose()?.flatten(), live)
    })?;
    Ok(stage("gather", || keep(input, settings)))
}

/// Where the turn stands in its conversation.
fn standing(
    known: &Known,
    request: &Request<'_>,
    number: i32,
    outcome: &Outcome,
) -> Result<Standing> {
    let footing = &known.footing;
    let Outcome::Composed(turn) = outcome else {
        return Ok(Standing {
            retrieved: known.fresh,
            context_from: footing.before.context_from,
            dilution: None,
        });
    };
    let measured = footing::Composed {
        number,
        fresh: known.fresh,
        context: &turn.context,
        tokens: turn.tokens,
        embedding: request.embedding.as_deref(),
        settings: &known.settings,
    };
    let dilution = stage("history", || footing.measure(&measured))?;
    Ok(Standing {
        retrieved: known.fresh,
        context_from: footing.context_from(number, known.fresh, &turn.context),
        dilution: Some(dilution),
    })
}

/// How far a turn came.
enum Outcome {
    /// It has its context.
    Composed(Composed),
    /// It waits for `apply_rerank`.
    Deferred(Gathered),
}

/// An argument that is given and says something.
fn not_empty<'a>(argument: Option<&'a str>, name: &'static str) -> Result<&'a str> {
    let text = given(argument, name)?;
    if text.trim().is_empty() {
        return Err(Error::Bad {
            argument: name,
            fault: "it is empty".into(),
            hint: String::new(),
        });
    }
    Ok(text)
}

/// The corpus that is asked, that of the previous turn, or the only one there is.
fn corpus_name(tenant: &str, conversation: &Conversation, request: &Request<'_>) -> Result<String> {
    if let Some(name) = request.corpus.or(conversation.corpus.as_deref()) {
        return Ok(name.to_owned());
    }
    let mut names = corpora::names(tenant)?;
    match names.len() {
        1 => Ok(names.swap_remove(0)),
        0 => Err(Error::AmbiguousCorpus("there is no corpus yet".into())),
        _ => Err(Error::AmbiguousCorpus(
            "the first turn of a conversation must name its corpus".into(),
        )),
    }
}

/// Stable names of warnings, each once.
fn warning_names(warnings: &[Warning]) -> Vec<String> {
    warnings
        .iter()
        .map(|warning| warning.name().to_owned())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

/// The role that the reranker is called as: who set it in the layer that decides.
fn reranker_role(call: &Value, conversation: &Conversation, corpus: &Corpus) -> Option<u32> {
    let set = |settings: &Value| settings.get("reranker").is_some_and(|name| !name.is_null());
    if set(call) {
        None
    } else if set(&conversation.settings) {
        conversation.reranker_role
    } else if set(&corpus.settings) {
        corpus.reranker_role
    } else {
        None
    }
}
