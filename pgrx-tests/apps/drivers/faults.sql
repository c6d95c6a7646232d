-- fault(kind, times): fails in the first `times` calls after setval('tries', 1, false), with a conflict or a lost connection. Then it
-- returns the number of calls, which a rollback does not undo.
CREATE SEQUENCE tries;
GRANT USAGE, UPDATE ON SEQUENCE tries TO app;
CREATE FUNCTION fault(kind text, times bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    call bigint := nextval('tries');
BEGIN
    IF call <= times AND kind = 'conflict' THEN
        RAISE EXCEPTION 'again' USING ERRCODE = '40001';
    ELSIF call <= times THEN
        PERFORM pg_terminate_backend(pg_backend_pid());
        PERFORM pg_sleep(10);
    END IF;
    RETURN call;
END $$;
