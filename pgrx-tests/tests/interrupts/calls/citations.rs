//! Answers and their citations.

use super::TableLock::{Reads, Writes};
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
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
        call: "check_answer('Cows give milk [1]. Sheep give wool [Source: cows, p. 2].', '[{\"content\": \"Cows give milk.\"}]', corpus => 'farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.support_cues"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "answer_parts",
        call: "answer_parts(1, 'openai')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turns"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "citation_evidence",
        call: "citation_evidence(1)",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turns"),
            Reads("reground.corpora"),
            Reads("reground.documents"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "citation_grammar",
        call: "citation_grammar(2)",
        waits: &[Reads("reground.turns"), Reads("reground.corpora")],
    },
    Call {
        function: "citation_instructions",
        call: "citation_instructions('xml', turn_id => 2)",
        waits: &[Reads("reground.turns")],
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
        function: "repair_answer",
        call: "repair_answer(1, 'strict')",
        waits: &[
            Reads("reground.messages"),
            Writes("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.corpora"),
            Reads("reground.conversation_markers"),
            Reads("reground.support_cues"),
            Reads("reground.turn_traces"),
            Writes("reground.messages"),
            Writes("reground.message_citations"),
            Writes("reground.answer_changes"),
            Reads("reground.citation_statuses"),
            Writes("reground.rollup_queue"),
            Writes("reground.provenance_chain"),
            Reads("reground.tenant_keys"),
        ],
    },
    Call {
        function: "repair_text",
        call: "repair_text('Cows give milk [1]. Sheep give wool [Source: cows, p. 2].', '[{\"content\": \"Cows give milk.\"}]', corpus => 'farm')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.support_cues"),
            Reads("farm"),
            Reads("farm_documents"),
        ],
    },
    Call {
        function: "turn_sources",
        call: "turn_sources(2)",
        waits: &[Reads("reground.turns"), Reads("reground.corpora")],
    },
    Call {
        function: "turn_conflicts",
        call: "turn_conflicts(2)",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.corpora"),
            Reads("reground.support_cues"),
        ],
    },
    Call {
        function: "import_citations",
        call: "import_citations('Cows give milk.', '[{\"start\": 0, \"end\": 4, \"text\": \"Cows\", \"document_ids\": [\"cows\"]}]', 'cohere')",
        waits: &[],
    },
    Call {
        function: "_cited_row",
        call: "_cited_row(1)",
        waits: &[
            Reads("reground.message_citations"),
            Reads("reground.turns"),
            Reads("reground.corpora"),
        ],
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
        function: "label_citation",
        call: "label_citation(1, 'accurate')",
        waits: &[
            Reads("reground.message_citations"),
            Writes("reground.citation_labels"),
        ],
    },
    Call {
        function: "report_citation",
        call: "report_citation(1, 'it says something else')",
        waits: &[
            Reads("reground.message_citations"),
            Reads("reground.messages"),
            Writes("reground.citation_reports"),
        ],
    },
    Call {
        function: "report_answer",
        call: "report_answer(1, 'it is wrong')",
        waits: &[
            Reads("reground.corpora"),
            Reads("reground.messages"),
            Writes("reground.citation_reports"),
        ],
    },
    Call {
        function: "review_report",
        call: "review_report(1, true)",
        waits: &[Writes("reground.citation_reports")],
    },
    Call {
        function: "who_saw",
        call: "who_saw('farm', 'cows')",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.message_citations"),
            Reads("reground.messages"),
        ],
    },
    Call {
        function: "_usage_tokens",
        call: "_usage_tokens('{\"a\": 1}', '{a}')",
        waits: &[],
    },
    Call {
        function: "sample_for_review",
        call: "sample_for_review(model => 'chat')",
        waits: &[
            Reads("reground.judge_votes"),
            Reads("reground.message_citations"),
            Reads("reground.citation_labels"),
            Reads("reground.conversations"),
            Reads("reground.messages"),
            Reads("reground.turns"),
        ],
    },
];
