//! A corpus of two documents with an open turn.

use anyhow::Result;
use postgres::Client;

/// Creates a corpus of two documents and an open turn on it; returns the id of the turn.
pub fn open_turn(client: &mut Client) -> Result<i64> {
    client.batch_execute(
        "SELECT reground.create_corpus('farm', dimensions => 2);
         SELECT reground.put_document('farm', 'cows', passages => '[{\"content\": \"Cows give milk.\"}]');
         SELECT reground.put_document('farm', 'sheep', passages => '[{\"content\": \"Sheep give wool.\"}]');
         SELECT reground.put_embeddings('farm', ARRAY['1', '2'], ARRAY['[1,0]', '[0,1]']::vector[])",
    )?;
    let turn =
        "SELECT max(turn_id) FROM reground.begin_turn('talk', 'who gives milk?', 'farm', '[1,0]')";
    Ok(client.query_one(turn, &[])?.get(0))
}
