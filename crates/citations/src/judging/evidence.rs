//! The evidence that an answer is judged by: the arguments of the caller, and the same as units of content.

use std::cell::OnceCell;

use crate::support::{SourceUnits, Vocabulary};
use crate::{Cues, KnownMarker, Lexemes, NamedDocument, NamedPassage, Source, SupportRules};

/// The evidence that an answer is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The sources of this turn's context.
    pub sources: &'a [Source],
    /// Markers of the conversation. Those in [`crate::registry_names`] are enough.
    pub known: &'a [KnownMarker],
    /// The documents found for [`crate::document_requests`].
    pub named: &'a [NamedDocument],
    /// The lexemes of each text of [`Extraction::compared_texts`](crate::Extraction::compared_texts).
    pub claims: &'a [Lexemes],
    /// The cues for the language of the corpus; [`Cues::LANGUAGE_FREE`] if it is unknown.
    pub cues: &'a Cues,
    /// The thresholds of support.
    pub rules: SupportRules,
}

/// The evidence, and its sources as units.
pub(super) struct EvidenceUnits<'a> {
    pub evidence: &'a Evidence<'a>,
    pub vocabulary: Vocabulary,
    /// The units of each source of the context.
    pub sources: Vec<SourceUnits<'a>>,
    /// The units of the passages of each named document, read at the first use.
    pub named: Vec<OnceCell<Vec<SourceUnits<'a>>>>,
}

impl<'a> EvidenceUnits<'a> {
    /// Returns the units of the passages of a named document.
    pub fn passages(&self, document: usize) -> &[SourceUnits<'a>] {
        let evidence = self.evidence;
        self.named[document].get_or_init(|| {
            let passages = evidence.named[document].passages.iter();
            let read = |passage: &'a NamedPassage| {
                SourceUnits::read(
                    &passage.content,
                    &passage.lexemes,
                    evidence.cues,
                    &self.vocabulary,
                )
            };
            passages.map(read).collect()
        })
    }
}
