-- The access method reground_bm25: full-text indexes ranked by BM25.

CREATE TYPE reground.bm25query;

CREATE FUNCTION reground._bm25query_in(cstring) RETURNS reground.bm25query
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_in_wrapper';
CREATE FUNCTION reground._bm25query_out(reground.bm25query) RETURNS cstring
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_out_wrapper';
CREATE FUNCTION reground._bm25query_recv(internal) RETURNS reground.bm25query
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_recv_wrapper';
CREATE FUNCTION reground._bm25query_send(reground.bm25query) RETURNS bytea
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25query_send_wrapper';

COMMENT ON FUNCTION reground._bm25query_in IS
'Internal: input function of bm25query.';
COMMENT ON FUNCTION reground._bm25query_out IS
'Internal: output function of bm25query.';
COMMENT ON FUNCTION reground._bm25query_recv IS
'Internal: binary input function of bm25query: the relation as oid, the JSON values of the text form and a zero byte, then the text.';
COMMENT ON FUNCTION reground._bm25query_send IS
'Internal: binary output function of bm25query.';

CREATE TYPE reground.bm25query (
    INPUT = reground._bm25query_in,
    OUTPUT = reground._bm25query_out,
    RECEIVE = reground._bm25query_recv,
    SEND = reground._bm25query_send,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE reground.bm25query IS 'A BM25 query: its words, and the table or index whose statistics weight them. As text: the relation, a colon, a space, the words; before these a plus sign and, as far as given, the JSON string "statistics" and an object (the relation is a dash then), the JSON string "syntax", a JSON array of text search configurations and a JSON object with the expansion.';

-- A text with the text search configuration of its row.
CREATE TYPE reground.bm25text;
CREATE FUNCTION reground._bm25text_in(cstring) RETURNS reground.bm25text
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25text_in_wrapper';
CREATE FUNCTION reground._bm25text_out(reground.bm25text) RETURNS cstring
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25text_out_wrapper';
COMMENT ON FUNCTION reground._bm25text_in IS
'Internal: input function of bm25text.';
COMMENT ON FUNCTION reground._bm25text_out IS
'Internal: output function of bm25text.';
CREATE TYPE reground.bm25text (
    INPUT = reground._bm25text_in,
    OUTPUT = reground._bm25text_out,
    INTERNALLENGTH = VARIABLE,
    STORAGE = extended
);
COMMENT ON TYPE reground.bm25text IS 'A text, or several texts, with the text search configuration, as returned by in_language, for indexes of rows in several languages. Not a type for columns.';

-- IMMUTABLE like to_tsvector(regconfig, text): configurations are assumed not to change.
CREATE FUNCTION reground.in_language(content text, text_config text) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_wrapper';
COMMENT ON FUNCTION reground.in_language(text, text) IS
'Returns a text with its text search configuration, given by name (german, public.mine) or as a language code (de, zh-TW). Other values and NULL mean the configuration of the index. For indexes: USING reground_bm25 (reground.in_language(body, lang)).';
CREATE FUNCTION reground.in_language(content text, text_config regconfig) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_config_wrapper';
COMMENT ON FUNCTION reground.in_language(text, regconfig) IS
'Returns a text with its text search configuration. NULL and a dropped configuration mean the configuration of the index.';

CREATE FUNCTION reground.in_language(content text[], text_config text) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_fields_wrapper';
COMMENT ON FUNCTION reground.in_language(text[], text) IS
'Returns several texts with their text search configuration, given by name or as a language code. Each text has its own weight, by the index option weights; a NULL element is an empty text. For indexes: USING reground_bm25 (reground.in_language(ARRAY[title, body], lang)) WITH (weights = ''2,1'').';
CREATE FUNCTION reground.in_language(content text[], text_config regconfig) RETURNS reground.bm25text
    LANGUAGE c IMMUTABLE LEAKPROOF PARALLEL SAFE AS 'MODULE_PATHNAME', 'in_language_fields_config_wrapper';
COMMENT ON FUNCTION reground.in_language(text[], regconfig) IS
'Returns several texts with their text search configuration. NULL and a dropped configuration mean the configuration of the index.';

CREATE FUNCTION reground.find_text_config(name text) RETURNS regconfig
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'find_text_config_wrapper';
COMMENT ON FUNCTION reground.find_text_config IS
'Returns the text search configuration for a name or a language code (german, public.mine, de, zh-TW), or NULL. A name without a schema is looked up in pg_catalog.';

-- IMMUTABLE like to_tsquery(regconfig, text): a plan with constant arguments has the value, and does not compute it for each row.
CREATE FUNCTION reground.bm25_query(query text, relation regclass, expansion jsonb DEFAULT NULL, text_configs text[] DEFAULT NULL, syntax boolean DEFAULT false) RETURNS reground.bm25query
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25_query_wrapper';
COMMENT ON FUNCTION reground.bm25_query IS
'Returns a BM25 query over a table, a partitioned table, or one of several indexes of a table. expansion: additional lexemes as an object {lexeme: weight}, weights above 0, where a word of the query has weight 1; the 40 with the largest product of weight and inverse document frequency are used. text_configs: text search configurations that parse the query; default that of the index. syntax: the query can have "phrases", +required and -excluded words; a phrase is required. Errors: 42601 if the query does not follow the syntax, 42704 if a configuration does not exist, 22023 for an invalid expansion, 22004 for a NULL configuration.';

CREATE FUNCTION reground.bm25_with_statistics(query reground.bm25query, relation regclass DEFAULT NULL) RETURNS reground.bm25query
    LANGUAGE c STABLE PARALLEL RESTRICTED AS 'MODULE_PATHNAME', 'bm25_with_statistics_wrapper';
COMMENT ON FUNCTION reground.bm25_with_statistics IS
'Returns a query with the present statistics of its table: of all partitions, and of all shards of a table that Citus distributes. Any index of any server with the same text search configuration, weights, k1 and b answers it, and the scores are comparable. relation: a table or index in place of that of the query. Errors: 42501 if row-level security hides rows of the table, 08000 if a shard cannot be read, 42704 without an index.';

-- STABLE: the statistics of the index are read once per statement. PARALLEL RESTRICTED: a worker would read them at another time.
CREATE FUNCTION reground._bm25_distance(content text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_distance_wrapper';
COMMENT ON FUNCTION reground._bm25_distance(text, reground.bm25query) IS
'Internal: returns the negative BM25 score of a text, 0 if no word matches. Function of the operator <@>.';

-- LEAKPROOF, so that @@@ is an index condition under row-level security, where hidden rows may reach it in a recheck. It raises no
-- error and no notice that depends on a text.
CREATE FUNCTION reground._bm25_matches(content text, query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT LEAKPROOF PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_matches_wrapper';
COMMENT ON FUNCTION reground._bm25_matches(text, reground.bm25query) IS
'Internal: returns whether a text contains at least one word of the query, and what its syntax requires. Function of the operator @@@.';

CREATE FUNCTION reground.bm25_score(content text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(text, reground.bm25query) IS
'Returns the BM25 score of a text, with the formula of Lucene 8.';

CREATE TYPE reground.bm25_term AS (
    lexeme             text,
    query_frequency    integer,
    expansion_weight   double precision,
    frequency          integer,
    document_frequency bigint,
    documents          bigint,
    length             integer,
    average_length     double precision,
    weight             double precision,
    score              double precision
);
COMMENT ON TYPE reground.bm25_term IS 'Row of bm25_explain: a word of the query. The figures of the index (document_frequency, documents, average_length, weight) are NULL if row-level security hides rows of the table from the caller. The type only grows at its end.';
COMMENT ON COLUMN reground.bm25_term.lexeme IS 'The word, as the index stores it.';
COMMENT ON COLUMN reground.bm25_term.query_frequency IS 'Occurrences in the query.';
COMMENT ON COLUMN reground.bm25_term.expansion_weight IS 'Weight in the expansion of the query.';
COMMENT ON COLUMN reground.bm25_term.frequency IS 'Occurrences in the text, weighted with several texts.';
COMMENT ON COLUMN reground.bm25_term.document_frequency IS 'Rows of the index that contain the word; removed rows count until VACUUM and a merge drop them.';
COMMENT ON COLUMN reground.bm25_term.documents IS 'Rows of the index.';
COMMENT ON COLUMN reground.bm25_term.length IS 'Length of the text, as the index stores it.';
COMMENT ON COLUMN reground.bm25_term.average_length IS 'Mean length of the texts of the index.';
COMMENT ON COLUMN reground.bm25_term.weight IS 'Inverse document frequency of the word, ln(1 + (N - df + 0.5) / (df + 0.5)).';
COMMENT ON COLUMN reground.bm25_term.score IS 'Contribution of the word to the score.';

CREATE FUNCTION reground.bm25_explain(content text, query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 8 AS 'MODULE_PATHNAME', 'bm25_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(text, reground.bm25query) IS
'Explains the BM25 score of a text, one row per word of the query.';

-- The same functions for several texts, each with its own weight.
CREATE FUNCTION reground._bm25_distance(content text[], query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_distance_wrapper';
COMMENT ON FUNCTION reground._bm25_distance(text[], reground.bm25query) IS
'Internal: returns the negative BM25 score of several texts. Function of the operator <@>.';
CREATE FUNCTION reground._bm25_matches(content text[], query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT LEAKPROOF PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_matches_wrapper';
COMMENT ON FUNCTION reground._bm25_matches(text[], reground.bm25query) IS
'Internal: returns whether one of several texts contains at least one word of the query. Function of the operator @@@.';
CREATE FUNCTION reground.bm25_score(content text[], query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_fields_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(text[], reground.bm25query) IS
'Returns the BM25 score of several texts: each occurrence of a word counts as often as the index option weights gives for its text (BM25F with whole weights).';
CREATE FUNCTION reground.bm25_explain(content text[], query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 8 AS 'MODULE_PATHNAME', 'bm25_fields_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(text[], reground.bm25query) IS
'Explains the BM25 score of several texts, one row per word of the query.';

-- The same functions for a text with its own text search configuration.
CREATE FUNCTION reground._bm25_distance(content reground.bm25text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_distance_wrapper';
COMMENT ON FUNCTION reground._bm25_distance(reground.bm25text, reground.bm25query) IS
'Internal: returns the negative BM25 score of a text in its language. Function of the operator <@>.';
CREATE FUNCTION reground._bm25_matches(content reground.bm25text, query reground.bm25query) RETURNS boolean
    LANGUAGE c STABLE STRICT LEAKPROOF PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_matches_wrapper';
COMMENT ON FUNCTION reground._bm25_matches(reground.bm25text, reground.bm25query) IS
'Internal: returns whether a text in its language contains at least one word of the query. Function of the operator @@@.';
CREATE FUNCTION reground.bm25_score(content reground.bm25text, query reground.bm25query) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL RESTRICTED COST 1000 AS 'MODULE_PATHNAME', 'bm25_in_language_score_wrapper';
COMMENT ON FUNCTION reground.bm25_score(reground.bm25text, reground.bm25query) IS
'Returns the BM25 score of a text in its language.';
CREATE FUNCTION reground.bm25_explain(content reground.bm25text, query reground.bm25query)
    RETURNS SETOF reground.bm25_term
    LANGUAGE c STABLE PARALLEL RESTRICTED ROWS 8 AS 'MODULE_PATHNAME', 'bm25_in_language_explain_wrapper';
COMMENT ON FUNCTION reground.bm25_explain(reground.bm25text, reground.bm25query) IS
'Explains the BM25 score of a text in its language, one row per word of the query.';

CREATE FUNCTION reground._bm25_selectivity(internal, oid, internal, integer) RETURNS double precision
    LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bm25_selectivity_wrapper';
COMMENT ON FUNCTION reground._bm25_selectivity IS
'Internal: estimates the number of rows that match a query.';

-- In pg_catalog, so that the unqualified operators are found without reground in the search_path.
CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = text, RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (text, reground.bm25query) IS 'negative BM25 score: ORDER BY content <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = text, RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (text, reground.bm25query) IS 'contains at least one word of the query';

CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = text[], RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (text[], reground.bm25query) IS 'negative BM25 score of several texts: ORDER BY content <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = text[], RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (text[], reground.bm25query) IS 'one of the texts contains at least one word of the query';

CREATE OPERATOR pg_catalog.<@> (
    LEFTARG = reground.bm25text, RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_distance
);
COMMENT ON OPERATOR pg_catalog.<@> (reground.bm25text, reground.bm25query) IS 'negative BM25 score of a text in its language: ORDER BY reground.in_language(content, lang) <@> query LIMIT n gives the best n';
CREATE OPERATOR pg_catalog.@@@ (
    LEFTARG = reground.bm25text, RIGHTARG = reground.bm25query, FUNCTION = reground._bm25_matches,
    RESTRICT = reground._bm25_selectivity, JOIN = matchingjoinsel
);
COMMENT ON OPERATOR pg_catalog.@@@ (reground.bm25text, reground.bm25query) IS 'the text in its language contains at least one word of the query';

CREATE FUNCTION reground._bm25_handler(internal) RETURNS index_am_handler
    LANGUAGE c AS 'MODULE_PATHNAME', 'bm25_handler_wrapper';
COMMENT ON FUNCTION reground._bm25_handler IS
'Internal: handler of the access method reground_bm25.';
CREATE ACCESS METHOD reground_bm25 TYPE INDEX HANDLER reground._bm25_handler;
COMMENT ON ACCESS METHOD reground_bm25 IS 'full-text indexes ranked by BM25';

CREATE OPERATOR CLASS reground.bm25_text_ops DEFAULT FOR TYPE text USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (text, reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (text, reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_text_ops USING reground_bm25 IS 'a text, searched by its words';

CREATE OPERATOR CLASS reground.bm25_fields_ops DEFAULT FOR TYPE text[] USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (text[], reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (text[], reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_fields_ops USING reground_bm25 IS 'several texts, searched by their words, each with its own weight';

CREATE OPERATOR CLASS reground.bm25_in_language_ops DEFAULT FOR TYPE reground.bm25text USING reground_bm25 AS
    OPERATOR 1 pg_catalog.@@@ (reground.bm25text, reground.bm25query),
    OPERATOR 2 pg_catalog.<@> (reground.bm25text, reground.bm25query) FOR ORDER BY pg_catalog.float_ops;
COMMENT ON OPERATOR CLASS reground.bm25_in_language_ops USING reground_bm25 IS 'a text, searched by its words, parsed with the text search configuration of its row';

-- Filter columns. Types that can be compared are in one family, and their values have the same hashes. The class for texts is not the
-- default, because (title, body) could mean that both are searched.
CREATE OPERATOR CLASS reground.bm25_filter_ops FOR TYPE text USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (text, text), FUNCTION 1 pg_catalog.hashtextextended(text, bigint);
CREATE OPERATOR FAMILY reground.bm25_integer_ops USING reground_bm25;
CREATE OPERATOR CLASS reground.bm25_smallint_ops DEFAULT FOR TYPE smallint USING reground_bm25 FAMILY reground.bm25_integer_ops AS
    OPERATOR 3 pg_catalog.= (smallint, smallint), FUNCTION 1 pg_catalog.hashint2extended(smallint, bigint);
CREATE OPERATOR CLASS reground.bm25_integer_ops DEFAULT FOR TYPE integer USING reground_bm25 FAMILY reground.bm25_integer_ops AS
    OPERATOR 3 pg_catalog.= (integer, integer), FUNCTION 1 pg_catalog.hashint4extended(integer, bigint);
CREATE OPERATOR CLASS reground.bm25_bigint_ops DEFAULT FOR TYPE bigint USING reground_bm25 FAMILY reground.bm25_integer_ops AS
    OPERATOR 3 pg_catalog.= (bigint, bigint), FUNCTION 1 pg_catalog.hashint8extended(bigint, bigint);
ALTER OPERATOR FAMILY reground.bm25_integer_ops USING reground_bm25 ADD
    OPERATOR 3 pg_catalog.= (smallint, integer), OPERATOR 3 pg_catalog.= (smallint, bigint),
    OPERATOR 3 pg_catalog.= (integer, smallint), OPERATOR 3 pg_catalog.= (integer, bigint),
    OPERATOR 3 pg_catalog.= (bigint, smallint), OPERATOR 3 pg_catalog.= (bigint, integer);
CREATE OPERATOR CLASS reground.bm25_boolean_ops DEFAULT FOR TYPE boolean USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (boolean, boolean), FUNCTION 1 pg_catalog.hashcharextended("char", bigint);
CREATE OPERATOR CLASS reground.bm25_date_ops DEFAULT FOR TYPE date USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (date, date), FUNCTION 1 pg_catalog.hashint4extended(integer, bigint);
CREATE OPERATOR CLASS reground.bm25_uuid_ops DEFAULT FOR TYPE uuid USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (uuid, uuid), FUNCTION 1 pg_catalog.uuid_hash_extended(uuid, bigint);
CREATE OPERATOR CLASS reground.bm25_character_ops DEFAULT FOR TYPE character USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (character, character), FUNCTION 1 pg_catalog.hashbpcharextended(character, bigint);
CREATE OPERATOR CLASS reground.bm25_enum_ops DEFAULT FOR TYPE anyenum USING reground_bm25 AS
    OPERATOR 3 pg_catalog.= (anyenum, anyenum), FUNCTION 1 pg_catalog.hashenumextended(anyenum, bigint);
COMMENT ON OPERATOR CLASS reground.bm25_filter_ops USING reground_bm25 IS 'a filter column of texts, which are compared and not searched';
COMMENT ON OPERATOR FAMILY reground.bm25_integer_ops USING reground_bm25 IS 'filter columns of whole numbers';
COMMENT ON OPERATOR CLASS reground.bm25_smallint_ops USING reground_bm25 IS 'a filter column of small whole numbers';
COMMENT ON OPERATOR CLASS reground.bm25_integer_ops USING reground_bm25 IS 'a filter column of whole numbers';
COMMENT ON OPERATOR CLASS reground.bm25_bigint_ops USING reground_bm25 IS 'a filter column of large whole numbers';
COMMENT ON OPERATOR CLASS reground.bm25_boolean_ops USING reground_bm25 IS 'a filter column of booleans';
COMMENT ON OPERATOR CLASS reground.bm25_date_ops USING reground_bm25 IS 'a filter column of dates';
COMMENT ON OPERATOR CLASS reground.bm25_uuid_ops USING reground_bm25 IS 'a filter column of uuids';
COMMENT ON OPERATOR CLASS reground.bm25_character_ops USING reground_bm25 IS 'a filter column of texts of fixed length';
COMMENT ON OPERATOR CLASS reground.bm25_enum_ops USING reground_bm25 IS 'a filter column of an enum';

-- For scripts without spaces: PostgreSQL's default parser reads a whole Chinese phrase as one word.
CREATE FUNCTION reground._bigrams_start(internal, integer) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_start_wrapper';
CREATE FUNCTION reground._bigrams_token(internal, internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_token_wrapper';
CREATE FUNCTION reground._bigrams_end(internal) RETURNS void
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_end_wrapper';
CREATE FUNCTION reground._bigrams_types(internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'bigrams_types_wrapper';
COMMENT ON FUNCTION reground._bigrams_start IS
'Internal: start function of the parser bigrams.';
COMMENT ON FUNCTION reground._bigrams_token IS
'Internal: token function of the parser bigrams.';
COMMENT ON FUNCTION reground._bigrams_end IS
'Internal: end function of the parser bigrams.';
COMMENT ON FUNCTION reground._bigrams_types IS
'Internal: token types of the parser bigrams.';
CREATE TEXT SEARCH PARSER reground.bigrams (
    START = reground._bigrams_start, GETTOKEN = reground._bigrams_token, END = reground._bigrams_end, LEXTYPES = reground._bigrams_types
);
COMMENT ON TEXT SEARCH PARSER reground.bigrams IS 'Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese in overlapping pairs of characters; other text in words of letters and digits';
CREATE TEXT SEARCH CONFIGURATION reground.bigrams (PARSER = reground.bigrams);
ALTER TEXT SEARCH CONFIGURATION reground.bigrams ADD MAPPING FOR word, pair WITH pg_catalog.simple;
COMMENT ON TEXT SEARCH CONFIGURATION reground.bigrams IS 'for Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese: pairs of characters; words of other scripts in lower case';

CREATE FUNCTION reground.bm25_check(index regclass, heapallindexed boolean DEFAULT false) RETURNS TABLE (item text, problem text)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'bm25_check_wrapper';
COMMENT ON FUNCTION reground.bm25_check IS
'Checks an index and returns one row per problem. item: segment, write buffer, or row of the table. heapallindexed: also look for every row of the table in the index; this blocks writers of the table. Errors: 42501 unless called by the owner of the table.';

CREATE FUNCTION reground.bm25_merge(index regclass) RETURNS void
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'bm25_merge_wrapper';
COMMENT ON FUNCTION reground.bm25_merge IS
'Merges all segments of an index and its write buffer into one segment, without removed rows. Readers and writers are not blocked. Errors: 42501 unless called by the owner of the table.';

CREATE FUNCTION reground.bm25_segments(index regclass)
    RETURNS TABLE (segment bigint, documents bigint, removed bigint, terms bigint, average_length double precision, pages bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 8 AS 'MODULE_PATHNAME', 'bm25_segments_wrapper';
COMMENT ON FUNCTION reground.bm25_segments IS
'Returns the segments of an index, largest first. removed: rows that VACUUM removed. terms: distinct words, and values of filter columns. average_length: mean length used for the score bounds. pages: pages of 8 kB. Errors: 42501 unless called by the owner of the table.';

CREATE VIEW reground.bm25_indexes WITH (security_invoker = true) AS
    SELECT c.oid::regclass AS index, i.indrelid::regclass AS relation, pg_catalog.pg_relation_size(c.oid) AS bytes, s.segments, s.documents, s.removed
    FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid
        JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam AND m.amname OPERATOR(pg_catalog.=) 'reground_bm25',
        LATERAL (SELECT pg_catalog.count(*) AS segments, pg_catalog.sum(s.documents) AS documents, pg_catalog.sum(s.removed) AS removed
            FROM reground.bm25_segments(c.oid) AS s) AS s
    WHERE c.relkind OPERATOR(pg_catalog.=) 'i' AND i.indisvalid AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
COMMENT ON VIEW reground.bm25_indexes IS 'reground_bm25 indexes of tables that the current role owns. Rows inserted last, up to some hundreds, are not yet in a segment.';
COMMENT ON COLUMN reground.bm25_indexes.index IS 'Index.';
COMMENT ON COLUMN reground.bm25_indexes.relation IS 'Table.';
COMMENT ON COLUMN reground.bm25_indexes.bytes IS 'Size of the index in bytes.';
COMMENT ON COLUMN reground.bm25_indexes.segments IS 'Number of segments.';
COMMENT ON COLUMN reground.bm25_indexes.documents IS 'Number of rows in the segments.';
COMMENT ON COLUMN reground.bm25_indexes.removed IS 'Number of these that VACUUM removed; a merge drops them.';
