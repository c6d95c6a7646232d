//! Whether the sources of a turn still have the same text, by hash.

use std::collections::BTreeMap;

use crate::begin::collapse::collapse;
use crate::caller::caller_passages::KEY_DIGITS;
use crate::passage::date::epoch_seconds;
use crate::passage::{Candidate, Origin, Passage, RowText};
use crate::settings::Settings;

/// The present state of a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// The same text.
    Unchanged,
    /// Another text, or a passage of another document.
    Changed,
    /// Deleted, or not visible to this role.
    Gone,
}

impl SourceState {
    /// The stable name for display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Gone => "gone",
        }
    }
}

/// A passage, or several merged ones, as a turn used it.
#[derive(Clone, Copy, Debug)]
pub struct CitedPassage<'a> {
    /// The document.
    pub doc_id: &'a str,
    /// Keys of its passages, in text order.
    pub member_chunk_ids: &'a [String],
    /// The hash of its text, or a prefix of it (hex).
    pub content_hash: &'a str,
    /// The row and the number of characters, if it is a window.
    pub window: Option<(&'a RowText, u32)>,
}

impl CitedPassage<'_> {
    /// Whether its key is the begin of the hash of its text, as an imported passage gets one that was given without a key.
    #[must_use]
    fn is_named_by_text(&self) -> bool {
        let is_of_text = |key: &str| key.len() == KEY_DIGITS && self.content_hash.starts_with(key);
        matches!(self.member_chunk_ids, [key] if is_of_text(key))
    }
}

/// The hash of the current text, if it is still one text, and its state. `now` has the current passages of the corpus
/// by key. A window is unchanged if its row is; its hash is that of the text at the same place.
#[must_use]
pub fn source_state(
    seen: CitedPassage<'_>,
    now: &BTreeMap<String, Passage>,
) -> (Option<String>, SourceState) {
    let found: Vec<&Passage> = seen
        .member_chunk_ids
        .iter()
        .filter_map(|key| now.get(key))
        .collect();
    if found.len() < seen.member_chunk_ids.len() || found.is_empty() {
        return (None, SourceState::Gone);
    }
    let parts = found
        .iter()
        .map(|passage| Candidate::bare((*passage).clone(), Origin::Fresh));
    // A merged source stays merged, whatever the present limit of a merge.
    let merging = Settings {
        merge_adjacent: true,
        max_merged_tokens: usize::MAX,
        ..Settings::default()
    };
    let (mut whole, _) = collapse(parts.collect(), &merging);
    let one = whole.pop().filter(|_| whole.is_empty());
    let one = one.map(|one| one.passage);
    let same_row = match (&one, seen.window) {
        (Some(one), Some((row, _))) => one.content_hash == row.content_hash,
        (one, _) => one.is_some(),
    };
    let shown = match seen.window {
        None => one,
        Some((row, length)) => one.and_then(|one| one.window_at(row.start, length)),
    };
    let hash = shown.map(|shown| shown.content_hash);
    let same_document = found.iter().all(|passage| passage.doc_id == seen.doc_id);
    let same_text = hash
        .as_deref()
        .is_some_and(|hash| !seen.content_hash.is_empty() && hash.starts_with(seen.content_hash));
    let state = if same_document && same_row && same_text {
        SourceState::Unchanged
    } else {
        SourceState::Changed
    };
    (hash, state)
}

/// The mapped version and time of change of a source when it was cited.
#[derive(Clone, Copy, Debug, Default)]
pub struct CitedVersion<'a> {
    /// The version, if one was mapped.
    pub version: Option<i32>,
    /// The time of change as the corpus gave it, if one was mapped.
    pub modified: Option<&'a str>,
}

/// The state of cited rows since they were cited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// They have the cited version, time of change or text.
    Current,
    /// They have another one, or belong to another document.
    Changed,
    /// They do not exist any more.
    Deleted,
}

