-- Rows that several functions return. A new attribute is added at the end.

CREATE TYPE reground.turn_source AS (
    turn_id   bigint,
    marker    text,
    corpus    text,
    doc_id    text,
    chunk_id  text,
    title     text,
    uri       text,
    locator   text,
    published text,
    content   text,
    facts     text[],
    origin    text,
    score     double precision,
    tokens    integer,
    metadata  jsonb,
    answerability double precision
);
COMMENT ON TYPE reground.turn_source IS 'Row of begin_turn, turn_sources, retrieve, add_passages and apply_rerank: a source of the turn. The type only grows at its end.';
COMMENT ON COLUMN reground.turn_source.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.turn_source.marker IS 'Marker for the prompt, for example A1; NULL for a candidate that waits for apply_rerank, and if there are no sources.';
COMMENT ON COLUMN reground.turn_source.corpus IS 'Name of the corpus; empty for added passages.';
COMMENT ON COLUMN reground.turn_source.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.turn_source.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.turn_source.title IS 'Title of the document.';
COMMENT ON COLUMN reground.turn_source.uri IS 'Address of the document.';
COMMENT ON COLUMN reground.turn_source.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.turn_source.published IS 'Publication date of the source, as stored by the application.';
COMMENT ON COLUMN reground.turn_source.content IS 'Text of the passage.';
COMMENT ON COLUMN reground.turn_source.facts IS 'Sentences of the passage that fit the query best, in their order, or facts that the application supplies.';
COMMENT ON COLUMN reground.turn_source.origin IS 'fresh, carried, pinned, graph or added; remembered for a source of an earlier answer that is shown by its facts only; candidate before apply_rerank; none if there are no sources.';
COMMENT ON COLUMN reground.turn_source.score IS 'Relevance to the query, 0 to 1; NULL for added passages and remembered sources.';
COMMENT ON COLUMN reground.turn_source.tokens IS 'Tokens (o200k_base) of the passage.';
COMMENT ON COLUMN reground.turn_source.metadata IS 'Metadata of the document and of the passage; of equal keys, those of the passage.';
COMMENT ON COLUMN reground.turn_source.answerability IS 'Whether the corpus seems to have an answer to the question of the search, 0 to 1, the same in all rows; NULL without a search, an embedding, or score fusion.';

