//! The tokens of the ledger.

use reground_tokens::count;

/// o200k_base tokens of a ledger. No token spans two of its lines: each begins with a dash, which never merges with a line break. The
/// lines are counted one by one, because a turn changes a few lines of a long ledger, and `count` has the others in its cache.
pub(super) fn ledger_tokens(ledger: &str) -> usize {
    ledger.split_inclusive('\n').map(count).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::ledger::{CitedSource, by_document, write};

    prop_compose! {
        fn any_source()(
            marker in "[A-C][1-3]", doc_id in "[ab/]\\PC{0,6}", title in proptest::option::of("[\\PC\n\r\t\u{b}\u{c}\u{85}\u{2028}/]{0,12}"),
            locator in proptest::option::of("[\\PC\n\u{2029}/]{0,12}"), version in 1..3,
        ) -> CitedSource {
            CitedSource { marker, corpus: "c".to_owned(), doc_id, version: Some(version), title, uri: None, locator }
        }
    }

    proptest! {
        #[test]
        fn lines_have_the_tokens_of_the_ledger(cited in proptest::collection::vec(any_source(), 0..12)) {
            let ledger = write(&by_document(&cited));
            prop_assert_eq!(ledger_tokens(&ledger), count(&ledger), "{:?}", ledger);
        }
    }
}
