//! Corpora, documents and searches.

use super::TableLock::{Reads, Writes};
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
    Call {
        function: "add_corpus",
        call: "add_corpus('herd', 'herd', 'id', 'body')",
        waits: &[Reads("reground.corpora"), Writes("reground.corpora")],
    },
    Call {
        function: "alter_corpus",
        call: "alter_corpus('farm', settings => '{\"rrf_k\": 10}', text_config => 'simple')",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("reground.corpora"),
        ],
    },
    Call {
        function: "create_corpus",
        call: "create_corpus('barn', dimensions => 2)",
        waits: &[Reads("reground.corpora"), Writes("reground.corpora")],
    },
    Call {
        function: "drop_corpus",
        call: "drop_corpus('farm', true)",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("farm_documents"),
            Writes("reground.corpora"),
            Writes("reground.documents"),
            Writes("reground.edges"),
            Writes("reground.passage_positions"),
            Writes("reground.coordinate_faults"),
            Writes("reground.embedding_checks"),
            Writes("reground.model_tasks"),
            Writes("reground.passage_embeddings"),
            Writes("reground.synchronised_tables"),
            Writes("reground.sync_queue"),
        ],
    },
    Call {
        function: "sync_table",
        call: "sync_table('fold', 'herd', 'id', 'body')",
        waits: &[
            Reads("reground.corpora"),
            Writes("herd"),
            Writes("fold"),
            Writes("fold_documents"),
            Writes("reground.documents"),
            Writes("reground.synchronised_tables"),
            Writes("fold_history"),
            Writes("reground.sync_queue"),
            Reads("reground.tenant_keys"),
        ],
    },
    Call {
        function: "stop_sync",
        call: "stop_sync('pen')",
        waits: &[
            Reads("reground.corpora"),
            Writes("sheep"),
            Writes("reground.synchronised_tables"),
            Writes("reground.sync_queue"),
        ],
    },
    Call {
        function: "resync",
        call: "resync('pen')",
        waits: &[
            Reads("reground.corpora"),
            Reads("sheep"),
            Writes("reground.sync_queue"),
            Reads("reground.documents"),
            Writes("reground.synchronised_tables"),
        ],
    },
    Call {
        function: "check_corpus",
        call: "check_corpus('farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
            Reads("reground.synchronised_tables"),
        ],
    },
    Call {
        function: "accept_coordinates",
        call: "accept_coordinates('barley')",
        waits: &[
            Reads("reground.corpora"),
            Writes("reground.passage_positions"),
            Writes("reground.coordinate_faults"),
        ],
    },
    Call {
        function: "check_coordinates",
        call: "check_coordinates('farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "put_document",
        call: "put_document('farm', 'cows', content => 'Cows give milk. Cows moo.', title => 'Cows')",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("farm_documents"),
            Writes("farm_history"),
            Writes("reground.documents"),
            Writes("reground.edges"),
            Writes("reground.model_tasks"),
            Writes("reground.passage_embeddings"),
            Reads("reground.synchronised_tables"),
            Reads("reground.tenant_keys"),
        ],
    },
    Call {
        function: "delete_document",
        call: "delete_document('farm', 'cows')",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("farm_documents"),
            Writes("farm_history"),
            Writes("reground.documents"),
            Writes("reground.edges"),
            Writes("reground.model_tasks"),
            Writes("reground.passage_embeddings"),
            Reads("reground.synchronised_tables"),
        ],
    },
    Call {
        function: "put_edges",
        call: "put_edges('farm', '[{\"source\": \"cows\", \"target\": \"milk\", \"chunk_id\": 1}]')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
            Writes("reground.edges"),
        ],
    },
    Call {
        function: "delete_edges",
        call: "delete_edges('farm', everything => true)",
        waits: &[Reads("reground.corpora"), Writes("reground.edges")],
    },
    Call {
        function: "put_embeddings",
        call: "put_embeddings('farm', ARRAY['1', '2'], ARRAY['[0.6,0.8]', '[0.8,0.6]']::vector[])",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("reground.passage_embeddings"),
        ],
    },
    Call {
        function: "pending_embeddings",
        call: "pending_embeddings('farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("reground.passage_embeddings"),
        ],
    },
    Call {
        function: "search",
        call: "search('farm', 'milk', '[1,0]')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "explain_search",
        call: "explain_search('farm', 'milk', '[1,0]')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "_notice_scope",
        call: "_notice_scope()",
        waits: &[Reads("reground.conversations")],
    },
    Call {
        function: "_trusted_owner",
        call: "_trusted_owner()",
        waits: &[],
    },
    Call {
        function: "_settings",
        call: "_settings()",
        waits: &[],
    },
    Call {
        function: "_trace_bucket",
        call: "_trace_bucket(now())",
        waits: &[],
    },
    Call {
        function: "_hides_nothing",
        call: "_hides_nothing()",
        waits: &[],
    },
    Call {
        function: "_is_shown_turn",
        call: "_is_shown_turn(1)",
        waits: &[Reads("reground.corpora")],
    },
    Call {
        function: "_is_shown_source",
        call: "_is_shown_source(1, 'farm', 'cows', '1')",
        waits: &[Reads("reground.corpora")],
    },
    Call {
        function: "current_tenant",
        call: "current_tenant()",
        waits: &[],
    },
    Call {
        function: "current_principals",
        call: "current_principals()",
        waits: &[],
    },
    Call {
        function: "_document_type",
        call: "_document_type('https://farm.example/cows.html?x=1')",
        waits: &[],
    },
];