CREATE TYPE reground.judged_citation AS (
    message_id          bigint,
    citation_id         bigint,
    marker              text,
    raw                 text,
    corpus              text,
    doc_id              text,
    chunk_id            text,
    title               text,
    uri                 text,
    locator             text,
    claim               text,
    quote               text,
    status              text,
    holds               boolean,
    hallucination_mode  text,
    score               double precision,
    coordinate_fidelity double precision,
    support             double precision,
    diagnostic          text,
    source_state        text,
    repaired            boolean,
    answer_start        integer,
    answer_end          integer,
    byte_start          integer,
    byte_end            integer,
    utf16_start         integer,
    utf16_end           integer,
    form                text,
    detail              text,
    best_other_marker   text,
    support_parts       jsonb,
    citation_no         integer,
    scope               text
);
COMMENT ON TYPE reground.judged_citation IS 'Row of end_turn, check_answer and record_turn: a citation with its verdict. The type only grows at its end.';
COMMENT ON COLUMN reground.judged_citation.message_id IS 'Id of the answer; NULL from check_answer.';
COMMENT ON COLUMN reground.judged_citation.citation_id IS 'Id of the citation; NULL from check_answer, and if the answer has no citations.';
COMMENT ON COLUMN reground.judged_citation.marker IS 'Marker that the citation resolved to, or names; NULL for other forms.';
COMMENT ON COLUMN reground.judged_citation.raw IS 'The citation as written in the answer.';
COMMENT ON COLUMN reground.judged_citation.corpus IS 'Corpus of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.judged_citation.doc_id IS 'Document of the source; NULL if nothing was resolved.';
COMMENT ON COLUMN reground.judged_citation.chunk_id IS 'Passage of the source; NULL if none was resolved.';
COMMENT ON COLUMN reground.judged_citation.title IS 'Title of the document.';
COMMENT ON COLUMN reground.judged_citation.uri IS 'Address of the document.';
COMMENT ON COLUMN reground.judged_citation.locator IS 'Place within the document, as shown to readers.';
COMMENT ON COLUMN reground.judged_citation.claim IS 'Sentence that the citation belongs to, without citations.';
COMMENT ON COLUMN reground.judged_citation.quote IS 'Sentence of the source that supports the claim best.';
COMMENT ON COLUMN reground.judged_citation.status IS 'Verdict; see citation_statuses.';
COMMENT ON COLUMN reground.judged_citation.holds IS 'Whether the citation holds; NULL if this cannot be decided.';
COMMENT ON COLUMN reground.judged_citation.hallucination_mode IS 'fabricated_coordinate, cross_text_conflation or paraphrase_attribution; NULL otherwise.';
COMMENT ON COLUMN reground.judged_citation.score IS 'Fidelity score of the coordinates, 0 to 1.';
COMMENT ON COLUMN reground.judged_citation.coordinate_fidelity IS 'How exactly the citation names its place, 0 to 1.';
COMMENT ON COLUMN reground.judged_citation.support IS 'How far the text of the source supports the claim, or with scope answer the best statement, 0 to 1; NULL without a text to compare.';
COMMENT ON COLUMN reground.judged_citation.diagnostic IS 'Diagnostic code.';
COMMENT ON COLUMN reground.judged_citation.source_state IS 'State of the document since it was cited: current, changed or deleted; NULL if its versions are not recorded, and from check_answer.';
COMMENT ON COLUMN reground.judged_citation.repaired IS 'Whether the marker or the name of the document was corrected, because exactly one source fits.';
COMMENT ON COLUMN reground.judged_citation.answer_start IS 'First character of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.judged_citation.answer_end IS 'One past the last character of the citation in the answer.';
COMMENT ON COLUMN reground.judged_citation.byte_start IS 'First byte (UTF-8) of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.judged_citation.byte_end IS 'One past the last byte.';
COMMENT ON COLUMN reground.judged_citation.utf16_start IS 'First UTF-16 code unit of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.judged_citation.utf16_end IS 'One past the last UTF-16 code unit.';
COMMENT ON COLUMN reground.judged_citation.form IS 'Form of the citation, for example marker, number, named_source, locator; custom:NAME for a pattern of the application.';
COMMENT ON COLUMN reground.judged_citation.detail IS 'Explanation of the verdict.';
COMMENT ON COLUMN reground.judged_citation.best_other_marker IS 'Marker of the other source of the context that supports the claim best.';
COMMENT ON COLUMN reground.judged_citation.support_parts IS 'Parts of the support score, as JSON.';
COMMENT ON COLUMN reground.judged_citation.citation_no IS 'Number of the citation within the answer, from 1, as in feed_answer and citation_evidence; NULL if the answer has no citations.';
COMMENT ON COLUMN reground.judged_citation.scope IS 'sentence: the citation supports claim. answer: it supports the statements of the answer before it, as in Sources: [A1], or in a list of references.';

CREATE TYPE reground.answer_repair AS (
    message_id     bigint,
    answer         text,
    change_no      integer,
    change         text,
    reason         text,
    citation_no    integer,
    sentence       text,
    before         text,
    after          text,
    marker         text,
    status_before  text,
    status_after   text,
    support_before double precision,
    support_after  double precision,
    before_start   integer,
    before_end     integer,
    after_start    integer,
    after_end      integer
);
COMMENT ON TYPE reground.answer_repair IS 'Row of repair_answer and repair_text: the corrected answer and one of its changes, as in answer_changes. The type only grows at its end.';
COMMENT ON COLUMN reground.answer_repair.message_id IS 'Id of the corrected copy, or of the answer if nothing was changed; NULL without a turn.';
COMMENT ON COLUMN reground.answer_repair.answer IS 'The text to show, in the first row; NULL in the others.';
COMMENT ON COLUMN reground.answer_repair.change_no IS 'Number of the change, from 1; NULL if nothing was changed.';
COMMENT ON COLUMN reground.answer_repair.change IS 'repointed, removed, added, marked or sentence_removed.';
COMMENT ON COLUMN reground.answer_repair.reason IS 'Verdict on the changed citation; uncited for an added one, no_support for a sentence.';
COMMENT ON COLUMN reground.answer_repair.citation_no IS 'Number of the changed citation in the original answer; NULL for added citations and sentences.';
COMMENT ON COLUMN reground.answer_repair.sentence IS 'Sentence of the original answer, with its citations.';
COMMENT ON COLUMN reground.answer_repair.before IS 'Changed text of the original answer; empty for an addition.';
COMMENT ON COLUMN reground.answer_repair.after IS 'Text that replaces it; empty for a removal.';
COMMENT ON COLUMN reground.answer_repair.marker IS 'Marker of the source that is cited now.';
COMMENT ON COLUMN reground.answer_repair.status_before IS 'Verdict on the changed citation; see citation_statuses.';
COMMENT ON COLUMN reground.answer_repair.status_after IS 'Verdict on the new citation.';
COMMENT ON COLUMN reground.answer_repair.support_before IS 'Support by the source that was cited, 0 to 1.';
COMMENT ON COLUMN reground.answer_repair.support_after IS 'Support by the source that is cited now, 0 to 1.';
COMMENT ON COLUMN reground.answer_repair.before_start IS 'First character of before in the original answer, from 0.';
COMMENT ON COLUMN reground.answer_repair.before_end IS 'One past its last character.';
COMMENT ON COLUMN reground.answer_repair.after_start IS 'First character of after in the corrected answer, from 0.';
COMMENT ON COLUMN reground.answer_repair.after_end IS 'One past its last character.';

