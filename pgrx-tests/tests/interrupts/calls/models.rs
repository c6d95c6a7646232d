//! Models and their queue.

use super::TableLock::{Reads, Writes};
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
    Call {
        function: "set_model",
        call: "set_model('reranker', 'rerank', 'local')",
        waits: &[Writes("reground.models")],
    },
    Call {
        function: "drop_model",
        call: "drop_model('splitter')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.embedding_checks"),
            Writes("reground.models"),
            Writes("reground.model_status"),
            Writes("reground.model_usage"),
            Writes("reground.model_tasks"),
            Writes("reground.judge_rules"),
        ],
    },
    Call {
        function: "retry_tasks",
        call: "retry_tasks()",
        waits: &[
            Writes("reground.model_status"),
            Writes("reground.model_tasks"),
        ],
    },
    Call {
        function: "queue_embeddings",
        call: "queue_embeddings()",
        waits: &[Reads("reground.embedding_checks")],
    },
];
