//! The tokens of the ledger. A long conversation has a long ledger, of which a turn changes a few lines, so the lines that were
//! counted last are remembered.

use std::cell::RefCell;
use std::collections::HashMap;

use reground_tokens::count;

/// Lines that are remembered, a few hundred kilobytes. All are forgotten at the limit.
const CAPACITY: usize = 4096;
/// Bytes of the longest line that is remembered.
const LONGEST: usize = 1024;

thread_local! {
    static COUNTED: RefCell<HashMap<String, usize>> = RefCell::default();
}

/// o200k_base tokens of a ledger. No token spans two of its lines: each begins with a dash, which never merges with a line break.
pub(super) fn ledger_tokens(ledger: &str) -> usize {
    ledger.split_inclusive('\n').map(line_tokens).sum()
}

fn line_tokens(line: &str) -> usize {
    if let Some(tokens) = COUNTED.with_borrow(|counted| counted.get(line).copied()) {
        return tokens;
    }
    let tokens = count(line);
    if line.len() <= LONGEST {
        COUNTED.with_borrow_mut(|counted| {
            if counted.len() >= CAPACITY {
                counted.clear();
            }
            counted.insert(line.to_owned(), tokens);
        });
    }
    tokens
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
        /// The lines have as many tokens as the ledger, also when they were counted before.
        #[test]
        fn lines_have_the_tokens_of_the_ledger(cited in proptest::collection::vec(any_source(), 0..12)) {
            let ledger = write(&by_document(&cited));
            prop_assert_eq!(ledger_tokens(&ledger), count(&ledger), "{:?}", ledger);
            prop_assert_eq!(ledger_tokens(&ledger), count(&ledger));
        }
    }

    #[test]
    fn many_lines_are_counted() {
        for number in 0..2 * CAPACITY {
            let line = format!("- {number}: [A1]\n");
            assert_eq!(ledger_tokens(&line), count(&line));
        }
        let long = format!("- {}\n", "name ".repeat(LONGEST));
        assert_eq!(ledger_tokens(&long), count(&long));
    }
}
