//! Resolves structured locators.

use super::source_index::{AfterLookup, DOCUMENT_ONLY, Lookup, Resolution, SourceIndex, exact};
use super::sources::{DocumentRequest, Source, Target};
use crate::{LocatorRange, Position};

impl SourceIndex<'_> {
    /// Resolves to the sources of the context that contain the whole place. Otherwise documents with the place must
    /// be looked up.
    pub(super) fn place(&self, range: &LocatorRange) -> Lookup {
        let containing = self.sources_at(|own| own.contains(range));
        if !containing.is_empty() {
            return exact(containing, false);
        }
        let target = Target::Locator(range.clone());
        let asked = DocumentRequest {
            target,
            at: Position::default(),
        };
        let touching = self.sources_at(|own| own.touches(range));
        Lookup::Request(asked, AfterLookup::Place(touching))
    }

    /// Resolves a place that no source of the context contains, after the lookup.
    pub(super) fn resolve_in_work(&self, touching: Vec<usize>, found: Vec<usize>) -> Resolution {
        if !touching.is_empty() {
            return Resolution::Context {
                sources: touching,
                fidelity: DOCUMENT_ONLY,
                repaired: false,
            };
        }
        if found.is_empty() {
            return Resolution::Unknown;
        }
        Resolution::OutsideContext { documents: found }
    }

    fn sources_at(&self, fits: impl Fn(&LocatorRange) -> bool) -> Vec<usize> {
        let matches = |source: &Source| source.locators.as_ref().is_some_and(&fits);
        let sources = self.sources.iter().enumerate();
        let fitting = sources.filter(|(_, source)| matches(source));
        fitting.map(|(index, _)| index).collect()
    }
}