CREATE TYPE reground.extracted_citation AS (
    citation_no  integer,
    form         text,
    family       text,
    raw          text,
    marker       text,
    number       integer,
    name         text,
    page_start   integer,
    page_end     integer,
    paragraph_start integer,
    paragraph_end integer,
    line_start   integer,
    line_end     integer,
    locator      text,
    problem      text,
    repaired     boolean,
    sentence     text,
    claim        text,
    quote        text,
    answer_start integer,
    answer_end   integer,
    byte_start   integer,
    byte_end     integer,
    utf16_start  integer,
    utf16_end    integer,
    scope        text
);
COMMENT ON TYPE reground.extracted_citation IS 'Row of extract_citations and import_citations: a citation before judging. The type only grows at its end.';
COMMENT ON COLUMN reground.extracted_citation.citation_no IS 'Number of the citation within the answer, from 1.';
COMMENT ON COLUMN reground.extracted_citation.form IS 'Form of the citation, for example number; custom:NAME for a pattern of the application.';
COMMENT ON COLUMN reground.extracted_citation.family IS 'Family of the form, as in the setting citation_forms.';
COMMENT ON COLUMN reground.extracted_citation.raw IS 'The citation as written in the answer.';
COMMENT ON COLUMN reground.extracted_citation.marker IS 'Marker that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.number IS 'Number that the citation names, from 1, also for forms that start at 0.';
COMMENT ON COLUMN reground.extracted_citation.name IS 'Document or work that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.page_start IS 'First page that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.page_end IS 'Last page that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.paragraph_start IS 'First paragraph that the citation names, of the page if it names a page.';
COMMENT ON COLUMN reground.extracted_citation.paragraph_end IS 'Last paragraph that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.line_start IS 'First line that the citation names, of the page if it names a page.';
COMMENT ON COLUMN reground.extracted_citation.line_end IS 'Last line that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.locator IS 'Place that the citation names.';
COMMENT ON COLUMN reground.extracted_citation.problem IS 'Why the citation cannot be parsed; NULL otherwise.';
COMMENT ON COLUMN reground.extracted_citation.repaired IS 'Whether the marker was corrected (case, spaces), because exactly one source fits.';
COMMENT ON COLUMN reground.extracted_citation.sentence IS 'Sentence that the citation is in.';
COMMENT ON COLUMN reground.extracted_citation.claim IS 'Sentence that the citation belongs to, without citations.';
COMMENT ON COLUMN reground.extracted_citation.quote IS 'Text of the source as returned by the API; NULL from extract_citations.';
COMMENT ON COLUMN reground.extracted_citation.answer_start IS 'First character of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.extracted_citation.answer_end IS 'One past the last character of the citation in the answer.';
COMMENT ON COLUMN reground.extracted_citation.byte_start IS 'First byte (UTF-8) of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.extracted_citation.byte_end IS 'One past the last byte.';
COMMENT ON COLUMN reground.extracted_citation.utf16_start IS 'First UTF-16 code unit of the citation in the answer, from 0.';
COMMENT ON COLUMN reground.extracted_citation.utf16_end IS 'One past the last UTF-16 code unit.';
COMMENT ON COLUMN reground.extracted_citation.scope IS 'sentence: the citation supports claim. answer: it supports the statements of the answer before it.';

