//! The sentences of a passage, with their positions.

use reground_documents::sentence_spans;
use reground_interrupt::{CHECK_INTERVAL, check_interrupt, checked};
use std::ops::Range;

use crate::citation::Ruler;

/// The sentences of a passage, in order.
pub(crate) struct Sentences(pub Vec<Sentence>);

pub(crate) struct Sentence {
    pub bytes: Range<usize>,
    pub chars: Range<usize>,
}

impl Sentences {
    pub fn of(text: &str) -> Self {
        let mut ruler = Ruler::new(text);
        let sentences = checked(sentence_spans(text)).filter_map(|span| {
            let raw = &text[span.clone()];
            check_interrupt(raw.len().min(CHECK_INTERVAL));
            let start = span.start + raw.len() - raw.trim_start().len();
            let bytes = start..start + raw.trim().len();
            (!bytes.is_empty()).then(|| Sentence {
                chars: ruler.span(bytes.clone()).chars,
                bytes,
            })
        });
        Self(sentences.collect())
    }
}
