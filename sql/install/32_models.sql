-- Models, and the queue of tasks for them. The server calls no model: a worker claims tasks, calls the models and returns the results.

CREATE TABLE reground.models (
    model      text PRIMARY KEY CHECK (model <> ''),
    task       text NOT NULL CHECK (task IN ('embed', 'rerank', 'judge', 'decompose', 'entail')),
    api        text NOT NULL CHECK (api IN ('openai', 'anthropic', 'cohere', 'tei', 'local')),
    endpoint   text,
    api_model  text NOT NULL CHECK (api_model <> ''),
    dimensions integer CHECK (dimensions BETWEEN 1 AND 16000),
    key_name   text,
    settings   jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    CHECK ((task = 'embed') = (dimensions IS NOT NULL)),
    CHECK ((api = 'local') = (endpoint IS NULL))
);
COMMENT ON TABLE reground.models IS 'Registered models, written by set_model. Keys are not stored: the worker reads them from its own environment.';
COMMENT ON COLUMN reground.models.model IS 'Name of the model in reground.';
COMMENT ON COLUMN reground.models.task IS 'Task of the model: embed, rerank, judge, decompose or entail.';
COMMENT ON COLUMN reground.models.api IS 'API of the endpoint: openai (and compatible servers), anthropic, cohere, tei, or local (run by the worker itself).';
COMMENT ON COLUMN reground.models.endpoint IS 'Base address of the API; NULL for local.';
COMMENT ON COLUMN reground.models.api_model IS 'Name of the model at the API; for local, its folder below the worker''s folder of models.';
COMMENT ON COLUMN reground.models.dimensions IS 'Dimensions of the embeddings; NULL for other tasks.';
COMMENT ON COLUMN reground.models.key_name IS 'Name under which the worker finds the API key; NULL for none.';
COMMENT ON COLUMN reground.models.settings IS 'Settings of the calls; see set_model.';
COMMENT ON COLUMN reground.models.created_at IS 'When the model was registered.';

ALTER TABLE reground.corpora
    ADD FOREIGN KEY (embedding_model) REFERENCES reground.models,
    ADD FOREIGN KEY (next_embedding_model) REFERENCES reground.models;

CREATE TABLE reground.model_status (
    model        text PRIMARY KEY REFERENCES reground.models ON DELETE CASCADE,
    failures     integer NOT NULL,
    open_until   timestamptz,
    held_open    boolean NOT NULL DEFAULT false,
    last_error   text NOT NULL,
    failed_at    timestamptz NOT NULL
);
COMMENT ON TABLE reground.model_status IS 'Circuit breakers: consecutive failures of each model; each task of a failed call counts. A success deletes the row.';
COMMENT ON COLUMN reground.model_status.model IS 'Name of the model.';
COMMENT ON COLUMN reground.model_status.failures IS 'Consecutive failures because of the model; each task of a failed call counts.';
COMMENT ON COLUMN reground.model_status.open_until IS 'Until when no task is given to the model; afterwards one task tries it. NULL: the breaker is closed.';
COMMENT ON COLUMN reground.model_status.held_open IS 'Whether a task tries the model; open_until is then the end of its lease, at most five minutes.';
COMMENT ON COLUMN reground.model_status.last_error IS 'Last error, at most 500 characters.';
COMMENT ON COLUMN reground.model_status.failed_at IS 'When the last call failed.';

