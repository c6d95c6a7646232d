SELECT set_config('app.tenant_id', 'acme', false);
SELECT reground.create_corpus('papers', dimensions => 2, settings => '{"reuse_answers": true}');
CREATE TABLE public.denied (who name, doc_id text);
CREATE TABLE public.answers (name text, answer text);
CREATE FUNCTION public.may_read(doc_id text) RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog
    AS $$ SELECT NOT EXISTS (SELECT FROM public.denied AS d WHERE d.who = session_user AND d.doc_id = may_read.doc_id) $$;
ALTER TABLE public.papers ENABLE ROW LEVEL SECURITY;
ALTER TABLE public.papers_documents ENABLE ROW LEVEL SECURITY;
CREATE POLICY readers ON public.papers USING (public.may_read(doc_id));
CREATE POLICY readers ON public.papers_documents USING (public.may_read(doc_id));
GRANT SELECT, INSERT, UPDATE, DELETE ON public.papers, public.papers_documents, public.papers_history TO {user};
GRANT SELECT, INSERT ON public.answers TO {user};
SELECT reground.set_model('splitter', 'decompose', 'openai'), reground.set_model('checker', 'entail', 'openai');
SELECT reground.put_document('papers', 'plan', content => 'The vault is kept in zyzzyva hall. The zyzzyva guards are asleep at noon. The vault has 7319462850 doors.',
    title => 'The zyzzyva plan', uri => 'https://example.org/zyzzyva', metadata => '{"facts": ["The zyzzyva hall is locked."]}');
SELECT reground.put_document('papers', 'handbook', content => 'A vault is a room with thick walls.', title => 'Handbook');
