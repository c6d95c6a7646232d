"""Every statement of a turn. Each is parsed once a session; most are planned once, too.

JSON goes to the server for rows (one `jsonb_to_recordset` a table) and text arrays for arrays. What
comes back is binary, but for documents of JSON, which orjson reads faster from text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the passages of the corpus are, and the client's own tables."""

    corpus: str
    passages: str
    documents: str
    own: str = "bench_python"
    """Schema of the tables that the client writes."""
    scores: int = 1000
    """How many lexical scores are read at first."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement; `vectors` are the parameters, from 0, that go as binary vectors."""

    template: str
    parameters: int
    vectors: frozenset[int] = frozenset()

    def text(self, tables: Tables) -> str:
        """The statement with its tables."""
        return (
            self.template.replace("$SCHEMA", tables.own)
            .replace("$PASSAGES", tables.passages)
            .replace("$DOCUMENTS", tables.documents)
            .replace("$SCORES", str(tables.scores))
        )


_CONVERSATION = """(SELECT c.conversation_id FROM $SCHEMA.conversations AS c
    WHERE c.tenant = $1 AND c.external_id = $2)"""

CITATION_COLUMNS: Final = (
    ("citation_no", "integer"),
    ("marker", "text"),
    ("raw", "text"),
    ("corpus", "text"),
    ("doc_id", "text"),
    ("chunk_id", "text"),
    ("title", "text"),
    ("uri", "text"),
    ("locator", "text"),
    ("claim", "text"),
    ("quote", "text"),
    ("fact_summary", "text"),
    ("status", "text"),
    ("holds", "boolean"),
    ("mode", "text"),
    ("score", "double precision"),
    ("coordinate_fidelity", "double precision"),
    ("support", "double precision"),
    ("diagnostic", "text"),
    ("detail", "text"),
    ("best_other", "text"),
    ("factor_coordinates", "smallint"),
    ("factor_retrieval", "smallint"),
    ("factor_rerank", "smallint"),
    ("factor_context", "smallint"),
    ("factor_generation", "smallint"),
    ("lost_at", "text"),
    ("source_version", "integer"),
    ("source_hash", "text"),
    ("repaired", "boolean"),
    ("char_start", "integer"),
    ("char_end", "integer"),
    ("byte_start", "integer"),
    ("byte_end", "integer"),
    ("utf16_start", "integer"),
    ("utf16_end", "integer"),
)
_CITATION_NAMES = ", ".join(name for name, _ in CITATION_COLUMNS)
_CITATION_RECORD = ", ".join(f"{name} {kind}" for name, kind in CITATION_COLUMNS)