-- Workers write rows of their own, so that they do not wait for each other.
CREATE TABLE reground.model_usage (
    hour          timestamptz NOT NULL,
    model         text NOT NULL REFERENCES reground.models ON DELETE CASCADE,
    worker        text NOT NULL,
    tenant        text,
    tasks         bigint NOT NULL DEFAULT 0,
    failures      bigint NOT NULL DEFAULT 0,
    input_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    UNIQUE NULLS NOT DISTINCT (hour, model, worker, tenant)
);
-- The key has NULLs, so it cannot be the identity of a published row.
ALTER TABLE reground.model_usage REPLICA IDENTITY FULL;
COMMENT ON TABLE reground.model_usage IS 'Use of the models by hour, worker and tenant.';
COMMENT ON COLUMN reground.model_usage.hour IS 'Start of the hour.';
COMMENT ON COLUMN reground.model_usage.model IS 'Name of the model.';
COMMENT ON COLUMN reground.model_usage.worker IS 'Name of the worker.';
COMMENT ON COLUMN reground.model_usage.tenant IS 'Tenant of the tasks; NULL for shared corpora.';
COMMENT ON COLUMN reground.model_usage.tasks IS 'Completed tasks.';
COMMENT ON COLUMN reground.model_usage.failures IS 'Number of failed attempts.';
COMMENT ON COLUMN reground.model_usage.input_tokens IS 'Tokens sent, as the API counts them; 0 if it does not.';
COMMENT ON COLUMN reground.model_usage.output_tokens IS 'Tokens received, as the API counts them; 0 if it does not.';

CREATE TABLE reground.model_tasks (
    task_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant      text,
    kind        text NOT NULL CHECK (kind IN ('embed', 'rerank', 'judge', 'decompose', 'entail')),
    model       text NOT NULL REFERENCES reground.models ON DELETE CASCADE,
    corpus_id   bigint REFERENCES reground.corpora ON DELETE CASCADE,
    turn_id     bigint,
    subject     text NOT NULL,
    input_hash  bytea,
    state       text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'dead')),
    attempts    integer NOT NULL DEFAULT 0,
    due_at      timestamptz NOT NULL DEFAULT pg_catalog.now(),
    lease_token uuid,
    worker      text,
    last_error  text,
    queued_at   timestamptz NOT NULL DEFAULT pg_catalog.now(),
    UNIQUE NULLS NOT DISTINCT (kind, model, corpus_id, turn_id, subject),
    CHECK ((state = 'leased') = (lease_token IS NOT NULL))
);
CREATE INDEX model_tasks_due ON reground.model_tasks (model, due_at, task_id) WHERE state <> 'dead';
CREATE INDEX model_tasks_turn ON reground.model_tasks (turn_id) WHERE turn_id IS NOT NULL;
CREATE INDEX model_tasks_corpus ON reground.model_tasks (corpus_id, subject) WHERE corpus_id IS NOT NULL;
COMMENT ON TABLE reground.model_tasks IS 'Tasks that are not done. A completed task is deleted; its result is stored where it belongs. No texts are stored: claim_tasks reads them.';
COMMENT ON COLUMN reground.model_tasks.task_id IS 'Id of the task.';
COMMENT ON COLUMN reground.model_tasks.tenant IS 'Tenant that the row belongs to; NULL for a shared corpus.';
COMMENT ON COLUMN reground.model_tasks.kind IS 'Kind: embed (a passage), rerank (the candidates of a turn), judge (a citation), decompose (a text into statements), entail (a statement).';
COMMENT ON COLUMN reground.model_tasks.model IS 'Name of the model.';
COMMENT ON COLUMN reground.model_tasks.corpus_id IS 'Id of the corpus of a passage; NULL for other kinds.';
COMMENT ON COLUMN reground.model_tasks.turn_id IS 'Id of the turn; NULL for a passage.';
COMMENT ON COLUMN reground.model_tasks.subject IS 'What the task is about: the chunk_id of a passage, or a part of the turn.';
COMMENT ON COLUMN reground.model_tasks.input_hash IS 'SHA-256 of the text of a passage, as it was queued or last claimed.';
COMMENT ON COLUMN reground.model_tasks.state IS 'waiting, leased, or dead (given up; see retry_tasks).';
COMMENT ON COLUMN reground.model_tasks.attempts IS 'Number of attempts that count against the task.';
COMMENT ON COLUMN reground.model_tasks.due_at IS 'When the task can be claimed: after a delay, or when its lease ends.';
COMMENT ON COLUMN reground.model_tasks.lease_token IS 'Token of the lease; NULL without one.';
COMMENT ON COLUMN reground.model_tasks.worker IS 'Worker that claimed the task last.';
COMMENT ON COLUMN reground.model_tasks.last_error IS 'Error of the last attempt, at most 500 characters.';
COMMENT ON COLUMN reground.model_tasks.queued_at IS 'When the task was queued.';