impl RowState {
    /// The stable name for display.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// The state of a row of a registered table since it was cited. A mapped version decides, otherwise a mapped time, otherwise the text. `None`
/// if the source never was a row.
#[must_use]
pub fn state_since(
    seen: CitedPassage<'_>,
    cited: CitedVersion<'_>,
    now: &BTreeMap<String, Passage>,
) -> Option<RowState> {
    let rows = seen.member_chunk_ids.iter().map(|key| now.get(key));
    let rows = rows.collect::<Option<Vec<&Passage>>>().unwrap_or_default();
    let Some(first) = rows.first() else {
        return (!seen.is_named_by_text()).then_some(RowState::Deleted);
    };
    let is_same_document = rows.iter().all(|row| row.doc_id == seen.doc_id);
    let is_unchanged = match (cited.version, first.version) {
        (Some(then), Some(now)) => then == now,
        _ => {
            let time = |text: Option<&str>| text.and_then(epoch_seconds);
            match (time(cited.modified), time(first.modified.as_deref())) {
                (Some(then), Some(now)) => then.to_bits() == now.to_bits(),
                _ => source_state(seen, now).1 == SourceState::Unchanged,
            }
        }
    };
    Some(match is_same_document && is_unchanged {
        true => RowState::Current,
        false => RowState::Changed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::passage;
    use reground_documents::content_hash_hex;

    fn state_of(members: &[&str], content_hash: &str, now: &[Passage]) -> SourceState {
        let members: Vec<String> = members.iter().map(|key| (*key).to_owned()).collect();
        let now = now
            .iter()
            .map(|p| (p.chunk_id.clone(), p.clone()))
            .collect();
        let seen = CitedPassage {
            doc_id: "d",
            member_chunk_ids: &members,
            content_hash,
            window: None,
        };
        source_state(seen, &now).1
    }

    #[test]
    fn a_mapped_version_decides_then_a_time_then_the_text() {
        let hash = content_hash_hex("alpha beta");
        let members = ["1".to_owned()];
        let state = |text: &str, version, modified: Option<&str>, cited| {
            let mut row = passage("d", "1", 0, 0, text);
            row.version = version;
            row.modified = modified.map(str::to_owned);
            let seen = CitedPassage {
                doc_id: "d",
                member_chunk_ids: &members,
                content_hash: &hash,
                window: None,
            };
            state_since(seen, cited, &BTreeMap::from([("1".to_owned(), row)]))
        };
        let cited = CitedVersion {
            version: Some(3),
            modified: Some("2026-05-01T10:00:00+00:00"),
        };
        let early = Some("2026-05-01T12:00:00+02:00");
        let late = Some("2026-05-02T12:00:00+02:00");
        assert_eq!(
            state("gamma", Some(3), late, cited),
            Some(RowState::Current)
        );
        assert_eq!(
            state("alpha beta", Some(4), early, cited),
            Some(RowState::Changed)
        );
        // The version is not mapped any more.
        assert_eq!(state("gamma", None, early, cited), Some(RowState::Current));
        assert_eq!(
            state("alpha beta", None, late, cited),
            Some(RowState::Changed)
        );
        assert_eq!(
            state("alpha beta", None, None, cited),
            Some(RowState::Current)
        );
        assert_eq!(
            state("gamma", Some(4), late, CitedVersion::default()),
            Some(RowState::Changed)
        );
        let gone = CitedPassage {
            doc_id: "d",
            member_chunk_ids: &members,
            content_hash: &hash,
            window: None,
        };
        assert_eq!(
            state_since(gone, cited, &BTreeMap::new()),
            Some(RowState::Deleted)
        );
        let by_text = [hash[..KEY_DIGITS].to_owned()];
        let imported = CitedPassage {
            member_chunk_ids: &by_text,
            ..gone
        };
        assert_eq!(state_since(imported, cited, &BTreeMap::new()), None);
    }

    #[test]
    fn a_key_of_the_text_is_no_key_of_a_row() {
        let hash = content_hash_hex("alpha beta");
        let is_named_by_text = |members: &[&str]| {
            let members: Vec<String> = members.iter().map(|key| (*key).to_owned()).collect();
            let seen = CitedPassage {
                doc_id: "d",
                member_chunk_ids: &members,
                content_hash: &hash,
                window: None,
            };
            seen.is_named_by_text()
        };
        assert!(is_named_by_text(&[&hash[..16]]));
        for members in [
            &["1"][..],
            &[&hash[..15]],
            &[&hash[1..17]],
            &[&hash[..16], "2"],
            &[],
        ] {
            assert!(!is_named_by_text(members), "{members:?}");
        }
    }

    #[test]
    fn states_of_a_passage() {
        let now = [passage("d", "1", 0, 0, "alpha beta")];
        let hash = content_hash_hex("alpha beta");
        assert_eq!(state_of(&["1"], &hash, &now), SourceState::Unchanged);
        assert_eq!(state_of(&["1"], &hash[..16], &now), SourceState::Unchanged);
        assert_eq!(state_of(&["1"], &hash[1..17], &now), SourceState::Changed);
        assert_eq!(state_of(&["1"], "", &now), SourceState::Changed);
        assert_eq!(state_of(&["2"], &hash, &now), SourceState::Gone);
        assert_eq!(state_of(&[], &hash, &now), SourceState::Gone);
        let elsewhere = [passage("e", "1", 0, 0, "alpha beta")];
        assert_eq!(state_of(&["1"], &hash, &elsewhere), SourceState::Changed);
    }

    #[test]
    fn states_of_a_window() {
        let row = passage("d", "1", 0, 7, "Grüße aus Köln. Bis bald. Und tschüss.");
        let shown = row.window_at(16, 9).unwrap();
        assert_eq!(shown.content, "Bis bald.");
        let state_of = |now: &Passage| {
            let seen = CitedPassage {
                doc_id: "d",
                member_chunk_ids: &["1".to_owned()],
                content_hash: &shown.content_hash,
                window: shown.window_of.as_ref().map(|row| (row, 9)),
            };
            let now = BTreeMap::from([("1".to_owned(), now.clone())]);
            source_state(seen, &now)
        };
        let hash = Some(shown.content_hash.clone());
        assert_eq!(state_of(&row), (hash.clone(), SourceState::Unchanged));
        let end = passage("d", "1", 0, 7, "Grüße aus Köln. Bis bald. Und dann?");
        assert_eq!(state_of(&end), (hash, SourceState::Changed));
        let short = passage("d", "1", 0, 7, "Grüße.");
        assert_eq!(state_of(&short), (None, SourceState::Changed));
    }

    #[test]
    fn states_of_merged_passages() {
        let first = passage("d", "1", 0, 0, "alpha beta ");
        let second = passage("d", "2", 1, 6, "beta gamma");
        let hash = content_hash_hex("alpha beta gamma");
        let both = [first.clone(), second.clone()];
        assert_eq!(state_of(&["1", "2"], &hash, &both), SourceState::Unchanged);
        let other = passage("d", "2", 1, 6, "zeta gamma");
        assert_eq!(
            state_of(&["1", "2"], &hash, &[first.clone(), other]),
            SourceState::Changed,
            "the overlap differs"
        );
        assert_eq!(state_of(&["1", "2"], &hash, &[first]), SourceState::Gone);
        let apart = passage("d", "1", 0, 40, "alpha beta ");
        assert_eq!(
            state_of(&["1", "2"], &hash, &[apart, second]),
            SourceState::Changed
        );
    }
}
