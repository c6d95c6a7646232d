-- Tasks of maintenance run when they are due or by name; each run is recorded, and an error does not stop the other tasks.
SELECT task, enabled, period, meaning <> '' AS described FROM reground.maintenance_tasks WHERE built_in ORDER BY task;
-- The view computes the lock of a running task in SQL.
BEGIN;
SELECT task, error FROM reground.run_maintenance('refresh_audit');
SELECT task, running FROM reground.maintenance_status ORDER BY task;
ROLLBACK;
SELECT count(*) FROM reground.maintenance_status WHERE running;

-- Each task can be called by name, and is then not due.
DELETE FROM reground.maintenance_runs;
SELECT r.task, r.processed IS NOT NULL AS processed, r.error FROM reground.maintenance_tasks AS t, reground.run_maintenance(t.task) AS r WHERE t.built_in ORDER BY r.task;
SELECT * FROM reground.run_maintenance();
SELECT task, finished_at >= started_at AS in_order, processed IS NOT NULL AS processed, error, sqlstate FROM reground.maintenance_runs ORDER BY task;
SELECT task, last_finished_at >= last_started_at AS in_order, last_error, next_due_at - last_started_at AS wait FROM reground.maintenance_status ORDER BY task;
-- A task is due when its period has passed, up to five seconds or a tenth of the period earlier.
UPDATE reground.maintenance_runs SET started_at = started_at - interval '54 seconds' WHERE task = 'refresh_audit';
SELECT task FROM reground.run_maintenance();
UPDATE reground.maintenance_runs SET started_at = started_at - interval '56 seconds' WHERE task = 'refresh_audit';
SELECT task FROM reground.run_maintenance();
SELECT task FROM reground.run_maintenance();

-- Settings.
SELECT reground.set_maintenance('retention', enabled => false), reground.set_maintenance('check_alerts', period => '2 minutes');
SELECT reground.set_maintenance('check_alerts', enabled => true), reground.set_maintenance('retention', period => '1 week');
SELECT task, built_in, enabled, period FROM reground.maintenance_tasks WHERE task IN ('check_alerts', 'retention') ORDER BY task, built_in;
DELETE FROM reground.maintenance_runs;
SELECT task FROM reground.run_maintenance() WHERE task IN ('check_alerts', 'retention');
SELECT task, enabled, period, next_due_at - last_started_at AS wait FROM reground.maintenance_status WHERE task IN ('check_alerts', 'retention') ORDER BY task;
-- A disabled task still runs by name.
SELECT task, error FROM reground.run_maintenance('retention');
SELECT reground.set_maintenance('retention'), reground.set_maintenance('check_alerts');
SELECT task, enabled, period FROM reground.maintenance_status WHERE task IN ('check_alerts', 'retention') ORDER BY task;
SELECT count(*) FROM reground.maintenance_tasks WHERE NOT built_in;
SELECT f, r.* FROM unnest(ARRAY[$$SELECT reground.run_maintenance('vacuum')$$, $$SELECT reground.set_maintenance('vacuum', enabled => true)$$, $$SELECT reground.set_maintenance(NULL)$$, $$SELECT reground.set_maintenance(' ')$$,
    $$SELECT reground.set_maintenance('retention', period => '0')$$, $$SELECT reground.set_maintenance('retention', period => '31 days')$$]) AS f, regress.refusal(f) AS r;

-- An error is stored, the changes of its task are rolled back, and the next tasks run. The user and the search_path are as before.
DELETE FROM reground.maintenance_runs;
CREATE FUNCTION regress.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no more answers' USING ERRCODE = 'division_by_zero'; END $$;
CREATE TRIGGER fail BEFORE INSERT ON reground.answer_rollup FOR EACH STATEMENT EXECUTE FUNCTION regress.fail();
SELECT reground.create_corpus('kept up');
SELECT doc_id FROM reground.put_document('kept up', 'rye', content => 'Rye is sown in autumn. It is harvested in summer.') AS p, (VALUES ('rye')) AS v(doc_id);
SELECT count(*) FROM reground.begin_turn('kept-1', 'When is rye sown?', corpus => 'kept up');
SELECT count(*) FROM reground.end_turn((SELECT max(turn_id) FROM reground.turns), 'In autumn [A1].');
SELECT task, processed IS NOT NULL AS processed, error, current_user = session_user AS same_user, current_setting('search_path') AS search_path FROM reground.run_maintenance() WHERE task <> 'probes';
SELECT task, finished_at IS NOT NULL AS finished, processed IS NULL AS failed, error, sqlstate FROM reground.maintenance_runs WHERE task <> 'probes' ORDER BY run_id;
SELECT last_error FROM reground.maintenance_status WHERE task = 'refresh_audit';
DROP TRIGGER fail ON reground.answer_rollup;
DROP FUNCTION regress.fail();
SELECT answers > 0 AS still_waiting FROM reground.audit_backlog;
SELECT processed > 0 AS counted, error FROM reground.run_maintenance('refresh_audit');
SELECT last_error FROM reground.maintenance_status WHERE task = 'refresh_audit';
-- A cancel and a timeout are not stored: they end the call.
SET statement_timeout = '100ms';
CREATE FUNCTION regress.wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NULL; END $$;
CREATE TRIGGER wait BEFORE DELETE ON reground.turn_archive FOR EACH STATEMENT EXECUTE FUNCTION regress.wait();
SELECT * FROM reground.run_maintenance('retention');
RESET statement_timeout;
DROP TRIGGER wait ON reground.turn_archive;
DROP FUNCTION regress.wait();
-- Runs whose session ended are closed by the next run, and runs are removed after 30 days.
DELETE FROM reground.maintenance_runs;
INSERT INTO reground.maintenance_runs (task, started_at) VALUES ('retention', now() - interval '2 days'), ('retention', now() - interval '1 day'), ('check_alerts', now() - interval '1 day'), ('check_alerts', now() - interval '31 days');
SELECT task, error FROM reground.run_maintenance('retention');
SELECT task, finished_at IS NOT NULL AS finished, error, sqlstate FROM reground.maintenance_runs WHERE started_at < now() - interval '1 hour' ORDER BY task, started_at;
DELETE FROM reground.maintenance_runs;

