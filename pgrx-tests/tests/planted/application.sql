-- The tables of an application: {r} is the prefix of their names, {role} their owner. For a superuser, under the default search_path.

-- Types and a text search configuration of the application.
CREATE TYPE public.{r}_mood AS ENUM ('calm', 'wild');
CREATE DOMAIN public.{r}_label AS text CHECK (VALUE <> '');
CREATE TEXT SEARCH CONFIGURATION public.{r}_words (COPY = pg_catalog.english);
CREATE TABLE public.{r}_books (isbn text PRIMARY KEY, title text, lang text, year integer, added timestamptz, pages integer);
INSERT INTO public.{r}_books VALUES ('b1', 'On Goats', 'en', 2019, '2019-05-01', 12), ('b2', 'Von Ziegen', 'de', 2021, '2021-05-01', 20);
CREATE TABLE public.{r}_articles (
    id integer PRIMARY KEY, book text REFERENCES public.{r}_books, body text NOT NULL, place public.vector(2), page numeric, printed date,
    kind varchar(8), code "char", slug name, number oid, price numeric, small smallint, ratio real, share double precision, draft boolean,
    seen timestamptz, at time, lasts interval, note jsonb, raw json, tags text[], sizes integer[], mark uuid, data bytea, within int4range,
    mood public.{r}_mood, label public.{r}_label);
INSERT INTO public.{r}_articles
SELECT n, CASE n % 2 WHEN 0 THEN 'b1' ELSE 'b2' END, 'Goats climb trees and give milk ' || n || '.', ARRAY[1, n / 50.0]::real[]::public.vector, n, '2025-03-01'::date + n,
    'text', 'c', 'slug', 7, n / 2.0, n, 0.5, 0.25, n % 3 = 0, '2026-01-01 00:00+00'::timestamptz + n * interval '1 hour', '10:00', '1 hour',
    '{"k": "v", "deep": {"a": [1, 2]}}', '{"k": 1}', '{red,blue}', '{1,2}', '11111111-1111-1111-1111-111111111111', '\x00', '[1,9)', 'wild', 'one'
FROM generate_series(1, 40) AS n;
CREATE INDEX ON public.{r}_articles USING hnsw (place public.vector_cosine_ops);
CREATE INDEX {r}_articles_body ON public.{r}_articles USING reground_bm25 (body, small, draft, mark) WITH (text_config = 'pg_catalog.english');

-- Text keys, row-level security, and a schema that is not on the search_path.
CREATE TABLE store.{r}_texts (key text PRIMARY KEY, doc varchar(20), body text NOT NULL, title text, emb public.halfvec(2));
INSERT INTO store.{r}_texts VALUES ('o/1', 'otters', 'Otters sleep on their backs.', 'On Otters', '[1,0]'), ('o/2', 'otters', 'Otters eat fish at night.', 'On Otters', '[0.9,0.1]'),
    ('w/1', 'owls', 'Owls hunt at night.', 'On Owls', '[0,1]'), ('x/1', 'secret', 'Otters are hidden here.', 'Secret', '[1,0]');
ALTER TABLE store.{r}_texts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY shown ON store.{r}_texts USING (doc <> 'secret');
CREATE INDEX ON store.{r}_texts USING reground_bm25 ((ARRAY[title, body])) WITH (text_config = 'pg_catalog.english', weights = '2,1');
CREATE INDEX ON store.{r}_texts USING reground_bm25 (body) WITH (text_config = 'pg_catalog.english');

-- A language per row.
CREATE TABLE public.{r}_leaflets (id bigint PRIMARY KEY, body text NOT NULL, lang text);
INSERT INTO public.{r}_leaflets VALUES (1, 'Die Ziegen klettern.', 'de'), (2, 'The goats climb.', 'en'), (3, '山羊会爬树。', 'zh'), (4, 'Kozy', 'klingon'), (5, 'Goats are here.', 'public.{r}_words');
CREATE INDEX {r}_leaflets_body ON public.{r}_leaflets USING reground_bm25 (reground.in_language(body, lang)) WITH (text_config = 'simple');

