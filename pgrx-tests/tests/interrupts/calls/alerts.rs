//! Rollups and alerts.

use super::TableLock::{self, Reads, Writes};
use super::call::Call;

/// Tables at which a check of the rules can wait.
const CHECKING: &[TableLock] = &[
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
    Reads("reground.citation_labels"),
    Reads("reground.judge_votes"),
    Reads("reground.corpora"),
    Reads("reground.documents"),
    Writes("reground.alerts"),
    Writes("reground.rollup_queue"),
    Writes("reground.answer_rollup"),
    Writes("reground.citation_rollup"),
];

pub(super) const CALLS: &[Call] = &[
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
            Reads("reground.corpora"),
            Writes("reground.alert_baselines"),
            Writes("reground.rollup_queue"),
            Writes("reground.answer_rollup"),
            Writes("reground.citation_rollup"),
        ],
    },
    Call {
        function: "check_alerts",
        call: "check_alerts()",
        waits: CHECKING,
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
        call: "run_maintenance('refresh_audit')",
        waits: &[
            Reads("reground.maintenance_runs"),
            Writes("reground.maintenance_runs"),
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
        function: "set_maintenance",
        call: "set_maintenance('retention', enabled => false)",
        waits: &[
            Reads("reground.maintenance_tasks"),
            Writes("reground.maintenance_tasks"),
        ],
    },
];
