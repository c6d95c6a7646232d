//! Must-have facts, evaluations against them, and labels.

use super::TableLock::{Reads, Writes};
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
    Call {
        function: "put_gold_facts",
        call: "put_gold_facts('milk', '{Cows give milk.}')",
        waits: &[
            Writes("reground.gold_questions"),
            Writes("reground.gold_facts"),
        ],
    },
    Call {
        function: "drop_gold_facts",
        call: "drop_gold_facts('milk')",
        waits: &[
            Writes("reground.gold_questions"),
            Writes("reground.gold_facts"),
        ],
    },
    Call {
        function: "evaluate_factuality",
        // Without the id, which is from a sequence.
        call: "evaluate_factuality(1, 'milk', 'splitter', 'checker') AS e, LATERAL (SELECT e > 0 AS queued)",
        waits: &[
            Reads("reground.models"),
            Reads("reground.messages"),
            Reads("reground.conversations"),
            Reads("reground.gold_questions"),
            Reads("reground.gold_facts"),
            Writes("reground.factuality_evaluations"),
            Writes("reground.factuality_verdicts"),
            Writes("reground.model_tasks"),
        ],
    },
    Call {
        function: "_factuality",
        call: "_factuality('{entailed}', '{neutral}', 10, 0)",
        waits: &[],
    },
    Call {
        function: "factuality_report",
        call: "factuality_report('model')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.factuality_evaluations"),
            Reads("reground.factuality_verdicts"),
            Reads("reground.model_tasks"),
        ],
    },
    Call {
        function: "factuality_agreement",
        call: "factuality_agreement()",
        waits: &[
            Reads("reground.decomposition_labels"),
            Reads("reground.factuality_evaluations"),
            Reads("reground.factuality_verdicts"),
            Reads("reground.factuality_labels"),
            Reads("reground.conversations"),
        ],
    },
    Call {
        function: "label_verdict",
        call: "label_verdict(1, 'neutral')",
        waits: &[
            Reads("reground.factuality_verdicts"),
            Writes("reground.factuality_labels"),
        ],
    },
    Call {
        function: "label_decomposition",
        call: "label_decomposition(1, 2, 1)",
        waits: &[
            Reads("reground.factuality_evaluations"),
            Writes("reground.decomposition_labels"),
        ],
    },
];
