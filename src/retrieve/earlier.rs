//! Earlier turns as a contextual query looks at them: their words, and the embeddings of what was said and cited.

use std::collections::BTreeMap;

use reground_grounding::contextual::EarlierTurn;

use crate::error::Result;
use crate::retrieve::{lexemes, nearest};
use crate::store::corpora::Corpus;
use crate::store::turns::Earlier;

/// The words of the turn's query with their counts, and the earlier turns, in the words of the corpus' configuration. Passages
/// that were cited are read as the caller: those that are gone or invisible by now pull no query.
pub fn read(
    corpus: &Corpus,
    query: &str,
    earlier: &[Earlier],
) -> Result<(BTreeMap<String, u32>, Vec<EarlierTurn>)> {
    let turns = earlier.iter();
    let texts = turns.flat_map(|turn| [turn.past.query.as_str(), turn.answer()]);
    let mut counted = lexemes::counted(&corpus.text_config, texts.chain([query]))?;
    let words = counted.pop().unwrap_or_default();
    let mut counted = counted.into_iter();
    let embeddings = match corpus.column("embedding") {
        Some(_) => nearest::embeddings(corpus, earlier.iter().flat_map(|turn| &turn.passages))?,
        None => BTreeMap::new(),
    };
    let said = earlier
        .iter()
        .map(|turn| EarlierTurn {
            query: counted.next().unwrap_or_default(),
            answer: counted.next().unwrap_or_default(),
            embedding: turn.embedding.clone(),
            cited: turn
                .passages
                .iter()
                .filter_map(|key| embeddings.get(key).cloned())
                .collect(),
        })
        .collect();
    Ok((words, said))
}
