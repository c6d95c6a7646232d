//! A turn begins: read everything, compute, write everything.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::JsonB;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_documents::exact_hash_hex;
use reground_grounding::begin::{self, Composed, GatherInput, Gathered};
use reground_grounding::carry::{CarriedInput, CarriedOption};
use reground_grounding::intent::{self, Intent, Judged};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::{Branch, Candidate, Hit, Passage, RankedList};
use reground_grounding::plan::{RetrievalPlan, plan};
use reground_grounding::prompt;
use reground_grounding::settings::Settings;
use reground_grounding::warnings::Warning;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api::rerank::{self, DEFERRED};
use crate::api::{given, writable};
use crate::error::{Error, Result};
use crate::guc;
use crate::retrieve::filter::Filter;
use crate::retrieve::lexical::{self, Wanted};
use crate::retrieve::{nearest, passages};
use crate::rows;
use crate::store::conversations::{self, Conversation};
use crate::store::corpora::{self, Corpus};
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::sources::{self, Live};
use crate::store::turns::{self, NewTurn};
use crate::store::{facts, traces};
use crate::tenant;
use crate::vector::Vector;

/// A row of `begin_turn`.
#[derive(Serialize)]
struct SourceRow<'a> {
    turn_id: i64,
    marker: Option<&'a str>,
    corpus: Option<&'a str>,
    doc_id: Option<&'a str>,
    chunk_id: Option<&'a str>,
    title: Option<&'a str>,
    uri: Option<&'a str>,
    locator: Option<String>,
    published: Option<&'a str>,
    content: Option<&'a str>,
    facts: Vec<&'a str>,
    origin: &'static str,
    score: Option<f64>,
    tokens: Option<u32>,
    metadata: Option<&'a Value>,
}

