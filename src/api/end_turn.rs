//! A turn ends: read what the answer is judged by, judge, write.

use std::collections::BTreeMap;

use pgrx::JsonB;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_citations::{
    DocumentRequest, Extraction, Families, Lexemes, NamedDocument, NamedPassage, Pages, Reference,
    Source, StageFacts, Target,
};
use reground_documents::exact_hash_hex;
use reground_grounding::decay::SourceKey;
use reground_grounding::end::{self, EndInput, EndRules, Judged, Traced};
use reground_grounding::memory::{ContextSource, RememberedSource};
use reground_grounding::passage::Stage;
use reground_grounding::prompt;
use reground_grounding::settings::Settings;
use serde_json::json;

use crate::api::{given, writable};
use crate::error::{Error, Result, warn};
use crate::retrieve::{lexical, named};
use crate::rows;
use crate::store::conversations::{self, Conversation};
use crate::store::corpora::{self, Corpus};
use crate::store::markers::{self, Row as MarkerRow};
use crate::store::messages::{self, NewCitation, NewMessage};
use crate::store::turns::{self, Turn};
use crate::store::{sources, traces};
use crate::tenant;

/// Passages of a document named without a page that are compared with the claim.
const MOST_NAMED_PASSAGES: usize = 500;

#[pg_extern(sql = false)]
fn end_turn(
    turn: Option<i64>,
    answer: Option<&str>,
    message: Option<&str>,
    model: Option<&str>,
    usage: Option<JsonB>,
    tags: Option<JsonB>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("end_turn")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn, "turn")?;
    let answer = given(answer, "answer")?;
    let conversation = conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::load(&tenant, turn_id)?;
    check_state(&turn)?;
    let answer_hash = exact_hash_hex(answer);
    let message_id = match repeated(&conversation, turn_id, message, &answer_hash)? {
        Some(message_id) => message_id,
        None => {
            let ended = judge(&tenant, &conversation, &turn, answer)?;
            let new = NewMessage {
                tenant: &tenant,
                conversation_id: conversation.conversation_id,
                turn_id,
                external_id: message,
                answer_hash: &answer_hash,
                answer_tokens: reground_tokens::count(answer),
                model,
                usage: usage.map(|usage| usage.0),
                tags: tags.map_or_else(|| json!({}), |tags| tags.0),
                citation_count: ended.judged.scores.citations,
                malformed_count: ended.judged.scores.malformed,
                cfs: ended.judged.scores.cfs,
                stage_cfs: ended.judged.scores.stage_cfs,
                grounded_cfs: ended.judged.scores.grounded_cfs,
                diagnostic: ended.judged.scores.diagnostic(),
                decision: ended.judged.decision.action.as_str(),
                reasons: ended
                    .judged
                    .decision
                    .reasons
                    .iter()
                    .map(|reason| reason.as_str())
                    .collect(),
            };
            let message_id = messages::insert(&new, answer, &ended.citations)?;
            remember(&tenant, &conversation, &turn, &ended)?;
            message_id
        }
    };
    rows::emit(fcinfo, &messages::rows(message_id)?)?;
    Ok(())
}

#[pg_extern(sql = false)]
fn abandon_turn(turn: Option<i64>) -> std::result::Result<bool, ErrorReport> {
    writable("abandon_turn")?;
    let tenant = tenant::required()?;
    let turn_id = given(turn, "turn")?;
    conversations::of_turn(&tenant, turn_id)?
        .ok_or_else(|| Error::Unknown("turn", turn_id.to_string()))?;
    let turn = turns::load(&tenant, turn_id)?;
    match turn.state.as_str() {
        "abandoned" => Ok(false),
        "ended" => Err(Error::WrongState {
            turn: turn_id,
            state: turn.state,
            wanted: "abandoned",
            hint: "Its answer was recorded; a later end_turn with another message supersedes it.",
        }
        .into()),
        _ => {
            turns::abandon(turn_id)?;
            Ok(true)
        }
    }
}

