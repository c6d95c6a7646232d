-- A turn: begun with a question, ended with an answer.

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.begin_turn(
    conversation text, query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL,
    request_id text DEFAULT NULL, rewrite text DEFAULT NULL, intent text DEFAULT NULL, settings jsonb DEFAULT NULL, tags jsonb DEFAULT NULL,
    corpora text[] DEFAULT NULL, parent bigint DEFAULT NULL)
    RETURNS TABLE (turn_id bigint, marker text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, published text,
                   content text, facts text[], origin text, score double precision, tokens integer, metadata jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'begin_turn_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.begin_turn IS
'Begins a turn and returns the sources for its answer, in prompt order, each under a marker that will not move for the life of the conversation; one row with marker NULL where there are none. corpus defaults to that of the previous turn; corpora, in its place, asks several that share an embedding model, under the settings of the first (22023 where they compare embeddings differently). rewrite is a stand-alone form of the query for retrieval. request_id twice gives the same turn and rows (23505 with other arguments). intent overrides the judgement: new_topic, drill_down, compare or same_sources. parent is the turn that this one follows where that is not the latest, 0 for none: memory stands as that turn left it, with today''s pins, and turns that it does not follow are superseded until a turn follows them again (55000 unless the parent was answered). Writes: 25006 on a standby; use search there.';

-- The type vector is in the schema of pgvector.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.retrieve(
    turn bigint, query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, max_results integer DEFAULT NULL,
    corpora text[] DEFAULT NULL)
    RETURNS TABLE (turn_id bigint, marker text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, published text,
                   content text, facts text[], origin text, score double precision, tokens integer, metadata jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'retrieve_wrapper';
SET LOCAL search_path = pg_catalog, pg_temp;
COMMENT ON FUNCTION reground.retrieve IS
'Searches once more within an open turn, as an agent does, and returns what it found as begin_turn does: a source that the turn has already under its marker, others added to the turn under new ones. In another corpus its settings hold, with the conversation''s and those that begin_turn was given. The query is taken as it stands: nothing is borrowed from the conversation, and nothing carried. corpus or corpora default to those of the turn; max_results (1 to 100) to its setting max_sources, and each search has the turn''s max_tokens again. Searches of one turn run side by side; only what they write waits for one another. A reranker function is called; a deferred rerank is not waited for (rerank_missing). 55000 unless the turn is open, P0002 when there is none.';

CREATE FUNCTION reground.add_passages(turn bigint, passages jsonb)
    RETURNS TABLE (turn_id bigint, marker text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, published text,
                   content text, facts text[], origin text, score double precision, tokens integer, metadata jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'add_passages_wrapper';
COMMENT ON FUNCTION reground.add_passages IS
'Adds passages from outside the corpora to an open turn (the web, a tool, an upload), and returns them as begin_turn does, each under its marker, with origin added and an empty corpus: [{"text": "…", "id": 7, "doc_id": "…", "title": "…", "uri": "…", "page_start": 1, "published": "…", "metadata": {…}}], only text required. One without an id is known by the hash of its text, one without a doc_id by its uri, so the same result handed over again has the same marker. All are taken, whatever max_tokens says. They are cited and judged as any source; a later turn does not carry them, since no corpus holds them, unless it keeps the sources that there are. 22023 for a passage that brings a marker, 55000 unless the turn is open, P0002 when there is none.';

CREATE FUNCTION reground.apply_rerank(turn bigint, results jsonb)
    RETURNS TABLE (turn_id bigint, marker text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text, published text,
                   content text, facts text[], origin text, score double precision, tokens integer, metadata jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'apply_rerank_wrapper';
COMMENT ON FUNCTION reground.apply_rerank IS
'Gives a turn that was begun with reranker = deferred what the reranker returned: items with any of key, corpus (where candidates of several corpora have one key), index (from 0, as begin_turn returned them), text, score; NULL takes the fused order. Texts and new ids are mapped back by hash, then by likeness; what changed is in drift_events. Returns the sources as begin_turn does; 55000 unless the turn waits for it.';

CREATE FUNCTION reground.prompt_context(turn bigint, format text DEFAULT 'text')
    RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'prompt_context_wrapper';
COMMENT ON FUNCTION reground.prompt_context IS
'The block for the prompt: facts, then passages, with their markers; format text, xml or json. Whatever in a passage reads as a marker or delimiter of ours is defused. It goes before the history.';

CREATE FUNCTION reground.history(conversation text, max_tokens integer DEFAULT NULL, depends_on integer[] DEFAULT NULL, dependence text DEFAULT 'hard')
    RETURNS TABLE (part integer, turn integer, role text, content text, tokens integer, shortened boolean, over_budget boolean)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'history_wrapper';
COMMENT ON FUNCTION reground.history IS
'What was said before, for the next prompt, after the sources: a row a message, in order, of the roles user and assistant. Within a budget (max_tokens; NULL: what the strategy of the latest turn leaves beside its sources, see compress) every source that was ever cited comes first, in a message of the role sources, and what room is left goes to the turns, the newest first: whole, or the question with the cited sentences that hold, or the question alone. over_budget: the sources alone exceed the budget. depends_on keeps the turns of these numbers (dependence hard), or all from the earliest of them on (soft); empty keeps none (H2). Reads only, works on a standby. P0002 when there is no such conversation.';

CREATE FUNCTION reground.citation_instructions(format text DEFAULT 'text', marker_style text DEFAULT 'A1')
    RETURNS text LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'citation_instructions_wrapper';
COMMENT ON FUNCTION reground.citation_instructions IS 'What to tell the model about citing, for the system prompt, to fit prompt_context of the same format and the setting marker_style of the turn (A1 or 1; 22023 for others).';

CREATE FUNCTION reground.citation_grammar(turn bigint, format text DEFAULT 'gbnf')
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'citation_grammar_wrapper';
COMMENT ON FUNCTION reground.citation_grammar IS
'A grammar for constrained decoding that lets the answer of a turn cite its own markers and nothing else (I21): gbnf (llama.cpp), regex (vLLM, Outlines), or json_schema ({"sentences": [{"text": "…", "citations": ["A1"]}]}). Other text is free but for square brackets. 55000 before apply_rerank.';

CREATE FUNCTION reground.end_turn(
    turn bigint, answer text, message text DEFAULT NULL, model text DEFAULT NULL, usage jsonb DEFAULT NULL, tags jsonb DEFAULT NULL,
    citations jsonb DEFAULT NULL)
    RETURNS TABLE (message_id bigint, citation_id bigint, marker text, raw text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text,
                   claim text, quote text, status text, holds boolean, mode text, score double precision, coordinate_fidelity double precision,
                   support double precision, diagnostic text, source_state text, repaired boolean,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer,
                   form text, detail text, best_other text, support_parts jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'end_turn_wrapper';
COMMENT ON FUNCTION reground.end_turn IS
'Ends a turn with the model''s answer: a row for every citation in it with its verdict (one row with citation_id NULL where there are none). message is your id of the answer: the same id, answer and citations again give the same rows, others under it 23505, another id is a regeneration that supersedes the earlier answer. Then sources that were cited (with the setting carry_activation context, also those freshly retrieved) are renewed and the others fade. citations is what the model''s API returned beside the text (see import_citations), which then stands in place of what the text says. 55000 for an abandoned turn or one that waits for apply_rerank.';

CREATE FUNCTION reground.check_answer(
    answer text, passages jsonb, settings jsonb DEFAULT NULL, text_config regconfig DEFAULT NULL, corpus text DEFAULT NULL,
    citations jsonb DEFAULT NULL)
    RETURNS TABLE (message_id bigint, citation_id bigint, marker text, raw text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text,
                   claim text, quote text, status text, holds boolean, mode text, score double precision, coordinate_fidelity double precision,
                   support double precision, diagnostic text, source_state text, repaired boolean,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer,
                   form text, detail text, best_other text, support_parts jsonb)
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'check_answer_wrapper';
COMMENT ON FUNCTION reground.check_answer IS
'Judges an answer that no turn of ours was asked for: the rows of end_turn, with message_id, citation_id and source_state NULL, and no row where nothing is cited. passages is what the model was shown, [{"text": "…", "marker": "A1", "id": 7, "doc_id": "…", "title": "…", "uri": "…", "page_start": 1, "page_end": 2}], only text required: each is cited by its marker, or by its number from 1. With a corpus, documents that the answer names are looked up in it. citations is what the model''s API returned beside the text (see import_citations). text_config defaults to that of the corpus, else to default_text_search_config. Writes nothing, works on a standby.';

CREATE FUNCTION reground.record_turn(
    conversation text, query text, answer text, passages jsonb DEFAULT NULL, at timestamptz DEFAULT NULL, message text DEFAULT NULL, model text DEFAULT NULL,
    tags jsonb DEFAULT NULL, citations jsonb DEFAULT NULL, settings jsonb DEFAULT NULL, corpus text DEFAULT NULL, text_config regconfig DEFAULT NULL)
    RETURNS TABLE (message_id bigint, citation_id bigint, marker text, raw text, corpus text, doc_id text, chunk_id text, title text, uri text, locator text,
                   claim text, quote text, status text, holds boolean, mode text, score double precision, coordinate_fidelity double precision,
                   support double precision, diagnostic text, source_state text, repaired boolean,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer,
                   form text, detail text, best_other text, support_parts jsonb)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'record_turn_wrapper';
COMMENT ON FUNCTION reground.record_turn IS
'Records a turn that another system finished, with its own markers, judges its citations as check_answer does and returns the rows of end_turn. It goes to the end of its conversation (made if need be) as an ended turn of origin imported: history tells of it and analysts count it; service level indicators, rollups and alerts, which are of live answers, do not. at is when the answer was given, now by default. message is your id of the answer: the same id, answer and citations again record nothing and give the same rows, others under it 23505. passages, citations, corpus, settings and text_config are those of check_answer. Its markers are never given to another passage of the conversation, and what it was shown is not carried.';

CREATE FUNCTION reground.record_turns(turns jsonb, settings jsonb DEFAULT NULL, corpus text DEFAULT NULL, text_config regconfig DEFAULT NULL)
    RETURNS TABLE (place integer, turn_id bigint, message_id bigint, citations integer, held integer, cfs double precision, recorded boolean)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'record_turns_wrapper';
COMMENT ON FUNCTION reground.record_turns IS
'Records many finished turns as record_turn does, in a few statements: [{"conversation": "…", "query": "…", "answer": "…", "passages": […], "at": "…", "message": "…", "model": "…", "tags": {…}, "citations": …}], those of one conversation in their order. A row for each: its place, from 1; its turn and answer; how many citations it has and how many of them hold; its score; recorded is false for one that was recorded before (by its message). All or none: an element that cannot be read is named by its place (22023). Give some hundreds to a thousand at a time.';

CREATE FUNCTION reground.feed_answer(turn bigint, answer_so_far text, complete boolean DEFAULT false)
    RETURNS TABLE (shown_chars integer, shown_bytes integer, citation_no integer, marker text, raw text, corpus text, doc_id text, chunk_id text, title text,
                   uri text, locator text, claim text, quote text, status text, holds boolean, mode text, score double precision,
                   coordinate_fidelity double precision, support double precision, diagnostic text, repaired boolean,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'feed_answer_wrapper';
COMMENT ON FUNCTION reground.feed_answer IS
'For an answer that streams: give it all that has come so far, each time. shown_chars and shown_bytes say how much of it may be shown: no citation is cut in two by that. A row for each citation that is certain, as the whole answer will have it (citation_no counts those; one row with citation_no NULL where there is none yet); what becomes of it (claim to diagnostic) is NULL until its paragraph has ended. With complete => true the verdicts are those that end_turn gives. Keeps nothing, writes nothing, works on a standby.';

CREATE FUNCTION reground.extract_citations(answer text, forms jsonb DEFAULT NULL)
    RETURNS TABLE (citation_no integer, form text, family text, raw text, marker text, number integer, name text, pages text, locator text, problem text,
                   repaired boolean, sentence text, claim text,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer)
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'extract_citations_wrapper';
COMMENT ON FUNCTION reground.extract_citations IS
'Reads the citations of any text, without a turn and without judging them: a row for each cited thing, with what it names (a marker, a number counted from 1 whatever its form counts from, a document, pages, a place) and what it stands on. forms is the setting citation_forms: {"families": {"ordinal": false}, "patterns": [{"name": "ticket", "regex": "(?P<id>TK-[0-9]+)"}], "locators": {…}, "titles": [{"name": "q3.pdf", "aliases": ["the Q3 report"]}]}. Offsets are half-open and count from 0, in characters, UTF-8 bytes and UTF-16 code units.';

CREATE FUNCTION reground.import_citations(answer text, citations jsonb, api text DEFAULT NULL)
    RETURNS TABLE (citation_no integer, form text, family text, raw text, marker text, number integer, name text, pages text, locator text, problem text,
                   repaired boolean, sentence text, claim text, quote text,
                   char_start integer, char_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer)
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'import_citations_wrapper';
COMMENT ON FUNCTION reground.import_citations IS
'Reads the citations that a model''s API returned beside the text of an answer into the rows of extract_citations, with what the API says that the source says (quote): a whole message or its list of citations of anthropic, bedrock, cohere, gemini or openai, told apart by shape unless api names it. Each API''s own offsets are turned into characters, bytes and UTF-16 code units.';

CREATE FUNCTION reground.abandon_turn(turn bigint)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'abandon_turn_wrapper';
COMMENT ON FUNCTION reground.abandon_turn IS 'Gives a turn up: nothing fades, no answer can be given. True if it was open, false if it was abandoned already; 55000 if it has ended.';

CREATE FUNCTION reground.pin(conversation text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, corpus text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'pin_wrapper';
COMMENT ON FUNCTION reground.pin IS
'Pins a document (its best passage for each query) or a passage: it comes first in every context and never fades. Makes the conversation if need be. corpus defaults to that of the conversation; 22023 when several corpora could be meant, P0002 when there is no such source.';

CREATE FUNCTION reground.unpin(conversation text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, corpus text DEFAULT NULL)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'unpin_wrapper';
COMMENT ON FUNCTION reground.unpin IS 'Takes a pin back; from then on the source fades like any other. True if it was pinned.';

CREATE FUNCTION reground.alter_conversation(conversation text, settings jsonb)
    RETURNS jsonb LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'alter_conversation_wrapper';
COMMENT ON FUNCTION reground.alter_conversation IS 'Merges settings into those of the conversation (null removes one) and returns them. Makes the conversation if need be.';

CREATE FUNCTION reground.check_policy(message bigint)
    RETURNS TABLE (decision text, reason text) LANGUAGE sql STABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT m.decision, r.reason
        FROM reground.messages AS m LEFT JOIN LATERAL pg_catalog.unnest(m.reasons) AS r(reason) ON true
        WHERE m.message_id = check_policy.message;
    END;
COMMENT ON FUNCTION reground.check_policy(bigint) IS 'Whether an answer should be shown or written anew (accept, regenerate), a row a reason (I20).';

CREATE FUNCTION reground.answer_metrics(message bigint)
    RETURNS TABLE (metric text, numerator double precision, denominator bigint, value double precision)
    LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'answer_metrics_wrapper';
COMMENT ON FUNCTION reground.answer_metrics IS
'What an answer is worth by the measures of the field, judged again with the context and settings of its turn: reference_validity, citation_coverage, alce_citation_recall and _precision (Gao et al. 2023), trec_weighted_ and trec_hard_precision and _recall (first citation of a sentence; TREC RAG 2024), all_citations_precision and _recall (every citation; not the track''s), faithfulness, context_utilisation, carry_over_hit_rate. Entailment is support by text at the threshold support_threshold, partial support half of it. value is NULL over nothing; numerators and denominators of many answers add up (see micro_average).';

CREATE FUNCTION reground._add_ratio(state double precision[], numerator double precision, denominator double precision)
    RETURNS double precision[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY[state[1] + coalesce(numerator, 0), state[2] + coalesce(denominator, 0)];
COMMENT ON FUNCTION reground._add_ratio IS 'Transition of micro_average.';
CREATE FUNCTION reground._add_ratios(a double precision[], b double precision[])
    RETURNS double precision[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ARRAY[a[1] + b[1], a[2] + b[2]];
COMMENT ON FUNCTION reground._add_ratios IS 'Combines two states of micro_average.';
CREATE FUNCTION reground._ratio(state double precision[])
    RETURNS double precision LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN state[1] / nullif(state[2], 0);
COMMENT ON FUNCTION reground._ratio IS 'End of micro_average.';
CREATE AGGREGATE reground.micro_average(numerator double precision, denominator double precision) (
    SFUNC = reground._add_ratio, STYPE = double precision[], INITCOND = '{0,0}', FINALFUNC = reground._ratio, COMBINEFUNC = reground._add_ratios, PARALLEL = SAFE);
COMMENT ON AGGREGATE reground.micro_average(double precision, double precision) IS
'Sum of the numerators over the sum of the denominators, NULL over nothing: what a measure such as those of answer_metrics is over many answers.';

CREATE FUNCTION reground.profile()
    RETURNS TABLE (function text, stage text, calls integer, microseconds bigint)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'profile_wrapper';
COMMENT ON FUNCTION reground.profile() IS
'Where the time of this session''s last successful begin_turn or end_turn went, a row a stage: how often, and its own time by the wall clock. What belongs to no stage is in other; all of them add up to the call. No row before the first call.';
