//! Edges from what the documents are called: a document leads to each other one whose title its text has.

use std::collections::{BTreeMap, BTreeSet};

use reground_grounding::query::graph::{LONGEST_NAME, normal_name};

/// Words of the longest title that is looked for.
const MOST_WORDS: usize = 8;
/// Share of the documents that may name a title; one that more of them name is a common word.
const COMMON: f64 = 0.01;

/// A document with its texts.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its title.
    pub title: String,
    /// Key of its first passage.
    pub first: String,
    /// Its passages in order.
    pub texts: Vec<String>,
}

/// That one document names another.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// Title of the document that names.
    pub source: String,
    /// Title of the one that is named.
    pub target: String,
    /// First passage of the latter.
    pub passage: String,
    /// ln(documents / documents that name it): the rarer, the stronger.
    pub weight: f64,
}

/// The mentions among documents, in their order. Of several documents of one title the first is meant.
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

/// The titles that a text has, the longest at each word.
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

/// Letters and digits in their runs.
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
    fn documents_lead_to_those_that_they_name() {
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
