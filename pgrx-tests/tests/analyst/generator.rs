//! A seeded generator of the audit data of four weeks, with four planted faults, one in each corpus.

use anyhow::Result;
use postgres::Client;
use reground_tests::chance::Chance;
use serde_json::json;

/// Hours of the data.
const HOURS: i64 = 24 * 24;

/// Answers an hour and corpus.
const ANSWERS: usize = 5;

/// Hours since the faults began.
pub const FAULT_HOURS: i64 = 30;

/// The corpora, each of a tenant, with its fault.
pub const CORPORA: [(&str, &str, Fault); 4] = [
    ("acme", "help", Fault::DocumentType),
    ("bolt", "shop", Fault::Reranker),
    ("cone", "law", Fault::ModelVersion),
    ("dune", "news", Fault::Traffic),
];

/// A planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// 45 % of the citations of PDF documents do not hold.
    DocumentType,
    /// The reranker loses 75 % of the passages.
    Reranker,
    /// The model `small-2` writes half of the answers, and 25 % of its citations name nothing that exists.
    ModelVersion,
    /// Nobody asks any more.
    Traffic,
}

/// A citation.
pub struct Citation {
    pub doc_id: String,
    pub status: &'static str,
}

impl Citation {
    pub fn holds(&self) -> Option<bool> {
        match self.status {
            "malformed" => None,
            "resolved_current" => Some(true),
            _ => Some(false),
        }
    }

    pub fn document_type(&self) -> &str {
        self.doc_id.split('.').nth(1).unwrap_or_default()
    }
}

/// An answer with its turn.
pub struct Answer {
    pub id: i64,
    pub tenant: &'static str,
    pub corpus: &'static str,
    /// Whole hours before the present hour.
    pub hours_ago: i64,
    pub model: &'static str,
    pub has_sources: bool,
    pub reranked: i32,
    pub rerank_lost: i32,
    pub ms: i32,
    pub citations: Vec<Citation>,
}

impl Answer {
    pub fn is_after(&self) -> bool {
        self.hours_ago < FAULT_HOURS
    }

    /// The citations that hold, and those with a verdict.
    pub fn holding(&self) -> (usize, usize) {
        let verdicts: Vec<bool> = self.citations.iter().filter_map(Citation::holds).collect();
        (
            verdicts.iter().filter(|holds| **holds).count(),
            verdicts.len(),
        )
    }
}

/// Returns the answers of a seed.
pub fn answers(seed: u64) -> Vec<Answer> {
    let mut chance = Chance::of(seed);
    let mut answers = Vec::new();
    for hours_ago in (0..HOURS).rev() {
        for (tenant, corpus, fault) in CORPORA {
            let fault = (hours_ago < FAULT_HOURS).then_some(fault);
            if fault == Some(Fault::Traffic) {
                continue;
            }
            for _ in 0..ANSWERS - 2 + chance.below(5) {
                let id = 1 + i64::try_from(answers.len()).unwrap_or_default();
                answers.push(answer(&mut chance, (id, tenant, corpus, hours_ago), fault));
            }
        }
    }
    answers
}

fn answer(
    chance: &mut Chance,
    (id, tenant, corpus, hours_ago): (i64, &'static str, &'static str, i64),
    fault: Option<Fault>,
) -> Answer {
    let new_model = fault == Some(Fault::ModelVersion) && chance.happens(50);
    let model = match chance.happens(70) {
        _ if new_model => "small-2",
        true => "small-1",
        false => "large-1",
    };
    let has_sources = !chance.happens(2);
    let lost = if fault == Some(Fault::Reranker) {
        75
    } else {
        2
    };
    let rerank_lost = (0..20).filter(|_| chance.happens(lost)).count();
    let slower = if fault == Some(Fault::Reranker) {
        900
    } else {
        0
    };
    let mut citations = Vec::new();
    if has_sources && !chance.happens(4) {
        for _ in 0..=chance.below(5) {
            citations.push(citation(chance, fault, new_model));
        }
    }
    Answer {
        id,
        tenant,
        corpus,
        hours_ago,
        model,
        has_sources,
        reranked: 20,
        rerank_lost: i32::try_from(rerank_lost).unwrap_or_default(),
        ms: slower + 800 + i32::try_from(chance.below(2400)).unwrap_or_default(),
        citations,
    }
}

fn citation(chance: &mut Chance, fault: Option<Fault>, new_model: bool) -> Citation {
    let kind = [
        "pdf", "pdf", "pdf", "html", "html", "html", "html", "md", "md", "md",
    ][chance.below(10)];
    // A document with a low number is cited more often.
    let document = chance.below(12).min(chance.below(12));
    let broken = fault == Some(Fault::DocumentType) && kind == "pdf" && chance.happens(45);
    let invented = new_model && chance.happens(25);
    let status = if invented || chance.below(500) == 0 {
        "unknown_id"
    } else if chance.below(400) == 0 {
        "malformed"
    } else if broken || chance.happens(6) {
        "unsupported"
    } else {
        "resolved_current"
    };
    Citation {
        doc_id: format!("{document}.{kind}"),
        status,
    }
}