CREATE TYPE reground.turn_candidate AS (
    candidate_no     integer,
    corpus           text,
    doc_id           text,
    chunk_id         text,
    member_chunk_ids text[],
    origin           text,
    lexical_rank     integer,
    lexical_score    real,
    vector_rank      integer,
    vector_distance  real,
    graph_rank       integer,
    fused_score      real,
    rerank_score     real,
    relevance        real,
    carry_score      real,
    in_context       boolean,
    marker           text,
    dropped_stage    text,
    drop_reason      text,
    replaced_by      text,
    retrieval_no     integer,
    recency          real
);
COMMENT ON TYPE reground.turn_candidate IS 'Row of explain_turn, dry_run_turn and shadow_turn: a candidate passage. The type only grows at its end.';
COMMENT ON COLUMN reground.turn_candidate.candidate_no IS 'Number of the candidate within the turn, from 1; sources of the context come first.';
COMMENT ON COLUMN reground.turn_candidate.corpus IS 'Name of the corpus.';
COMMENT ON COLUMN reground.turn_candidate.doc_id IS 'The application''s id of the document.';
COMMENT ON COLUMN reground.turn_candidate.chunk_id IS 'Id of the passage.';
COMMENT ON COLUMN reground.turn_candidate.member_chunk_ids IS 'Ids of all passages that were merged into the candidate, its own included.';
COMMENT ON COLUMN reground.turn_candidate.origin IS 'fresh, carried, pinned, added, remembered, or graph for candidates found only through the knowledge graph.';
COMMENT ON COLUMN reground.turn_candidate.lexical_rank IS 'Rank in the lexical branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.turn_candidate.lexical_score IS 'BM25 score.';
COMMENT ON COLUMN reground.turn_candidate.vector_rank IS 'Rank in the vector branch, from 1; NULL if not found there.';
COMMENT ON COLUMN reground.turn_candidate.vector_distance IS 'Distance between the embeddings of passage and query.';
COMMENT ON COLUMN reground.turn_candidate.graph_rank IS 'Rank among the passages of neighbours in the knowledge graph, from 1.';
COMMENT ON COLUMN reground.turn_candidate.fused_score IS 'Score by which the candidates were ordered; see the setting fusion.';
COMMENT ON COLUMN reground.turn_candidate.rerank_score IS 'Score of the reranker; NULL without one.';
COMMENT ON COLUMN reground.turn_candidate.relevance IS 'Relevance to the query of the turn, 0 to 1.';
COMMENT ON COLUMN reground.turn_candidate.carry_score IS 'Carry score when the turn began; NULL for sources that the conversation did not remember.';
COMMENT ON COLUMN reground.turn_candidate.in_context IS 'Whether the candidate is in the context.';
COMMENT ON COLUMN reground.turn_candidate.marker IS 'Marker of a source of the context; NULL from dry_run_turn and shadow_turn.';
COMMENT ON COLUMN reground.turn_candidate.dropped_stage IS 'Stage that dropped the candidate; NULL for sources of the context.';
COMMENT ON COLUMN reground.turn_candidate.drop_reason IS 'Why the candidate was dropped.';
COMMENT ON COLUMN reground.turn_candidate.replaced_by IS 'Id of the passage that replaced the candidate: a twin, or the passage that it was merged into.';
COMMENT ON COLUMN reground.turn_candidate.retrieval_no IS '0 for the retrieval that began the turn, otherwise the number in turn_retrievals; NULL from dry_run_turn and shadow_turn.';
COMMENT ON COLUMN reground.turn_candidate.recency IS 'Factor on the fused score for the age of the document; NULL if recency_half_life is off.';

-- Functions of a turn, from begin_turn to end_turn.

-- The type vector is in the schema of pgvector. Declare only functions in C under this search_path: they contain no operators.
SELECT pg_catalog.set_config('search_path', pg_catalog.concat('pg_catalog, ', e.extnamespace::regnamespace, ', pg_temp'), true)
FROM pg_catalog.pg_extension AS e WHERE e.extname = 'vector';
CREATE FUNCTION reground.begin_turn(
    conversation_ref text, query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL,
    request_id text DEFAULT NULL, rewrite text DEFAULT NULL, intent text DEFAULT NULL, settings jsonb DEFAULT NULL, tags jsonb DEFAULT NULL,
    corpora text[] DEFAULT NULL, parent_turn_id bigint DEFAULT NULL, embedding_model text DEFAULT NULL, as_of timestamptz DEFAULT NULL,
    context_embedding vector DEFAULT NULL, user_ref text DEFAULT NULL)
    RETURNS SETOF reground.turn_source
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 10 AS 'MODULE_PATHNAME', 'begin_turn_wrapper';
COMMENT ON FUNCTION reground.begin_turn IS
'Begins a turn and returns its sources in prompt order, or one row with marker NULL if there are none. corpus and corpora (several, the leading one first) default to those of the previous turn, then to the only corpus of the tenant. rewrite: stand-alone form of the query for retrieval. request_id: a second call with the same id returns the same turn. intent: new_topic, drill_down, compare or same_sources. parent_turn_id: turn that this one follows, default the latest, 0 for none. embedding_model: registered model that computed the embeddings. context_embedding: embedding of context_text. user_ref: the application''s id of the user. as_of: searches the versions of that time, as in search. Errors: 0A000 for as_of and a corpus that create_corpus did not make, 22023 if as_of is in the future, 22023 if the corpora compare embeddings differently or have another embedding_model, 23505 for other arguments under the same request_id, 25006 on a standby, 55000 if the parent has no answer.';

