//! Which stored sources are hidden from the caller: they exist for the owner of the relation, but the caller may not read them.
//! Functions omit stored text that comes from them. A source that was deleted or replaced is hidden only if the caller may
//! not read the last version of its document.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::memory::{ContextSource, LookAhead, SourceKey};
use reground_grounding::passage::Candidate;
use serde::Deserialize;

use crate::error::Result;
use crate::retrieve::passages::{document_clause, passage_clause};
use crate::run_as::as_relation_owner;
use crate::sql::{self, Caught, PLAN_EACH_TIME};
use crate::store::corpora::{self, Corpus, Side};
use crate::store::earlier_turns::{self, Earlier};

/// Returns the sources that are hidden from the caller, as [`Reader::hidden`].
pub fn hidden(
    tenant: &str,
    sources: impl IntoIterator<Item = SourceKey>,
) -> Result<BTreeSet<SourceKey>> {
    Reader::of(tenant).hidden(sources)
}

/// Returns the turns, of those given, that are hidden from the caller, as [`Reader::hidden_turns`].
pub fn hidden_turns(tenant: &str, turn_ids: &[i64]) -> Result<BTreeSet<i64>> {
    Reader::of(tenant).hidden_turns(turn_ids)
}

/// What the caller may read, as far as it was found out. It must not outlive a statement, because rights change.
pub struct Reader {
    tenant: String,
    /// The corpora that may hide rows from the caller, once they are known; each is loaded when a source of it is looked up.
    hiding: Option<BTreeMap<String, Option<Corpus>>>,
    /// Sources that were looked up, and whether they are hidden.
    known: BTreeMap<SourceKey, bool>,
    /// Turns that were looked up, and whether they have a hidden source.
    turns: BTreeMap<i64, bool>,
    ahead: LookAhead,
}

impl Reader {
    /// The caller, who acts for a tenant.
    pub fn of(tenant: &str) -> Self {
        Self {
            tenant: tenant.to_owned(),
            hiding: None,
            known: BTreeMap::new(),
            turns: BTreeMap::new(),
            ahead: LookAhead::default(),
        }
    }

    /// The tenant that the caller acts for.
    pub fn tenant(&self) -> &str {
        &self.tenant
    }

    /// Returns the sources that are hidden from the caller. Sources without a corpus (`add_passages`, `record_turn`) belong to the tenant
    /// and are never hidden. Relations are read only for corpora that may hide rows, with one statement for each if all passages are visible.
    pub fn hidden(
        &mut self,
        sources: impl IntoIterator<Item = SourceKey>,
    ) -> Result<BTreeSet<SourceKey>> {
        let mut sources: BTreeSet<SourceKey> = sources.into_iter().collect();
        if sources.is_empty() {
            return Ok(sources);
        }
        let hiding = self.hiding()?;
        sources.retain(|source| hiding.contains_key(&source.corpus));
        let mut unknown: BTreeMap<String, BTreeSet<SourceKey>> = BTreeMap::new();
        for source in &sources {
            if !self.known.contains_key(source) {
                let of_corpus = unknown.entry(source.corpus.clone()).or_default();
                of_corpus.insert(source.clone());
            }
        }
        for (name, sources) in unknown {
            let hidden = match self.corpus(&name)? {
                Some(corpus) => hidden_of(corpus, &sources)?,
                None => BTreeSet::new(),
            };
            let looked_up = sources.into_iter().map(|source| {
                let is_hidden = hidden.contains(&source);
                (source, is_hidden)
            });
            self.known.extend(looked_up);
        }
        let is_hidden = |source: &SourceKey| self.known.get(source) == Some(&true);
        Ok(sources.into_iter().filter(is_hidden).collect())
    }

