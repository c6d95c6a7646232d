//! Whether a turn would have the same context now.

use std::collections::BTreeSet;

use crate::memory::ContextSource;

/// Whether two contexts show the same passages with the same markers, texts and titles. An empty context is equal to none.
#[must_use]
pub fn is_same_context(then: &[ContextSource], now: &[ContextSource]) -> bool {
    let shown =
        |context: &[ContextSource]| -> BTreeSet<Shown> { context.iter().map(Shown::of).collect() };
    !then.is_empty() && then.len() == now.len() && shown(then) == shown(now)
}

/// What the model sees of a source, and its keys.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Shown {
    marker: String,
    keys: [String; 3],
    member_chunk_ids: Vec<String>,
    title: Option<String>,
    content: String,
    facts_only: bool,
}

impl Shown {
    fn of(source: &ContextSource) -> Self {
        let passage = &source.candidate.passage;
        Self {
            marker: source.marker.clone(),
            keys: [
                passage.corpus.clone(),
                passage.doc_id.clone(),
                passage.chunk_id.clone(),
            ],
            member_chunk_ids: source.candidate.member_chunk_ids.clone(),
            title: passage.title.clone(),
            content: passage.content.clone(),
            facts_only: source.is_remembered(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_same_context;
    use crate::fixtures::{candidate, passage};
    use crate::memory::ContextSource;

    fn source(chunk_id: &str, content: &str) -> ContextSource {
        ContextSource {
            marker: format!("A{chunk_id}"),
            position: 1,
            candidate: candidate(passage("d", chunk_id, 0, 0, content), 0.1),
            facts: Vec::new(),
            retrieval_no: 0,
        }
    }

    #[test]
    fn passages_markers_texts_and_titles_decide() {
        let (a, b) = (source("1", "one"), source("2", "two"));
        let then = [a.clone(), b.clone()];
        assert!(is_same_context(&then, &[b.clone(), a.clone()]));
        let mut titled = b.clone();
        titled.candidate.passage.title = Some("another".to_owned());
        let changed = source("2", "two and a half");
        let mut marked = b.clone();
        marked.marker = "B1".to_owned();
        for now in [
            vec![],
            vec![a.clone()],
            vec![a.clone(), a.clone()],
            vec![a.clone(), b.clone(), source("3", "three")],
            vec![a.clone(), titled],
            vec![a.clone(), marked],
            vec![a, changed],
        ] {
            assert!(!is_same_context(&then, &now), "{now:?}");
        }
        assert!(!is_same_context(&[], &[]));
    }
}