-- Coordinates are checked as the owner of the table. A role that sees no row, or a table that is gone, is no error of the task.
CREATE ROLE regress_keeper;
CREATE ROLE regress_grower;
GRANT reground_admin TO regress_keeper, regress_grower;
GRANT USAGE, CREATE ON SCHEMA public TO regress_grower;
GRANT USAGE ON SCHEMA regress TO regress_keeper;
SET ROLE regress_grower;
SELECT reground.create_corpus('grown', tenant => 'regress_grower'), reground.create_corpus('lost');
SELECT count(*) FROM (VALUES ('oat', 'Oats are sown in spring.'), ('rye', 'Rye is sown in autumn.')) AS v(doc_id, content) CROSS JOIN LATERAL reground.put_document('grown', v.doc_id, content => v.content);
UPDATE grown SET char_end = 1000 WHERE doc_id = 'oat';
CREATE FUNCTION caught(doc_id text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE '% as %', doc_id, current_user;
    RESET ROLE;
    RETURN true;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE NOTICE '%', SQLERRM;
    RETURN true;
END $$;
RESET ROLE;
DROP TABLE lost_documents, lost_history, lost;
SET ROLE regress_keeper;
SELECT error FROM reground.run_maintenance('check_coordinates');
SELECT corpus, tenant, passages, faults, error FROM reground.coordinate_faults WHERE corpus IN ('grown', 'lost', 'kept up') ORDER BY corpus;
RESET ROLE;
SET ROLE regress_grower;
ALTER TABLE grown ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY caught ON grown USING (doc_id = 'oat' AND caught(doc_id));
SET ROLE regress_keeper;
SELECT error FROM reground.run_maintenance('check_coordinates');
RESET ROLE;
SELECT passages, faults, error FROM reground.coordinate_faults WHERE corpus = 'grown';
SELECT reground.drop_corpus('lost');
SELECT count(*) FROM reground.coordinate_faults WHERE corpus = 'lost';

-- Probes run with the rights of the role that put them: a hidden document stays hidden, and views of other roles can be searched.
CREATE ROLE regress_asker;
GRANT reground_user TO regress_asker;
SET ROLE regress_grower;
ALTER TABLE grown NO FORCE ROW LEVEL SECURITY;
DROP POLICY caught ON grown;
DROP FUNCTION caught;
CREATE POLICY oats ON grown USING (doc_id = 'oat');
SELECT reground.drop_corpus('grown');
SELECT reground.add_corpus('grown', 'grown', 'chunk_id', 'content', doc_id => 'doc_id', heading => 'heading');
GRANT SELECT ON grown TO regress_asker;
SET ROLE regress_asker;
SELECT reground.put_probe('seen', 'grown', 'When are oats sown?', 'oat'), reground.put_probe('hidden', 'grown', 'When is rye sown?', 'rye');
SET ROLE regress_keeper;
SELECT task, processed >= 2 AS both, error FROM reground.run_maintenance('probes');
RESET ROLE;
SELECT tenant, probe, found, lost_stage FROM reground.probe_results WHERE tenant = 'regress_asker' ORDER BY probe;
SELECT probe, put_by FROM reground.probes WHERE tenant = 'regress_asker' ORDER BY probe;
-- Users may neither run nor read it.
SET ROLE regress_asker;
SELECT * FROM reground.run_maintenance();
SELECT * FROM reground.maintenance_status;
RESET ROLE;
SELECT reground.forget_tenant('regress_asker') IS NOT NULL AS forgotten LIMIT 1;
SELECT reground.drop_corpus('grown'), reground.drop_corpus('kept up', drop_tables => true);
DROP OWNED BY regress_grower, regress_keeper, regress_asker;
DROP ROLE regress_grower, regress_keeper, regress_asker;
