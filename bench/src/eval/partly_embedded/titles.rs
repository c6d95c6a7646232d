//! Questions that repeat the title of a document.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::question::Question;
use crate::data::corpus::{Address, Corpus};
use crate::data::embedder::Embedder;
use crate::data::queries::Query;
use crate::data::titles::titles;
use crate::eval::corpora::JudgedCorpus;
use crate::statistics::random::SplitMix;

/// Questions of a corpus.
const QUESTIONS: usize = 150;
/// Seed of their choice.
const SEED: u64 = 5;

/// A random choice of titles that only one document has. All passages of the document are relevant.
pub fn questions(
    corpus: &Corpus,
    judged: &JudgedCorpus,
    embedder: &mut Embedder,
) -> Result<Vec<Question>> {
    let mut documents: BTreeMap<String, BTreeSet<&String>> = BTreeMap::new();
    for passage in &corpus.passages {
        let document = Address::of(corpus.domain, &passage.id).document;
        documents.entry(document).or_default().insert(&passage.id);
    }
    let mut by_title: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (document, title) in titles(corpus) {
        by_title.entry(title).or_default().push(document);
    }
    let mut chosen: Vec<(String, String)> = by_title
        .into_iter()
        .filter_map(
            |(title, documents)| match <[String; 1]>::try_from(documents) {
                Ok([document]) => Some((title, document)),
                Err(_) => None,
            },
        )
        .collect();
    SplitMix(SEED).shuffle(&mut chosen);
    chosen.truncate(QUESTIONS);
    let texts: Vec<&str> = chosen.iter().map(|(title, _)| title.as_str()).collect();
    let embeddings = embedder.embed("titles", &texts)?;
    let questions = chosen.iter().zip(embeddings);
    let questions = questions.map(|((title, document), embedding)| {
        let passages = documents.get(document).into_iter().flatten().copied();
        Question {
            cluster: document.clone(),
            query: Query {
                id: document.clone(),
                turn: 1,
                text: title.clone(),
                embedding,
            },
            relevant: judged.duplicates.of_ids(passages),
        }
    });
    Ok(questions.collect())
}
