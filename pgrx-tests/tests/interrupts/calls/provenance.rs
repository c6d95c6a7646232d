//! Where citations come from, and questions whose source is known.

use super::Call;
use super::Held::{Reads, Writes};

pub(super) const CALLS: &[Call] = &[
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
        function: "verify_chain",
        call: "verify_chain('talk')",
        waits: &[
            Reads("reground.conversations"),
            Reads("reground.chain_checkpoints"),
            Reads("reground.provenance_chain"),
            Reads("reground.turns"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Reads("reground.turn_retrievals"),
        ],
    },
    Call {
        function: "run_retention",
        call: "run_retention()",
        waits: &[
            Reads("reground.turn_traces"),
            Reads("reground.turns"),
            Reads("reground.conversations"),
            Reads("reground.messages"),
            Reads("reground.message_citations"),
            Writes("reground.turn_archive"),
            Writes("reground.chain_checkpoints"),
            Writes("reground.provenance_chain"),
            Writes("reground.shadow_turns"),
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
        function: "run_probes",
        call: "run_probes('farm')",
        waits: &[
            Reads("reground.probes"),
            Reads("reground.corpora"),
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
];
