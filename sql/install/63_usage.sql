-- Who saw a document, and what answers cost.

CREATE FUNCTION reground.who_saw(corpus text, doc_id text, chunk_id text DEFAULT NULL, since timestamptz DEFAULT NULL, until timestamptz DEFAULT NULL)
    RETURNS TABLE (tenant text, conversation_ref text, turn_no integer, turn_id bigint, user_ref text, chunk_ids text[], markers text[], citations bigint, holding bigint, begun_at timestamptz)
    LANGUAGE c STABLE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'who_saw_wrapper';
COMMENT ON FUNCTION reground.who_saw(text, text, text, timestamptz, timestamptz) IS
'Returns the turns that had a passage of a document in their context, whether cited or not, oldest first, also without their traces. chunk_id: only this passage. chunk_ids, markers: the passages (merged ones too) and their markers. citations, holding: citations of the document in current answers, and those that hold. Tenants see their own turns, without those hidden from the caller; reground_auditor all. Errors: 22004 for NULL.';

CREATE TABLE reground.model_prices (
    model        text NOT NULL CHECK (model <> ''),
    valid_from   timestamptz NOT NULL DEFAULT '-infinity',
    input_price  numeric NOT NULL CHECK (input_price >= 0 AND input_price < 'Infinity'),
    output_price numeric NOT NULL CHECK (output_price >= 0 AND output_price < 'Infinity'),
    cached_price numeric CHECK (cached_price >= 0 AND cached_price < 'Infinity'),
    PRIMARY KEY (model, valid_from)
);
COMMENT ON TABLE reground.model_prices IS 'Prices of models, written by reground_admin with INSERT, UPDATE and DELETE. The unit is yours, the same for all models.';
COMMENT ON COLUMN reground.model_prices.model IS 'Model, as given to end_turn.';
COMMENT ON COLUMN reground.model_prices.valid_from IS 'Start of the price; it ends where the next one of the model starts.';
COMMENT ON COLUMN reground.model_prices.input_price IS 'Price of a million input tokens.';
COMMENT ON COLUMN reground.model_prices.output_price IS 'Price of a million output tokens.';
COMMENT ON COLUMN reground.model_prices.cached_price IS 'Price of a million input tokens that the API read from its cache; NULL for input_price.';