CREATE FUNCTION reground.retrieve(
    turn_id bigint, query text, corpus text DEFAULT NULL, embedding vector DEFAULT NULL, filter jsonb DEFAULT NULL, max_results integer DEFAULT NULL,
    corpora text[] DEFAULT NULL, embedding_model text DEFAULT NULL)
    RETURNS SETOF reground.turn_source
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 10 AS 'MODULE_PATHNAME', 'retrieve_wrapper';
COMMENT ON FUNCTION reground.retrieve IS
'Searches again within an open turn, adds new sources to the turn and returns all sources found. The query is used as given. corpus or corpora default to those of the turn. embedding_model: as in begin_turn. max_results: 1 to 100, default max_sources. Errors: 55000 if the turn is not open, P0002 if it does not exist.';
CREATE FUNCTION reground.reusable_answer(corpus text, query text, embedding vector DEFAULT NULL)
    RETURNS TABLE (message_id bigint, turn_id bigint, answer text, model text, answered_at timestamptz)
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 1 AS 'MODULE_PATHNAME', 'reusable_answer_wrapper';
COMMENT ON FUNCTION reground.reusable_answer IS
'Returns the latest accepted answer of the tenant to the same question, if a new first turn of the caller would have the same settings and the same context, otherwise no row. Needs the setting reuse_answers. query: compared without case and spaces around it. embedding: as in begin_turn. Errors: those of dry_run_turn.';
SET LOCAL search_path = pg_catalog, pg_temp;

CREATE FUNCTION reground.turn_sources(turn_id bigint)
    RETURNS SETOF reground.turn_source
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 10 AS 'MODULE_PATHNAME', 'turn_sources_wrapper';
COMMENT ON FUNCTION reground.turn_sources IS
'Returns the sources of a turn as begin_turn returned them, and those added since, in prompt order; also after the turn has ended. One row with marker NULL if there are none, the candidates before apply_rerank. Errors: P0002 if the turn does not exist.';

CREATE FUNCTION reground.turn_conflicts(turn_id bigint)
    RETURNS TABLE (kind text, marker text, statement text, statement_start integer, statement_end integer, number text,
        other_marker text, other_statement text, other_statement_start integer, other_statement_end integer, other_number text)
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 2 AS 'MODULE_PATHNAME', 'turn_conflicts_wrapper';
COMMENT ON FUNCTION reground.turn_conflicts IS
'Returns pairs of sentences of two sources of a turn that contradict each other, at most 256 for each text search configuration and language. kind: number, date (another year) or negation. marker, other_marker: the sources. statement_start to other_statement_end: positions in the passages, half-open, in characters. number, other_number: the first two values that differ; NULL for a negation. Errors: 55000 before apply_rerank, P0002 if the turn does not exist.';

CREATE FUNCTION reground.add_passages(turn_id bigint, passages jsonb)
    RETURNS SETOF reground.turn_source
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'add_passages_wrapper';
COMMENT ON FUNCTION reground.add_passages IS
'Adds passages from outside the corpora to an open turn and returns them as sources with origin added: [{content, chunk_id, doc_id, title, uri, page_start, page_end, char_start, char_end, published, metadata}], only content required. Without a chunk_id a hash of the content is used, without a doc_id the uri. Errors: 22023 for a passage with a marker, 55000 if the turn is not open, P0002 if it does not exist.';

CREATE FUNCTION reground.apply_rerank(turn_id bigint, results jsonb DEFAULT NULL)
    RETURNS SETOF reground.turn_source
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 10 AS 'MODULE_PATHNAME', 'apply_rerank_wrapper';
COMMENT ON FUNCTION reground.apply_rerank IS
'Continues a turn that was begun with reranker = deferred or model:NAME and returns its sources. results: items with any of chunk_id, corpus (if candidates of several corpora share a chunk_id), index (position in the rows of begin_turn, from 0), content, score; [] keeps the fused order; NULL takes the scores of the model, or keeps the fused order without one. Changed texts and ids are recorded in drift_events. Errors: 55000 if the turn does not wait for a rerank, or if the model''s scores are not there yet, P0002 if it does not exist.';

CREATE FUNCTION reground.prompt_context(turn_id bigint, format text DEFAULT 'text', detail text DEFAULT 'both')
    RETURNS text LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'prompt_context_wrapper';
COMMENT ON FUNCTION reground.prompt_context IS
'Returns the block for the prompt: facts and passages with their markers. format: text, xml or json. detail: both; facts for the facts of each source without passages; passages for passages, with the facts of earlier turns. Text in passages that looks like a marker or delimiter is escaped. Put the block before the conversation history. Errors: 55000 before apply_rerank, P0002 if the turn does not exist.';