CREATE VIEW reground.model_backlog WITH (security_invoker = true) AS
    SELECT t.model, t.kind,
           pg_catalog.count(*) FILTER (WHERE t.state = 'waiting' OR t.state = 'leased' AND t.due_at <= pg_catalog.now()) AS waiting,
           pg_catalog.count(*) FILTER (WHERE t.state = 'leased' AND t.due_at > pg_catalog.now()) AS leased,
           pg_catalog.count(*) FILTER (WHERE t.state = 'dead') AS dead,
           pg_catalog.min(t.queued_at) FILTER (WHERE t.state <> 'dead') AS oldest_queued_at,
           pg_catalog.min(t.due_at) FILTER (WHERE t.state <> 'dead') AS next_due_at
    FROM reground.model_tasks AS t
    GROUP BY t.model, t.kind;
COMMENT ON VIEW reground.model_backlog IS 'Tasks that are not done, by model and kind.';
COMMENT ON COLUMN reground.model_backlog.model IS 'Name of the model.';
COMMENT ON COLUMN reground.model_backlog.kind IS 'Kind of the tasks.';
COMMENT ON COLUMN reground.model_backlog.waiting IS 'Tasks that wait, including those whose lease has ended.';
COMMENT ON COLUMN reground.model_backlog.leased IS 'Tasks that a worker is doing.';
COMMENT ON COLUMN reground.model_backlog.dead IS 'Tasks that were given up.';
COMMENT ON COLUMN reground.model_backlog.oldest_queued_at IS 'When the oldest task that is not dead was queued.';
COMMENT ON COLUMN reground.model_backlog.next_due_at IS 'When the next task can be claimed.';

CREATE VIEW reground.model_health WITH (security_invoker = true) AS
    SELECT m.model, m.task, m.api,
           CASE WHEN s.open_until IS NULL THEN 'closed' WHEN s.open_until > pg_catalog.now() THEN 'open' ELSE 'half_open' END AS breaker,
           coalesce(s.failures, 0) AS failures, s.open_until, s.last_error, s.failed_at,
           u.tasks, u.failures AS failed, u.input_tokens, u.output_tokens
    FROM reground.models AS m
    LEFT JOIN reground.model_status AS s USING (model)
    CROSS JOIN LATERAL (
        SELECT coalesce(pg_catalog.sum(x.tasks), 0)::bigint AS tasks, coalesce(pg_catalog.sum(x.failures), 0)::bigint AS failures,
               coalesce(pg_catalog.sum(x.input_tokens), 0)::bigint AS input_tokens, coalesce(pg_catalog.sum(x.output_tokens), 0)::bigint AS output_tokens
        FROM reground.model_usage AS x
        WHERE x.model = m.model AND x.hour > pg_catalog.now() - interval '24 hours') AS u;
COMMENT ON VIEW reground.model_health IS 'Circuit breaker and use of each model.';
COMMENT ON COLUMN reground.model_health.model IS 'Name of the model.';
COMMENT ON COLUMN reground.model_health.task IS 'Task of the model.';
COMMENT ON COLUMN reground.model_health.api IS 'API of the model.';
COMMENT ON COLUMN reground.model_health.breaker IS 'closed (works), open (receives no tasks) or half_open (the next task tries it).';
COMMENT ON COLUMN reground.model_health.failures IS 'Consecutive failures because of the model; each task of a failed call counts.';
COMMENT ON COLUMN reground.model_health.open_until IS 'Until when the breaker is open.';
COMMENT ON COLUMN reground.model_health.last_error IS 'Last error since the last success.';
COMMENT ON COLUMN reground.model_health.failed_at IS 'When that call failed.';
COMMENT ON COLUMN reground.model_health.tasks IS 'Tasks completed in the last 24 hours.';
COMMENT ON COLUMN reground.model_health.failed IS 'Attempts that failed in the last 24 hours.';
COMMENT ON COLUMN reground.model_health.input_tokens IS 'Tokens sent in the last 24 hours.';
COMMENT ON COLUMN reground.model_health.output_tokens IS 'Tokens received in the last 24 hours.';

