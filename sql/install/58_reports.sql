-- Pages to look at: whole in themselves, nothing fetched, nothing run.

CREATE FUNCTION reground.conversation_report(conversation_ref text, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'conversation_report_wrapper';
COMMENT ON FUNCTION reground.conversation_report(text, text) IS
'A conversation as one HTML page: what history took from its sources and how the citations fared, as plots by turn, then each turn with its question, its answer, every citation in it under its verdict, the sources that the model was given, warnings and superseded answers. What people, documents and models said is shown as text, whatever it says; only http and https addresses are links; nothing is fetched and nothing runs. The same data give the same page. A tenant sees its own, an auditor all: where several tenants have a conversation of that id, tenant says whose (22023 without). P0002 when there is no such conversation.';

CREATE FUNCTION reground.corpus_report(corpus text, since timestamptz DEFAULT pg_catalog.date_trunc('day', pg_catalog.now() - interval '7 days', 'UTC'), until timestamptz DEFAULT NULL, tenant text DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'corpus_report_wrapper';
COMMENT ON FUNCTION reground.corpus_report(text, timestamptz, timestamptz, text) IS
'The answers that stand of the turns that searched a corpus, by default since the day seven days ago began (UTC), as one HTML page: citations that hold by model with Wilson intervals, where they are lost, fidelity by hour, day or week, verdicts, stale citations, documents cited most and shown but never cited, and the answers to read first. A tenant sees its own answers, an auditor those of all, or of one tenant; 22023 where several corpora of that name could be meant. P0002 when there is no such corpus.';