CREATE FUNCTION reground.history(conversation_ref text, max_tokens integer DEFAULT NULL, turn_nos integer[] DEFAULT NULL, dependency text DEFAULT 'hard')
    RETURNS TABLE (entry_no integer, turn_no integer, role text, content text, tokens integer, shortened boolean, over_budget boolean)
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 20 AS 'MODULE_PATHNAME', 'history_wrapper';
COMMENT ON FUNCTION reground.history IS
'Returns the earlier messages of a conversation for the next prompt, to be put after the sources. max_tokens: budget; NULL: the budget of the latest turn (setting compress). role: user, assistant, or sources for the list of the cited sources, which comes first. That list and the last history_exchanges exchanges are complete whatever the budget; over_budget: these alone exceed it. turn_nos: keep only these turns (dependency hard), or all from the earliest of them on (soft); empty keeps none. shortened: the message is not complete. An answer is […] if the caller may no longer read one of its sources. Errors: P0002 if the conversation does not exist.';

CREATE FUNCTION reground.context_text(conversation_ref text, query text, parent_turn_id bigint DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'context_text_wrapper';
COMMENT ON FUNCTION reground.context_text IS
'Returns the query below the beginnings of the previous question and of its stored answer; the query alone if there is no previous turn. Its embedding is the context_embedding of begin_turn. parent_turn_id: as in begin_turn. Errors: P0002 if the conversation has no such turn.';

CREATE FUNCTION reground.citation_instructions(format text DEFAULT 'text', marker_style text DEFAULT NULL, turn_id bigint DEFAULT NULL)
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'citation_instructions_wrapper';
COMMENT ON FUNCTION reground.citation_instructions IS
'Returns instructions for the system prompt on how to cite. format: as in prompt_context. marker_style: as the setting, A1 or 1; default that of the turn, otherwise A1. turn_id: with the turn, the instructions also ask for places (citation_forms, locators). Errors: 22023 for other values, P0002 if the turn does not exist.';

CREATE FUNCTION reground.citation_grammar(turn_id bigint, format text DEFAULT 'gbnf')
    RETURNS text LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'citation_grammar_wrapper';
COMMENT ON FUNCTION reground.citation_grammar IS
'Returns a grammar for constrained decoding that allows only citations of the turn''s markers. format: gbnf (llama.cpp), regex (vLLM, Outlines) or json_schema ({"sentences": [{"text": "…", "citations": ["A1"]}]}). Errors: 55000 before apply_rerank, P0002 if the turn does not exist.';

CREATE FUNCTION reground.end_turn(
    turn_id bigint, answer text, message_ref text DEFAULT NULL, model text DEFAULT NULL, usage jsonb DEFAULT NULL, tags jsonb DEFAULT NULL,
    citations jsonb DEFAULT NULL)
    RETURNS SETOF reground.judged_citation
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'end_turn_wrapper';
COMMENT ON FUNCTION reground.end_turn IS
'Ends a turn with the answer of the model and returns its citations with their verdicts, or one row with citation_id NULL if there are none. message_ref: the application''s id of the answer; a second call with the same id returns the same rows, another id is a regeneration that supersedes the earlier answer. citations: citations that the model''s API returned; they replace those in the text (see import_citations). Errors: 23505 for another answer under the same message_ref, 55000 for an abandoned, imported or deferred turn, P0002 if the turn does not exist.';

CREATE FUNCTION reground.check_answer(
    answer text, passages jsonb, settings jsonb DEFAULT NULL, text_config regconfig DEFAULT NULL, corpus text DEFAULT NULL,
    citations jsonb DEFAULT NULL)
    RETURNS SETOF reground.judged_citation
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'check_answer_wrapper';
COMMENT ON FUNCTION reground.check_answer IS
'Judges the citations of an answer against given passages, without a turn. passages: [{content, chunk_id, marker, doc_id, title, uri, page_start, page_end, …}], only content required; each is cited by its marker, or by its number from 1. corpus: corpus in which named documents are looked up. citations: as in end_turn. text_config: default that of the corpus, otherwise default_text_search_config. Writes nothing.';

CREATE FUNCTION reground.repair_answer(message_id bigint, mode text DEFAULT NULL)
    RETURNS SETOF reground.answer_repair
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'repair_answer_wrapper';
COMMENT ON FUNCTION reground.repair_answer IS
'Corrects a stored answer without writing words, stores the corrected copy with verdicts of its own, and returns one row per change, or one row with change NULL if nothing was changed. answer: the text to show, in the first row. The original answer and its verdicts stay. mode: mark marks sentences that nothing supports with [?]; repoint moves wrong citations to the source that clearly supports their claim, removes citations of things that do not exist, and adds citations to sentences that one source clearly supports; strict also removes sentences that nothing supports. Default: the setting repair of the turn, or repoint. A second call returns the stored copy. Answers whose citations an API returned apart from the text are not changed. Errors: 22023 for another mode or a corrected copy, 55000 with store_answers hash, P0002 if the answer does not exist.';

CREATE FUNCTION reground.repair_text(
    answer text, passages jsonb, mode text DEFAULT 'repoint', settings jsonb DEFAULT NULL, text_config regconfig DEFAULT NULL, corpus text DEFAULT NULL)
    RETURNS SETOF reground.answer_repair
    LANGUAGE c STABLE PARALLEL RESTRICTED COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'repair_text_wrapper';
COMMENT ON FUNCTION reground.repair_text IS
'Corrects an answer by given passages, without a turn. mode and rows: as in repair_answer. Other arguments: as in check_answer. Writes nothing.';

CREATE FUNCTION reground.record_turn(
    conversation_ref text, query text, answer text, passages jsonb DEFAULT NULL, at timestamptz DEFAULT NULL, message_ref text DEFAULT NULL, model text DEFAULT NULL,
    tags jsonb DEFAULT NULL, citations jsonb DEFAULT NULL, settings jsonb DEFAULT NULL, corpus text DEFAULT NULL, text_config regconfig DEFAULT NULL, user_ref text DEFAULT NULL)
    RETURNS SETOF reground.judged_citation
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'record_turn_wrapper';
COMMENT ON FUNCTION reground.record_turn IS
'Records a turn that another system finished and returns its citations with their verdicts. The turn is added to the end of its conversation, with origin imported. at: when the answer was given, default now. message_ref: a second call with the same id records nothing and returns the same rows. user_ref: as in begin_turn. Other arguments are as in check_answer. Errors: 23505 for another answer under the same message_ref.';

CREATE FUNCTION reground.record_turns(turns jsonb, settings jsonb DEFAULT NULL, corpus text DEFAULT NULL, text_config regconfig DEFAULT NULL)
    RETURNS TABLE (element_no integer, turn_id bigint, message_id bigint, citation_count integer, holding_count integer, cfs double precision, recorded boolean)
    LANGUAGE c VOLATILE PARALLEL UNSAFE COST 1000 ROWS 100 AS 'MODULE_PATHNAME', 'record_turns_wrapper';
COMMENT ON FUNCTION reground.record_turns IS
'Records many finished turns as record_turn does: [{conversation_ref, query, answer, passages, at, message_ref, model, tags, citations, user_ref}]. Returns one row per element: element_no (from 1), the number of its citations and of those that hold, its score, and recorded (false if it was recorded before). Errors: 22023 for an invalid element, 23505 as in record_turn; then no turn is recorded.';

CREATE FUNCTION reground.feed_answer(turn_id bigint, answer_so_far text, complete boolean DEFAULT false, resume_from text DEFAULT NULL)
    RETURNS TABLE (displayable_chars integer, displayable_bytes integer, displayable_utf16 integer, citation_no integer, marker text, raw text, corpus text, doc_id text, chunk_id text, title text,
                   uri text, locator text, scope text, claim text, quote text, status text, holds boolean, hallucination_mode text, score double precision,
                   coordinate_fidelity double precision, support double precision, diagnostic text, repaired boolean,
                   answer_start integer, answer_end integer, byte_start integer, byte_end integer, utf16_start integer, utf16_end integer,
                   resume text, final_text text, open_text text)
    LANGUAGE c STABLE PARALLEL UNSAFE COST 1000 ROWS 5 AS 'MODULE_PATHNAME', 'feed_answer_wrapper';
COMMENT ON FUNCTION reground.feed_answer IS
'Judges a streaming answer; pass the whole text received so far in each call. displayable_chars, displayable_bytes, displayable_utf16: length of the text that can be displayed without splitting a citation. Returns one row per complete citation, or one with citation_no NULL if there is none; scope to diagnostic are NULL until its paragraph ends and the next one begins, or complete is true. resume_from: the column resume of the previous call for this answer; then only the text after that position is read, and citations with a verdict are returned once. final_text, in the first row: the text from resume_from to resume, corrected if the setting repair of the turn is on; later calls do not change it. open_text, in the first row: the displayable text after it. Writes nothing. Errors: 22023 if resume_from is of another answer, 55000 before apply_rerank, P0002 if the turn does not exist.';

CREATE FUNCTION reground.extract_citations(answer text, forms jsonb DEFAULT NULL)
    RETURNS SETOF reground.extracted_citation
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 5 AS 'MODULE_PATHNAME', 'extract_citations_wrapper';
COMMENT ON FUNCTION reground.extract_citations IS
'Returns the citations in a text without judging them. forms: as the setting citation_forms: {"families": {"ordinal": false}, "patterns": [{"name": "ticket", "regex": "(?P<id>TK-[0-9]+)"}], "locators": {…}, "titles": [{"name": "q3.pdf", "aliases": ["the Q3 report"]}]}. Errors: 22023 for invalid forms.';

CREATE FUNCTION reground.import_citations(answer text, citations jsonb, api text DEFAULT NULL)
    RETURNS SETOF reground.extracted_citation
    LANGUAGE c IMMUTABLE PARALLEL SAFE ROWS 5 AS 'MODULE_PATHNAME', 'import_citations_wrapper';
COMMENT ON FUNCTION reground.import_citations IS
'Returns the citations that a model''s API returned besides the text. citations: the whole message or its list of citations. api: anthropic, bedrock, cohere, gemini, openai or vercel; NULL: recognised by shape. Errors: 22023 if the shape is unknown.';

CREATE FUNCTION reground.citation_evidence(message_id bigint)
    RETURNS TABLE (citation_id bigint, citation_no integer, marker text, status text, holds boolean, support double precision,
                   sentence text, sentence_start integer, sentence_end integer, answer_start integer, answer_end integer,
                   corpus text, doc_id text, chunk_id text, title text, uri text, locator text, page_start integer, page_end integer,
                   before text, quote text, after text, quote_start integer, quote_end integer, char_start integer, char_end integer, source_state text)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 5 AS 'MODULE_PATHNAME', 'citation_evidence_wrapper';
COMMENT ON FUNCTION reground.citation_evidence IS
'Returns the citations of a stored answer with their evidence, ready to highlight, also of a superseded answer. sentence: sentence of the answer with the citation; NULL with store_answers hash. before, quote, after: the quote and the text around it in its paragraph; without a quote, before is the passage. quote_start to quote_end: characters of the quote in the text of the passage chunk_id; char_start to char_end: in the document; page_start to page_end: its pages. All offsets start at 0, and are NULL if no text has the quote there. source_state: current, changed or deleted, of the document or of the row of a registered table. Errors: P0002 if the answer does not exist.';

CREATE FUNCTION reground.answer_parts(message_id bigint, format text)
    RETURNS jsonb LANGUAGE c STABLE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'answer_parts_wrapper';
COMMENT ON FUNCTION reground.answer_parts IS
'Returns a stored answer with its citations as the parts of a message, for front ends. format: openai (Responses API: output_text with annotations), anthropic (content blocks with citations) or vercel (parts of a UIMessage). Citation strings are removed from the text. Citations without a source are omitted. import_citations reads the result. NULL with store_answers hash. Errors: 22023 for another format, P0002 if the answer does not exist.';

CREATE FUNCTION reground.abandon_turn(turn_id bigint)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'abandon_turn_wrapper';
COMMENT ON FUNCTION reground.abandon_turn IS
'Abandons a turn; sources keep their carry scores. Returns true if it was open, false if it was already abandoned. Errors: 55000 if the turn has ended, P0002 if it does not exist.';

CREATE FUNCTION reground.pin(conversation_ref text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, corpus text DEFAULT NULL)
    RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'pin_wrapper';
COMMENT ON FUNCTION reground.pin IS
'Pins a document (its best passage for each query) or a passage: it comes first in each context and does not decay. Creates the conversation if needed. corpus: default that of the conversation, otherwise every corpus that runs no code of other roles. Errors: 22023 if several corpora match, P0002 if the source does not exist.';

CREATE FUNCTION reground.unpin(conversation_ref text, doc_id text DEFAULT NULL, chunk_id text DEFAULT NULL, corpus text DEFAULT NULL)
    RETURNS boolean LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'unpin_wrapper';
COMMENT ON FUNCTION reground.unpin IS
'Removes a pin; the source then decays like others. Returns whether it was pinned.';

CREATE FUNCTION reground.alter_conversation(conversation_ref text, settings jsonb)
    RETURNS jsonb LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'alter_conversation_wrapper';
COMMENT ON FUNCTION reground.alter_conversation IS
'Merges settings into those of the conversation (null removes one) and returns them. Creates the conversation if needed. Errors: 22023 for an invalid setting.';

CREATE FUNCTION reground.profile()
    RETURNS TABLE (function text, stage text, calls integer, self_us bigint)
    LANGUAGE c VOLATILE PARALLEL RESTRICTED ROWS 20 AS 'MODULE_PATHNAME', 'profile_wrapper';
COMMENT ON FUNCTION reground.profile() IS
'Returns the time of this session''s last successful call of begin_turn, retrieve, add_passages, feed_answer, end_turn, check_answer, record_turn, record_turns, reusable_answer, repair_answer, repair_text, search or explain_search, by stage. self_us: wall-clock microseconds of the stage itself; other collects the rest. No rows before the first call.';
