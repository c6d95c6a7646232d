//! Citation quality and reports.

use super::TableLock::Reads;
use super::call::Call;

pub(super) const CALLS: &[Call] = &[
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
        function: "_dimension_name",
        call: "_dimension_name('tag:team')",
        waits: &[],
    },
    Call {
        function: "_dimension_key",
        call: "_dimension_key('tag:team')",
        waits: &[],
    },
    Call {
        function: "hallucination_mix",
        call: "hallucination_mix('farm')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
        ],
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
        function: "report_rates",
        call: "report_rates('model')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.citation_reports"),
            Reads("reground.conversations"),
            Reads("reground.turns"),
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
        function: "compare",
        call: "compare('cfs', 'model', 'small', 'large')",
        waits: &[
            Reads("reground.messages"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "_compare",
        call: "_compare('cfs', 'model', 'a', 'b', false, '{1,0}', '{1,0}', '{0,2}', '{0,1}')",
        waits: &[],
    },
    Call {
        function: "_of_answers",
        call: "_of_answers('cfs')",
        waits: &[],
    },
    Call {
        function: "_wilson_interval",
        call: "_wilson_interval(1, 2)",
        waits: &[],
    },
    Call {
        function: "in_canary",
        call: "in_canary('talk')",
        waits: &[],
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
        function: "source_usage",
        call: "source_usage()",
        waits: &[
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.conversations"),
        ],
    },
    Call {
        function: "compare_shadows",
        call: "compare_shadows()",
        waits: &[
            Reads("reground.shadow_turns"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
        ],
    },
    Call {
        function: "retrieval_metrics",
        call: "retrieval_metrics('{a}', '{\"a\": 1}')",
        waits: &[],
    },
    Call {
        function: "text_metrics",
        call: "text_metrics('cows', 'the cows')",
        waits: &[],
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
        function: "conversation_report",
        call: "conversation_report('talk')",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turn_retrievals"),
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
        function: "openmetrics",
        call: "openmetrics()",
        waits: &[
            Reads("reground.metric_totals"),
            Reads("reground.citation_statuses"),
            Reads("reground.alerts"),
            Reads("reground.rollup_queue"),
            Reads("reground.model_tasks"),
            Reads("reground.coordinate_faults"),
            Reads("reground.maintenance_tasks"),
            Reads("reground.maintenance_runs"),
        ],
    },
];
