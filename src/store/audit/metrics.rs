//! The rows behind the metrics. They are read as the caller: row-level security selects the tenants.

use reground_report::openmetrics::{Metrics, Operation};

use crate::error::Result;
use crate::store::reports::read;

/// Reads all rows. A caller who may not read the tables of the operation gets the totals only.
pub fn read_metrics() -> Result<Metrics> {
    let totals: Option<Metrics> = read(
        "SELECT json_build_object( \
             'totals', (SELECT coalesce(json_agg(m ORDER BY m.tenant COLLATE \"C\", m.corpus COLLATE \"C\", m.model COLLATE \"C\", m.metric COLLATE \"C\", m.label COLLATE \"C\"), '[]') FROM reground.metric_totals AS m), \
             'statuses', (SELECT json_agg(s ORDER BY s.status COLLATE \"C\") FROM reground.citation_statuses AS s))::text",
        &[],
    )?;
    let allowed: Option<bool> = read(
        "SELECT bool_and(has_table_privilege(r.name, 'SELECT'))::text \
         FROM unnest('{reground.alerts,reground.rollup_queue,reground.model_tasks,reground.model_backlog,reground.coordinate_faults,reground.maintenance_status}'::text[]) AS r(name)",
        &[],
    )?;
    let operation = match allowed {
        Some(true) => operation()?,
        _ => None,
    };
    Ok(Metrics {
        operation,
        ..totals.unwrap_or_default()
    })
}

fn operation() -> Result<Option<Operation>> {
    read(
        "SELECT json_build_object( \
             'alerts', (SELECT coalesce(json_agg(x), '[]') FROM ( \
                 SELECT a.rule, a.severity, a.tenant, a.corpus, count(*) AS alerts FROM reground.alerts AS a WHERE a.state = 'firing' GROUP BY 1, 2, 3, 4) AS x), \
             'queues', (SELECT coalesce(json_agg(x), '[]') FROM ( \
                 SELECT 'audit' AS queue, NULL AS model, 'waiting' AS state, count(*) AS tasks FROM reground.rollup_queue \
                 UNION ALL \
                 SELECT b.kind, b.model, s.state, s.tasks FROM reground.model_backlog AS b \
                 CROSS JOIN LATERAL (VALUES ('waiting', b.waiting), ('leased', b.leased), ('dead', b.dead)) AS s(state, tasks)) AS x), \
             'faults', (SELECT coalesce(json_agg(x), '[]') FROM ( \
                 SELECT f.tenant, f.corpus, f.faults FROM reground.coordinate_faults AS f WHERE f.faults IS NOT NULL) AS x), \
             'tasks', (SELECT coalesce(json_agg(x), '[]') FROM ( \
                 SELECT m.task, extract(epoch FROM m.last_finished_at)::double precision AS finished, m.last_error IS NOT NULL AS failed FROM reground.maintenance_status AS m) AS x))::text",
        &[],
    )
}