/// Refuses a turn that cannot be answered, and warns of a transaction that was held open.
fn check_state(turn: &Turn) -> Result<()> {
    let hint = match turn.state.as_str() {
        "abandoned" => "Begin a new turn.",
        "deferred" => "Call reground.apply_rerank first (with NULL to go on in fused order).",
        _ => {
            if turn.held_open {
                warn(
                    "the transaction was held open between begin_turn and end_turn",
                    "Commit before the model is called.",
                );
            }
            return Ok(());
        }
    };
    Err(Error::WrongState {
        turn: turn.turn_id,
        state: turn.state.clone(),
        wanted: "answered",
        hint,
    })
}

/// The message of a repeated call, if this is one.
fn repeated(
    conversation: &Conversation,
    turn_id: i64,
    external_id: Option<&str>,
    answer_hash: &str,
) -> Result<Option<i64>> {
    let earlier = messages::earlier(conversation.conversation_id, turn_id, external_id)?;
    let same = match external_id {
        Some(id) => earlier
            .into_iter()
            .find(|message| message.external_id.as_deref() == Some(id)),
        None => earlier
            .into_iter()
            .rfind(|message| !message.superseded && message.answer_hash == answer_hash),
    };
    match same {
        None => Ok(None),
        Some(message) if message.answer_hash == answer_hash && message.turn_id == turn_id => {
            Ok(Some(message.message_id))
        }
        Some(_) => Err(Error::Conflict(
            "message",
            external_id.unwrap_or_default().to_owned(),
        )),
    }
}

/// What judging an answer gave.
struct Ended {
    judged: Judged,
    citations: Vec<NewCitation>,
    before: Vec<RememberedSource>,
}

/// Reads what the answer is judged by, and judges it.
fn judge(tenant: &str, conversation: &Conversation, turn: &Turn, answer: &str) -> Result<Ended> {
    let settings: Settings = serde_json::from_value(turn.settings.clone())?;
    let corpus = corpora::find(tenant, &turn.corpus)?;
    let text_config = corpus
        .as_ref()
        .map_or("pg_catalog.simple", |corpus| corpus.text_config.as_str());
    let extraction = end::read_answer(answer, &Families::ALL);
    if extraction.omitted > 0 {
        let judged = extraction.citations.len();
        warn(
            format!(
                "{} citations beyond the first {judged} were not judged",
                extraction.omitted
            ),
            "",
        );
    }

    let shown: Vec<String> = turn.context.iter().map(prompt::shown).collect();
    let sources = end::sources_of(&turn.context, content(text_config, &shown)?)?;
    let claims: Vec<String> = extraction
        .claims
        .iter()
        .map(|claim| claim.text.clone())
        .collect();
    let claim_lexemes = content(text_config, &claims)?;
    let registry = markers::load(conversation.conversation_id)?;
    let bound: Vec<_> = registry.iter().map(MarkerRow::bound).collect();
    let known = end::known_markers(&bound);
    let requests = end::documents_to_look_up(&extraction, &sources, &known);
    let named = look_up(tenant, turn, requests, text_config)?;
    let trace = stage_facts(turn)?;
    let before = before(conversation, turn)?;
    let judged = end::judge_answer(&EndInput {
        extraction: &extraction,
        context: &turn.context,
        sources: &sources,
        markers: &known,
        remembered: &before,
        named: &named,
        claim_lexemes: &claim_lexemes,
        trace: &trace,
        rules: EndRules::from(&settings),
    })?;
    let citations = citation_rows(&extraction, &judged, &turn.context, &sources, &registry);
    Ok(Ended {
        judged,
        citations,
        before,
    })
}

/// The content of texts: the server's lexemes, with numbers read from the text.
fn content(text_config: &str, texts: &[String]) -> Result<Vec<Lexemes>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    Ok(lexical::lexemes(text_config, texts)?
        .into_iter()
        .zip(texts)
        .map(|(lexemes, text)| Lexemes::of(text, lexemes))
        .collect())
}

/// The sources that the turn started from: for a regeneration those of its first end, but with today's pins.
fn before(conversation: &Conversation, turn: &Turn) -> Result<Vec<RememberedSource>> {
    let live: Vec<RememberedSource> = sources::load(conversation.conversation_id)?
        .into_iter()
        .map(|live| live.source)
        .collect();
    Ok(match &turn.sources_before {
        Some(before) => reground_grounding::decay::with_pins_of(before, &live),
        None => live,
    })
}

