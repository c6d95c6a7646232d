-- The priority of settings: argument, conversation, corpus, server, default.
CREATE SCHEMA settings;
SET search_path = settings, public;
SET client_min_messages = error;
SELECT reground.create_corpus('settings', settings => '{"rrf_k": 20}');
SELECT version FROM reground.put_document('settings', 'd', content => 'Anything at all.');
CREATE FUNCTION effective(conversation text, settings jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    turn bigint := (SELECT max(turn_id) FROM reground.begin_turn(conversation, 'anything', 'settings', settings => effective.settings));
BEGIN
    RETURN (SELECT t.settings -> 'rrf_k' FROM reground.turns AS t WHERE turn_id = turn);
END
$$;
SELECT reground.alter_corpus('settings', settings => '{"rrf_k": null}');
SELECT effective('settings-1') AS by_default;
SET reground.rrf_k = 10;
SELECT effective('settings-1') AS by_server;
SELECT reground.alter_corpus('settings', settings => '{"rrf_k": 20}');
SELECT effective('settings-1') AS by_corpus;
SELECT reground.alter_conversation('settings-1', '{"rrf_k": 30}');
SELECT effective('settings-1') AS by_conversation;
SELECT effective('settings-1', '{"rrf_k": 40}') AS by_argument;
SELECT effective('settings-1', '{"rrf_k": null}') AS null_argument;
SELECT reground.alter_conversation('settings-1', '{"rrf_k": null}');
SELECT effective('settings-1') AS by_corpus_again;
SELECT name, default_value, server_value FROM reground.settings WHERE server_value IS NOT NULL;
-- The turn stores all settings.
SELECT count(*) = (SELECT count(*) FROM reground.settings) AS all_kept FROM reground.turns, jsonb_object_keys(turns.settings) WHERE turn_id = regress.turn('settings-1');
-- An invalid server setting is refused when it is used, and the error names its origin.
SET reground.rrf_k = 'many';
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('settings-2', 'anything', 'settings')$$);
RESET reground.rrf_k;
-- An unknown name.
SELECT * FROM regress.refusal($$SET reground.no_such_setting = 1$$);
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-2', '{"no_such_setting": 1}')$$);
-- Numeric settings outside their range are refused, and nothing is stored.
SELECT s, r.state, r.message FROM unnest(ARRAY['{"candidates": 0}', '{"candidates": 1001}', '{"candidates": 1.5}', '{"candidates": "ten"}', '{"carry_decay": 1.1}', '{"carry_decay": -0.1}', '{"carry_threshold": 2}',
    '{"max_tokens": 0}', '{"max_sources": 101}', '{"vector_search": "fast"}', '{"carry_activation": "all"}', '{"marker_style": "I"}', '{"carry_over": "perhaps"}', '{"max_sources": 1e300}', '{"max_sources": {}}', '"x"', '[1]', '1', 'null']) AS s,
    regress.refusal(format('SELECT reground.alter_conversation(%L, %L)', 'settings-3', s)) AS r;
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-3', NULL)$$);
-- An accuracy_target that no turn could reach is refused at once, with the baseline of the layers below.
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-4', '{"accuracy_target": 0.95}')$$);
SELECT reground.alter_conversation('settings-4', '{"accuracy_target": 0.95, "accuracy_baseline": 0.96}');
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-4', '{"accuracy_baseline": null}')$$);
SELECT reground.alter_conversation('settings-4', '{"accuracy_target": null, "accuracy_baseline": null}');
SELECT * FROM regress.refusal($$SELECT reground.alter_corpus('settings', settings => '{"accuracy_baseline": 0.8}')$$);
SELECT * FROM regress.refusal($$SELECT reground.create_corpus('unreachable', settings => '{"accuracy_target": 0.91}')$$);
SELECT reground.alter_corpus('settings', settings => '{"accuracy_baseline": 0.9}');
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-1', '{"accuracy_target": 0.9}')$$);
SELECT reground.alter_corpus('settings', settings => '{"accuracy_baseline": null}');
SET reground.accuracy_baseline = 0.8;
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('settings-4', '{"accuracy_target": 0.82}')$$);
-- Other settings are not refused for it.
SELECT reground.alter_conversation('settings-4', '{"max_sources": 5}');
RESET reground.accuracy_baseline;
SELECT * FROM regress.refusal($$SELECT reground.alter_conversation('', '{}')$$);
SELECT count(*) AS left_behind FROM reground.conversations WHERE conversation_ref = 'settings-3';

-- The effect of some settings.
SELECT version FROM reground.put_document('settings', 'e', content => 'Anything else.');
SELECT marker, doc_id FROM reground.begin_turn('settings-4', 'anything', 'settings', settings => '{"marker_style": "1"}');
SELECT reground.prompt_context(regress.turn('settings-4')) ~ '\[1\]' AS numbered;
SELECT marker, status FROM reground.end_turn(regress.turn('settings-4'), 'Anything at all [1]. Anything else [2]. More [7].');
SELECT count(*) AS sources FROM reground.begin_turn('settings-5', 'anything', 'settings', settings => '{"max_sources": 1}');
SELECT doc_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('settings-5')) WHERE NOT in_context;
SELECT cardinality(facts) AS facts FROM reground.begin_turn('settings-6', 'anything', 'settings', settings => '{"facts_per_source": 0}') LIMIT 1;
SELECT count(*) AS rows FROM reground.begin_turn('settings-7', 'anything', 'settings', settings => '{"keep_candidates": "none"}');
SELECT count(*) AS traced FROM reground.explain_turn(regress.turn('settings-7'));
SELECT count(*) AS rows FROM reground.begin_turn('settings-8', 'anything', 'settings', settings => '{"keep_candidates": "kept", "max_sources": 1}');
SELECT count(*) AS traced FROM reground.explain_turn(regress.turn('settings-8'));
SELECT * FROM regress.refusal($$SELECT * FROM reground.begin_turn('settings-9', 'anything', 'settings', settings => '{"require_embedding": true}')$$);
SELECT reground.drop_corpus('settings', true);
