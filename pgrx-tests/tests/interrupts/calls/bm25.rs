//! The BM25 index and its functions.

use super::TableLock::{Reads, Writes};
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
    Call {
        function: "bm25_check",
        call: "bm25_check('herd_body', heapallindexed => true)",
        waits: &[Reads("herd")],
    },
    Call {
        function: "_bm25_distance",
        call: "_bm25_distance('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_explain",
        call: "bm25_explain('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "_bm25_matches",
        call: "_bm25_matches('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_merge",
        call: "bm25_merge('herd_body')",
        waits: &[Reads("herd"), Writes("herd")],
    },
    Call {
        function: "bm25_query",
        call: "bm25_query('cows', 'herd')",
        waits: &[],
    },
    Call {
        function: "bm25_with_statistics",
        call: "bm25_with_statistics(reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "find_text_config",
        call: "find_text_config('de')",
        waits: &[],
    },
    Call {
        function: "in_language",
        call: "in_language('A cow.', 'de')",
        waits: &[],
    },
    Call {
        function: "bm25_score",
        call: "bm25_score('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_segments",
        call: "bm25_segments('herd_body')",
        waits: &[Reads("herd")],
    },
];