CREATE FUNCTION reground.set_model(
    model text, task text DEFAULT NULL, api text DEFAULT NULL, endpoint text DEFAULT NULL, api_model text DEFAULT NULL,
    dimensions integer DEFAULT NULL, key_name text DEFAULT NULL, settings jsonb DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'set_model_wrapper';
COMMENT ON FUNCTION reground.set_model IS
'Registers a model, or changes the given properties of a registered one. A new model needs task and api, and dimensions for embeddings. api_model: name of the model at the API, by default model. endpoint: base address, by default that of the service (none for local; required for tei). key_name: name of the key in the worker''s environment. settings are merged into the stored ones (null removes one): max_attempts (5), max_tasks_per_hour, max_input_tokens (8000), query_prefix, document_prefix, max_batch (32), concurrency (4), timeout (seconds, 60), requests_per_minute, tokens_per_minute, normalize (true), dimensions_parameter (true). Errors: 22023 for invalid values, 55000 if the change would mix embeddings of two models.';

CREATE FUNCTION reground.drop_model(model text)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drop_model_wrapper';
COMMENT ON FUNCTION reground.drop_model IS
'Removes a model with its tasks, its usage and its judging, and returns whether it existed. Errors: 55000 if a corpus uses it.';

CREATE FUNCTION reground.worker_models()
    RETURNS TABLE (model text, task text, api text, endpoint text, api_model text, dimensions integer, key_name text, settings jsonb)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 3 AS 'MODULE_PATHNAME', 'worker_models_wrapper';
COMMENT ON FUNCTION reground.worker_models IS
'Returns the registered models, for a worker. settings contains all settings, with defaults.';

CREATE FUNCTION reground.claim_tasks(
    worker text, kinds text[] DEFAULT NULL, models text[] DEFAULT NULL, max_tasks integer DEFAULT 32, lease interval DEFAULT '5 minutes')
    RETURNS TABLE (task_id bigint, lease_token uuid, kind text, model text, attempts integer, request jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'claim_tasks_wrapper';
COMMENT ON FUNCTION reground.claim_tasks IS
'Leases due tasks to a worker and returns them with their requests. Commit before the call to the model. Tasks whose lease ends can be claimed again. A model whose circuit breaker is open gets none. request: {"text"} for embed, {"query", "passages"} for rerank, {"messages", "schema", …} for the others.';

CREATE FUNCTION reground.complete_task(
    task_id bigint, lease_token uuid, result jsonb, input_tokens bigint DEFAULT NULL, output_tokens bigint DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'complete_task_wrapper';
COMMENT ON FUNCTION reground.complete_task IS
'Stores the result of a leased task and deletes the task. result: {"embedding": [...]} for embed, {"scores": [...]} for rerank, {"content": "..."} for the others, for judge and entail also {"probability": p} or {"spans": [...]}. Errors: 55000 if the lease has ended, 22023 if the result cannot be used.';

CREATE FUNCTION reground.fail_task(
    task_id bigint, lease_token uuid, error text, failure text DEFAULT 'item', retry_after interval DEFAULT NULL)
    RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'fail_task_wrapper';
COMMENT ON FUNCTION reground.fail_task IS
'Gives a leased task back and returns its state, waiting or dead. failure: item (counts against the task), model (counts against the model; against the task only if the call before succeeded), limit (a rate limit; nothing counts) or stopped (not tried). retry_after: delay, by default growing with the attempts. Errors: 55000 if the lease has ended.';

CREATE FUNCTION reground.retry_tasks(model text DEFAULT NULL, kind text DEFAULT NULL)
    RETURNS bigint LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'retry_tasks_wrapper';
COMMENT ON FUNCTION reground.retry_tasks IS
'Makes dead and delayed tasks due at once, closes the circuit breakers of the models, and returns the number of tasks. NULL means all.';
