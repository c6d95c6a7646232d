-- The access method reground_bm25: full-text indexes that rank by BM25.

CREATE TYPE reground.bm25query;

CREATE FUNCTION reground._bm25query_in(cstring) RETURNS reground.bm25query
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_in_wrapper';
CREATE FUNCTION reground._bm25query_out(reground.bm25query) RETURNS cstring
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_out_wrapper';
CREATE FUNCTION reground._bm25query_recv(internal) RETURNS reground.bm25query
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_recv_wrapper';
CREATE FUNCTION reground._bm25query_send(reground.bm25query) RETURNS bytea
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_send_wrapper';

COMMENT ON FUNCTION reground._bm25query_in IS 'Internal: reads a bm25query from text.';
COMMENT ON FUNCTION reground._bm25query_out IS 'Internal: writes a bm25query as text.';
COMMENT ON FUNCTION reground._bm25query_recv IS 'Internal: reads a bm25query in binary: the source as oid, what is borrowed as a JSON object and a zero byte, then the text.';
COMMENT ON FUNCTION reground._bm25query_send IS 'Internal: writes a bm25query in binary.';

CREATE TYPE reground.bm25query (
    INPUT = reground._bm25query_in,
    OUTPUT = reground._bm25query_out,
    RECEIVE = reground._bm25query_recv,
    SEND = reground._bm25query_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE reground.bm25query IS 'Words to search for, and the table or index whose figures weigh them. As text: the table, a colon, a space, the words; before them a plus sign and, where configurations are named, their JSON array, and where words are borrowed, a JSON object of lexemes and weights.';

-- A text with the language that its row names.
CREATE TYPE reground.bm25text;
CREATE FUNCTION reground._bm25text_in(cstring) RETURNS reground.bm25text
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25text_in_wrapper';
CREATE FUNCTION reground._bm25text_out(reground.bm25text) RETURNS cstring
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25text_out_wrapper';
COMMENT ON FUNCTION reground._bm25text_in IS 'Internal: reads a bm25text from text.';
COMMENT ON FUNCTION reground._bm25text_out IS 'Internal: writes a bm25text as text.';
CREATE TYPE reground.bm25text (
    INPUT = reground._bm25text_in,
    OUTPUT = reground._bm25text_out,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE reground.bm25text IS 'A text and the text search configuration that it is read by, for indexes of rows in several languages: what in_language returns. No type for columns.';

-- Immutable as to_tsvector(regconfig, text) is: what a configuration is, is taken to stay.
CREATE FUNCTION reground.in_language(content text, text_config text) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_wrapper';
COMMENT ON FUNCTION reground.in_language(text, text) IS 'A text with what it is read by: the name of a text search configuration (german, public.mine) or the code of a language (de, zh-TW). What names neither, and NULL, is read by the configuration of the index. To be indexed: USING reground_bm25 (reground.in_language(body, lang)).';
CREATE FUNCTION reground.in_language(content text, text_config regconfig) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_config_wrapper';
COMMENT ON FUNCTION reground.in_language(text, regconfig) IS 'A text with the text search configuration that it is read by; NULL, and one that is gone, stands for that of the index.';

CREATE FUNCTION reground.find_text_config(name text) RETURNS regconfig
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'find_text_config_wrapper';
COMMENT ON FUNCTION reground.find_text_config IS 'The text search configuration that a name or a code of a language stands for in in_language and in a corpus'' column of configurations: german, public.mine, de, zh-TW. A name without a schema is one of pg_catalog''s. NULL where it stands for none.';

CREATE FUNCTION reground.bm25_query(query text, relation regclass, expansion jsonb DEFAULT NULL, text_configs text[] DEFAULT NULL) RETURNS reground.bm25query
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25_query_wrapper';
COMMENT ON FUNCTION reground.bm25_query IS 'A query of the words of a text over a table, a partitioned table, or an index where a table has several. Its index is looked up when the query runs. expansion borrows words: an object of lexemes, as the index keeps them, and weights above 0 on the scale on which a word of the query has 1; of these the 40 whose weight × ln(1 + (N − df + 0.5) / (df + 0.5)) is largest count. text_configs are the text search configurations that the words are read by, where the rows have several: what each makes of them is looked for, as often as the one that makes it most often; NULL is that of the index.';

-- STABLE: what a score rests on is fixed for a statement. A worker would fix it at a moment of its own, so scores stay in the leader.
CREATE FUNCTION reground.bm25_distance(content text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_distance_wrapper';
COMMENT ON FUNCTION reground.bm25_distance(text, reground.bm25query) IS 'The BM25 score of a text with its sign turned, so that ascending order puts the best first; 0 where no word matches. The function of <@>.';

CREATE FUNCTION reground.bm25_matches(content text, query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT LEAKPROOF PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_matches_wrapper';
COMMENT ON FUNCTION reground.bm25_matches(text, reground.bm25query) IS 'Whether a text has at least one of the words. The function of @@@.';

CREATE FUNCTION reground.bm25_score(content text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(text, reground.bm25query) IS 'The BM25 score of a text: the sum over the words of the query of (frequency in the query + borrowed weight) × ln(1 + (N − df + 0.5) / (df + 0.5)) × tf / (tf + k1 × (1 − b + b × length / mean length)), as Lucene 8 and later. Lengths are kept in one byte: exact up to 40, then with four significant bits.';

CREATE FUNCTION reground.bm25_explain(content text, query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'bm25_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(text, reground.bm25query) IS 'How a score comes about, a row a word of the query: its frequency in the query and the weight that it was borrowed with, its frequency in the text, how many of the index'' documents have it (removed ones count until VACUUM and a merge drop them), the text''s length as the index keeps it, and what the word adds.';

-- The same of several texts, each with a weight of its own.
CREATE FUNCTION reground.bm25_distance(content text[], query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_distance_wrapper';
COMMENT ON FUNCTION reground.bm25_distance(text[], reground.bm25query) IS 'The BM25 score of several texts together with its sign turned. The function of <@>.';
CREATE FUNCTION reground.bm25_matches(content text[], query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT LEAKPROOF PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_matches_wrapper';
COMMENT ON FUNCTION reground.bm25_matches(text[], reground.bm25query) IS 'Whether one of several texts has at least one of the words. The function of @@@.';
CREATE FUNCTION reground.bm25_score(content text[], query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(text[], reground.bm25query) IS 'The BM25 score of several texts together: each occurrence of a word counts as often as the index'' option weights says for its text, in tf and in the length (BM25F with whole weights).';
CREATE FUNCTION reground.bm25_explain(content text[], query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'bm25_fields_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(text[], reground.bm25query) IS 'How the score of several texts comes about, a row a word of the query; frequency and length are weighted.';

-- The same of a text with the language that its row names.
CREATE FUNCTION reground.bm25_distance(content reground.bm25text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_distance_wrapper';
COMMENT ON FUNCTION reground.bm25_distance(reground.bm25text, reground.bm25query) IS 'The BM25 score of a text in its language with its sign turned. The function of <@>.';
CREATE FUNCTION reground.bm25_matches(content reground.bm25text, query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_matches_wrapper';
COMMENT ON FUNCTION reground.bm25_matches(reground.bm25text, reground.bm25query) IS 'Whether a text in its language has at least one of the words. The function of @@@.';
CREATE FUNCTION reground.bm25_score(content reground.bm25text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(reground.bm25text, reground.bm25query) IS 'The BM25 score of a text in its language.';
CREATE FUNCTION reground.bm25_explain(content reground.bm25text, query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'bm25_in_language_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(reground.bm25text, reground.bm25query) IS 'How the score of a text in its language comes about, a row a word of the query.';

CREATE FUNCTION reground._bm25_selectivity(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25_selectivity_wrapper';
COMMENT ON FUNCTION reground._bm25_selectivity IS 'Internal: tells the planner how many rows a query finds.';

-- In pg_catalog, or an unqualified operator would only be found where reground is on the search_path.
CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = text, RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (text, reground.bm25query) IS 'BM25 score with its sign turned: ORDER BY content <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = text, RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (text, reground.bm25query) IS 'has at least one of the words of the query';

CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = text[], RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (text[], reground.bm25query) IS 'BM25 score of several texts with its sign turned: ORDER BY content <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = text[], RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (text[], reground.bm25query) IS 'one of the texts has at least one of the words of the query';

CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = reground.bm25text, RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (reground.bm25text, reground.bm25query) IS 'BM25 score of a text in its language with its sign turned: ORDER BY reground.in_language(content, lang) <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = reground.bm25text, RIGHTARG = reground.bm25query, FUNCTION = reground.bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (reground.bm25text, reground.bm25query) IS 'the text in its language has at least one of the words of the query';

CREATE FUNCTION reground._bm25_handler(internal) RETURNS index_am_handler
    LANGUAGE c AS 'MODULE_PATHNAME', 'bm25_handler_wrapper';
COMMENT ON FUNCTION reground._bm25_handler IS 'Internal: tells PostgreSQL what the access method can do.';
CREATE ACCESS METHOD reground_bm25 TYPE INDEX HANDLER reground._bm25_handler;
COMMENT ON ACCESS METHOD reground_bm25 IS 'full-text indexes ranked by BM25';

CREATE OPERATOR CLASS reground.bm25_text_ops DEFAULT FOR TYPE text USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (text, reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (text, reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_text_ops USING reground_bm25 IS 'a text, searched by its words';

CREATE OPERATOR CLASS reground.bm25_fields_ops DEFAULT FOR TYPE text[] USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (text[], reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (text[], reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_fields_ops USING reground_bm25 IS 'several texts, searched by their words, each text with a weight of its own';

CREATE OPERATOR CLASS reground.bm25_in_language_ops DEFAULT FOR TYPE reground.bm25text USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (reground.bm25text, reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (reground.bm25text, reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_in_language_ops USING reground_bm25 IS 'a text, searched by its words as the configuration of its row makes them';

-- Scripts without spaces: PostgreSQL's own parser takes a whole phrase of Chinese for one word.
CREATE FUNCTION reground._bigrams_start(internal, integer) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_start_wrapper';
CREATE FUNCTION reground._bigrams_token(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_token_wrapper';
CREATE FUNCTION reground._bigrams_end(internal) RETURNS void
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_end_wrapper';
CREATE FUNCTION reground._bigrams_types(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_types_wrapper';
COMMENT ON FUNCTION reground._bigrams_start IS 'Internal: the parser bigrams begins a text.';
COMMENT ON FUNCTION reground._bigrams_token IS 'Internal: its next token.';
COMMENT ON FUNCTION reground._bigrams_end IS 'Internal: it is done.';
COMMENT ON FUNCTION reground._bigrams_types IS 'Internal: its types of tokens.';
CREATE TEXT SEARCH PARSER reground.bigrams (
    START = reground._bigrams_start, GETTOKEN = reground._bigrams_token, END = reground._bigrams_end, LEXTYPES = reground._bigrams_types
);
COMMENT ON TEXT SEARCH PARSER reground.bigrams IS 'Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese in overlapping pairs of characters; all else in words of letters and digits';
CREATE TEXT SEARCH CONFIGURATION reground.bigrams (PARSER = reground.bigrams);
ALTER TEXT SEARCH CONFIGURATION reground.bigrams ADD MAPPING FOR word, pair WITH pg_catalog.simple;
COMMENT ON TEXT SEARCH CONFIGURATION reground.bigrams IS 'for Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese: pairs of characters; words of other scripts as they are, in lower case';

CREATE FUNCTION reground.bm25_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS TABLE (item text, problem text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'bm25_check_wrapper';
COMMENT ON FUNCTION reground.bm25_check IS 'What is wrong with an index, and with which part of it (a segment, the tail of what was inserted last, a row of the table); no row where it is sound. With heapallindexed every row of the table is looked for in it, and writers of the table wait. For the table''s owner.';

CREATE FUNCTION reground.bm25_merge(index regclass) RETURNS void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'bm25_merge_wrapper';
COMMENT ON FUNCTION reground.bm25_merge IS 'Merges all segments of an index, and what was inserted since, into one, without the rows that VACUUM removed. Readers and writers go on. For the table''s owner.';

CREATE FUNCTION reground.bm25_segments(index regclass)
    RETURNS TABLE (segment bigint, documents bigint, removed bigint, terms bigint, average_length double precision, pages bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'bm25_segments_wrapper';
COMMENT ON FUNCTION reground.bm25_segments IS 'The segments of an index, largest first: how many rows each has, how many of them VACUUM removed, its distinct words, the mean length that its bounds were computed with, its pages of 8 kB. For the table''s owner.';

CREATE VIEW reground.bm25_indexes WITH (security_invoker = true) AS
    SELECT c.oid::regclass AS index, i.indrelid::regclass AS relation, pg_catalog.pg_relation_size(c.oid) AS bytes, s.segments, s.documents, s.removed
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
        JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam AND m.amname OPERATOR(pg_catalog.=) 'reground_bm25',
        LATERAL (SELECT pg_catalog.count(*) AS segments, pg_catalog.sum(s.documents) AS documents, pg_catalog.sum(s.removed) AS removed
            FROM reground.bm25_segments(c.oid) AS s) AS s
    WHERE c.relkind OPERATOR(pg_catalog.=) 'i' AND i.indisvalid AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW reground.bm25_indexes IS 'The reground_bm25 indexes of tables that you own: size in bytes, segments, rows in them, rows that VACUUM removed and a merge will drop. What was inserted last, up to some hundred rows, is in no segment yet.';
