-- The queue of tasks for models, worked by hand: claims, leases, failures, circuit breakers and budgets.
CREATE SCHEMA queue;
SET search_path = queue, public;
CREATE ROLE regress_worker LOGIN IN ROLE reground_worker;
CREATE ROLE regress_queue_user IN ROLE reground_user;
CREATE ROLE regress_queue_admin IN ROLE reground_admin;
GRANT USAGE ON SCHEMA regress TO regress_worker, regress_queue_user, regress_queue_admin;

-- The work of a test: claims, and gives back by position in the claim.
CREATE TABLE claimed (n integer, task_id bigint, lease_token uuid, kind text, model text, attempts integer, request jsonb);
CREATE FUNCTION claim(most integer DEFAULT 32, models text[] DEFAULT NULL, lease interval DEFAULT '5 minutes') RETURNS TABLE (n integer, model text, attempts integer, request jsonb)
LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE claimed;
    INSERT INTO claimed SELECT row_number() OVER (ORDER BY c.request::text COLLATE "C"), c.task_id, c.lease_token, c.kind, c.model, c.attempts, c.request
        FROM reground.claim_tasks('worker 1', models => $2, max_tasks => $1, lease => $3) AS c;
    RETURN QUERY SELECT c.n, c.model, c.attempts, c.request FROM claimed AS c ORDER BY c.n;
END
$$;
CREATE FUNCTION complete(nth integer, result jsonb) RETURNS void LANGUAGE sql AS $$
    SELECT reground.complete_task(task_id, lease_token, $2, input_tokens => 3) FROM claimed WHERE n = $1 $$;
CREATE FUNCTION fail(nth integer, error text, failure text DEFAULT 'item', retry_after interval DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT reground.fail_task(task_id, lease_token, $2, $3, $4) FROM claimed WHERE n = $1 $$;
-- Makes all delays and leases end.
CREATE FUNCTION wait() RETURNS void LANGUAGE sql AS $$
    UPDATE reground.model_tasks SET due_at = now() - interval '1 second'; UPDATE reground.model_status SET open_until = now() - interval '1 second' WHERE open_until IS NOT NULL $$;
CREATE VIEW tasks AS SELECT kind, model, subject, state, attempts, due_at > clock_timestamp() AS delayed, last_error FROM reground.model_tasks WHERE model LIKE 'queue-%' ORDER BY task_id;

-- Registration.
SELECT * FROM regress.refusal($$SELECT reground.set_model('m')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'sing', api => 'openai')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'carrier pigeon')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'rerank', api => 'openai')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'openai')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'openai', dimensions => 0)$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'judge', api => 'openai', dimensions => 3)$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'tei', dimensions => 3)$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'tei', dimensions => 3, endpoint => 'ftp://host')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'tei', dimensions => 3, endpoint => 'https://me:secret@host')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'tei', dimensions => 3, endpoint => 'https://host/?key=secret')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'local', dimensions => 3, api_model => '../etc')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'openai', dimensions => 3, key_name => 'sk-1234')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'openai', dimensions => 3, settings => '{"max_atempts": 1}')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('m', task => 'embed', api => 'openai', dimensions => 3, settings => '{"max_attempts": 0}')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model(' ')$$);
SELECT reground.set_model('queue-a', task => 'embed', api => 'openai', dimensions => 2, key_name => 'OPENAI', settings => '{"max_attempts": 3}');
SELECT reground.set_model('queue-b', task => 'embed', api => 'local', api_model => 'small', dimensions => 2);
SELECT model, task, api, endpoint, api_model, dimensions, key_name, settings FROM reground.models WHERE model LIKE 'queue-%' ORDER BY model;
-- A second call changes what it names.
SELECT reground.set_model('queue-a', endpoint => 'https://proxy.example/v1/', settings => '{"max_attempts": null, "timeout": 5}');
SELECT model, endpoint, key_name, settings FROM reground.models WHERE model = 'queue-a';
SELECT reground.set_model('queue-a', settings => '{"max_attempts": 3}');

-- put_document queues passages; the worker sees requests, and no table.
SELECT reground.create_corpus('queue', schema => 'queue', embedding_model => 'queue-a');
SELECT dimensions, embedding_model FROM reground.corpora WHERE corpus = 'queue';
SELECT doc_id, pending_embeddings FROM (VALUES ('1', 'one'), ('2', 'two'), ('3', 'three'), ('4', 'four')) AS v(doc_id, body),
    reground.put_document('queue', doc_id, body) ORDER BY doc_id;
