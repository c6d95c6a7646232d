//! The judge of citations.

use super::TableLock::{self, Reads, Writes};
use super::call::Call;

/// Tables at which the queueing of citations can wait.
const QUEUEING: &[TableLock] = &[
    Reads("reground.judge_rules"),
    Reads("reground.models"),
    Reads("reground.message_citations"),
    Reads("reground.messages"),
    Reads("reground.turns"),
    Reads("reground.judge_votes"),
    Reads("reground.model_tasks"),
    Writes("reground.model_tasks"),
    Writes("reground.judge_rules"),
];

pub(super) const CALLS: &[Call] = &[
    Call {
        function: "set_judging",
        call: "set_judging('chat', sample => 0.5)",
        waits: &[Reads("reground.models"), Writes("reground.judge_rules")],
    },
    Call {
        function: "drop_judging",
        call: "drop_judging('chat')",
        waits: &[
            Writes("reground.judge_rules"),
            Writes("reground.model_tasks"),
        ],
    },
    Call {
        function: "judge_sample",
        call: "judge_sample()",
        waits: QUEUEING,
    },
    Call {
        function: "queue_judgements",
        call: "queue_judgements()",
        waits: QUEUEING,
    },
    Call {
        function: "_judge_majority",
        call: "_judge_majority('{accurate,accurate}', false)",
        waits: &[],
    },
    Call {
        function: "judge_confusion",
        call: "judge_confusion()",
        waits: &[
            Reads("reground.citation_labels"),
            Reads("reground.judge_votes"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "judge_agreement",
        call: "judge_agreement()",
        waits: &[
            Reads("reground.citation_labels"),
            Reads("reground.judge_votes"),
            Reads("reground.message_citations"),
        ],
    },
];