STATEMENTS: Final[dict[bytes, Statement]] = {
    b"begin": Statement("BEGIN", 0),
    b"commit": Statement("COMMIT", 0),
    b"rollback": Statement("ROLLBACK", 0),
    # --- begin, first round trip -------------------------------------------------------------------------------------
    # Makes, locks and counts in one: the row lock that orders the turns of a conversation comes
    # with the update.
    b"open": Statement(
        """INSERT INTO $SCHEMA.conversations AS c (tenant, external_id, corpus, turn_count)
           VALUES ($1, $2, $3, 1)
           ON CONFLICT (tenant, external_id)
               DO UPDATE SET turn_count = c.turn_count + 1, corpus = excluded.corpus
           RETURNING conversation_id, turn_count""",
        3,
    ),
    b"live": Statement(
        f"""SELECT corpus, doc_id, passage, carry_score, pinned, pin_order, hash
           FROM $SCHEMA.conversation_sources WHERE conversation_id = {_CONVERSATION}""",
        2,
    ),
    b"markers": Statement(
        f"""SELECT marker, corpus, doc_id, passage, version, page_start, page_end, char_start, char_end,
               hash, binding_no
           FROM $SCHEMA.conversation_markers WHERE conversation_id = {_CONVERSATION}
           ORDER BY binding_no""",
        2,
    ),
    # The two candidate queries. The server's only BM25 is the extension's own; many scores are
    # asked for, since a carried passage needs its own, and the first 40 are candidates. All that
    # there are, where these are too few.
    b"lexical": Statement(
        """SELECT chunk_id, lexical_score
           FROM reground.search($1, $2, NULL, max_results => $SCORES, settings => $3)""",
        3,
    ),
    b"all lexical": Statement(
        """SELECT chunk_id, lexical_score
           FROM reground.search($1, $2, NULL, max_results => 10000, settings => $3)""",
        3,
    ),
    b"nearest": Statement(
        """SELECT n.key, n.value
           FROM (SELECT chunk_id::text AS key, embedding <=> $1 AS value FROM $PASSAGES
                 WHERE embedding IS NOT NULL ORDER BY 2 LIMIT 40) AS n
           WHERE abs(n.value) < 'Infinity'::float8 ORDER BY n.value, n.key COLLATE "C\"""",
        1,
        frozenset({0}),
    ),
    # --- begin, second round trip ------------------------------------------------------------------------------------
    # Candidates and remembered passages ($2, with their distances) in one scan.
    b"passages": Statement(
        """SELECT p.chunk_id::text, p.doc_id, p.version, p.ordinal, p.page_start, p.page_end,
               p.char_start, p.char_end, p.content, p.hash, p.tokens, d.title, d.uri,
               to_jsonb(d.published) #>> '{}', p.metadata::text,
               CASE WHEN p.chunk_id = ANY ($2::bigint[]) THEN p.embedding <=> $3 END
           FROM $PASSAGES AS p
               LEFT JOIN $DOCUMENTS AS d ON d.doc_id = p.doc_id AND d.version = p.version
           WHERE p.chunk_id = ANY ($1::bigint[])""",
        3,
        frozenset({2}),
    ),
    # All passages of pinned documents.
    b"pinned": Statement(
        """SELECT p.chunk_id::text, p.doc_id, p.version, p.ordinal, p.page_start, p.page_end,
               p.char_start, p.char_end, p.content, p.hash, p.tokens, d.title, d.uri,
               to_jsonb(d.published) #>> '{}', p.metadata::text, p.embedding <=> $2
           FROM $PASSAGES AS p
               LEFT JOIN $DOCUMENTS AS d ON d.doc_id = p.doc_id AND d.version = p.version
           WHERE p.doc_id = ANY ($1::text[])""",
        2,
        frozenset({1}),
    ),
    # --- begin, third round trip -------------------------------------------------------------------------------------
    b"add turn": Statement(
        """INSERT INTO $SCHEMA.turns (tenant, conversation_id, number, state, request_hash, query,
               query_embedding, corpus, intent, intent_confidence, intent_signals, retrieval, settings,
               context, context_tokens, query_tokens, warnings, retrieved, context_from)
           VALUES ($1, $2, $3, 'open', $4, $5, $6::vector::real[], $7, $8, 1, '{caller}', '{}', $9, $10,
               $11, $12, $13, true, $3)
           RETURNING turn_id""",
        13,
        frozenset({5}),
    ),
    b"add markers": Statement(
        """INSERT INTO $SCHEMA.conversation_markers (tenant, conversation_id, first_turn, marker, corpus,
               doc_id, passage, version, page_start, page_end, char_start, char_end, hash, title, uri,
               binding_no)
           SELECT $1, $2, $3, x.* FROM jsonb_to_recordset($4::jsonb) AS x(marker text, corpus text,
               doc_id text, passage text, version integer, page_start integer, page_end integer,
               char_start integer, char_end integer, hash text, title text, uri text,
               binding_no integer)""",
        4,
    ),
    b"add facts": Statement(
        """INSERT INTO $SCHEMA.source_facts (tenant, turn_id, marker, fact_no, fact, char_start, char_end,
               published, version, hash)
           SELECT $1, currval('$SCHEMA.turns_turn_id_seq'), x.* FROM jsonb_to_recordset($2::jsonb)
               AS x(marker text, fact_no integer, fact text, char_start integer, char_end integer,
                   published text, version integer, hash text)""",
        2,
    ),
    b"add trace": Statement(
        """INSERT INTO $SCHEMA.turn_traces (bucket, turn_id, tenant, passages, doc_ids, corpora, members,
               origins, lexical_ranks, lexical_scores, vector_ranks, vector_distances, graph_ranks, fused,
               reranked, relevance, carry_scores, left_at, reasons, gave_way_to, markers, coordinates)
           VALUES ((floor(date_part('epoch', now()) / 604800)::bigint % 16)::smallint,
               currval('$SCHEMA.turns_turn_id_seq'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10,
               array_fill(NULL::integer, ARRAY[cardinality($2::text[])]), $11, $12, $13, $14, $15, $16,
               $17, $18, $19)""",
        19,
    ),
    # --- end, first round trip ---------------------------------------------------------------------------------------
    b"lock": Statement(
        """SELECT conversation_id, last_ended_turn FROM $SCHEMA.conversations
           WHERE tenant = $1 AND conversation_id = (
               SELECT t.conversation_id FROM $SCHEMA.turns AS t WHERE t.turn_id = $2 AND t.tenant = $1)
           FOR NO KEY UPDATE""",
        2,
    ),
    b"turn": Statement(
        """SELECT state, context::text, sources_before::text FROM $SCHEMA.turns
           WHERE turn_id = $1 AND tenant = $2""",
        2,
    ),
    # What the model was shown of each source, stemmed. U+001F is in no lexeme, and one text is read
    # faster than an array.
    b"source lexemes": Statement(
        """SELECT array_to_string(tsvector_to_array(to_tsvector('pg_catalog.english', left(
               coalesce(s.shown #>> '{passage,title}', '') || E'\\n' || (s.shown #>> '{passage,text}'),
               100000))), U&'\\001F')
           FROM $SCHEMA.turns AS t, jsonb_array_elements(t.context) WITH ORDINALITY AS s(shown, n)
           WHERE t.turn_id = $1 AND t.tenant = $2 ORDER BY s.n""",
        2,
    ),
    b"claim lexemes": Statement(
        """SELECT array_to_string(tsvector_to_array(to_tsvector('pg_catalog.english',
               left(c.claim, 100000))), U&'\\001F')
           FROM unnest($1::text[]) WITH ORDINALITY AS c(claim, n) ORDER BY c.n""",
        1,
    ),
    b"trace": Statement(
        """SELECT corpora, doc_ids, passages, members, left_at, coordinates
           FROM $SCHEMA.turn_traces WHERE turn_id = $1""",
        1,
    ),
    b"registry": Statement(
        """SELECT m.marker, m.corpus, m.doc_id, m.passage, m.version, m.page_start, m.page_end,
               m.char_start, m.char_end, m.hash, m.title, m.uri
           FROM $SCHEMA.turns AS t JOIN $SCHEMA.conversation_markers AS m USING (conversation_id)
           WHERE t.turn_id = $1 ORDER BY m.binding_no""",
        1,
    ),
    b"remembered": Statement(
        """SELECT s.corpus, s.doc_id, s.passage, s.carry_score, s.inactive_turns, s.pinned, s.pin_order,
               s.cited, s.hash
           FROM $SCHEMA.turns AS t JOIN $SCHEMA.conversation_sources AS s USING (conversation_id)
           WHERE t.turn_id = $1
           ORDER BY s.pin_order, s.carry_score DESC, s.corpus, s.doc_id, s.passage""",
        1,
    ),
    b"earlier": Statement(
        """SELECT message_id, answer_hash, superseded FROM $SCHEMA.messages
           WHERE turn_id = $1 ORDER BY message_id""",
        1,
    ),
    # --- end, second round trip --------------------------------------------------------------------------------------
    b"supersede": Statement(
        "UPDATE $SCHEMA.messages SET superseded = true WHERE turn_id = $1 AND NOT superseded", 1
    ),
    b"add message": Statement(
        """INSERT INTO $SCHEMA.messages (tenant, conversation_id, turn_id, answer, answer_hash,
               answer_tokens, citation_count, malformed_count, cfs, stage_cfs, grounded_cfs, diagnostic,
               decision, reasons)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
           RETURNING message_id""",
        14,
    ),
    b"add citations": Statement(
        f"""INSERT INTO $SCHEMA.message_citations (tenant, conversation_id, turn_id, message_id,
               {_CITATION_NAMES})
           SELECT $1, $2, $3, currval('$SCHEMA.messages_message_id_seq'), x.*
           FROM jsonb_to_recordset($4::jsonb) AS x({_CITATION_RECORD})""",
        4,
    ),
    b"forget": Statement(
        """DELETE FROM $SCHEMA.conversation_sources AS s
           USING jsonb_to_recordset($2::jsonb) AS x(corpus text, doc_id text, passage text)
           WHERE s.conversation_id = $1
               AND (s.corpus, s.doc_id, s.passage) = (x.corpus, x.doc_id, x.passage)""",
        2,
    ),
    b"remember": Statement(
        """INSERT INTO $SCHEMA.conversation_sources AS s (tenant, conversation_id, corpus, doc_id, passage,
               carry_score, inactive_turns, pinned, pin_order, cited, hash)
           SELECT $1, $2, x.* FROM jsonb_to_recordset($3::jsonb) AS x(corpus text, doc_id text,
               passage text, carry_score double precision, inactive_turns integer, pinned boolean,
               pin_order bigint, cited boolean, hash text)
           ON CONFLICT (conversation_id, corpus, doc_id, passage) DO UPDATE
               SET carry_score = excluded.carry_score, inactive_turns = excluded.inactive_turns,
                   pinned = excluded.pinned, pin_order = excluded.pin_order, cited = excluded.cited,
                   hash = excluded.hash,
                   last_used_at = CASE WHEN excluded.inactive_turns = 0 THEN now()
                                       ELSE s.last_used_at END""",
        3,
    ),
    b"end turn": Statement(
        """UPDATE $SCHEMA.turns SET state = 'ended', ended_at = coalesce(ended_at, clock_timestamp()),
               sources_before = coalesce(sources_before, $2), sources_after = $3 WHERE turn_id = $1""",
        3,
    ),
    b"ended": Statement(
        "UPDATE $SCHEMA.conversations SET last_ended_turn = $2 WHERE conversation_id = $1", 2
    ),
}