TABLE tasks;
SELECT model, kind, waiting, leased, dead FROM reground.model_backlog WHERE model = 'queue-a';
SET SESSION AUTHORIZATION regress_worker;
SELECT model, api_model, settings ->> 'timeout' AS timeout FROM reground.worker_models() WHERE model = 'queue-a';
SELECT * FROM regress.refusal($$TABLE reground.model_tasks$$);
SELECT * FROM regress.refusal($$TABLE queue.queue$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('queue-a', endpoint => 'https://elsewhere.example')$$);
SELECT * FROM regress.refusal($$SELECT reground.search('queue', 'one')$$);
BEGIN;
SELECT kind, model, request FROM reground.claim_tasks('w', max_tasks => 2);
-- What is leased is not claimed again.
SELECT count(*) FROM reground.claim_tasks('w');
SELECT count(*) FROM reground.claim_tasks('w');
ROLLBACK;
SELECT * FROM regress.refusal($$SELECT * FROM reground.claim_tasks('')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.claim_tasks('w', kinds => '{sing}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.claim_tasks('w', max_tasks => 0)$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.claim_tasks('w', lease => '0')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.claim_tasks('w', lease => '2 days')$$);
RESET SESSION AUTHORIZATION;

-- Results: checked, stored once.
SELECT * FROM claim(2, '{queue-a}');
SELECT state, message FROM regress.refusal($$SELECT complete(1, '{"embedding": [1]}')$$);
SELECT state, message FROM regress.refusal($$SELECT complete(1, '{"embedding": [1, "2"]}')$$);
SELECT state, message FROM regress.refusal($$SELECT complete(1, '{"embedding": [0, 0]}')$$);
SELECT state, message FROM regress.refusal($$SELECT complete(1, '[]')$$);
SELECT complete(1, '{"embedding": [1, 0]}');
SELECT state, regexp_replace(message, '\d+', 'N') AS message, hint FROM regress.refusal($$SELECT complete(1, '{"embedding": [1, 0]}')$$);
SELECT state FROM regress.refusal($$SELECT fail(1, 'late')$$);
SELECT content, embedding FROM queue.queue ORDER BY chunk_id;
-- A task fails: it waits, and is given up after three attempts.
SELECT fail(2, 'refused');
TABLE tasks;
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT wait();
SELECT n, attempts FROM claim(32, '{queue-a}');
SELECT fail(1, repeat('x', 1000)), fail(2, 'slow down', 'limit', '2 hours'), fail(3, '', 'stopped');
SELECT subject, state, attempts, delayed, length(last_error) FROM tasks;
SELECT wait();
SELECT n, attempts FROM claim(32, '{queue-a}');
SELECT fail(1, 'refused'), fail(2, 'refused'), fail(3, 'refused');
SELECT wait();
SELECT n, attempts FROM claim(32, '{queue-a}');
SELECT * FROM regress.refusal($$SELECT fail(1, 'refused', 'bad luck')$$);
SELECT fail(1, 'refused'), fail(2, 'refused');
TABLE tasks;
-- Dead tasks are seen, not claimed, and can be revived. A changed text revives its task too.
SELECT model, waiting, leased, dead FROM reground.model_backlog WHERE model = 'queue-a';
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT * FROM regress.refusal($$SELECT reground.retry_tasks('nothing')$$);
SELECT reground.retry_tasks('queue-a') > 0 AS revived;
TABLE tasks;

-- A lease that ends is an attempt; the late result is refused.
SELECT n, attempts FROM claim(32, '{queue-a}', '1 second');
SELECT wait();
SELECT state FROM regress.refusal($$SELECT complete(1, '{"embedding": [1, 0]}')$$);
SELECT n, attempts FROM claim(32, '{queue-a}');
SELECT wait();
SELECT n, attempts FROM claim(32, '{queue-a}');
SELECT wait();
SELECT n, attempts FROM claim(32, '{queue-a}');
TABLE tasks;
SELECT reground.retry_tasks('queue-a', 'embed') > 0 AS revived, reground.retry_tasks('queue-a', 'judge') AS judges;

-- Five failures of the model open its breaker; one task tries it afterwards; a success closes it. An outage costs no task its attempts.
SELECT (reground.put_document('queue', '5', 'five')).added, (reground.put_document('queue', '6', 'six')).added;
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT fail(1, '503', 'model'), fail(2, '503', 'model'), fail(3, '503', 'model'), fail(4, '503', 'model');
SELECT model, breaker, failures, last_error FROM reground.model_health WHERE model = 'queue-a';
SELECT fail(5, '401', 'model');
SELECT model, breaker, failures, last_error, open_until > clock_timestamp() AS waits FROM reground.model_health WHERE model = 'queue-a';
UPDATE reground.model_tasks SET due_at = now();
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT wait();
SELECT breaker FROM reground.model_health WHERE model = 'queue-a';
SELECT n, attempts FROM claim(32, '{queue-a}');
-- No other worker gets a task while that one tries.
SELECT count(*) FROM reground.claim_tasks('worker 2', models => '{queue-a}');
SELECT fail(1, '503', 'model');
SELECT model, breaker, failures FROM reground.model_health WHERE model = 'queue-a';
SELECT max(attempts) AS attempts FROM tasks;
SELECT wait();
SELECT n FROM claim(32, '{queue-a}');
SELECT complete(1, '{"embedding": [0, 1]}');
SELECT model, breaker, failures, last_error FROM reground.model_health WHERE model = 'queue-a';
SELECT wait();
SELECT count(*) FROM claim(32, '{queue-a}');
-- A model that works is not affected.
SELECT breaker, failures FROM reground.model_health WHERE model = 'queue-b';

-- An hourly budget counts what was done and what is leased.
SELECT wait();
SELECT reground.set_model('queue-a', settings => '{"max_tasks_per_hour": 3}');
SELECT model, tasks, input_tokens FROM reground.model_health WHERE model = 'queue-a';
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT count(*) FROM claim(32, '{queue-a}');
SELECT reground.set_model('queue-a', settings => '{"max_tasks_per_hour": null}');

-- The relation of a corpus is broken: its tasks wait, and nothing counts against them; others go on.
SELECT reground.create_corpus('queue2', schema => 'queue', embedding_model => 'queue-a');
SELECT (reground.put_document('queue2', 'x', 'a passage of another corpus')).added;
SELECT wait();
ALTER TABLE queue.queue RENAME COLUMN content TO body;
SELECT n, request FROM claim(32, '{queue-a}');
SELECT state, attempts, last_error FROM tasks WHERE last_error LIKE 'column%' LIMIT 1;
ALTER TABLE queue.queue RENAME COLUMN body TO content;
SELECT complete(1, '{"embedding": [1, 1]}');

-- A passage or a corpus that is gone takes its tasks along.
SELECT reground.delete_document('queue', '5');
SELECT wait();
SELECT n, request ->> 'text' AS text FROM claim(32, '{queue-a}');
SELECT reground.drop_corpus('queue2', drop_tables => true);

-- A model in use stays, and does not change what it computes.
SELECT * FROM regress.refusal($$SELECT reground.drop_model('queue-a')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('queue-a', api_model => 'another')$$);
SELECT * FROM regress.refusal($$SELECT reground.set_model('queue-a', dimensions => 3)$$);
SELECT reground.drop_model('queue-b'), reground.drop_model('queue-b');

-- A user sees its own tasks through no function, an admin all of them.
SET ROLE regress_queue_user;
SELECT state, message FROM regress.refusal($$TABLE reground.model_tasks$$);
SELECT state, message FROM regress.refusal($$SELECT * FROM reground.claim_tasks('me')$$);
SELECT state, message FROM regress.refusal($$SELECT reground.retry_tasks()$$);
RESET ROLE;
SET ROLE regress_queue_admin;
SELECT count(*) > 0 AS sees FROM reground.model_tasks WHERE model = 'queue-a';
RESET ROLE;

-- A turn that a model reranks.
SELECT reground.set_model('queue-r', task => 'rerank', api => 'cohere', key_name => 'COHERE');
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('queue-1', 'one two', 'queue', settings => '{"reranker": "model:nothing"}')$$);
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('queue-1', 'one two', 'queue', settings => '{"reranker": "model:queue-a"}')$$);
SELECT doc_id, origin FROM reground.begin_turn('queue-1', 'one two', 'queue', settings => '{"reranker": "model:queue-r"}') ORDER BY doc_id;
SELECT * FROM regress.refusal($$SELECT * FROM reground.apply_rerank(regress.turn('queue-1'))$$);
SELECT model, request FROM claim(1, '{queue-r}');
SELECT state, message FROM regress.refusal($$SELECT complete(1, '{"scores": [1]}')$$);
SELECT complete(1, (SELECT jsonb_build_object('scores', jsonb_agg((p = 'two')::integer)) FROM jsonb_array_elements_text(request -> 'passages') AS p)) FROM claimed;
SELECT marker, doc_id FROM reground.apply_rerank(regress.turn('queue-1'));
SELECT rerank_results, pending_candidates, state FROM reground.turns WHERE turn_id = regress.turn('queue-1');
-- Without the worker, the application goes on in the order of the search; the task is gone.
SELECT count(*) FROM reground.begin_turn('queue-2', 'one two', 'queue', settings => '{"reranker": "model:queue-r"}');
SELECT marker, doc_id FROM reground.apply_rerank(regress.turn('queue-2'), '[]') ORDER BY doc_id;
SELECT count(*) FROM reground.model_tasks WHERE model = 'queue-r';
-- Erasure removes tasks.
SELECT count(*) FROM reground.begin_turn('queue-3', 'one two', 'queue', settings => '{"reranker": "model:queue-r"}');
SELECT count(*) FROM reground.model_tasks WHERE model = 'queue-r';
SELECT count(*) > 0 AS erased FROM reground.forget_conversation('queue-3');
SELECT count(*) FROM reground.model_tasks WHERE model = 'queue-r';

SELECT reground.drop_corpus('queue', drop_tables => true);
SELECT reground.drop_model('queue-a'), reground.drop_model('queue-r');
SELECT count(*) FROM tasks;
DROP OWNED BY regress_worker, regress_queue_user, regress_queue_admin;
DROP ROLE regress_worker, regress_queue_user, regress_queue_admin;
