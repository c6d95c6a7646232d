-- Maintenance: tasks, their runs, and the counts of passages with a wrong position.

CREATE TABLE reground.maintenance_tasks (
    task     text NOT NULL CHECK (task <> ''),
    built_in boolean NOT NULL DEFAULT false,
    enabled  boolean,
    period   interval CHECK (period BETWEEN interval '1 second' AND interval '30 days'),
    meaning  text,
    -- A user's row overrides the built-in row of the same name. A later release may change the built-in one, so only the user's is dumped.
    PRIMARY KEY (task, built_in),
    CHECK (NOT built_in OR enabled IS NOT NULL AND period IS NOT NULL)
);
COMMENT ON TABLE reground.maintenance_tasks IS 'Tasks of maintenance: built-in defaults, and changes by set_maintenance. The effective values are in maintenance_status.';
COMMENT ON COLUMN reground.maintenance_tasks.task IS 'Name of the task.';
COMMENT ON COLUMN reground.maintenance_tasks.built_in IS 'Whether the row came with the extension. A row of the same name with built_in false overrides it.';
COMMENT ON COLUMN reground.maintenance_tasks.enabled IS 'Whether the task runs by itself; NULL for the default.';
COMMENT ON COLUMN reground.maintenance_tasks.period IS 'Time from the start of a run to the start of the next, 1 second to 30 days; NULL for the default.';
COMMENT ON COLUMN reground.maintenance_tasks.meaning IS 'Description.';
INSERT INTO reground.maintenance_tasks (task, built_in, enabled, period, meaning) VALUES
    ('refresh_audit',     true, true, '1 minute', 'counts queued answers into the rollups; processed: answers'),
    ('check_alerts',      true, true, '1 minute', 'checks the alert rules; processed: alerts that changed'),
    ('leases',            true, true, '1 minute', 'gives up model tasks whose last lease has ended, and removes the usage of models after 90 days; processed: tasks'),
    ('embeddings',        true, true, '1 minute', 'runs queue_embeddings; processed: tasks queued'),
    ('embedding_records', true, true, '1 day',    'removes the records of embedded texts whose passages are gone, where the application computes the embeddings; processed: records'),
    ('sync_queue',        true, true, '1 minute', 'stores and deletes the documents of queued rows of synchronised tables; processed: documents'),
    ('resync',            true, true, '1 day',    'compares all synchronised tables with their documents and queues the differences; processed: rows queued'),
    ('judge_sample',      true, true, '1 minute', 'queues citations for the judges of the tenants that have enabled one; processed: citations'),
    ('probes',            true, true, '1 day',    'runs the probes of all tenants, if any exist; processed: probes'),
    ('seal_rows',         true, true, '1 minute', 'seals stored rows of tenants with a new key, as far as the master key is at hand; processed: rows'),
    ('check_coordinates', true, true, '1 minute', 'checks the positions of the passages of corpora that have changed; processed: passages'),
    ('retention',         true, true, '1 day',    'archives and removes old traces; processed: rows');

CREATE TABLE reground.maintenance_runs (
    run_id      bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task        text NOT NULL,
    started_at  timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    finished_at timestamptz,
    processed   bigint,
    error       text,
    sqlstate    text
);
CREATE INDEX maintenance_runs_task ON reground.maintenance_runs (task, started_at);
CREATE INDEX maintenance_runs_started ON reground.maintenance_runs (started_at);
COMMENT ON TABLE reground.maintenance_runs IS 'Runs of maintenance tasks in the last 30 days.';
COMMENT ON COLUMN reground.maintenance_runs.run_id IS 'Key.';
COMMENT ON COLUMN reground.maintenance_runs.task IS 'Name of the task.';
COMMENT ON COLUMN reground.maintenance_runs.started_at IS 'When the run started.';
COMMENT ON COLUMN reground.maintenance_runs.finished_at IS 'When the run finished. NULL while it runs, and after its session was ended, until the next run of the task.';
COMMENT ON COLUMN reground.maintenance_runs.processed IS 'Number of processed objects; see maintenance_tasks.meaning. NULL after an error.';
COMMENT ON COLUMN reground.maintenance_runs.error IS 'Message of the error that stopped the run, or what the run could not do; NULL without one.';
COMMENT ON COLUMN reground.maintenance_runs.sqlstate IS 'SQLSTATE of the error that stopped the run; NULL without one.';