/// How far each candidate of the turn came (I4).
fn stage_facts(turn: &Turn) -> Result<Vec<Traced>> {
    let mut facts = Vec::new();
    for traced in traces::load(turn.turn_id)? {
        let stages = StageFacts {
            coordinates: traced.has_coordinates,
            retrieved: traced.left_at != Some(Stage::Carry),
            reranked: !matches!(traced.left_at, Some(Stage::Carry | Stage::Rerank)),
            in_context: traced.left_at.is_none(),
        };
        for passage in traced.members.iter().chain([&traced.chunk_id]) {
            facts.push(Traced {
                key: SourceKey {
                    corpus: traced.corpus.clone(),
                    doc_id: traced.doc_id.clone(),
                    passage: passage.clone(),
                },
                facts: stages,
            });
        }
    }
    Ok(facts)
}

/// Looks up the documents that the answer names, in the corpora of the turn.
fn look_up(
    tenant: &str,
    turn: &Turn,
    requests: Vec<DocumentRequest>,
    text_config: &str,
) -> Result<Vec<NamedDocument>> {
    let mut names: Vec<String> = turn
        .context
        .iter()
        .map(|source| source.candidate.passage.corpus.clone())
        .chain([turn.corpus.clone()])
        .collect();
    for request in &requests {
        if let Target::Document { corpus, .. } = &request.target {
            names.push(corpus.clone());
        }
    }
    names.sort();
    names.dedup();
    let mut found = Vec::new();
    for name in names {
        // A corpus that was dropped since names nothing any more.
        let Some(corpus) = corpora::find(tenant, &name)? else {
            continue;
        };
        if corpus.relation.is_some() && (!corpus.has_documents || corpus.documents.is_some()) {
            found.extend(look_up_in(&corpus, &requests, text_config)?);
        }
    }
    Ok(found)
}

/// The requests that one corpus answers.
fn look_up_in(
    corpus: &Corpus,
    requests: &[DocumentRequest],
    text_config: &str,
) -> Result<Vec<NamedDocument>> {
    let asked: Vec<(&DocumentRequest, &str)> = requests
        .iter()
        .filter_map(|request| match &request.target {
            Target::Name(name) => Some((request, name.as_str())),
            Target::Document { corpus: of, doc_id } if *of == corpus.name => {
                Some((request, doc_id.as_str()))
            }
            Target::Document { .. } => None,
        })
        .collect();
    let names: Vec<String> = asked.iter().map(|(_, name)| (*name).to_owned()).collect();
    let documents = named::documents(corpus, &names)?;
    let keys: Vec<String> = documents
        .iter()
        .map(|document| document.doc_id.clone())
        .collect();
    let mut passages: BTreeMap<String, Vec<named::NamedPassage>> = BTreeMap::new();
    for (doc_id, passage) in named::passages_of(corpus, &keys)? {
        passages.entry(doc_id).or_default().push(passage);
    }
    let mut found = Vec::new();
    for (request, name) in asked {
        for document in documents.iter().filter(|document| {
            document.name == name
                && match &request.target {
                    Target::Name(_) => true,
                    Target::Document { doc_id, .. } => *doc_id == document.doc_id,
                }
        }) {
            let wanted: Vec<&named::NamedPassage> = passages
                .get(&document.doc_id)
                .into_iter()
                .flatten()
                .filter(|passage| match (request.pages, passage.pages) {
                    (Some(asked), Some(pages)) => {
                        asked.start <= pages.end && pages.start <= asked.end
                    }
                    (Some(_), None) => false,
                    (None, _) => true,
                })
                .take(MOST_NAMED_PASSAGES)
                .collect();
            let texts: Vec<String> = wanted.iter().map(|passage| passage.text.clone()).collect();
            let lexemes = content(text_config, &texts)?;
            found.push(NamedDocument {
                asked: request.clone(),
                corpus: corpus.name.clone(),
                doc_id: document.doc_id.clone(),
                title: document.title.clone(),
                uri: document.uri.clone(),
                page_count: document.page_count,
                passages: wanted
                    .into_iter()
                    .zip(lexemes)
                    .map(|(passage, lexemes)| NamedPassage {
                        passage: passage.key.clone(),
                        pages: passage
                            .pages
                            .map(|pages| Pages::new(pages.start, pages.end)),
                        text: passage.text.clone(),
                        lexemes,
                    })
                    .collect(),
            });
        }
    }
    Ok(found)
}

