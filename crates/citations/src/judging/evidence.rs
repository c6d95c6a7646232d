//! The evidence that an answer is judged by, as the caller supplies it and as units of content.

use std::cell::OnceCell;

use crate::support::{SourceUnits, Vocabulary};
use crate::{Cues, KnownMarker, Lexemes, NamedDocument, NamedPassage, Source, SupportRules};

/// What an answer is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// This turn's context.
    pub sources: &'a [Source],
    /// The markers of the conversation: those of [`crate::registry_names`] are enough.
    pub known: &'a [KnownMarker],
    /// What [`crate::document_requests`] found.
    pub named: &'a [NamedDocument],
    /// The content of each claim, in the order of [`Extraction::claims`].
    pub claims: &'a [Lexemes],
    /// The cues of the language of the corpus; [`Cues::LANGUAGE_FREE`] where it is not known.
    pub cues: &'a Cues,
    /// When support is enough.
    pub rules: SupportRules,
}

/// The evidence with the units of its sources.
pub(super) struct EvidenceUnits<'a> {
    pub evidence: &'a Evidence<'a>,
    pub vocabulary: Vocabulary,
    /// By source of the context.
    pub sources: Vec<SourceUnits<'a>>,
    /// By named document, once a claim is looked for in it: its passages.
    pub named: Vec<OnceCell<Vec<SourceUnits<'a>>>>,
}

impl<'a> EvidenceUnits<'a> {
    /// The passages of a named document.
    pub fn passages(&self, document: usize) -> &[SourceUnits<'a>] {
        let evidence = self.evidence;
        self.named[document].get_or_init(|| {
            let passages = evidence.named[document].passages.iter();
            let read = |passage: &'a NamedPassage| {
                SourceUnits::read(
                    &passage.text,
                    &passage.lexemes,
                    evidence.cues,
                    &self.vocabulary,
                )
            };
            passages.map(read).collect()
        })
    }
}