CREATE TABLE public.{r}_notes (id public.{r}_label PRIMARY KEY, mood public.{r}_mood, body text NOT NULL, config regconfig);
INSERT INTO public.{r}_notes VALUES ('n1', 'calm', 'The goats climb.', 'public.{r}_words'), ('n2', 'wild', 'Die Ziegen klettern.', 'german'), ('n3', 'wild', 'Goats sleep.', NULL);
CREATE INDEX ON public.{r}_notes USING reground_bm25 (reground.in_language(body, config)) WITH (text_config = 'public.{r}_words');
CREATE INDEX ON public.{r}_notes (config);

-- Keys of other types, without any index.
CREATE TABLE public.{r}_log (at timestamptz PRIMARY KEY, day date, body text, version smallint);
INSERT INTO public.{r}_log VALUES ('2025-03-01 10:00+00', '2025-03-04', 'The pump failed.', 1), ('2025-03-02 10:00+00', '2025-03-04', 'The pump was mended.', 1);
CREATE VIEW public.{r}_shelf AS SELECT a.mark::text || '/' || a.id AS key, a.slug AS doc, a.body, a.place, b.title, a.page::integer AS page
FROM public.{r}_articles AS a JOIN public.{r}_books AS b ON b.isbn = a.book;

CREATE FUNCTION public.{r}_rank(query text, passages text[]) RETURNS real[] LANGUAGE sql
    RETURN ARRAY(SELECT 1.0 / n FROM generate_series(1, cardinality(passages)) AS n)::real[];
CREATE FUNCTION public.{r}_judge(query text, earlier jsonb) RETURNS jsonb LANGUAGE sql
    RETURN '{"intent": "drill_down", "confidence": 0.75, "entities": ["goats"]}'::jsonb;
-- Their names are looked up when they run. On a corpus they run as the role that set them, so not along the search_path of the caller.
CREATE FUNCTION public.{r}_open_rank(query text, passages text[]) RETURNS real[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN (SELECT array_agg(length(p) / 100.0 ORDER BY p <> query) FROM unnest(passages) AS p);
END $$;
CREATE FUNCTION public.{r}_open_judge(query text, earlier jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN jsonb_build_object('intent', lower('DRILL_DOWN'), 'confidence', 0.5 + 0.25);
END $$;

ALTER TABLE public.{r}_books OWNER TO {role};
ALTER TABLE public.{r}_articles OWNER TO {role};
ALTER TABLE public.{r}_leaflets OWNER TO {role};
ALTER TABLE public.{r}_log OWNER TO {role};
ALTER TABLE public.{r}_notes OWNER TO {role};
ALTER VIEW public.{r}_shelf OWNER TO {role};
ALTER TABLE store.{r}_texts OWNER TO {role};

-- Objects that shadow some of these; the others are visible without their schema.
CREATE DOMAIN hostile.{r}_label AS text CHECK (hostile.called('type {r}_label'));
CREATE TEXT SEARCH CONFIGURATION hostile.{r}_words (PARSER = pg_catalog."default");
CREATE VIEW hostile.{r}_articles AS SELECT * FROM public.{r}_articles WHERE hostile.called('view {r}_articles');
CREATE VIEW hostile.{r}_texts AS SELECT * FROM store.{r}_texts WHERE hostile.called('view {r}_texts');
CREATE VIEW hostile.{r}_farm_documents AS SELECT 1 AS doc_id WHERE hostile.called('view {r}_farm_documents');
-- A lookup of the hooks with the types text and jsonb of this schema would find these.
CREATE FUNCTION hostile.{r}_rank(query hostile.text, passages hostile.text[]) RETURNS real[] LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hostile.called('function {r}_rank');
END $$;
CREATE FUNCTION hostile.{r}_judge(query hostile.text, earlier hostile.jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM hostile.called('function {r}_judge');
END $$;
GRANT SELECT ON hostile.{r}_articles, hostile.{r}_texts, hostile.{r}_farm_documents TO PUBLIC;
-- A judge.
SELECT reground.set_model('{r}_judge', 'judge', 'openai'), reground.set_judging('{r}_judge', sample => 1, tenant => '{role}');
