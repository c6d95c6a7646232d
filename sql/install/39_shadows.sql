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
COMMENT ON TABLE  reground.shadow_turns IS 'Turns asked a second time under other settings by shadow_turn, traced and never served (I16); kept as long as traces. Read them through shadow_candidates and shadow_audit.';
COMMENT ON COLUMN reground.shadow_turns.turn_id IS 'The turn that was served.';
COMMENT ON COLUMN reground.shadow_turns.label IS 'What is tried, as the application calls it.';
COMMENT ON COLUMN reground.shadow_turns.tenant IS 'Whose it is.';
COMMENT ON COLUMN reground.shadow_turns.corpus IS 'Where the shadow searched.';
COMMENT ON COLUMN reground.shadow_turns.settings IS 'Its effective settings, all of them.';
COMMENT ON COLUMN reground.shadow_turns.context_tokens IS 'o200k_base tokens of the passages in its context.';
COMMENT ON COLUMN reground.shadow_turns.search_us IS 'Microseconds that its search took, as turns.search_us; NULL where it kept sources.';
COMMENT ON COLUMN reground.shadow_turns.candidates IS 'What shadow_turn returned; without those that left where keep_candidates is not all.';
COMMENT ON COLUMN reground.shadow_turns.shadowed_at IS 'When it was asked.';
