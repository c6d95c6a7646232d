-- Turns as they would have been under other settings.

CREATE TABLE reground.shadow_turns (
    turn_id        bigint NOT NULL REFERENCES reground.turns ON DELETE CASCADE,
    label          text NOT NULL CHECK (label <> ''),
    tenant         text NOT NULL,
    corpus         text NOT NULL,
    settings       jsonb NOT NULL,
    context_tokens integer NOT NULL,
    search_us     integer,
    candidates     jsonb NOT NULL,
    shadowed_at    timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (turn_id, label)
);
CREATE INDEX shadow_turns_shadowed ON reground.shadow_turns USING brin (shadowed_at);
COMMENT ON TABLE reground.shadow_turns IS 'Turns repeated under other settings by shadow_turn, traced but never served (I16), kept as long as traces. Read the views shadow_candidates and shadow_audit instead.';
COMMENT ON COLUMN reground.shadow_turns.turn_id IS 'Id of the served turn.';
COMMENT ON COLUMN reground.shadow_turns.label IS 'Label of the shadow turn, chosen by the application.';
COMMENT ON COLUMN reground.shadow_turns.tenant IS 'Tenant that the row belongs to.';
COMMENT ON COLUMN reground.shadow_turns.corpus IS 'Corpus that the shadow turn searched.';
COMMENT ON COLUMN reground.shadow_turns.settings IS 'All effective settings of the shadow turn.';
COMMENT ON COLUMN reground.shadow_turns.context_tokens IS 'Tokens (o200k_base) of the passages in the context of the shadow turn.';
COMMENT ON COLUMN reground.shadow_turns.search_us IS 'Duration of the search in microseconds; NULL if it kept sources.';
COMMENT ON COLUMN reground.shadow_turns.candidates IS 'Candidates of the shadow turn; with keep_candidates other than all, only those of its context.';
COMMENT ON COLUMN reground.shadow_turns.shadowed_at IS 'When shadow_turn was called.';