#[pg_extern(sql = false)]
#[expect(clippy::too_many_arguments, reason = "the SQL signature")]
fn begin_turn(
    conversation: Option<&str>,
    query: Option<&str>,
    corpus: Option<&str>,
    embedding: Option<Vector>,
    filter: Option<JsonB>,
    request_id: Option<&str>,
    rewrite: Option<&str>,
    intent: Option<&str>,
    settings: Option<JsonB>,
    tags: Option<JsonB>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("begin_turn")?;
    let tenant = tenant::required()?;
    let request = Request {
        conversation: not_empty(conversation, "conversation")?,
        query: not_empty(query, "query")?,
        corpus,
        embedding: embedding.map(|vector| vector.0),
        filter: filter.map(|filter| filter.0),
        rewrite,
        intent: intent
            .map(str::parse::<Intent>)
            .transpose()
            .map_err(Error::from)?,
        settings: settings.map_or(Value::Null, |settings| settings.0),
        tags: tags.map_or_else(|| json!({}), |tags| tags.0),
    };
    let conversation = conversations::open(&tenant, request.conversation)?;
    let request_hash = request.hash()?;
    if let Some(request_id) = request_id
        && let Some(turn) = turns::of_request(conversation.conversation_id, request_id)?
    {
        if turn.request_hash != request_hash {
            return Err(Error::Conflict("request", request_id.to_owned()).into());
        }
        match turn.pool {
            Some(pool) => {
                let gathered: Gathered = serde_json::from_value(pool).map_err(Error::from)?;
                emit_candidates(fcinfo, turn.turn_id, &gathered)?;
            }
            None => emit(fcinfo, turn.turn_id, &turn.context)?,
        }
        return Ok(());
    }
    let begun = Begun::read(&tenant, &conversation, &request)?;
    begun.go_on(
        &tenant,
        &conversation,
        &request,
        request_id,
        &request_hash,
        fcinfo,
    )?;
    Ok(())
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
struct Begun {
    corpus: Corpus,
    settings: Settings,
    judged: Judged,
    gathered: Gathered,
    registry: Vec<MarkerRow>,
    /// Role that the reranker is called as; `None` is the caller.
    reranker_role: Option<u32>,
}

impl Begun {
    /// Reads, and computes as far as a reranker's candidates.
    fn read(tenant: &str, conversation: &Conversation, request: &Request<'_>) -> Result<Self> {
        let corpus = corpora::load(tenant, &corpus_name(tenant, conversation, request)?)?;
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
        let earlier = turns::earlier(conversation.conversation_id, settings.query_history)?;
        let judged = intent::classify(request.query, &earlier, request.intent);
        let plan = plan(request.query, request.rewrite, &judged, &earlier, &settings);
        let filter = Filter::resolve(&corpus, request.filter.as_ref())?;
        let live = sources::load(conversation.conversation_id)?;

        let mut warnings = Vec::new();
        if embedding.is_none() {
            warnings.push(Warning::NoEmbedding);
        }
        if !lexical::has_lexemes(&corpus) {
            warnings.push(Warning::NoLexicalIndex);
        }
        let here = Wanted::of(&live, &corpus.name);
        let Searched { lists, scores } =
            search(&corpus, &plan, embedding, &filter, &here, &settings)?;
        let keys: BTreeSet<String> = lists
            .iter()
            .flat_map(|list| list.hits.iter().map(|hit| hit.key.clone()))
            .collect();
        let found = passages::by_key(&corpus, &filter, &keys.into_iter().collect::<Vec<_>>())?;
        let mut options = remembered(&corpus, embedding, &filter, &here, &scores)?;
        // Sources of other corpora: a filter on this one's columns says nothing of them, so under a filter they stay out.
        if request.filter.is_none() {
            for name in others(&live, &corpus.name) {
                options.extend(elsewhere(tenant, &name, &plan, embedding, &live)?);
            }
        }
        let gathered = begin::gather(
            GatherInput {
                lists,
                passages: found,
                carried: carried(live, &options),
                judged: judged.clone(),
                metric: nearest::metric(&corpus),
                warnings,
            },
            &settings,
        );
        let reranker_role = reranker_role(&request.settings, conversation, &corpus);
        Ok(Self {
            registry: markers::load(conversation.conversation_id)?,
            corpus,
            settings,
            judged,
            gathered,
            reranker_role,
        })
    }

    /// Reranks, composes and writes; a deferred turn stops before the rerank.
    fn go_on(
        self,
        tenant: &str,
        conversation: &Conversation,
        request: &Request<'_>,
        request_id: Option<&str>,
        request_hash: &str,
        fcinfo: pg_sys::FunctionCallInfo,
    ) -> Result<()> {
        let deferred = self.settings.reranker.as_deref() == Some(DEFERRED);
        let scores = match self.settings.reranker.as_deref() {
            None | Some(DEFERRED) => None,
            Some(name) => Some(rerank::call(
                name,
                self.reranker_role,
                request.query,
                &self.gathered,
            )?),
        };
        let known: Vec<_> = self.registry.iter().map(MarkerRow::bound).collect();
        let (composed, pool) = if deferred {
            (None, Some(self.gathered))
        } else {
            let composed = begin::compose(
                self.gathered,
                scores.as_deref(),
                &known,
                request.query,
                &self.settings,
            )?;
            (Some(composed), None)
        };
        let raised = match (&composed, &pool) {
            (Some(composed), _) => &composed.warnings,
            (None, Some(pool)) => &pool.warnings,
            (None, None) => &Vec::new(),
        };
        let number = conversation.turn_count + 1;
        let context = composed
            .as_ref()
            .map_or(&[][..], |composed| &composed.context);
        let new = NewTurn {
            tenant,
            conversation_id: conversation.conversation_id,
            number,
            state: if deferred { "deferred" } else { "open" },
            request_id,
            request_hash,
            query: request.query,
            corpus: &self.corpus.name,
            filter: request.filter.as_ref(),
            intent: self.judged.intent.name(),
            intent_confidence: self.judged.confidence,
            intent_signals: &self.judged.signals,
            settings: serde_json::to_value(&self.settings)?,
            pool: pool.as_ref().map(serde_json::to_value).transpose()?,
            context,
            context_tokens: composed.as_ref().map_or(0, |composed| composed.tokens),
            query_tokens: reground_tokens::count(request.query),
            warnings: warning_names(raised),
            tags: request.tags.clone(),
        };
        let turn_id = turns::insert(&new, request.embedding.clone())?;
        conversations::count_turn(conversation, &self.corpus.name)?;
        match (composed, pool) {
            (Some(composed), _) => {
                store_composed(
                    tenant,
                    conversation.conversation_id,
                    turn_id,
                    number,
                    &composed,
                    &self.settings,
                )?;
                emit(fcinfo, turn_id, &composed.context)
            }
            (None, Some(pool)) => emit_candidates(fcinfo, turn_id, &pool),
            (None, None) => Ok(()),
        }
    }
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

/// What the search of one corpus gave: ranked lists, and scores of wanted passages.
struct Searched {
    lists: Vec<RankedList>,
    scores: BTreeMap<String, f64>,
}

/// Asks both branches of the turn's corpus.
fn search(
    corpus: &Corpus,
    plan: &RetrievalPlan,
    embedding: Option<&[f32]>,
    filter: &Filter,
    wanted: &Wanted,
    settings: &Settings,
) -> Result<Searched> {
    let queries: Vec<String> = plan
        .lexical
        .iter()
        .map(|query| query.text.clone())
        .collect();
    let rankings = lexical::rank(corpus, &queries, filter, wanted, settings.candidates)?;
    let mut lists = Vec::new();
    let mut scores = BTreeMap::new();
    for (index, (query, ranking)) in plan.lexical.iter().zip(rankings).enumerate() {
        // The turn's own query comes first: carried sources are scored by it.
        if index == 0 {
            scores.extend(ranking.wanted);
        }
        lists.push(RankedList {
            branch: Branch::Lexical,
            weight: query.weight,
            entity: query.entity.clone(),
            hits: ranking
                .candidates
                .into_iter()
                .map(|scored| Hit {
                    key: scored.key,
                    value: scored.score,
                })
                .collect(),
        });
    }
    if let Some(embedding) = embedding {
        lists.push(RankedList {
            branch: Branch::Vector,
            weight: plan.vector_weight,
            entity: None,
            hits: nearest::nearest(
                corpus,
                embedding,
                filter,
                settings.vector_search,
                settings.candidates,
            )?,
        });
    }
    Ok(Searched { lists, scores })
}

/// Passages that remembered sources of one corpus can give, scored, by corpus and key.
type Options = BTreeMap<(String, String), CarriedOption>;

/// The passages behind the remembered sources of a corpus, as they stand and as this role sees them.
fn remembered(
    corpus: &Corpus,
    embedding: Option<&[f32]>,
    filter: &Filter,
    wanted: &Wanted,
    scores: &BTreeMap<String, f64>,
) -> Result<Options> {
    if wanted.is_empty() {
        return Ok(Options::new());
    }
    let keys: Vec<String> = wanted.passages.iter().cloned().collect();
    let documents: Vec<String> = wanted.documents.iter().cloned().collect();
    let mut found = passages::by_key(corpus, filter, &keys)?;
    found.extend(passages::by_document(corpus, filter, &documents)?);
    let distances: BTreeMap<String, f64> = match embedding {
        Some(embedding) if corpus.column("embedding").is_some() => {
            let keys: Vec<String> = found.keys().cloned().collect();
            nearest::distances(corpus, embedding, filter, &keys)?
                .into_iter()
                .map(|hit| (hit.key, hit.value))
                .collect()
        }
        _ => BTreeMap::new(),
    };
    Ok(found
        .into_iter()
        .map(|(key, passage)| {
            let option = CarriedOption {
                lexical_score: scores.get(&key).copied(),
                vector_distance: distances.get(&key).copied(),
                passage,
            };
            ((corpus.name.clone(), key), option)
        })
        .collect())
}

/// Other corpora that the conversation remembers sources of.
fn others(live: &[Live], here: &str) -> BTreeSet<String> {
    live.iter()
        .map(|live| live.source.corpus.clone())
        .filter(|corpus| corpus != here)
        .collect()
}

/// The remembered sources of another corpus; none where it is gone or compares other embeddings.
fn elsewhere(
    tenant: &str,
    name: &str,
    plan: &RetrievalPlan,
    embedding: Option<&[f32]>,
    live: &[Live],
) -> Result<Options> {
    let Some(corpus) = corpora::find(tenant, name)? else {
        return Ok(Options::new());
    };
    if corpus.relation.is_none() || (corpus.has_documents && corpus.documents.is_none()) {
        return Ok(Options::new());
    }
    let everything = Filter::default();
    let wanted = Wanted::of(live, name);
    let own: Vec<String> = plan
        .lexical
        .iter()
        .take(1)
        .map(|query| query.text.clone())
        .collect();
    let scores = lexical::rank(&corpus, &own, &everything, &wanted, 0)?
        .into_iter()
        .flat_map(|ranking| ranking.wanted)
        .collect();
    let embedding =
        embedding.filter(|embedding| nearest::check_dimensions(&corpus, embedding).is_ok());
    remembered(&corpus, embedding, &everything, &wanted, &scores)
}

/// Pairs each remembered source with what stands under its key.
fn carried(live: Vec<Live>, options: &Options) -> Vec<CarriedInput> {
    live.into_iter()
        .map(|live| {
            let source = live.source;
            let options = options
                .iter()
                .filter(|((corpus, key), option)| {
                    *corpus == source.corpus
                        && if source.passage.is_empty() {
                            option.passage.doc_id == source.doc_id
                        } else {
                            *key == source.passage
                        }
                })
                .map(|(_, option)| option.clone())
                .collect();
            CarriedInput {
                source,
                options,
                age: Some(live.idle_seconds),
            }
        })
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

/// Writes markers, trace and facts of a composed turn.
pub(super) fn store_composed(
    tenant: &str,
    conversation_id: i64,
    turn_id: i64,
    number: i32,
    composed: &Composed,
    settings: &Settings,
) -> Result<()> {
    let described: BTreeMap<&str, &Passage> = composed
        .context
        .iter()
        .map(|source| (source.marker.as_str(), &source.candidate.passage))
        .collect();
    let rows: Vec<MarkerRow> = composed
        .new_markers
        .iter()
        .map(|bound| {
            let passage = described.get(bound.marker.as_str());
            MarkerRow::new(
                bound,
                passage.and_then(|passage| passage.title.clone()),
                passage.and_then(|passage| passage.uri.clone()),
            )
        })
        .collect();
    markers::add(tenant, conversation_id, number, &rows)?;
    facts::write(tenant, turn_id, &composed.context)?;
    traces::write(
        tenant,
        turn_id,
        &composed.context,
        &composed.dropped,
        settings.keep_candidates,
    )
}

/// Returns the sources of a context; one row without a source where there are none.
pub(super) fn emit(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    context: &[ContextSource],
) -> Result<()> {
    let rows: Vec<SourceRow<'_>> = context
        .iter()
        .map(|source| {
            let mut row = row(turn_id, &source.candidate);
            row.marker = Some(&source.marker);
            row.facts = source.facts.iter().map(|fact| fact.text.as_str()).collect();
            row
        })
        .collect();
    emit_rows(fcinfo, turn_id, rows)
}

/// Returns the candidates that wait for a rerank, in the order in which `index` counts them.
fn emit_candidates(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    gathered: &Gathered,
) -> Result<()> {
    let rows = gathered
        .candidates
        .iter()
        .map(|candidate| {
            let mut row = row(turn_id, candidate);
            row.origin = "candidate";
            row
        })
        .collect();
    emit_rows(fcinfo, turn_id, rows)
}

/// A row of a candidate, without marker and facts.
fn row(turn_id: i64, candidate: &Candidate) -> SourceRow<'_> {
    let passage = &candidate.passage;
    SourceRow {
        turn_id,
        marker: None,
        corpus: Some(&passage.corpus),
        doc_id: Some(&passage.doc_id),
        chunk_id: Some(&passage.key),
        title: passage.title.as_deref(),
        uri: passage.uri.as_deref(),
        locator: prompt::locator(passage),
        published: passage.published.as_deref(),
        content: Some(&passage.text),
        facts: Vec::new(),
        origin: candidate.origin.name(),
        score: Some(candidate.relevance),
        tokens: Some(passage.tokens),
        metadata: Some(&passage.metadata),
    }
}

/// At least one row, so that there is always a turn_id.
fn emit_rows(
    fcinfo: pg_sys::FunctionCallInfo,
    turn_id: i64,
    mut rows: Vec<SourceRow<'_>>,
) -> Result<()> {
    if rows.is_empty() {
        rows.push(SourceRow {
            turn_id,
            marker: None,
            corpus: None,
            doc_id: None,
            chunk_id: None,
            title: None,
            uri: None,
            locator: None,
            published: None,
            content: None,
            facts: Vec::new(),
            origin: "none",
            score: None,
            tokens: None,
            metadata: None,
        });
    }
    rows::emit(fcinfo, &rows)
}
