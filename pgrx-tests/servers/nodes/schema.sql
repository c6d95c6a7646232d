-- A node: an application, an analyst, and the corpora that each node has. The times of turns and answers depend only on the conversation and
-- the number of the turn, so that two servers with the same turns have the same rollups.
CREATE ROLE app LOGIN IN ROLE reground_user;
CREATE ROLE analyst LOGIN IN ROLE reground_auditor;
ALTER ROLE analyst SET cursor_tuple_fraction = 1;
ALTER ROLE app SET reground.tenant_from = 'app.tenant_id';
SELECT reground.create_corpus('help', settings => '{"provenance": "merkle"}');
SELECT reground.put_document('help', 'doc-' || n, format('Animal%s eats plant%s near place%s.', n, n, n % 7)) FROM generate_series(1, 40) AS n;
-- Each document belongs to a tenant.
SELECT reground.create_corpus('handbook', tenant_column => 'customer', settings => '{"provenance": "merkle"}');
-- A table that one node publishes to the others.
CREATE TABLE articles (id bigint PRIMARY KEY, title text NOT NULL, body text NOT NULL);
CREATE INDEX articles_body ON articles USING reground_bm25 (body);
SELECT reground.add_corpus('articles', 'articles', chunk_id => 'id', content => 'body', title => 'title', title_weight => 0, settings => '{"provenance": "merkle"}');
GRANT SELECT ON help, help_documents, handbook, handbook_documents, articles TO app;
GRANT INSERT, UPDATE, DELETE ON handbook, handbook_documents, handbook_history TO app;
GRANT SELECT ON handbook_history TO app;

CREATE FUNCTION set_time() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $$
BEGIN
    IF TG_TABLE_NAME = 'turns' THEN
        NEW.begun_at := (SELECT timestamptz '2026-03-02 09:00Z' + make_interval(hours => 5 * substring(conversation_ref, '\d+')::integer, mins => 25 * NEW.turn_no)
            FROM reground.conversations WHERE conversation_id = NEW.conversation_id);
    ELSE
        NEW.created_at := (SELECT begun_at + make_interval(secs => turn_no) FROM reground.turns WHERE turn_id = NEW.turn_id);
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER set_time BEFORE INSERT ON reground.turns FOR EACH ROW EXECUTE FUNCTION set_time();
CREATE TRIGGER set_time BEFORE INSERT ON reground.messages FOR EACH ROW EXECUTE FUNCTION set_time();

-- Stores the documents of a tenant, in a shared corpus and in one of its own. Passages have the same ids on all servers.
CREATE FUNCTION store_documents(tenant text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    own regclass;
BEGIN
    PERFORM setval(pg_get_serial_sequence('handbook', 'chunk_id'), 1000 * substring(tenant, '\d+')::bigint);
    PERFORM set_config('app.tenant_id', tenant, true);
    PERFORM reground.put_document('handbook', format('%s-%s.md', tenant, n), format('Rule%s of %s: animal%s may eat plant%s.', n, tenant, n, n + 1))
    FROM generate_series(1, 12) AS n;
    PERFORM reground.create_corpus('faq', tenant => store_documents.tenant, settings => '{"provenance": "merkle"}');
    PERFORM reground.put_document('faq', 'faq-' || n, format('%s asks: what does animal%s eat? Plant%s.', tenant, n, n)) FROM generate_series(1, 12) AS n;
    FOR own IN SELECT unnest(ARRAY[k.relation, k.documents]) FROM reground.corpora AS k WHERE k.corpus = 'faq' AND k.tenant = store_documents.tenant LOOP
        EXECUTE format('GRANT SELECT ON %s TO app', own);
    END LOOP;
END
$$;

-- Begins a turn of a tenant, and returns what the application was told.
CREATE FUNCTION begin_turn(tenant text, conversation text, number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    corpus text := CASE (number + right(conversation, 1)::integer) % 4 WHEN 0 THEN 'help' WHEN 1 THEN 'handbook' WHEN 2 THEN 'articles' ELSE 'faq' END;
BEGIN
    PERFORM set_config('app.tenant_id', tenant, true);
    RETURN (SELECT concat_ws(' | ', tenant, conversation, number, string_agg(concat_ws(' ', marker, doc_id, chunk_id, md5(content)), '; ' ORDER BY marker))
        FROM reground.begin_turn(conversation, format('What does animal%s eat?', number), corpus, settings => '{"max_sources": 3}') AS t);
END
$$;

-- Ends it. The answer cites the source that has the answer for two claims, of which one is invented, then another source, and a marker that
-- does not exist.
CREATE FUNCTION end_turn(tenant text, conversation text, number integer) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    open_turn bigint;
    good text;
    other text;
BEGIN
    PERFORM set_config('app.tenant_id', tenant, true);
    open_turn := (SELECT max(turn_id) FROM reground.turns);
    good := (SELECT min(marker) FROM reground.turn_sources(open_turn) WHERE content ~* format('\manimal%s\M', number));
    other := (SELECT min(marker) FROM reground.turn_sources(open_turn) WHERE marker <> good);
    RETURN (SELECT concat_ws(' | ', tenant, conversation, number, string_agg(concat_ws(' ', marker, status, holds, score), '; ' ORDER BY citation_no))
        FROM reground.end_turn(open_turn, format('Animal%s eats plant%s or plant%s [%s]. It sleeps all day [%s]. It may eat plant%s [%s]. [Z%s]',
                number, number, number + 1, good, good, number, other, number),
            message_ref => conversation || '-' || number, model => 'model-' || number % 2, usage => '{"input_tokens": 900, "output_tokens": 40}'));
END
$$;
