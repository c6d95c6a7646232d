//! Generates conversations with remembered sources, to fill a database.

use anyhow::Result;
use postgres::Client;

/// Remembered sources per conversation.
const PER_CONVERSATION: usize = 10;

/// Fills a database up to this number of remembered sources, each with a marker. Keeps existing ones.
///
/// # Errors
/// Errors of the server.
pub fn fill(client: &mut Client, corpus: &str, sources: usize) -> Result<()> {
    let conversations = i64::try_from(sources / PER_CONVERSATION)?;
    let each = i32::try_from(PER_CONVERSATION)?;
    let there: i64 = client
        .query_one(
            "SELECT count(*) FROM reground.conversations WHERE conversation_ref LIKE 'filled-%'",
            &[],
        )?
        .get(0);
    if there >= conversations {
        return Ok(());
    }
    let mut transaction = client.transaction()?;
    transaction.execute(
        "INSERT INTO reground.conversations (tenant, conversation_ref, corpus) SELECT current_user, 'filled-' || n, $3 FROM generate_series($1::bigint + 1, $2) AS n",
        &[&there, &conversations, &corpus],
    )?;
    for statement in [
        "INSERT INTO reground.conversation_sources (conversation_id, corpus, doc_id, chunk_id, tenant, carry_score, inactive_turns, cited) \
         SELECT c.conversation_id, $1, 'doc-' || n % 2809, n::text, c.tenant, 0.7, 0, true",
        "INSERT INTO reground.conversation_markers (conversation_id, marker, corpus, doc_id, chunk_id, tenant, content_hash, first_turn_no, binding_no, cited) \
         SELECT c.conversation_id, chr(64 + n) || '1', $1, 'doc-' || n % 2809, n::text, c.tenant, md5(n::text), 1, n, true",
    ] {
        transaction.execute(
            &format!(
                "{statement} FROM reground.conversations AS c, generate_series(1, $2::integer) AS n WHERE c.conversation_ref LIKE 'filled-%' \
                 ON CONFLICT DO NOTHING"
            ),
            &[&corpus, &each],
        )?;
    }
    transaction.commit()?;
    client.batch_execute("VACUUM (ANALYZE) reground.conversations, reground.conversation_sources, reground.conversation_markers")?;
    Ok(())
}
