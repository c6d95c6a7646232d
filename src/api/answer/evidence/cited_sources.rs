//! The sources of the citations of a stored answer: where the quotes are, and the text around them.

use std::collections::{BTreeMap, BTreeSet};

use reground_citations::{Grammar, Markup};
use reground_grounding::end::evidence::{CitedText, Evidence};
use reground_grounding::end::parse_answer::{self, ParsedAnswer};
use reground_grounding::memory::ContextSource;
use reground_grounding::passage::Passage;
use reground_grounding::settings::Settings;
use reground_interrupt::check_interrupt;

use crate::api::answer::hidden_citations::load_shown;
use crate::error::Result;
use crate::retrieve::document_parts::{self, WantedPart};
use crate::retrieve::filter::Filter;
use crate::retrieve::passages;
use crate::store::corpora::{self, Corpus};
use crate::store::messages::{self, Message, StoredCitation};
use crate::store::turns::{self, Turn};

/// Work of one citation, in the steps that [`check_interrupt`] counts.
const CITATION_WORK: usize = 4096;

/// A stored answer with its turn and its citations.
pub(super) struct StoredAnswer {
    pub message: Message,
    pub turn: Turn,
    pub settings: Settings,
    pub citations: Vec<StoredCitation>,
}

impl StoredAnswer {
    /// Reads an answer. Errors: as [`load_shown`].
    pub fn load(tenant: &str, message_id: i64) -> Result<Self> {
        let message = load_shown(tenant, message_id)?;
        let turn = turns::load(tenant, message.turn_id)?;
        Ok(Self {
            settings: serde_json::from_value(turn.settings.clone())?,
            citations: messages::citations(tenant, message_id)?,
            message,
            turn,
        })
    }

    /// The parsed answer; `None` if its text was not stored.
    pub fn parsed(&self) -> Result<Option<ParsedAnswer<'_>>> {
        let Some(text) = self.message.answer.as_deref() else {
            return Ok(None);
        };
        let citations = self.message.citations.as_ref();
        let grammar = self.grammar()?;
        Ok(Some(parse_answer::parse_answer(text, &grammar, citations)?))
    }

    /// The markup around the facts of the answer; none if an API returned the citations, because they replace those in the text.
    pub fn markup(&self) -> Result<Markup> {
        match (&self.message.answer, &self.message.citations) {
            (Some(text), None) => Ok(Markup::of(text, &self.grammar()?)),
            _ => Ok(Markup::default()),
        }
    }

    fn grammar(&self) -> Result<Grammar> {
        Ok(parse_answer::grammar(&self.settings, &self.turn.context)?)
    }

    /// The source of the context that a citation resolved to.
    pub fn source(&self, citation: &StoredCitation) -> Option<&ContextSource> {
        let marker = citation.marker.as_deref()?;
        let doc_id = citation.doc_id.as_deref()?;
        self.turn
            .context
            .iter()
            .find(|source| source.marker == marker && source.candidate.passage.doc_id == doc_id)
    }
}

/// The evidence of each citation, in order.
pub(super) fn evidence(tenant: &str, answer: &StoredAnswer) -> Result<Vec<Evidence>> {
    let rows = Rows::read(tenant, answer)?;
    let mut found = Vec::with_capacity(answer.citations.len());
    for citation in &answer.citations {
        check_interrupt(CITATION_WORK);
        found.push(rows.cited(answer, citation).locate());
    }
    for corpus in rows.corpora.values().filter(|corpus| corpus.managed) {
        check(corpus, &rows, answer, &mut found)?;
    }
    Ok(found.into_iter().map(Evidence::confirmed).collect())
}

/// The present rows of the cited passages.
struct Rows {
    /// The corpora that the caller can read.
    corpora: BTreeMap<String, Corpus>,
    /// By corpus and chunk id.
    passages: BTreeMap<(String, String), Passage>,
}

impl Rows {
    fn read(tenant: &str, answer: &StoredAnswer) -> Result<Self> {
        let mut wanted: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for citation in &answer.citations {
            let Some(corpus) = citation.corpus.as_deref().filter(|name| !name.is_empty()) else {
                continue;
            };
            let ids = wanted.entry(corpus).or_default();
            ids.extend(Self::chunk_ids(answer, citation).into_iter().cloned());
        }
        let mut rows = Self {
            corpora: BTreeMap::new(),
            passages: BTreeMap::new(),
        };
        for (name, chunk_ids) in wanted {
            let Some(corpus) = corpora::usable_under(&answer.settings, tenant, name)? else {
                continue;
            };
            let read = passages::by_key(&corpus, &Filter::default(), &chunk_ids)?;
            let read = read
                .into_iter()
                .map(|(id, row)| ((name.to_owned(), id), row));
            rows.passages.extend(read);
            rows.corpora.insert(name.to_owned(), corpus);
        }
        Ok(rows)
    }

    /// The ids of the cited passage, or of the passages that it was merged of.
    fn chunk_ids<'a>(answer: &'a StoredAnswer, citation: &'a StoredCitation) -> Vec<&'a String> {
        match answer.source(citation) {
            Some(source) => source.candidate.member_chunk_ids.iter().collect(),
            None => citation.chunk_id.iter().collect(),
        }
    }

    /// The texts that may contain the quote of a citation. An id that another document has now is ignored.
    fn cited<'a>(
        &'a self,
        answer: &'a StoredAnswer,
        citation: &'a StoredCitation,
    ) -> CitedText<'a> {
        let corpus = citation.corpus.as_deref().unwrap_or_default();
        let chunk_ids = Self::chunk_ids(answer, citation);
        let rows: Vec<&Passage> = chunk_ids
            .iter()
            .filter_map(|id| self.passages.get(&(corpus.to_owned(), (*id).clone())))
            .filter(|row| Some(row.doc_id.as_str()) == citation.doc_id.as_deref())
            .collect();
        // A hidden source hides the whole answer, so a row that cannot be read was deleted. The versions of documents tell what happened
        // to the passages of other corpora.
        let registered = self.corpora.get(corpus).filter(|corpus| !corpus.managed);
        CitedText {
            source: answer.source(citation),
            is_deleted: registered.is_some() && rows.is_empty() && !chunk_ids.is_empty(),
            rows,
            quote: citation.quote.as_deref(),
            chars: citation
                .quote_start
                .zip(citation.quote_end)
                .map(|(start, end)| start..end),
            content_hash: citation.source_hash.as_deref(),
        }
    }
}

/// Takes the text around quotes from the cited versions of documents that `put_document` stored.
fn check(
    corpus: &Corpus,
    rows: &Rows,
    answer: &StoredAnswer,
    found: &mut [Evidence],
) -> Result<()> {
    let cited = answer.citations.iter().zip(found.iter()).enumerate();
    let wanted: Vec<WantedPart<'_>> = cited
        .filter(|(_, (citation, _))| citation.corpus.as_deref() == Some(corpus.name.as_str()))
        .filter_map(|(index, (citation, evidence))| {
            let read = rows
                .cited(answer, citation)
                .rows
                .first()
                .and_then(|row| row.version);
            Some(WantedPart {
                index,
                doc_id: citation.doc_id.as_deref()?,
                version: citation.source_version.or(read)?,
                part: evidence.wanted()?,
            })
        })
        .collect();
    let texts = document_parts::read(corpus, &wanted)?;
    // A document that was given as passages has no text. Its positions are those that the application gave.
    for (index, text) in &texts {
        if let Some(evidence) = found.get_mut(*index) {
            evidence.check(text);
        }
    }
    Ok(())
}
