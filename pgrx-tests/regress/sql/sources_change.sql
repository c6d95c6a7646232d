-- The state of a source after it was cited.
CREATE SCHEMA sources_change;
SET search_path = sources_change, public;
SELECT reground.create_corpus('wiki', dimensions => 2, chunk_size => 1, chunk_overlap => 0, chunk_unit => 'sentences');
SELECT version FROM reground.put_document('wiki', 'stays', content => 'Iron rusts in water.');
SELECT version FROM reground.put_document('wiki', 'moves', content => 'Copper turns green. Copper conducts.');
SELECT version FROM reground.put_document('wiki', 'goes', content => 'Lead was used in pipes.');
SELECT reground.put_embeddings('wiki', ARRAY['1', '2', '3', '4'], ARRAY['[1,0]', '[0.9,0.1]', '[0.8,0.2]', '[0.7,0.3]']::vector[]);
SELECT marker, doc_id, chunk_id FROM reground.begin_turn('change-1', 'metals: iron rusts, copper turns green, lead pipes', 'wiki', '[1,0]', settings => '{"merge_adjacent": false}') ORDER BY chunk_id;
CREATE VIEW audit AS SELECT doc_id, status, holds, source_state, source_version, quote FROM reground.citation_audit WHERE conversation_ref = 'change-1' AND turn_no = 1 ORDER BY citation_no;
DO $$
DECLARE
    markers text[] := (SELECT array_agg(marker ORDER BY chunk_id::int) FROM regress.markers WHERE conversation_ref = 'change-1');
BEGIN
    PERFORM reground.end_turn(regress.turn('change-1'), format('Iron rusts in water [%s]. Copper turns green [%s]. Lead was used in pipes [%s].', markers[1], markers[2], markers[4]));
END
$$;
TABLE audit;
-- Changed and deleted.
SELECT version FROM reground.put_document('wiki', 'moves', content => 'Copper turns brown. Copper conducts.');
SELECT reground.delete_document('wiki', 'goes');
TABLE audit;
-- The status refers to the text that was shown and does not change. The memory returns only current sources.
SELECT doc_id, chunk_id, origin FROM reground.begin_turn('change-1', 'and the lead pipes?', embedding => '[0.7,0.3]', intent => 'drill_down') ORDER BY chunk_id;
SELECT doc_id, chunk_id, dropped_stage, drop_reason FROM reground.explain_turn(regress.turn('change-1')) WHERE NOT in_context AND drop_reason <> 'found_fresh' ORDER BY chunk_id;
-- A changed range gets a new marker; the old marker keeps its meaning.
SELECT doc_id, chunk_id, version, first_turn_no FROM regress.markers WHERE conversation_ref = 'change-1' ORDER BY first_turn_no, chunk_id::int, version;
-- The first text returns as a third version, and the deleted document is current again, in a new version.
SELECT version FROM reground.put_document('wiki', 'goes', content => 'Lead was used in pipes.');
TABLE audit;
SELECT reground.drop_corpus('wiki', true);
TABLE audit;
