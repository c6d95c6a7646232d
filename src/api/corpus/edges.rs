//! Edges of the knowledge graph of a corpus.

use std::collections::{BTreeMap, BTreeSet};

use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use reground_grounding::query::graph::{self, Edge};

use crate::api::{given, writable};
use crate::datum::Json;
use crate::error::{Error, Result};
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::rows;
use crate::store::corpora::{self, Corpus, Hold};
use crate::store::documents;
use crate::store::edges::{self, Which};
use crate::tenant;

#[pg_extern(sql = false)]
fn put_edges(
    corpus: Option<&str>,
    edges: Option<Json>,
    fcinfo: pg_sys::FunctionCallInfo,
) -> std::result::Result<(), ErrorReport> {
    writable("put_edges")?;
    let corpus = writable_corpus(corpus)?;
    let given = graph::edges(&given(edges, "edges")?.value("edges")?).map_err(Error::from)?;
    // Documents are locked in a fixed order, as their deletion locks them. So no edge is stored for a deleted passage.
    let found = documents_of(&corpus, &given)?;
    for document in found.values().collect::<BTreeSet<_>>() {
        documents::lock(corpus.corpus_id, document)?;
    }
    let documents = documents_of(&corpus, &given)?;
    let edges = with_documents(given, &documents)?;
    rows::emit(fcinfo, &[edges::put(&corpus, &edges)?])?;
    Ok(())
}

#[pg_extern(sql = false)]
fn delete_edges(
    corpus: Option<&str>,
    doc_id: Option<&str>,
    chunk_id: Option<&str>,
    entity: Option<&str>,
    everything: Option<bool>,
) -> std::result::Result<i64, ErrorReport> {
    writable("delete_edges")?;
    let everything = given(everything, "everything")?;
    let some = doc_id.is_some() || chunk_id.is_some() || entity.is_some();
    if some == everything {
        return Err(Error::Bad {
            argument: "everything",
            fault: match everything {
                true => "it is true, but the call also names edges".into(),
                false => "it is false, and the call names no edges".into(),
            },
            hint: "Pass doc_id, chunk_id or entity, or everything => true to delete all edges of the corpus.".into(),
        }
        .into());
    }
    let corpus = writable_corpus(corpus)?;
    let entity = entity.map(graph::normal_name);
    let which = Which {
        doc_id,
        chunk_ids: chunk_id.map(|chunk_id| vec![chunk_id.to_owned()]),
        entity: entity.as_deref(),
        tenant: None,
    };
    Ok(delete_visible(&corpus, which)?)
}

/// Deletes edges whose passages the caller can read, so that neither the count nor the effect reveals hidden rows. If no rows can
/// be hidden, edges of passages that no longer exist are deleted too.
fn delete_visible(corpus: &Corpus, which: Which<'_>) -> Result<i64> {
    if corpus.is_readable()? && !corpus.may_hide_rows()? {
        return edges::delete(corpus.corpus_id, which);
    }
    let passages = edges::passages(corpus.corpus_id, &which)?;
    let visible = passages::documents_of(corpus, &Filter::default(), passages.iter())?;
    edges::delete(
        corpus.corpus_id,
        Which {
            chunk_ids: Some(visible.into_keys().collect()),
            ..which
        },
    )
}

/// Locks a corpus whose edges this role can write, which requires the privilege to write its passages.
fn writable_corpus(name: Option<&str>) -> Result<Corpus> {
    let name = given(name, "corpus")?;
    let corpus = corpora::held(&tenant::if_any(), name, Hold::Write)?.in_place()?;
    if !corpus.is_writable()? {
        return Err(Error::MayNotWrite(corpus.name));
    }
    Ok(corpus)
}

/// Returns the documents of the passages of edges, by passage, as far as the caller can read them.
fn documents_of(corpus: &Corpus, edges: &[Edge]) -> Result<BTreeMap<String, String>> {
    let chunk_ids = edges.iter().map(|edge| &edge.chunk_id);
    passages::documents_of(corpus, &Filter::default(), chunk_ids)
}

/// Adds the documents of their passages to edges. Errors: 22023 if a passage does not exist, or belongs to another document.
fn with_documents(edges: Vec<Edge>, documents: &BTreeMap<String, String>) -> Result<Vec<Edge>> {
    let with_document = |(edge, number): (Edge, usize)| {
        let Some(document) = documents.get(&edge.chunk_id) else {
            let fault = format!("there is no passage \"{}\"", edge.chunk_id);
            return Err(graph::invalid(number, &fault).into());
        };
        if edge.doc_id.as_ref().is_some_and(|given| given != document) {
            let fault = format!(
                "passage \"{}\" is of document \"{document}\"",
                edge.chunk_id
            );
            return Err(graph::invalid(number, &fault).into());
        }
        Ok(Edge {
            doc_id: Some(document.clone()),
            ..edge
        })
    };
    edges.into_iter().zip(1..).map(with_document).collect()
}