/// Stores the answers, with message ids in their order, and counts them into the rollups.
pub fn store(client: &mut Client, answers: &[Answer]) -> Result<()> {
    for (tenant, corpus, _) in CORPORA {
        client.execute("SELECT reground.create_corpus($1)", &[&corpus])?;
        client.execute(
            "INSERT INTO reground.conversations (tenant, conversation_ref, corpus) VALUES ($1, $1 || '-talk', $2)",
            &[&tenant, &corpus],
        )?;
    }
    for part in answers.chunks(2000) {
        let rows: Vec<_> = part.iter().map(row).collect();
        client.execute(STORE, &[&serde_json::to_value(rows)?])?;
    }
    client.execute("SELECT reground.rebuild_audit()", &[])?;
    client
        .batch_execute("ANALYZE reground.turns, reground.messages, reground.message_citations")?;
    Ok(())
}

fn row(answer: &Answer) -> serde_json::Value {
    let citations: Vec<_> = answer
        .citations
        .iter()
        .map(|citation| {
            let lost = match citation.status {
                "unknown_id" | "unsupported" => Some("generation"),
                _ => None,
            };
            json!({ "doc_id": citation.doc_id, "status": citation.status, "holds": citation.holds(), "lost_stage": lost })
        })
        .collect();
    json!({
        "id": answer.id, "tenant": answer.tenant, "corpus": answer.corpus, "hours_ago": answer.hours_ago, "model": answer.model,
        "context": if answer.has_sources { json!([{}]) } else { json!([]) }, "reranked": answer.reranked, "lost": answer.rerank_lost,
        "warnings": if answer.rerank_lost > 0 { json!(["rerank_missing"]) } else { json!([]) }, "ms": answer.ms,
        "version": if answer.is_after() && answer.corpus == "shop" { "reranker=2" } else { "reranker=1" }, "citations": citations,
        // The score of coordinates: an invented source counts 0, an unsupported claim 1.
        "cfs": score(answer),
    })
}

fn score(answer: &Answer) -> Option<f64> {
    let scored = || {
        answer
            .citations
            .iter()
            .filter(|citation| citation.holds().is_some())
    };
    let found = scored()
        .filter(|citation| citation.status != "unknown_id")
        .count();
    let all = scored().count();
    (all > 0).then(|| found as f64 / all as f64)
}

/// Stores answers with their turns and citations. Answers are given within the first half of their hour.
const STORE: &str = "
    WITH x AS MATERIALIZED (
        SELECT x.*, date_trunc('hour', now()) - make_interval(hours => x.hours_ago) + make_interval(secs => x.id % 1700) AS begun, v.conversation_id
        FROM jsonb_to_recordset($1) AS x(id bigint, tenant text, corpus text, hours_ago integer, model text, context jsonb, reranked integer, lost integer, warnings text[],
                                         ms integer, version text, citations jsonb, cfs double precision)
        JOIN reground.conversations AS v ON v.tenant = x.tenant),
    turns AS (
        INSERT INTO reground.turns (turn_id, tenant, conversation_id, turn_no, state, request_hash, query, corpus, intent, intent_confidence, intent_signals, query_expansion,
                                    settings, context, context_tokens, query_tokens, retrieved, warnings, begun_at, ended_at, reranked_count, rerank_lost_count)
            OVERRIDING SYSTEM VALUE
        SELECT id, tenant, conversation_id, id, 'ended', 'h', 'question ' || id, corpus, 'new_topic', 1, '{}', '{}', jsonb_build_object('component_versions', version), context,
               8 * jsonb_array_length(context), 2, true, warnings, begun, begun, reranked, lost FROM x RETURNING turn_id),
    messages AS (
        INSERT INTO reground.messages (message_id, tenant, conversation_id, turn_id, message_ref, answer, answer_hash, answer_tokens, model, citation_count, malformed_count, cfs,
                                       decision, created_at)
            OVERRIDING SYSTEM VALUE
        SELECT id, tenant, conversation_id, id, 'm' || id, 'answer ' || id, 'h', 2, model, jsonb_array_length(citations),
               (SELECT count(*) FROM jsonb_array_elements(citations) AS c WHERE c ->> 'status' = 'malformed'), cfs, 'accept', begun + make_interval(secs => ms / 1000.0)
        FROM x JOIN turns ON turn_id = id RETURNING message_id)
    INSERT INTO reground.message_citations (tenant, conversation_id, turn_id, message_id, citation_no, raw, form, corpus, doc_id, status, holds, hallucination_mode, lost_stage,
                                            repaired, answer_start, answer_end, byte_start, byte_end, utf16_start, utf16_end, created_at)
    SELECT x.tenant, x.conversation_id, x.id, x.id, c.no, '[A1]', 'marker', x.corpus, c.e ->> 'doc_id', c.e ->> 'status', (c.e ->> 'holds')::boolean, s.hallucination_mode,
           c.e ->> 'lost_stage', false, 0, 4, 0, 4, 0, 4, x.begun + make_interval(secs => x.ms / 1000.0)
    FROM x JOIN messages ON message_id = x.id, jsonb_array_elements(x.citations) WITH ORDINALITY AS c(e, no), reground.citation_statuses AS s WHERE s.status = c.e ->> 'status'";
