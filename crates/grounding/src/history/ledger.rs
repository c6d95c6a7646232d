//! The ledger: a compact list of every source that a conversation has cited.
//!
//! ```text
//! Cited before: document@version, then marker, place and hash of each passage
//! # manual
//! guide.pdf@3 A1 p12 1a2b3c4d; A2 p13-14 99aabbcc
//! "the [first] draft" B1 c120-560 0f0e0d0c
//! ```
//!
//! A line `# corpus` precedes the documents of a corpus. A place is pages (`p12`, `p13-14`), else characters
//! (`c120-560`), else the passage's key (`#key`). `-` stands for a missing marker, and a document without versions has
//! no `@`. A name with other characters than letters, digits and a few signs is written as a JSON string with all other
//! characters escaped. So no id can end its line, look like a marker in brackets or a tag, or contain invisible
//! characters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use reground_documents::PageRange;
use reground_interrupt::{CHECK_INTERVAL, check_interrupt, checked};
use serde::{Deserialize, Serialize};

use crate::memory::BoundMarker;
use crate::passage::CharRange;

const HEADING: &str =
    "Cited before: document@version, then marker, place and hash of each passage\n";
/// Characters of a hash that are written: enough to distinguish the passages of a conversation.
const HASH: usize = 8;
/// Signs allowed in a bare name.
const BARE: &str = "._-/:?&%+~";
/// Signs that are not escaped in a quoted name.
const QUOTED: &str = " !$'()*,;=@#._-/:?&%+~";

/// A source that an answer has cited, from the conversation's registry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CitedSource {
    /// Its marker; `None` for a source that was cited by name and was never in a context.
    pub marker: Option<String>,
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The passage's key.
    pub chunk_id: String,
    /// The document's version.
    pub version: Option<i32>,
    /// Pages.
    pub pages: Option<PageRange>,
    /// Characters.
    pub chars: Option<CharRange>,
    /// Place of the passage in its document, for readers.
    pub locator: Option<String>,
    /// Content hash (hex).
    pub content_hash: String,
}

impl From<BoundMarker> for CitedSource {
    fn from(bound: BoundMarker) -> Self {
        Self {
            marker: Some(bound.marker),
            corpus: bound.corpus,
            doc_id: bound.doc_id,
            chunk_id: bound.chunk_id,
            version: bound.version,
            pages: bound.pages,
            chars: bound.chars,
            locator: bound.locator,
            content_hash: bound.content_hash,
        }
    }
}

/// The place of a cited passage in its document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coordinates {
    /// Pages.
    Pages(PageRange),
    /// Characters, if the pages are not known.
    Chars(CharRange),
    /// The passage's key, if nothing else is known.
    Passage(String),
}

/// A source as the ledger shows it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Tuple {
    /// Name of the corpus.
    pub corpus: String,
    /// The document's key.
    pub doc_id: String,
    /// The document's version.
    pub version: Option<i32>,
    /// Its marker.
    pub marker: Option<String>,
    /// Its place in the document.
    pub coordinates: Coordinates,
    /// The first eight characters of the content hash.
    pub content_hash: String,
}

impl From<&CitedSource> for Tuple {
    fn from(source: &CitedSource) -> Self {
        let coordinates = match (source.pages, source.chars) {
            (Some(pages), _) => Coordinates::Pages(pages),
            (None, Some(chars)) => Coordinates::Chars(chars),
            (None, None) => Coordinates::Passage(source.chunk_id.clone()),
        };
        Self {
            corpus: source.corpus.clone(),
            doc_id: source.doc_id.clone(),
            version: source.version,
            marker: source.marker.clone(),
            coordinates,
            content_hash: source.content_hash.chars().take(HASH).collect(),
        }
    }
}

/// Each source once, grouped by corpus and document, in the order of first occurrence.
pub(super) fn tuples(cited: &[CitedSource]) -> Vec<Tuple> {
    let mut seen = BTreeSet::new();
    let tuples = checked(cited).map(Tuple::from);
    let mut tuples: Vec<Tuple> = tuples.filter(|tuple| seen.insert(tuple.clone())).collect();
    let (mut corpora, mut documents) = (BTreeMap::new(), BTreeMap::new());
    for (at, tuple) in tuples.iter().enumerate() {
        corpora.entry(tuple.corpus.clone()).or_insert(at);
        documents.entry(document(tuple)).or_insert(at);
    }
    tuples.sort_by_cached_key(|tuple| {
        (
            corpora.get(&tuple.corpus).copied(),
            documents.get(&document(tuple)).copied(),
        )
    });
    tuples
}

fn document(tuple: &Tuple) -> (String, String, Option<i32>) {
    (tuple.corpus.clone(), tuple.doc_id.clone(), tuple.version)
}

// Writing to a `String` cannot fail, so the results of `write!` are ignored below.