CREATE FUNCTION reground._usage_tokens(usage jsonb, names text[]) RETURNS bigint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    BEGIN ATOMIC
        SELECT (u.value #>> '{}')::numeric::bigint
        FROM pg_catalog.unnest(_usage_tokens.names) WITH ORDINALITY AS n(name, place)
        CROSS JOIN LATERAL (SELECT _usage_tokens.usage #> pg_catalog.string_to_array(n.name, '.') AS value OFFSET 0) AS u
        WHERE CASE pg_catalog.jsonb_typeof(u.value) WHEN 'number' THEN (u.value #>> '{}')::numeric BETWEEN 0 AND 1e15 END
        ORDER BY n.place LIMIT 1;
    END;
COMMENT ON FUNCTION reground._usage_tokens(jsonb, text[]) IS
'Internal: returns the first number of a usage record under one of the names, in which a dot separates the levels; NULL without one.';

CREATE VIEW reground.answer_costs WITH (security_invoker = true) AS
    SELECT x.tenant, x.conversation_ref, x.turn_no, x.turn_id, x.message_id, x.user_ref, x.model, x.corpus, x.tags, x.superseded, x.origin,
           pg_catalog.to_char(x.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, x.input_tokens, x.cached_tokens, x.output_tokens, x.is_estimated,
           ((x.input_tokens - x.cached_tokens) * p.input_price + x.cached_tokens * coalesce(p.cached_price, p.input_price) + x.output_tokens * p.output_price) / 1000000 AS cost, x.created_at
    FROM (
        SELECT m.tenant, v.conversation_ref, t.turn_no, m.turn_id, m.message_id, t.user_ref, m.model, t.corpus, t.tags || m.tags AS tags, m.superseded, m.origin, m.created_at,
               coalesce(u.input_tokens + coalesce(u.read_apart, 0) + coalesce(u.written_apart, 0), t.context_tokens + t.query_tokens + coalesce(t.history_tokens, 0)) AS input_tokens,
               CASE WHEN u.input_tokens IS NULL THEN 0 ELSE coalesce(u.read_apart, least(coalesce(u.read_within, 0), u.input_tokens)) END AS cached_tokens,
               coalesce(u.output_tokens, m.answer_tokens)::bigint AS output_tokens, u.input_tokens IS NULL OR u.output_tokens IS NULL AS is_estimated
        FROM reground.messages AS m
        JOIN reground.turns AS t ON t.turn_id = m.turn_id
        JOIN reground.conversations AS v ON v.conversation_id = m.conversation_id AND m.repair_of IS NULL
        -- Anthropic and Bedrock count cached tokens apart from the input tokens. The others count them among these, also those that give both names.
        CROSS JOIN LATERAL (
            SELECT reground._usage_tokens(m.usage, '{input_tokens,prompt_tokens,inputTokens,promptTokens,promptTokenCount,prompt_token_count}') AS input_tokens,
                   CASE WHEN NOT m.usage ? 'prompt_tokens' THEN reground._usage_tokens(m.usage, '{cache_read_input_tokens,cacheReadInputTokens}') END AS read_apart,
                   CASE WHEN NOT m.usage ? 'prompt_tokens' THEN reground._usage_tokens(m.usage, '{cache_creation_input_tokens,cacheWriteInputTokens}') END AS written_apart,
                   reground._usage_tokens(m.usage, '{prompt_tokens_details.cached_tokens,input_tokens_details.cached_tokens,cachedInputTokens,cachedContentTokenCount,cached_content_token_count,cache_read_input_tokens}') AS read_within,
                   reground._usage_tokens(m.usage, '{output_tokens,completion_tokens,outputTokens,completionTokens,candidatesTokenCount,candidates_token_count}') AS output_tokens) AS u) AS x
    LEFT JOIN LATERAL (
        SELECT p.input_price, p.output_price, p.cached_price FROM reground.model_prices AS p WHERE p.model = x.model AND p.valid_from <= x.created_at ORDER BY p.valid_from DESC LIMIT 1) AS p ON true;
COMMENT ON VIEW reground.answer_costs IS 'Tokens and cost of each answer, superseded ones included.';
COMMENT ON COLUMN reground.answer_costs.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.answer_costs.conversation_ref IS 'The application''s id of the conversation.';
COMMENT ON COLUMN reground.answer_costs.turn_no IS 'Number of the turn within its conversation, from 1.';
COMMENT ON COLUMN reground.answer_costs.turn_id IS 'Id of the turn.';
COMMENT ON COLUMN reground.answer_costs.message_id IS 'Id of the answer.';
COMMENT ON COLUMN reground.answer_costs.user_ref IS 'The application''s id of the user who asked; NULL if it was not given.';
COMMENT ON COLUMN reground.answer_costs.model IS 'Model that wrote the answer, as given to end_turn.';
COMMENT ON COLUMN reground.answer_costs.corpus IS 'Leading corpus of the turn.';
COMMENT ON COLUMN reground.answer_costs.tags IS 'Tags of the application; those of the answer override those of the turn.';
COMMENT ON COLUMN reground.answer_costs.superseded IS 'Whether a later answer to the same turn replaced this answer.';
COMMENT ON COLUMN reground.answer_costs.origin IS 'live, or imported (record_turn).';
COMMENT ON COLUMN reground.answer_costs.day IS 'Day of the answer (UTC).';
COMMENT ON COLUMN reground.answer_costs.input_tokens IS 'Input tokens of the usage record, cached ones included; without one, those of the sources, the question and the history (o200k_base).';
COMMENT ON COLUMN reground.answer_costs.cached_tokens IS 'Those of the input tokens that the API read from its cache.';
COMMENT ON COLUMN reground.answer_costs.output_tokens IS 'Output tokens of the usage record; without one, those of the answer (o200k_base).';
COMMENT ON COLUMN reground.answer_costs.is_estimated IS 'Whether input_tokens or output_tokens was counted, because the usage record lacks it.';
COMMENT ON COLUMN reground.answer_costs.cost IS 'Cost by model_prices, in the unit of the prices; NULL if the model had no price.';
COMMENT ON COLUMN reground.answer_costs.created_at IS 'When the answer was recorded.';
