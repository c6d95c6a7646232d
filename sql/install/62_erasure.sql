-- Erasing on request (I19): what is asked to be forgotten goes, or loses its text, and a receipt says of which tables.

CREATE FUNCTION reground.forget_conversation(conversation_ref text)
    RETURNS TABLE (relation regclass, erased bigint, redacted bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'forget_conversation_wrapper';
COMMENT ON FUNCTION reground.forget_conversation(text) IS
'Erases a conversation of the tenant: its turns with questions and contexts, answers, citations, labels and reports, facts, traces, shadows, its memory and markers, its chain, its archived turns. Returns a row for each relation that was touched: erased, rows that went; redacted, rows whose text was taken out. Counts of its answers in the rollups stay: they hold no text. The bytes are in the files until the relations of the receipt are rewritten; see the guide. P0002 when there is no such conversation.';

CREATE FUNCTION reground.forget_document(corpus text, doc_id text)
    RETURNS TABLE (relation regclass, erased bigint, redacted bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'forget_document_wrapper';
COMMENT ON FUNCTION reground.forget_document(text, text) IS
'Takes the text of a document out of what conversations keep: texts, titles, addresses and metadata of its passages in the contexts of turns, facts, quotes, markers, what an API returned beside answers of turns that were shown it. Ids, places, hashes, verdicts and counts stay, and verify_chain says content_erased. It leaves the memory of conversations, and the candidates of turns that wait for a rerank; its edges go. Of a corpus that create_corpus made, the document goes as delete_document removes it; rows of your own tables are yours to delete. In a corpus of the tenant''s own, and in a shared one for reground_admin and for the owner of its table, who redact the records of all tenants; anyone else redacts those of his own. Answers stay as they are, whatever they quote. Returns the receipt of forget_conversation; call it again for turns that were under way.';

CREATE FUNCTION reground.forget_tenant(tenant text)
    RETURNS TABLE (relation regclass, erased bigint, redacted bigint)
    LANGUAGE c VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'forget_tenant_wrapper';
COMMENT ON FUNCTION reground.forget_tenant(text) IS
'Erases a tenant, for reground_admin: all its conversations as forget_conversation does, its probes, rollups, baselines and alerts, and the registration of its own corpora with the identity of their documents and their edges. The tables of these corpora stay, and a notice names them. Returns the receipt of forget_conversation. A conversation that begins meanwhile stays whole: call it when the tenant no longer does. P0002 when nothing is of that tenant.';
