//! The audit queries and their times.

use std::time::{Duration, Instant};

use anyhow::Result;
use postgres::Client;

use crate::statistics::times::median;

/// A query.
pub struct AuditQuery {
    /// Description.
    pub name: &'static str,
    /// SQL text; the client reads all rows.
    pub sql: &'static str,
}

/// The measured queries of an auditor; each should take less than a second. For a member of `reground_user`, the policy `shown` applies too,
/// under which no query of turns, answers or citations runs in parallel.
pub static QUERIES: [AuditQuery; 24] = [
    AuditQuery {
        name: "scores by hour, a day",
        sql: "SELECT * FROM reground.cfs_hourly WHERE hour >= now() - interval '1 day'",
    },
    AuditQuery {
        name: "scores by hour, 7 days",
        sql: "SELECT * FROM reground.cfs_hourly WHERE hour >= now() - interval '7 days'",
    },
    AuditQuery {
        name: "scores by hour, all",
        sql: "SELECT count(*), min(cfs_p5) FROM reground.cfs_hourly",
    },
    AuditQuery {
        name: "citations by hour, 7 days",
        sql: "SELECT * FROM reground.citations_hourly WHERE hour >= now() - interval '7 days'",
    },
    AuditQuery {
        name: "citations by hour, all",
        sql: "SELECT count(*), sum(holding) FROM reground.citations_hourly",
    },
    AuditQuery {
        name: "service levels, a day",
        sql: "SELECT * FROM reground.sli()",
    },
    AuditQuery {
        name: "one answer's citations",
        sql: "SELECT * FROM reground.citation_audit WHERE message_id = (SELECT max(message_id) - 7 FROM reground.messages)",
    },
    AuditQuery {
        name: "one conversation's citations",
        sql: "SELECT * FROM reground.citation_audit WHERE conversation_ref = 'talk-77'",
    },
    AuditQuery {
        name: "one conversation",
        sql: "SELECT * FROM reground.conversation_audit WHERE conversation_ref = 'talk-77'",
    },
    AuditQuery {
        name: "one conversation's turns",
        sql: "SELECT * FROM reground.turn_audit WHERE conversation_ref = 'talk-77'",
    },
    AuditQuery {
        name: "citations of a day",
        sql: "SELECT count(*), count(*) FILTER (WHERE holds) FROM reground.citation_audit WHERE created_at >= date_trunc('day', now()) - interval '3 days' AND created_at < date_trunc('day', now()) - interval '2 days'",
    },
    AuditQuery {
        name: "turns of a day",
        sql: "SELECT count(*), avg(cfs) FROM reground.turn_audit WHERE begun_at >= date_trunc('day', now()) - interval '3 days' AND begun_at < date_trunc('day', now()) - interval '2 days'",
    },
    AuditQuery {
        name: "quality by model, 7 days",
        sql: "SELECT * FROM reground.citation_quality('model', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by tag, 7 days",
        sql: "SELECT * FROM reground.citation_quality('tag:team', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by document, 7 days",
        sql: "SELECT * FROM reground.citation_quality('document', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by intent, 7 days",
        sql: "SELECT * FROM reground.citation_quality('intent', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by conversation, 7 days",
        sql: "SELECT * FROM reground.citation_quality('conversation', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by status, 7 days",
        sql: "SELECT * FROM reground.citation_quality('status', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by document type, 7 days",
        sql: "SELECT * FROM reground.citation_quality('document_type', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality by day, 7 days",
        sql: "SELECT * FROM reground.citation_quality('day', now() - interval '7 days')",
    },
    AuditQuery {
        name: "quality of all, 7 days",
        sql: "SELECT * FROM reground.citation_quality(NULL, now() - interval '7 days')",
    },
    AuditQuery {
        name: "survival of stages by model, 7 days",
        sql: "SELECT * FROM reground.stage_survival('model', now() - interval '7 days')",
    },
    AuditQuery {
        name: "a corpus' page, a day",
        sql: "SELECT reground.corpus_report('grain', now() - interval '1 day')",
    },
    AuditQuery {
        name: "survival of stages, 7 days",
        sql: "SELECT * FROM reground.stage_survival(NULL, now() - interval '7 days')",
    },
];

/// The query of an administrator.
pub static ALERTS: AuditQuery = AuditQuery {
    name: "check_alerts",
    sql: "SELECT * FROM reground.check_alerts()",
};

/// Median times over `rounds`, each query once per round: of [`QUERIES`], then of [`ALERTS`].
///
/// # Errors
/// Errors of the server.
pub fn time_all(
    client: &mut Client,
    rounds: usize,
) -> Result<Vec<(&'static AuditQuery, Duration)>> {
    let auditor = QUERIES.iter().map(|query| (query, "reground_auditor"));
    let all = auditor.chain([(&ALERTS, "reground_admin")]);
    let mut timed: Vec<_> = all.map(|(query, role)| (query, role, Vec::new())).collect();
    for _ in 0..rounds {
        for (query, role, took) in &mut timed {
            client.batch_execute(&format!("SET ROLE {role}"))?;
            let start = Instant::now();
            client.query(query.sql, &[])?;
            took.push(start.elapsed());
        }
    }
    client.batch_execute("RESET ROLE")?;
    Ok(timed
        .into_iter()
        .map(|(query, _, took)| (query, median(took)))
        .collect())
}

/// Answers per second that `refresh_audit` counts: the latest answers are queued again, in transactions that are rolled back.
///
/// # Errors
/// Errors of the server.
pub fn counting_rate(client: &mut Client, answers: i64, rounds: usize) -> Result<f64> {
    let mut took = Vec::new();
    for _ in 0..rounds {
        client.batch_execute("BEGIN")?;
        client.execute(
            "INSERT INTO reground.rollup_queue (tenant, message_id, change) SELECT tenant, message_id, 1 FROM reground.messages ORDER BY message_id DESC LIMIT $1",
            &[&answers],
        )?;
        let start = Instant::now();
        client.query("SELECT reground.refresh_audit()", &[])?;
        took.push(start.elapsed());
        client.batch_execute("ROLLBACK")?;
    }
    Ok(answers as f64 / median(took).as_secs_f64())
}