    /// Returns the turns whose context or citations have a hidden source. An answer can contain text of a source that it does not cite, so
    /// the whole context counts.
    pub fn hidden_turns(&mut self, turn_ids: &[i64]) -> Result<BTreeSet<i64>> {
        if turn_ids.is_empty() || self.hiding()?.is_empty() {
            return Ok(BTreeSet::new());
        }
        let stored = earlier_turns::sources(&self.tenant, turn_ids)?;
        let hidden = self.hidden(stored.iter().map(|(_, source)| source.clone()))?;
        let turns = stored
            .into_iter()
            .filter(|(_, source)| hidden.contains(source))
            .map(|(turn_id, _)| turn_id);
        Ok(turns.collect())
    }

    /// Whether a turn has a hidden source. In a pass over a table, the next turns are looked up with it.
    pub fn hides_turn(&mut self, turn_id: i64) -> Result<bool> {
        if let Some(hides) = self.turns.get(&turn_id) {
            return Ok(*hides);
        }
        let turn_ids: Vec<i64> = self.ahead.from(turn_id).collect();
        let hidden = self.hidden_turns(&turn_ids)?;
        let looked_up = turn_ids.into_iter().map(|id| (id, hidden.contains(&id)));
        self.turns.extend(looked_up);
        Ok(hidden.contains(&turn_id))
    }

    /// A corpus that may hide rows.
    fn corpus(&mut self, name: &str) -> Result<Option<&Corpus>> {
        let tenant = self.tenant.clone();
        let Some(corpus) = self.hiding()?.get_mut(name) else {
            return Ok(None);
        };
        if corpus.is_none() {
            *corpus = corpora::find(&tenant, name)?;
        }
        Ok(corpus.as_ref())
    }

    /// The corpora that may hide rows.
    fn hiding(&mut self) -> Result<&mut BTreeMap<String, Option<Corpus>>> {
        let names = match self.hiding {
            Some(_) => Vec::new(),
            None => corpora::hiding(&self.tenant)?,
        };
        let unread = || names.into_iter().map(|name| (name, None)).collect();
        Ok(self.hiding.get_or_insert_with(unread))
    }
}

/// Returns earlier turns of a conversation, without the answers and titles of hidden turns. A search must not be expanded with words that
/// the caller may no longer read.
pub fn without_hidden_answers(reader: &mut Reader, turns: Vec<Earlier>) -> Result<Vec<Earlier>> {
    let turn_ids: Vec<i64> = turns.iter().map(|turn| turn.turn_id).collect();
    let hidden = reader.hidden_turns(&turn_ids)?;
    let shown = turns
        .into_iter()
        .map(|turn| match hidden.contains(&turn.turn_id) {
            true => turn.without_answer(),
            false => turn,
        });
    Ok(shown.collect())
}

/// Returns the sources of a context without hidden ones. A merged source is hidden if one of its passages is.
pub fn visible(tenant: &str, context: Vec<ContextSource>) -> Result<Vec<ContextSource>> {
    let candidates = context.iter().map(|source| &source.candidate);
    let hidden = hidden(tenant, candidates.flat_map(SourceKey::members))?;
    let is_visible = |source: &ContextSource| !is_hidden(&source.candidate, &hidden);
    Ok(context.into_iter().filter(is_visible).collect())
}

/// Whether one of the passages of a candidate is hidden.
pub fn is_hidden(candidate: &Candidate, hidden: &BTreeSet<SourceKey>) -> bool {
    !hidden.is_empty() && SourceKey::members(candidate).any(|key| hidden.contains(&key))
}

