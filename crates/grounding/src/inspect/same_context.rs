//! Whether a turn would have the same context now.

use crate::memory::ContextSource;

/// Whether two contexts have the same sources in the same order: equal markers, passages with all their fields, and facts. Two empty contexts are
/// not the same.
#[must_use]
pub fn is_same_context(then: &[ContextSource], now: &[ContextSource]) -> bool {
    let is_same = |(then, now): (&ContextSource, &ContextSource)| {
        then.marker == now.marker
            && then.candidate.passage == now.candidate.passage
            && then.candidate.member_chunk_ids == now.candidate.member_chunk_ids
            && then.facts == now.facts
    };
    !then.is_empty() && then.len() == now.len() && then.iter().zip(now).all(is_same)
}

#[cfg(test)]
mod tests {
    use super::is_same_context;
    use crate::fixtures::{candidate, passage};
    use crate::memory::{ContextSource, Fact};
    use crate::passage::Origin;
    use reground_documents::PageRange;

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
    fn scores_make_no_difference() {
        let then = [source("1", "one"), source("2", "two")];
        let mut now = then.clone();
        now[1].candidate.fused_score = 0.3;
        now[1].candidate.origin = Origin::Carried;
        assert!(is_same_context(&then, &now));
    }

    #[test]
    fn everything_that_a_reader_sees_makes_a_difference() {
        let then = [source("1", "one"), source("2", "two")];
        let changes: [fn(&mut ContextSource); 12] = [
            |source| source.marker = "B1".to_owned(),
            |source| {
                source.facts = vec![Fact {
                    text: "one".to_owned(),
                    chars: None,
                }]
            },
            |source| source.candidate.member_chunk_ids = vec!["2".to_owned(), "3".to_owned()],
            |source| source.candidate.passage.corpus = "other".to_owned(),
            |source| source.candidate.passage.doc_id = "e".to_owned(),
            |source| source.candidate.passage.chunk_id = "9".to_owned(),
            |source| source.candidate.passage.version = Some(7),
            |source| source.candidate.passage.content = "two and a half".to_owned(),
            |source| source.candidate.passage.title = Some("another".to_owned()),
            |source| source.candidate.passage.published = Some("1950-01-01".to_owned()),
            |source| source.candidate.passage.pages = Some(PageRange { start: 7, end: 7 }),
            |source| source.candidate.passage.uri = Some("https://a.example".to_owned()),
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut now = then.clone();
            change(&mut now[1]);
            assert!(!is_same_context(&then, &now), "change {number}");
        }
    }

    #[test]
    fn order_and_number_make_a_difference() {
        let [a, b] = [source("1", "one"), source("2", "two")];
        let then = [a.clone(), b.clone()];
        for now in [
            vec![],
            vec![a.clone()],
            vec![b.clone(), a.clone()],
            vec![a, b.clone(), b],
        ] {
            assert!(!is_same_context(&then, &now), "{now:?}");
        }
        assert!(!is_same_context(&[], &[]));
    }
}
