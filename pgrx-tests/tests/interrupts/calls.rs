//! A call of every function, and where another session can make it wait.

/// What another session holds while the call runs.
#[derive(Debug, Clone, Copy)]
pub enum Held {
    /// The table, so that whoever reads it waits.
    Reads(&'static str),
    /// The table's rows, so that only a writer waits: what it wrote elsewhere before is then already done.
    Writes(&'static str),
}

use Held::{Reads, Writes};

impl Held {
    /// The statement that holds it.
    pub fn lock(self) -> String {
        match self {
            Reads(table) => format!("LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE"),
            Writes(table) => format!("LOCK TABLE {table} IN SHARE MODE"),
        }
    }

    /// Whether a call that touches the table so waits for it.
    pub fn stops(self, touched: &str, writes: bool) -> bool {
        match self {
            Reads(table) => !writes && table == touched,
            Writes(table) => writes && table == touched,
        }
    }
}

/// A call of one function.
pub struct Call {
    /// Its name.
    pub function: &'static str,
    /// As it stands in FROM. Turn 1 has ended with message 1, turn 2 is open, turn 3 waits for a rerank.
    pub call: &'static str,
    /// Where it can be made to wait. None: it reads no table and takes no text of any length.
    pub waits: &'static [Held],
}

impl Call {
    /// The statement, whose one column is the row as JSON, without the ids that a sequence gives anew each time.
    pub fn statement(&self) -> String {
        format!(
            "SELECT CASE jsonb_typeof(to_jsonb(r)) WHEN 'object' THEN to_jsonb(r) - ARRAY['turn_id', 'message_id', 'citation_id'] ELSE to_jsonb(r) END::text \
             FROM reground.{} AS r",
            self.call
        )
    }
}

/// One call a function.
pub const CALLS: &[Call] = &[
    Call {
        function: "_answers_by",
        call: "_answers_by('model', false, NULL, NULL)",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "_citations_by",
        call: "_citations_by('model', NULL, NULL)",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "_dimension",
        call: "_dimension('tag:team')",
        waits: &[],
    },
    Call {
        function: "_node",
        call: "_node('chunk', 'farm', 'cows')",
        waits: &[],
    },
    Call {
        function: "_pair",
        call: "_pair(1, 2, 3)",
        waits: &[],
    },
    Call {
        function: "citation_quality",
        call: "citation_quality('model')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.citation_labels"),
            Reads("reground.citation_reports"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "compare_cfs",
        call: "compare_cfs('model', 'small', 'large')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
        ],
    },
    Call {
        function: "conversation_report",
        call: "conversation_report('talk')",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "corpus_report",
        call: "corpus_report('farm', '2000-01-01')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.citation_statuses"),
            Reads("reground.documents"),
        ],
    },
    Call {
        function: "_history_hits",
        call: "_history_hits('[[\"1\"]]', '[]', '{1}')",
        waits: &[],
    },
    Call {
        function: "history_hits",
        call: "history_hits(1)",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.turn_traces"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "in_canary",
        call: "in_canary('talk')",
        waits: &[],
    },
    Call {
        function: "label_citation",
        call: "label_citation(1, 'accurate')",
        waits: &[
            Reads("reground.message_citations"),
            Writes("reground.citation_labels"),
        ],
    },
    Call {
        function: "mann_whitney",
        call: "mann_whitney('{1,2}', '{3}')",
        waits: &[],
    },
    Call {
        function: "report_citation",
        call: "report_citation(1, 'it says something else')",
        waits: &[
            Reads("reground.message_citations"),
            Writes("reground.citation_reports"),
        ],
    },
    Call {
        function: "retrieval_metrics",
        call: "retrieval_metrics('{a}', '{\"a\": 1}')",
        waits: &[],
    },
    Call {
        function: "sample_for_review",
        call: "sample_for_review()",
        waits: &[
            Reads("reground.message_citations"),
            Reads("reground.citation_labels"),
            Reads("reground.conversations"),
            Reads("reground.messages"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "sli",
        call: "sli()",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
        ],
    },
    Call {
        function: "document_type",
        call: "document_type('https://farm.example/cows.html?x=1')",
        waits: &[],
    },
    Call {
        function: "refresh_audit",
        call: "refresh_audit()",
        waits: &[
            Reads("reground.rollup_queue"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.message_citations"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
        ],
    },
    Call {
        function: "rebuild_audit",
        call: "rebuild_audit()",
        waits: &[
            Reads("reground.rollup_queue"),
            Reads("reground.answer_rollup"),
            Reads("reground.citation_rollup"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.message_citations"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
        ],
    },
    Call {
        function: "set_alert_rule",
        call: "set_alert_rule('low_tail', threshold => 0.5)",
        waits: &[
            Reads("reground.alert_rules"),
            Writes("reground.alert_rules"),
        ],
    },
    Call {
        function: "drop_alert_rule",
        call: "drop_alert_rule('mine')",
        waits: &[Writes("reground.alert_rules")],
    },
    Call {
        function: "take_baseline",
        call: "take_baseline(now() - interval '1 day', now() + interval '1 hour')",
        waits: &[
            Reads("reground.rollup_queue"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.message_citations"),
            Reads("reground.answer_rollup"),
            Reads("reground.citation_rollup"),
            Writes("reground.alert_baselines"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
        ],
    },
    Call {
        function: "check_alerts",
        call: "check_alerts()",
        waits: &[
            Reads("reground.rollup_queue"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.message_citations"),
            Reads("reground.answer_rollup"),
            Reads("reground.citation_rollup"),
            Reads("reground.alert_rules"),
            Reads("reground.alert_baselines"),
            Reads("reground.alerts"),
            Reads("reground.citation_reports"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Writes("reground.alerts"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
        ],
    },
    Call {
        function: "diagnose",
        call: "diagnose((SELECT max(alert_id) FROM reground.alerts))",
        waits: &[
            Reads("reground.alerts"),
            Reads("reground.answer_rollup"),
            Reads("reground.citation_rollup"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.drift_events"),
            Reads("reground.citation_reports"),
            Reads("reground.message_citations"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
        ],
    },
    Call {
        function: "run_maintenance",
        call: "run_maintenance()",
        waits: &[
            Reads("reground.rollup_queue"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.message_citations"),
            Reads("reground.answer_rollup"),
            Reads("reground.citation_rollup"),
            Reads("reground.alert_rules"),
            Reads("reground.alert_baselines"),
            Reads("reground.alerts"),
            Reads("reground.citation_reports"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Writes("reground.alerts"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
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
        function: "put_probe",
        call: "put_probe('mine', 'farm', 'milk', 'cows')",
        waits: &[Reads("reground.corpora"), Writes("reground.probes")],
    },
    Call {
        function: "drop_probe",
        call: "drop_probe('milk')",
        waits: &[Writes("reground.probes"), Writes("reground.probe_results")],
    },
    Call {
        function: "rehearse_turn",
        call: "rehearse_turn('milk?', 'farm', '[1,0]', conversation => 'talk')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversation_sources"),
            Reads("reground.conversation_markers"),
            Reads("reground.source_facts"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "run_probes",
        call: "run_probes('farm')",
        waits: &[
            Reads("reground.probes"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Writes("reground.probe_results"),
            Reads("farm"),
            Reads("farm_documents"),
            Reads("reground.conversation_markers"),
            Reads("reground.conversation_sources"),
            Reads("reground.message_citations"),
            Reads("reground.messages"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "source_usage",
        call: "source_usage()",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "stage_survival",
        call: "stage_survival()",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "text_metrics",
        call: "text_metrics('cows', 'the cows')",
        waits: &[],
    },
    Call {
        function: "trace_citation",
        call: "trace_citation(1)",
        waits: &[
            Reads("reground.message_citations"),
            Reads("reground.turn_traces"),
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.conversation_markers"),
        ],
    },
    Call {
        function: "run_retention",
        call: "run_retention(now() + interval '200 days')",
        waits: &[
            Reads("reground.turn_traces"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Writes("reground.turn_archive"),
            Writes("reground.chain_checkpoints"),
            Writes("reground.provenance_chain"),
        ],
    },
    Call {
        function: "verify_chain",
        call: "verify_chain('talk')",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.chain_checkpoints"),
            Reads("reground.provenance_chain"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "verify_turn",
        call: "verify_turn(1)",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.turn_traces"),
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "trace_document",
        call: "trace_document('farm', 'cows')",
        waits: &[
            Reads("reground.message_citations"),
            Reads("reground.conversations"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Reads("reground.messages"),
            Reads("reground.turns"),
        ],
    },
    Call {
        function: "wilson_interval",
        call: "wilson_interval(1, 2)",
        waits: &[],
    },
    Call {
        function: "_settings",
        call: "_settings()",
        waits: &[],
    },
    Call {
        function: "_source_state",
        call: "_source_state(current_user::text, 'farm', 'cows', 1)",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.message_citations"),
            Reads("reground.documents"),
        ],
    },
    Call {
        function: "_trace_bucket",
        call: "_trace_bucket(now())",
        waits: &[],
    },
    Call {
        function: "abandon_turn",
        call: "abandon_turn(2)",
        waits: &[
            Writes("reground.conversations"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Writes("reground.turns"),
        ],
    },
    Call {
        function: "add_corpus",
        call: "add_corpus('herd', 'herd', 'id', 'body')",
        waits: &[Reads("reground.corpora"), Writes("reground.corpora")],
    },
    Call {
        function: "alter_conversation",
        call: "alter_conversation('talk', '{\"max_sources\": 4}')",
        waits: &[
            Reads("reground.conversations"),
            Writes("reground.conversations"),
        ],
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
        function: "apply_rerank",
        call: "apply_rerank(3, '[{\"index\": 0, \"text\": \"Cows give milk, or so.\", \"score\": 1}]')",
        waits: &[
            Writes("reground.conversations"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.conversation_markers"),
            Writes("reground.drift_events"),
            Writes("reground.turns"),
            Writes("reground.conversation_markers"),
            Writes("reground.source_facts"),
            Writes("reground.turn_traces"),
        ],
    },
    Call {
        function: "begin_turn",
        call: "begin_turn('fresh', 'who gives wool?', 'farm', '[0,1]', settings => '{\"provenance\": \"merkle\"}')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversations"),
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
            Reads("reground.turns"),
            Reads("reground.conversation_sources"),
            Reads("reground.conversation_markers"),
            Writes("reground.conversations"),
            Writes("reground.turns"),
            Writes("reground.conversation_markers"),
            Writes("reground.source_facts"),
            Writes("reground.turn_traces"),
            Writes("reground.provenance_chain"),
        ],
    },
    Call {
        function: "bm25_check",
        call: "bm25_check('herd_body', heapallindexed => true)",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_distance",
        call: "bm25_distance('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_explain",
        call: "bm25_explain('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_matches",
        call: "bm25_matches('A cow.', reground.bm25_query('cows', 'herd'))",
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
        function: "bm25_score",
        call: "bm25_score('A cow.', reground.bm25_query('cows', 'herd'))",
        waits: &[Reads("herd")],
    },
    Call {
        function: "bm25_segments",
        call: "bm25_segments('herd_body')",
        waits: &[Reads("herd")],
    },
    Call {
        function: "check_corpus",
        call: "check_corpus('farm')",
        waits: &[Reads("reground.corpora"), Reads("farm")],
    },
    Call {
        function: "check_policy",
        call: "check_policy(1)",
        waits: &[Reads("reground.messages")],
    },
    Call {
        function: "citation_instructions",
        call: "citation_instructions('xml')",
        waits: &[],
    },
    Call {
        function: "answer_metrics",
        call: "answer_metrics(1)",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.corpora"),
            Reads("reground.turns"),
            Reads("reground.conversation_markers"),
            Reads("reground.support_cues"),
        ],
    },
    Call {
        function: "check_answer",
        call: "check_answer('Cows give milk [1]. Sheep give wool [Source: cows, p. 2].', '[{\"text\": \"Cows give milk.\"}]', corpus => 'farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.support_cues"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "citation_grammar",
        call: "citation_grammar(2)",
        waits: &[Reads("reground.turns")],
    },
    Call {
        function: "create_corpus",
        call: "create_corpus('barn', dimensions => 2)",
        waits: &[Reads("reground.corpora"), Writes("reground.corpora")],
    },
    Call {
        function: "current_tenant",
        call: "current_tenant()",
        waits: &[],
    },
    Call {
        function: "delete_document",
        call: "delete_document('farm', 'cows')",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("farm_documents"),
            Writes("reground.documents"),
            Writes("reground.edges"),
        ],
    },
    Call {
        function: "delete_edges",
        call: "delete_edges('farm', everything => true)",
        waits: &[Reads("reground.corpora"), Writes("reground.edges")],
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
        ],
    },
    Call {
        function: "end_turn",
        call: "end_turn(2, 'Cows give milk [A1]. Sheep give wool [Source: cows, p. 2]. Pigs fly [Z9].', message => 'late', tags => '{\"a\": 1}')",
        waits: &[
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
            Reads("reground.documents"),
            Reads("reground.citation_statuses"),
            Reads("reground.support_cues"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.conversation_markers"),
            Reads("reground.conversation_sources"),
            Reads("reground.turn_traces"),
            Writes("reground.messages"),
            Writes("reground.conversation_markers"),
            Writes("reground.message_citations"),
            Writes("reground.conversation_sources"),
            Writes("reground.turns"),
            Writes("reground.conversations"),
            Writes("reground.rollup_queue"),
        ],
    },
    Call {
        function: "extract_citations",
        call: "extract_citations('Cows give milk [A1]. Sheep give wool [Source: cows, p. 2].', '{}')",
        waits: &[],
    },
    Call {
        function: "feed_answer",
        call: "feed_answer(2, 'Cows give milk [A1]. Sheep give wool [Source: cows, p. 2].', true)",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.turns"),
            Reads("reground.conversation_markers"),
            Reads("reground.support_cues"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "import_citations",
        call: "import_citations('Cows give milk.', '[{\"start\": 0, \"end\": 4, \"text\": \"Cows\", \"document_ids\": [\"cows\"]}]', 'cohere')",
        waits: &[],
    },
    Call {
        function: "explain_turn",
        call: "explain_turn(1)",
        waits: &[Reads("reground.turn_traces")],
    },
    Call {
        function: "pending_embeddings",
        call: "pending_embeddings('farm')",
        waits: &[Reads("reground.corpora"), Reads("farm")],
    },
    Call {
        function: "pin",
        call: "pin('talk', doc_id => 'cows', corpus => 'farm')",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.corpora"),
            Reads("farm"),
            Reads("farm_documents"),
            Writes("reground.conversations"),
            Writes("reground.conversation_sources"),
        ],
    },
    Call {
        function: "profile",
        call: "profile()",
        waits: &[],
    },
    Call {
        function: "prompt_context",
        call: "prompt_context(2)",
        waits: &[Reads("reground.turns")],
    },
    Call {
        function: "history",
        call: "history('talk', max_tokens => 40)",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversation_markers"),
        ],
    },
    Call {
        function: "put_document",
        call: "put_document('farm', 'cows', content => 'Cows give milk. Cows moo.', title => 'Cows')",
        waits: &[
            Reads("reground.corpora"),
            Writes("farm"),
            Writes("farm_documents"),
            Writes("reground.documents"),
            Writes("reground.edges"),
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
        function: "put_embeddings",
        call: "put_embeddings('farm', ARRAY['1', '2'], ARRAY['[0.6,0.8]', '[0.8,0.6]']::vector[])",
        waits: &[Reads("reground.corpora"), Writes("farm")],
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
        function: "unpin",
        call: "unpin('talk', doc_id => 'sheep')",
        waits: &[
            Writes("reground.conversations"),
            Reads("reground.conversations"),
            Reads("reground.conversation_sources"),
            Writes("reground.conversation_sources"),
        ],
    },
];
