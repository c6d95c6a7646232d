//! Data sets of claims with cited texts and human labels.

use std::path::Path;

use anyhow::Result;
use reground_citations::{Families, extract};
use serde::Deserialize;

use super::json_lines;

/// A set of labelled claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// AttributionBench, dev.
    AttributionBench,
    /// WiCE, dev: sentences and whole cited articles; *supported* against the other labels.
    Wice,
    /// WiCE, dev: the same sentences with excerpts of the articles.
    WiceChunks,
    /// CiteCheck, dev, Chinese.
    CiteCheck,
}

/// Label of a claim by humans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// The texts support the claim.
    Supported,
    /// The texts support a part of the claim; only WiCE has this label.
    Partial,
    /// The texts do not support the claim.
    Unsupported,
}

/// A claim, its cited texts and its label.
#[derive(Clone, Debug)]
pub struct Item {
    /// The claim without citations.
    pub claim: String,
    /// The cited texts.
    pub texts: Vec<String>,
    /// Whether they support the claim.
    pub label: Label,
    /// The question of the answer; the claims of one question are in one fold.
    pub question: String,
    /// Part of the set.
    pub part: String,
}

#[derive(Deserialize)]
struct Attribution {
    question: String,
    claim: String,
    references: Vec<String>,
    attribution_label: String,
    src_dataset: String,
}

#[derive(Deserialize)]
struct Article {
    label: String,
    claim: String,
    evidence: Vec<String>,
    meta: Meta,
}

#[derive(Deserialize)]
struct Meta {
    id: String,
}

#[derive(Deserialize)]
struct Statement {
    query: String,
    statement: String,
    quote: String,
    label: u8,
}

impl Label {
    /// Whether the texts support the whole claim.
    pub fn holds(self) -> bool {
        self == Self::Supported
    }

    fn of(holds: bool) -> Self {
        if holds {
            Self::Supported
        } else {
            Self::Unsupported
        }
    }
}

impl Set {
    /// All variants, in the order of the report.
    pub const ALL: [Self; 4] = [
        Self::AttributionBench,
        Self::Wice,
        Self::WiceChunks,
        Self::CiteCheck,
    ];

    /// Its name in the report.
    pub fn name(self) -> &'static str {
        match self {
            Self::AttributionBench => "AttributionBench",
            Self::Wice => "WiCE, articles",
            Self::WiceChunks => "WiCE, excerpts",
            Self::CiteCheck => "CiteCheck",
        }
    }

    /// The text search configuration and the language of its texts.
    pub fn language(self) -> (&'static str, &'static str) {
        match self {
            Self::CiteCheck => ("simple", "zh"),
            _ => ("english", "english"),
        }
    }

    /// Its claims.
    ///
    /// # Errors
    /// Missing or malformed files.
    pub fn read(self, data: &Path) -> Result<Vec<Item>> {
        match self {
            Self::AttributionBench => attributions(&data.join("attributionbench/dev.jsonl.gz")),
            Self::Wice => articles(&data.join("wice/claim_dev.jsonl.gz")),
            Self::WiceChunks => articles(&data.join("wice/oracle_chunks_claim_dev.jsonl.gz")),
            Self::CiteCheck => statements(&data.join("citecheck_zh/dev.jsonl.gz")),
        }
    }
}

fn attributions(path: &Path) -> Result<Vec<Item>> {
    let item = |read: Attribution| Item {
        claim: without_citations(&read.claim),
        texts: read
            .references
            .iter()
            .map(|text| without_number(text).to_owned())
            .collect(),
        label: Label::of(read.attribution_label == "attributable"),
        question: read.question,
        part: read.src_dataset,
    };
    Ok(json_lines(path)?.into_iter().map(item).collect())
}

fn articles(path: &Path) -> Result<Vec<Item>> {
    let item = |read: Article| Item {
        claim: read.claim,
        texts: vec![read.evidence.join("\n")],
        label: match read.label.as_str() {
            "partially_supported" => Label::Partial,
            label => Label::of(label == "supported"),
        },
        question: read.meta.id,
        part: String::new(),
    };
    Ok(json_lines(path)?.into_iter().map(item).collect())
}

fn statements(path: &Path) -> Result<Vec<Item>> {
    let item = |read: Statement| Item {
        claim: read.statement,
        texts: vec![without_number(&read.quote).to_owned()],
        label: Label::of(read.label == 1),
        question: read.query,
        part: String::new(),
    };
    Ok(json_lines(path)?.into_iter().map(item).collect())
}

/// Removes the citations that the extension extracts.
fn without_citations(claim: &str) -> String {
    let mut kept = String::new();
    let mut from = 0;
    for citation in extract(claim, &Families::ALL).citations {
        let bytes = citation.span.bytes;
        kept.push_str(claim.get(from..bytes.start).unwrap_or_default());
        from = from.max(bytes.end);
    }
    kept.push_str(claim.get(from..).unwrap_or_default());
    kept
}

/// Removes the number of the reference list, `[2] …`.
fn without_number(text: &str) -> &str {
    let number = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    match number {
        Some((digits, rest)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest.trim_start()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{without_citations, without_number};

    #[test]
    fn markers_are_removed() {
        assert_eq!(without_citations("It is so [2][3]."), "It is so .");
        assert_eq!(
            without_number("[12] https://a.example"),
            "https://a.example"
        );
        assert_eq!(without_number("[see] it"), "[see] it");
    }
}