/// The text of the ledger. The tuples have to be grouped by corpus and document.
pub(super) fn write(tuples: &[Tuple]) -> String {
    let mut out = HEADING.to_owned();
    for corpus in tuples.chunk_by(|one, next| one.corpus == next.corpus) {
        out.push_str("# ");
        if let Some(first) = corpus.first() {
            name(&mut out, &first.corpus);
        }
        out.push('\n');
        for document in
            corpus.chunk_by(|one, next| one.doc_id == next.doc_id && one.version == next.version)
        {
            for (at, tuple) in document.iter().enumerate() {
                if at == 0 {
                    name(&mut out, &tuple.doc_id);
                    if let Some(version) = tuple.version {
                        let _ = write!(out, "@{version}");
                    }
                } else {
                    out.push(';');
                }
                passage(&mut out, tuple);
            }
            out.push('\n');
        }
    }
    out
}

fn passage(out: &mut String, tuple: &Tuple) {
    out.push(' ');
    match &tuple.marker {
        Some(marker) => name(out, marker),
        None => out.push('-'),
    }
    out.push(' ');
    let _ = match &tuple.coordinates {
        Coordinates::Pages(pages) if pages.start == pages.end => write!(out, "p{}", pages.start),
        Coordinates::Pages(pages) => write!(out, "p{}-{}", pages.start, pages.end),
        Coordinates::Chars(range) => write!(out, "c{}-{}", range.start, range.end),
        Coordinates::Passage(key) => {
            out.push('#');
            name(out, key);
            Ok(())
        }
    };
    out.push(' ');
    name(out, &tuple.content_hash);
}

/// Writes a name, bare if it cannot be misread, else quoted.
fn name(out: &mut String, text: &str) {
    if !text.is_empty() && text != "-" && checked(text.chars()).all(bare) {
        out.push_str(text);
        return;
    }
    out.push('"');
    for c in checked(text.chars()) {
        if c.is_alphanumeric() || QUOTED.contains(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out.push('"');
}

fn bare(c: char) -> bool {
    c.is_alphanumeric() || BARE.contains(c)
}

/// The tuples of a ledger, in its order; `None` if the text is not a ledger. An empty text has no tuples.
#[must_use]
pub fn read_ledger(text: &str) -> Option<Vec<Tuple>> {
    let mut tuples = Vec::new();
    if text.is_empty() {
        return Some(tuples);
    }
    let mut corpus = None;
    for line in checked(text.strip_prefix(HEADING)?.lines()) {
        let mut reader = Reader(line);
        if reader.skip("# ") {
            corpus = Some(reader.name()?);
        } else {
            let corpus = corpus.as_ref()?;
            let doc_id = reader.name()?;
            let version = match reader.skip("@") {
                true => Some(reader.number()?),
                false => None,
            };
            loop {
                tuples.push(Tuple {
                    corpus: corpus.clone(),
                    doc_id: doc_id.clone(),
                    version,
                    marker: reader.marker()?,
                    coordinates: reader.coordinates()?,
                    content_hash: reader.after_space(Reader::name)?,
                });
                if !reader.skip(";") {
                    break;
                }
            }
        }
        if !reader.0.is_empty() {
            return None;
        }
    }
    Some(tuples)
}

/// The unread rest of a line.
struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn skip(&mut self, prefix: &str) -> bool {
        let rest = self.0.strip_prefix(prefix);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn after_space<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.skip(" ").then_some(())?;
        read(self)
    }

    fn name(&mut self) -> Option<String> {
        let (name, length) = if self.0.starts_with('"') {
            let mut strings = serde_json::Deserializer::from_str(self.0).into_iter::<String>();
            (strings.next()?.ok()?, strings.byte_offset())
        } else {
            let end = self.0.find(|c| !bare(c)).unwrap_or(self.0.len());
            (self.0.get(..end)?.to_owned(), end)
        };
        check_interrupt(length.min(CHECK_INTERVAL));
        self.0 = self.0.get(length..)?;
        (length > 0).then_some(name)
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        let digits = |c: char| c.is_ascii_digit() || c == '-';
        // A minus sign is only part of a number before its first digit; otherwise it separates the bounds of a range.
        let end = self
            .0
            .char_indices()
            .find(|&(at, c)| !digits(c) || (at > 0 && c == '-'))
            .map_or(self.0.len(), |(at, _)| at);
        let (number, rest) = self.0.split_at_checked(end)?;
        self.0 = rest;
        number.parse().ok()
    }

    fn marker(&mut self) -> Option<Option<String>> {
        self.after_space(|reader| {
            if reader.0.starts_with("- ") {
                reader.skip("-");
                return Some(None);
            }
            reader.name().map(Some)
        })
    }

    fn coordinates(&mut self) -> Option<Coordinates> {
        self.after_space(|reader| {
            if reader.skip("#") {
                return reader.name().map(Coordinates::Passage);
            }
            let pages = reader.skip("p");
            if !pages {
                reader.skip("c").then_some(())?;
            }
            let start = reader.number()?;
            let end = match reader.skip("-") {
                true => reader.number()?,
                false if pages => start,
                false => return None,
            };
            Some(if pages {
                Coordinates::Pages(PageRange { start, end })
            } else {
                Coordinates::Chars(CharRange { start, end })
            })
        })
    }
}