/// A row for each citation of the answer.
fn citation_rows(
    extraction: &Extraction,
    judged: &Judged,
    context: &[ContextSource],
    sources: &[Source],
    registry: &[MarkerRow],
) -> Vec<NewCitation> {
    extraction
        .citations
        .iter()
        .zip(&judged.citations)
        .enumerate()
        .map(|(index, (extracted, cited))| {
            let verdict = &cited.judgement;
            let status = verdict.status;
            let source = verdict.source.and_then(|source| context.get(source));
            let written = match &extracted.reference {
                Reference::Marker { marker, .. } => Some(marker.clone()),
                _ => None,
            };
            let marker = verdict
                .source
                .and_then(|source| sources.get(source))
                .map(|source| source.marker.clone())
                .or(written);
            // A marker of an earlier turn: what it was bound to is in the registry.
            let bound = registry
                .iter()
                .find(|row| source.is_none() && marker.as_deref() == Some(row.marker.as_str()));
            let place = verdict.place.as_ref();
            let [coordinates, retrieval, rerank, in_context, generation] =
                cited.factors.0.map(|factor| factor.map(u8::from));
            NewCitation {
                citation_no: index + 1,
                raw: extracted.raw.clone(),
                corpus: place.map(|place| place.corpus.clone()),
                doc_id: place.map(|place| place.doc_id.clone()),
                chunk_id: place.and_then(|place| place.passage.clone()),
                title: place
                    .and_then(|place| place.title.clone())
                    .or_else(|| bound.and_then(|row| row.title.clone())),
                uri: place
                    .and_then(|place| place.uri.clone())
                    .or_else(|| bound.and_then(|row| row.uri.clone())),
                locator: source
                    .and_then(|source| prompt::locator(&source.candidate.passage))
                    .or_else(|| {
                        bound.and_then(|row| {
                            let bound = row.bound();
                            prompt::locate(bound.pages, bound.chars)
                        })
                    }),
                claim: extraction.claim_of(extracted).map(str::to_owned),
                quote: verdict.quote.as_ref().map(|quote| quote.text.clone()),
                fact_summary: source
                    .and_then(|source| source.facts.first())
                    .map(|fact| fact.text.clone()),
                status: status.as_str(),
                holds: status.holds(),
                mode: status.mode().map(|mode| mode.as_str()),
                score: status.score(),
                coordinate_fidelity: verdict.coordinate_fidelity,
                support: verdict.support,
                diagnostic: status.diagnostic().map(|diagnostic| diagnostic.as_str()),
                detail: verdict.detail.map(|detail| detail.as_str()),
                best_other: verdict
                    .best_other
                    .as_ref()
                    .map(|other| other.marker.clone()),
                factor_coordinates: coordinates,
                factor_retrieval: retrieval,
                factor_rerank: rerank,
                factor_context: in_context,
                factor_generation: generation,
                lost_at: cited.factors.lost_at().map(|stage| stage.as_str()),
                source_version: source
                    .map(|source| source.candidate.passage.version)
                    .or_else(|| bound.map(|row| row.version))
                    .flatten(),
                source_hash: source
                    .map(|source| source.candidate.passage.hash.clone())
                    .or_else(|| bound.map(|row| row.hash.clone())),
                repaired: verdict.repaired,
                char_start: extracted.span.chars.start,
                char_end: extracted.span.chars.end,
                byte_start: extracted.span.bytes.start,
                byte_end: extracted.span.bytes.end,
                utf16_start: extracted.span.utf16.start,
                utf16_end: extracted.span.utf16.end,
                marker,
            }
        })
        .collect()
}

/// Moves the conversation's memory on, once a turn: a first end does, and the regeneration of the turn that ended last;
/// regenerating an older one changes its citations only.
fn remember(tenant: &str, conversation: &Conversation, turn: &Turn, ended: &Ended) -> Result<()> {
    let first = turn.state == "open";
    let latest = conversation.last_ended_turn == Some(turn.turn_id);
    if first || latest {
        let after = &ended.judged.sources_after;
        sources::replace(tenant, conversation.conversation_id, after)?;
        turns::end(turn.turn_id, &ended.before, after)?;
        conversations::ended(conversation, turn.turn_id)?;
    }
    Ok(())
}
