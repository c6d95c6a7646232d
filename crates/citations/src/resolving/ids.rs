//! Resolves ids: complete, shortened or misspelled.

use reground_interrupt::checked;

use super::source_index::{AfterLookup, Lookup, Resolution, SourceIndex, exact, names_of};
use super::sources::{DocumentRequest, Target};
use crate::Interval;

/// Shortest prefix that can stand for an id, in characters.
const SHORTEST_BEGINNING: usize = 7;
/// Shortest name that is matched with one missing letter, in characters. Shorter names match by chance.
const SHORTEST_REPAIRED: usize = 4;

impl SourceIndex<'_> {
    /// Resolves an id of a document or passage, a prefix of it, or a misspelling that matches only one source.
    pub(super) fn id(&self, id: &str, pages: Option<Interval>) -> Lookup {
        if self.by_marker.contains_key(id) || self.known_markers.contains_key(id) {
            return self.marker(id, pages);
        }
        let long_enough = id.len() >= SHORTEST_BEGINNING;
        let begins = |key: &str| key == id || long_enough && key.starts_with(id);
        let keys = self.by_passage.range(id..);
        let mut fitting: Vec<usize> = keys
            .take_while(|(key, _)| key.starts_with(id))
            .filter(|(key, _)| begins(key))
            .flat_map(|(_, sources)| sources.iter().copied())
            .collect();
        fitting.sort_unstable();
        fitting.dedup();
        if let [source] = fitting[..] {
            return self.passage(source, pages);
        }
        let mut documents = self
            .by_doc_id
            .range(id..)
            .take_while(|(key, _)| key.starts_with(id));
        if let (Some((key, _)), None) = (documents.next(), documents.next())
            && begins(key)
        {
            return self.document(key, pages);
        }
        let marker = id.to_uppercase();
        if let Some(&source) = self.by_marker.get(marker.as_str()) {
            return exact(vec![source], true);
        }
        if self.named_in_context(id).is_some() || !long_enough {
            return self.document(id, pages);
        }
        let target = Target::Id(id.to_owned());
        let at = pages.into();
        Lookup::Request(DocumentRequest { target, at }, AfterLookup::Name(None))
    }

    /// Resolves a result of a tool call by its name, or by its number if there was only one call.
    pub(super) fn result(&self, turn: u32, kind: &str, number: u32) -> Lookup {
        let name = format!("turn{turn}{kind}{}", number.saturating_sub(1));
        if let Some([source]) = self.by_passage.get(name.as_str()).map(Vec::as_slice) {
            return exact(vec![*source], false);
        }
        if self.named_in_context(&name).is_some() {
            return self.document(&name, None);
        }
        match self.by_ordinal.get(&number).filter(|_| turn == 0) {
            Some(&source) => exact(vec![source], false),
            None => Lookup::Settled(Resolution::Unknown),
        }
    }

    /// Returns the sources that a name matches if case and white space are ignored and one letter may be missing.
    pub(super) fn misspelled(&self, name: &str) -> Vec<usize> {
        if name.chars().count() < SHORTEST_REPAIRED {
            return Vec::new();
        }
        let cited = folded(name);
        let fits = |own: &str| {
            let own = folded(own);
            own == cited || lacks_a_letter(&cited, &own)
        };
        let sources = checked(self.sources.iter().enumerate());
        sources
            .filter(|(_, source)| names_of(source).any(fits))
            .map(|(index, _)| index)
            .collect()
    }
}

fn folded(name: &str) -> Vec<char> {
    let signs = name.chars().filter(|c| !c.is_whitespace());
    signs.flat_map(char::to_lowercase).collect()
}

/// Returns whether `short` is `full` without one letter. A digit does not count as a letter: `page1` is not `page12`.
fn lacks_a_letter(short: &[char], full: &[char]) -> bool {
    if short.len() + 1 != full.len() {
        return false;
    }
    let same = short.iter().zip(full).take_while(|(a, b)| a == b).count();
    full.get(same).is_some_and(|c| c.is_alphabetic()) && short[same..] == full[same + 1..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_missing_letter_but_no_missing_digit() {
        let lacks = |short: &str, full: &str| lacks_a_letter(&folded(short), &folded(full));
        assert!(lacks("Anual Report", "annual report"));
        assert!(lacks("guid", "guide"));
        assert!(!lacks("guide", "guide"));
        assert!(!lacks("guide1", "guide12"));
        assert!(!lacks("guiding", "guide"));
    }
}