CREATE VIEW reground.maintenance_status WITH (security_invoker = true) AS
    SELECT t.task, t.enabled, t.period, r.started_at AS last_started_at, f.finished_at AS last_finished_at,
           -- The margin lets a scheduler start a little early, so that a task with the period of the scheduler runs at each call.
           CASE WHEN t.enabled THEN coalesce(r.started_at + t.period - least(t.period / 10, interval '5 seconds'), pg_catalog.now()) END AS next_due_at,
           f.error AS last_error, l.running
    FROM (SELECT b.task, coalesce(u.enabled, b.enabled) AS enabled, coalesce(u.period, b.period) AS period
          FROM reground.maintenance_tasks AS b LEFT JOIN reground.maintenance_tasks AS u ON u.task = b.task AND NOT u.built_in WHERE b.built_in) AS t
        LEFT JOIN LATERAL (SELECT r.started_at FROM reground.maintenance_runs AS r WHERE r.task = t.task ORDER BY r.started_at DESC LIMIT 1) AS r ON true
        LEFT JOIN LATERAL (SELECT r.finished_at, r.error FROM reground.maintenance_runs AS r WHERE r.task = t.task AND r.finished_at IS NOT NULL ORDER BY r.started_at DESC LIMIT 1) AS f ON true
        -- A running task holds a lock, whose number is a hash of its name.
        CROSS JOIN LATERAL (SELECT pg_catalog.hashtextextended(t.task, 0) AS hash) AS h
        CROSS JOIN LATERAL (SELECT EXISTS (
            SELECT FROM pg_catalog.pg_locks AS k
            WHERE k.locktype = 'object' AND k.granted AND k.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
                AND k.classid = 'reground.maintenance_tasks'::regclass AND k.objid::bigint = (h.hash >> 32) & 4294967295 AND k.objsubid::bigint & 65535 = h.hash & 65535) AS running) AS l;
COMMENT ON VIEW reground.maintenance_status IS 'Effective settings and last run of each maintenance task.';
COMMENT ON COLUMN reground.maintenance_status.task IS 'Name of the task.';
COMMENT ON COLUMN reground.maintenance_status.enabled IS 'Whether the task runs by itself.';
COMMENT ON COLUMN reground.maintenance_status.period IS 'Time from the start of a run to the start of the next.';
COMMENT ON COLUMN reground.maintenance_status.last_started_at IS 'When the latest run started; NULL without a run in the last 30 days.';
COMMENT ON COLUMN reground.maintenance_status.last_finished_at IS 'When the latest finished run finished.';
COMMENT ON COLUMN reground.maintenance_status.next_due_at IS 'Earliest time of the next run; NULL if the task is disabled.';
COMMENT ON COLUMN reground.maintenance_status.last_error IS 'Error of the latest finished run; NULL if it succeeded.';
COMMENT ON COLUMN reground.maintenance_status.running IS 'Whether a session runs the task now.';

CREATE TABLE reground.coordinate_faults (
    corpus_id  bigint PRIMARY KEY REFERENCES reground.corpora ON DELETE CASCADE,
    tenant     text,
    corpus     text NOT NULL,
    checked_at timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    passages   bigint,
    faults     bigint,
    changes    bigint,
    seconds    double precision,
    error      text
);
COMMENT ON TABLE reground.coordinate_faults IS 'Result of the last check of the positions of each corpus by the task check_coordinates. The passages are listed by the function check_coordinates.';
COMMENT ON COLUMN reground.coordinate_faults.corpus_id IS 'Id of the corpus.';
COMMENT ON COLUMN reground.coordinate_faults.tenant IS 'Tenant of the corpus; NULL for a shared corpus.';
COMMENT ON COLUMN reground.coordinate_faults.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.coordinate_faults.checked_at IS 'When the corpus was checked last, also with an error.';
COMMENT ON COLUMN reground.coordinate_faults.passages IS 'Number of passages at the last check without an error; 0 for a registered table without mapped positions, NULL without such a check.';
COMMENT ON COLUMN reground.coordinate_faults.faults IS 'Number of passages with a wrong position at the last check without an error; NULL without such a check.';
COMMENT ON COLUMN reground.coordinate_faults.changes IS 'Counter of changes of the relations before the check; NULL to check again soon.';
COMMENT ON COLUMN reground.coordinate_faults.seconds IS 'Duration of the check, in seconds.';
COMMENT ON COLUMN reground.coordinate_faults.error IS 'Message of the error that stopped the last check of this corpus; NULL without one.';

CREATE TYPE reground.maintenance_result AS (
    task      text,
    processed bigint,
    error     text
);
COMMENT ON TYPE reground.maintenance_result IS 'Row of run_maintenance: a task that was run. The type only grows at its end.';
COMMENT ON COLUMN reground.maintenance_result.task IS 'Name of the task.';
COMMENT ON COLUMN reground.maintenance_result.processed IS 'Number of processed objects; see maintenance_tasks.meaning. NULL after an error.';
COMMENT ON COLUMN reground.maintenance_result.error IS 'Message of the error that stopped the task, or what the task could not do, for example a synchronised table that cannot be read; NULL without one.';

CREATE FUNCTION reground.run_maintenance(task text DEFAULT NULL)
    RETURNS SETOF reground.maintenance_result LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'run_maintenance_wrapper';
COMMENT ON FUNCTION reground.run_maintenance(text) IS
'Runs the enabled maintenance tasks that are due, or one task now, and returns one row per task. A task that another session runs is skipped. An error of a task is stored in maintenance_runs and does not stop the others. Errors: 22023 for an unknown task.';

CREATE FUNCTION reground.set_maintenance(task text, enabled boolean DEFAULT NULL, period interval DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'set_maintenance_wrapper';
COMMENT ON FUNCTION reground.set_maintenance(text, boolean, interval) IS
'Enables, disables or schedules a maintenance task. NULL keeps a value; without any value, the defaults apply again. Errors: 22004 for a missing task, 22023 for an unknown one or a period below 1 second or above 30 days.';
