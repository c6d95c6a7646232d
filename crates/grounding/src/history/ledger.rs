//! The ledger: a list of every source that a conversation has cited, for the model.
//!
//! ```text
//! Sources cited so far, by document:
//! - Installing the server: [A1] p. 12; [A2] pp. 13–14
//! - faq.md: [B1]
//! ```
//!
//! A document has its title, else its address, else its id. A passage has its structured locator and pages; without them
//! its marker stands alone. All names are escaped as in the block of the sources, so none of them adds a line, a marker or a
//! delimiter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reground_interrupt::checked;
use reground_tokens::count;
use serde::{Deserialize, Serialize};

use super::messages::{Block, HistoryRules, Role};
use crate::passage::{CharRange, locator};
use crate::prompt::escape::escape_line;
use crate::settings::MarkerStyle;

const HEADING: &str = "Sources cited so far, by document:\n";

/// Characters of the longest name or place that is not cut. The ledger goes into every prompt.
const MOST_CHARACTERS: usize = 120;

/// A source that an answer has cited, from the conversation's registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CitedSource {
    /// Its marker.
    pub marker: String,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The document's version.
    pub version: Option<i32>,
    /// Title of the document.
    pub title: Option<String>,
    /// Address of the document.
    pub uri: Option<String>,
    /// Place of the passage in its document, for readers.
    pub locator: Option<String>,
}

impl CitedSource {
    /// The source without a locator that only repeats its range of characters.
    #[must_use]
    pub fn for_readers(self, chars: Option<CharRange>) -> Self {
        let characters = locator(None, None, chars);
        Self {
            locator: self
                .locator
                .filter(|place| Some(place) != characters.as_ref()),
            ..self
        }
    }
}

/// The ledger of a history: none if the history is not compressed, or if nothing was cited.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    pub(super) block: Option<Block>,
    /// Number of its sources.
    pub(super) sources: usize,
}

impl Ledger {
    /// The ledger of a history under these rules. `cited` lists all sources that the conversation has cited, in their
    /// order in the ledger.
    #[must_use]
    pub fn of(cited: &[CitedSource], rules: &HistoryRules) -> Self {
        if rules.max_tokens.is_none() || cited.is_empty() {
            return Self::default();
        }
        let documents = by_document(cited);
        let content = write(&documents);
        Self {
            block: Some(Block {
                turn_no: None,
                role: Role::Sources,
                tokens: tokens(&content),
                content,
                shortened: false,
            }),
            sources: documents
                .iter()
                .map(|document| document.passages.len())
                .sum(),
        }
    }

    pub(super) fn tokens(&self) -> usize {
        self.block.as_ref().map_or(0, |block| block.tokens)
    }
}

/// The passages of one version of a document, in their order.
struct CitedDocument<'a> {
    first: &'a CitedSource,
    /// Whether passages of another version are cited, too.
    has_versions: bool,
    passages: Vec<&'a CitedSource>,
}

/// The cited sources by document, in the order of first occurrence. Each marker occurs once.
fn by_document(cited: &[CitedSource]) -> Vec<CitedDocument<'_>> {
    let mut documents: Vec<CitedDocument<'_>> = Vec::new();
    let mut positions = BTreeMap::new();
    let mut versions: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for source in checked(cited) {
        if !seen.insert(&source.marker) {
            continue;
        }
        let document = (&source.corpus, &source.doc_id);
        versions.entry(document).or_default().insert(source.version);
        let position = *positions
            .entry((document, source.version))
            .or_insert(documents.len());
        match documents.get_mut(position) {
            Some(document) => document.passages.push(source),
            None => documents.push(CitedDocument {
                first: source,
                has_versions: false,
                passages: vec![source],
            }),
        }
    }
    for document in &mut documents {
        let versions = versions.get(&(&document.first.corpus, &document.first.doc_id));
        document.has_versions = versions.is_some_and(|versions| versions.len() > 1);
    }
    documents
}

// Writing to a `String` cannot fail, so the results of `write!` are ignored below.

/// The text of the ledger.
fn write(documents: &[CitedDocument<'_>]) -> String {
    let mut out = HEADING.to_owned();
    for document in documents {
        out.push_str("- ");
        out.push_str(&name(document.first));
        if let Some(version) = document.first.version.filter(|_| document.has_versions) {
            let _ = write!(out, " (version {version})");
        }
        for (at, source) in document.passages.iter().enumerate() {
            let separator = if at == 0 { ": " } else { "; " };
            let _ = write!(out, "{separator}[{}]", source.marker);
            if let Some(place) = &source.locator {
                out.push(' ');
                out.push_str(&line(place));
            }
        }
        out.push('\n');
    }
    out
}

/// The name of a document for the model.
fn name(source: &CitedSource) -> String {
    let title = source.title.as_ref().or(source.uri.as_ref());
    line(title.unwrap_or(&source.doc_id))
}

/// The beginning of a text as one line, escaped.
fn line(text: &str) -> String {
    let cut = match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    };
    // A conversation can contain markers of both styles, so both are escaped.
    escape_line(&cut, MarkerStyle::Numbered)
}

/// o200k_base tokens of a ledger. No token spans two of its lines: each begins with a dash, which never merges with a line break. The
/// lines are counted one by one, because a turn changes a few lines of a long ledger, and `count` has the others in its cache.
fn tokens(ledger: &str) -> usize {
    ledger.split_inclusive('\n').map(count).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    prop_compose! {
        fn any_source()(
            marker in "[A-C][1-3]", doc_id in "[ab/]\\PC{0,6}", title in proptest::option::of("[\\PC\n\r\t\u{b}\u{c}\u{85}\u{2028}/]{0,12}"),
            locator in proptest::option::of("[\\PC\n\u{2029}/]{0,12}"), version in 1..3,
        ) -> CitedSource {
            CitedSource { marker, corpus: "c".to_owned(), doc_id, version: Some(version), title, uri: None, locator }
        }
    }

    proptest! {
        #[test]
        fn lines_have_the_tokens_of_the_ledger(cited in proptest::collection::vec(any_source(), 0..12)) {
            let ledger = write(&by_document(&cited));
            prop_assert_eq!(tokens(&ledger), count(&ledger), "{:?}", ledger);
        }
    }
}