/// Returns the hidden sources, of those given, of one corpus that may hide rows.
fn hidden_of(corpus: &Corpus, sources: &BTreeSet<SourceKey>) -> Result<BTreeSet<SourceKey>> {
    if corpus.relation.is_none() {
        return Ok(BTreeSet::new());
    }
    let passages = sources.iter().map(|source| &source.chunk_id);
    let visible = readable(corpus, Keys::Passages, passages)?;
    let is_missing = |source: &&SourceKey| !visible.contains(&source.chunk_id);
    let missing: Vec<SourceKey> = sources.iter().filter(is_missing).cloned().collect();
    if missing.is_empty() {
        return Ok(BTreeSet::new());
    }
    let existing = existing(corpus, &missing)?;
    // A passage of an earlier version is hidden with its document.
    let is_replaced = |source: &&SourceKey| {
        !existing.passages.contains(&source.chunk_id) && existing.documents.contains(&source.doc_id)
    };
    let replaced = missing.iter().filter(is_replaced);
    let documents = readable(corpus, Keys::Documents, replaced.map(|s| &s.doc_id))?;
    let is_deleted = |source: &&SourceKey| {
        !existing.passages.contains(&source.chunk_id)
            && !existing.documents.contains(&source.doc_id)
    };
    let deleted = missing.iter().filter(is_deleted);
    let withheld = withheld(corpus, deleted.map(|s| s.doc_id.clone()).collect())?;
    let is_hidden = |source: &SourceKey| {
        existing.passages.contains(&source.chunk_id)
            || (existing.documents.contains(&source.doc_id) && !documents.contains(&source.doc_id))
            || withheld.contains(&source.doc_id)
    };
    Ok(missing.into_iter().filter(is_hidden).collect())
}

/// The ids that a statement compares.
#[derive(Clone, Copy)]
enum Keys {
    Passages,
    Documents,
}

/// Returns the ids of which the caller may read a passage: none if the corpus cannot be read, and none if a policy or a view raises an
/// error.
fn readable<'a>(
    corpus: &Corpus,
    keys: Keys,
    ids: impl Iterator<Item = &'a String>,
) -> Result<BTreeSet<String>> {
    let ids: BTreeSet<&String> = ids.collect();
    if ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let read = sql::guarded(|| {
        let corpus = corpus.clone().in_place()?;
        if !corpus.is_readable()? {
            return Ok(BTreeSet::new());
        }
        found(&corpus, &corpus.relations()?, keys, ids)
    });
    read.or_else(none_if_lasting)
}

/// Ids that exist, including those that the caller may not read.
#[derive(Default)]
struct Existing {
    passages: BTreeSet<String>,
    documents: BTreeSet<String>,
}

/// Returns which passages and documents exist for the owner of the relation. All of them, if the owner does not see every row: deleted and
/// hidden rows then look the same, and a right that may have been revoked must not be assumed.
fn existing(corpus: &Corpus, sources: &[SourceKey]) -> Result<Existing> {
    let passages = || sources.iter().map(|source| &source.chunk_id);
    let documents = || sources.iter().map(|source| &source.doc_id);
    let read = sql::guarded(|| {
        as_relation_owner(corpus.clone(), |corpus| {
            let from = match &corpus.relation {
                Some(relation) if sees_every_row(corpus)? => format!("{relation} AS p"),
                _ => return Ok(None),
            };
            Ok(Some(Existing {
                passages: found(corpus, &from, Keys::Passages, passages())?,
                documents: found(corpus, &from, Keys::Documents, documents())?,
            }))
        })
    });
    let read = read.or_else(none_if_lasting)?;
    Ok(read.unwrap_or_else(|| Existing {
        passages: passages().cloned().collect(),
        documents: documents().cloned().collect(),
    }))
}

