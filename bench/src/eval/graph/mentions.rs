//! Graph edges made from titles: a document has an edge to each document whose title its text mentions.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::query::graph::{LONGEST_NAME, normal_name};

/// Longest title, in words.
const MOST_WORDS: usize = 8;
/// Largest share of documents that may mention a title; a more frequent title is a common word.
const COMMON: f64 = 0.01;

/// A document with its texts.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its title.
    pub title: String,
    /// `chunk_id` of its first passage.
    pub first: String,
    /// Its passages in order.
    pub texts: Vec<String>,
}

/// A mention of one document in another.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Title of the mentioning document.
    pub source: String,
    /// Title of the mentioned document.
    pub target: String,
    /// First passage of the mentioned document.
    pub passage: String,
    /// ln(documents / documents that mention it): rare mentions have more weight.
    pub weight: f64,
}

/// The mentions among documents, in their order. If several documents have the same title, the first is the target.
pub fn of(documents: &[Described]) -> Vec<Mention> {
    let mut titled: BTreeMap<String, &Described> = BTreeMap::new();
    for document in documents {
        let title = words(&document.title).join(" ");
        if !title.is_empty() && document.title.chars().count() <= LONGEST_NAME {
            titled.entry(title).or_insert(document);
        }
    }
    let named: Vec<BTreeSet<&str>> = documents
        .iter()
        .map(|document| {
            let texts = document.texts.iter();
            texts.flat_map(|text| titles(text, &titled)).collect()
        })
        .collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for title in named.iter().flatten() {
        *counts.entry(title).or_default() += 1;
    }
    let all = documents.len() as f64;
    let mut mentions = Vec::new();
    for (document, named) in documents.iter().zip(&named) {
        for title in named {
            let share = counts.get(title).map_or(1.0, |&count| count as f64 / all);
            let Some(other) = titled.get(*title) else {
                continue;
            };
            let itself = normal_name(&other.title) == normal_name(&document.title);
            let too_long = document.title.chars().count() > LONGEST_NAME;
            if !itself && !too_long && share <= COMMON {
                mentions.push(Mention {
                    source: document.title.clone(),
                    target: other.title.clone(),
                    passage: other.first.clone(),
                    weight: -share.ln(),
                });
            }
        }
    }
    mentions
}

/// The titles that a text mentions, the longest at each word.
fn titles<'a>(text: &str, titled: &'a BTreeMap<String, &Described>) -> Vec<&'a str> {
    let words = words(text);
    let starts = 0..words.len();
    let longest = starts.filter_map(|start| {
        let most = MOST_WORDS.min(words.len() - start);
        (1..=most).rev().find_map(|count| {
            let stretch = words.get(start..start + count)?.join(" ");
            titled
                .get_key_value(&stretch)
                .map(|(title, _)| title.as_str())
        })
    });
    longest.collect()
}

/// Runs of letters and digits.
fn words(text: &str) -> Vec<String> {
    let normal = normal_name(text);
    let runs = normal.split(|c: char| !c.is_alphanumeric());
    runs.filter(|run| !run.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_edges_to_those_that_they_mention() {
        let document = |title: &str, first: &str, text: &str| Described {
            title: title.into(),
            first: first.into(),
            texts: vec![text.into()],
        };
        let mut all = vec![
            document(
                "Ada Lovelace",
                "1",
                "Ada Lovelace met Charles Babbage and The.",
            ),
            document("Charles Babbage", "2", "He built an engine."),
            document("The", "3", "An article."),
        ];
        all.extend((0..200).map(|n| document(&format!("Town {n}"), "t", "The town.")));
        let mentions = of(&all);
        assert_eq!(mentions.len(), 1, "{mentions:?}");
        let one = &mentions[0];
        assert_eq!(
            (one.source.as_str(), one.target.as_str()),
            ("Ada Lovelace", "Charles Babbage")
        );
        assert_eq!(
            (one.passage.as_str(), one.weight),
            ("2", -(1.0_f64 / 203.0).ln())
        );
    }
}
