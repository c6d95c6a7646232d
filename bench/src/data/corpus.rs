//! Passages and their documents.

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Domain, Folder, json_lines, vectors};

/// A passage of a corpus file.
#[derive(Debug, Clone, Deserialize)]
pub struct Passage {
    /// Contains the document and the character positions.
    #[serde(rename = "_id")]
    pub id: String,
    /// Title of the document, or empty.
    pub title: String,
    /// Address of the document, or empty.
    pub url: String,
    /// The indexed text.
    pub text: String,
}

/// First character, and one past the last.
type Range = (u32, u32);

/// The document and the position that a passage id contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Id of the document.
    pub document: String,
    /// Position in the document, if the id contains one.
    pub range: Option<Range>,
}

impl Address {
    /// Parses `DOCUMENT_START-END-…` (clapnq) or `DOCUMENT-START-END` (cloud and fiqa).
    pub fn of(domain: Domain, id: &str) -> Self {
        let separator = match domain {
            Domain::Clapnq => '_',
            Domain::Cloud | Domain::Fiqa => '-',
        };
        let (document, rest) = id.split_once(separator).unwrap_or((id, ""));
        let mut numbers = rest.split('-').map_while(|number| number.parse().ok());
        let range = numbers.next().zip(numbers.next());
        Self {
            document: document.to_owned(),
            range: range.filter(|(start, end)| start < end),
        }
    }
}

/// A document, composed of its passages.
#[derive(Debug)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// The first title among its passages.
    pub title: Option<String>,
    /// The first address among its passages.
    pub uri: Option<String>,
    /// Its passages by position, in the shape of `put_document`.
    pub passages: Vec<Value>,
}

/// A corpus with its embeddings.
#[derive(Debug)]
pub struct Corpus {
    /// Its domain.
    pub domain: Domain,
    /// Passages in the order of the file.
    pub passages: Vec<Passage>,
    /// The embedding of each passage.
    pub embeddings: Vec<Vec<f32>>,
}

impl Corpus {
    /// Reads the passages and embeddings of a domain.
    ///
    /// # Errors
    /// Missing or malformed files, or files whose row counts differ.
    pub fn read(folder: &Folder, domain: Domain) -> Result<Self> {
        let name = domain.name();
        let passages: Vec<Passage> = json_lines(&folder.file(&format!("corpus/{name}.jsonl.gz")))?;
        let embeddings = vectors::read(folder, name, passages.len())?;
        Ok(Self {
            domain,
            passages,
            embeddings,
        })
    }

    /// SHA-256 (hex) of all loaded fields.
    pub fn digest(&self) -> String {
        let mut digest = Sha256::new();
        for passage in &self.passages {
            for field in [&passage.id, &passage.title, &passage.url, &passage.text] {
                digest.update((field.len() as u64).to_le_bytes());
                digest.update(field);
            }
        }
        for value in self.embeddings.iter().flatten() {
            digest.update(value.to_le_bytes());
        }
        digest
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// The documents by id, their passages by position.
    pub fn documents(&self) -> Vec<Document> {
        let mut groups: BTreeMap<String, Vec<(Option<Range>, &Passage)>> = BTreeMap::new();
        for passage in &self.passages {
            let address = Address::of(self.domain, &passage.id);
            groups
                .entry(address.document)
                .or_default()
                .push((address.range, passage));
        }
        groups
            .into_iter()
            .map(|(id, mut passages)| {
                passages.sort_by_key(|(range, _)| *range);
                self.document(id, &passages)
            })
            .collect()
    }

    fn document(&self, id: String, passages: &[(Option<Range>, &Passage)]) -> Document {
        let first = |field: fn(&Passage) -> &str| {
            passages
                .iter()
                .map(|(_, passage)| field(passage))
                .find(|value| !value.is_empty())
                .map(str::to_owned)
        };
        Document {
            id,
            title: first(|passage| &passage.title),
            // In clapnq this field contains a pattern, not an address.
            uri: match self.domain {
                Domain::Clapnq => None,
                Domain::Cloud | Domain::Fiqa => first(|passage| &passage.url),
            },
            passages: passages
                .iter()
                .map(|(range, passage)| {
                    json!({
                        "content": passage.text,
                        "char_start": range.map(|range| range.0),
                        "char_end": range.map(|range| range.1),
                        "metadata": {"id": passage.id},
                    })
                })
                .collect(),
        }
    }

    /// Number of passages whose text starts with their title.
    pub fn titled_texts(&self) -> usize {
        self.passages
            .iter()
            .filter(|passage| !passage.title.is_empty() && passage.text.starts_with(&passage.title))
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(id: &str, title: &str) -> Passage {
        Passage {
            id: id.into(),
            title: title.into(),
            url: "https://example.org/a".into(),
            text: format!("{title}\nbody"),
        }
    }

    #[test]
    fn ids_contain_document_and_range() {
        let wikipedia = Address::of(Domain::Clapnq, "502521937_10538-10692-0-150");
        assert_eq!(wikipedia.document, "502521937");
        assert_eq!(wikipedia.range, Some((10_538, 10_692)));
        let cloud = Address::of(Domain::Cloud, "ibmcld_00001-10013-11257");
        assert_eq!(cloud.document, "ibmcld_00001");
        assert_eq!(cloud.range, Some((10_013, 11_257)));
        let forum = Address::of(Domain::Fiqa, "100045-0-277");
        assert_eq!(forum.document, "100045");
        assert_eq!(forum.range, Some((0, 277)));
    }

    #[test]
    fn an_id_without_a_range_is_a_document() {
        for id in ["x", "x-", "x-1", "x-9-3", "x-a-b"] {
            let address = Address::of(Domain::Cloud, id);
            assert_eq!((address.document.as_str(), address.range), ("x", None));
        }
    }

    #[test]
    fn passages_are_ordered_by_position() {
        let corpus = Corpus {
            domain: Domain::Cloud,
            passages: vec![
                passage("b-90-99", ""),
                passage("a-0-9", ""),
                passage("b-100-110", "Bee"),
                passage("b-0-80", ""),
            ],
            embeddings: Vec::new(),
        };
        let documents = corpus.documents();
        let ids: Vec<&str> = documents.iter().map(|document| &*document.id).collect();
        assert_eq!(ids, ["a", "b"]);
        let places: Vec<&Value> = documents[1]
            .passages
            .iter()
            .map(|p| &p["metadata"]["id"])
            .collect();
        assert_eq!(places, ["b-0-80", "b-90-99", "b-100-110"]);
        assert_eq!(documents[1].title.as_deref(), Some("Bee"));
    }

    #[test]
    fn the_digest_covers_every_field() {
        let corpus = |title: &str, value: f32| Corpus {
            domain: Domain::Cloud,
            passages: vec![passage("a-0-9", title)],
            embeddings: vec![vec![value]],
        };
        let digest = corpus("", 1.0).digest();
        assert_eq!(corpus("", 1.0).digest(), digest);
        assert_ne!(corpus("T", 1.0).digest(), digest);
        assert_ne!(corpus("", 0.5).digest(), digest);
    }
}