/// Returns the documents without passages, of those given, whose last version the caller may not read. The table of documents of a
/// managed corpus keeps the versions of a deleted document, with their principals, if the corpus keeps versions.
fn withheld(corpus: &Corpus, doc_ids: BTreeSet<String>) -> Result<BTreeSet<String>> {
    if doc_ids.is_empty() || !corpus.managed || corpus.documents.is_none() {
        return Ok(BTreeSet::new());
    }
    let ids: Vec<String> = doc_ids.iter().cloned().collect();
    let last = sql::guarded(|| {
        as_relation_owner(corpus.clone(), |corpus| {
            let documents = match &corpus.documents {
                Some(documents) if sees_every_row_of(documents)? => documents,
                _ => return Ok(None),
            };
            let rows: Vec<LastVersion> = sql::read_rows(
                &format!(
                    "SELECT d.doc_id, max(d.version) AS version FROM {documents} AS d WHERE d.doc_id = ANY ($1::text[]) GROUP BY d.doc_id"
                ),
                &[ids.into()],
            )?;
            Ok(Some(rows))
        })
    });
    // A right that may have been revoked must not be assumed.
    let Some(last) = last.or_else(none_if_lasting)? else {
        return Ok(doc_ids);
    };
    let (ids, versions): (Vec<String>, Vec<i32>) = last
        .into_iter()
        .map(|last| (last.doc_id, last.version))
        .unzip();
    if ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let kept: BTreeSet<String> = ids.iter().cloned().collect();
    let read = sql::guarded(|| {
        let corpus = corpus.clone().in_place()?;
        let documents = match corpus.visible_documents() {
            Some(documents) if corpus.is_readable()? => documents,
            _ => return Ok(Vec::new()),
        };
        sql::read_rows::<LastVersion>(
            &format!(
                "SELECT d.doc_id, d.version FROM {documents} WHERE (d.doc_id, d.version) IN (SELECT * FROM unnest($1::text[], $2::integer[])) {PLAN_EACH_TIME}"
            ),
            &[ids.into(), versions.into()],
        )
    });
    let read: BTreeSet<String> = read
        .or_else(none_if_lasting)?
        .into_iter()
        .map(|last| last.doc_id)
        .collect();
    Ok(kept.difference(&read).cloned().collect())
}

/// The last version of a document.
#[derive(Deserialize)]
struct LastVersion {
    doc_id: String,
    version: i32,
}

/// Whether the current role sees every row of the relation of the passages, as [`sees_every_row_of`].
fn sees_every_row(corpus: &Corpus) -> Result<bool> {
    let ids = ["chunk_id", "doc_id"].map(|meaning| corpus.mapping.get(meaning));
    if ids
        .into_iter()
        .flatten()
        .any(|id| id.side != Side::Passages)
    {
        return Ok(false);
    }
    match &corpus.relation {
        Some(relation) => sees_every_row_of(relation),
        None => Ok(false),
    }
}

/// Whether the current role sees every row of a relation: of a table, without row-level security for this role.
pub fn sees_every_row_of(relation: &str) -> Result<bool> {
    let sees = sql::read_one::<bool>(
        "SELECT c.relkind IN ('r', 'p', 'm') AND NOT row_security_active(c.oid) FROM pg_class AS c WHERE c.oid = to_regclass($1)::oid",
        &[relation.into()],
    )?;
    Ok(sees == Some(true))
}

/// Returns which ids occur in the rows of a FROM clause.
fn found<'a>(
    corpus: &Corpus,
    from: &str,
    keys: Keys,
    ids: impl IntoIterator<Item = &'a String>,
) -> Result<BTreeSet<String>> {
    #[derive(Deserialize)]
    struct Row {
        id: String,
    }
    let (id, (clause, ids)) = match keys {
        Keys::Passages => (corpus.key()?, passage_clause(corpus, 1, ids)?),
        Keys::Documents => (corpus.document()?, document_clause(corpus, 1, ids)?),
    };
    if ids.is_empty() {
        return Ok(BTreeSet::new());
    }
    let statement = format!("SELECT DISTINCT {id}::text AS id FROM {from} WHERE {clause}");
    let rows: Vec<Row> = sql::read_rows(&statement, &[ids.into()])?;
    Ok(rows.into_iter().map(|row| row.id).collect())
}

/// Nothing, for an error that would occur again; an error that another attempt may avoid is raised.
pub fn none_if_lasting<T: Default>(caught: Caught) -> Result<T> {
    match caught.is_lock_timeout() || caught.needs_repeat() {
        true => caught.rethrow(),
        false => Ok(T::default()),
    }
}
