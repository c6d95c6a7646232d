"""The beginning of a turn: three round trips, and the pipeline between the second and the third."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from reground_turn import carry, facts, literals, mark, settings, turn_rows
from reground_turn.carry import Evidence, Live
from reground_turn.collapse import collapse
from reground_turn.fuse import fuse
from reground_turn.passages import Passage
from reground_turn.relevance import Hit, Scale
from reground_turn.select import select
from reground_turn.session import Session
from reground_turn.tokens import Counter
from reground_turn.turn_rows import Composed


@dataclass(frozen=True, slots=True)
class Begun:
    """A turn with the rows that its caller gets."""

    turn: int
    rows: list[dict[str, Any]]


def candidates(session: Session, query: str, embedding: Sequence[float]) -> list[Any]:
    """The two candidate queries alone."""
    tables = session.tables
    session.send(b"lexical", tables.corpus.encode(), query.encode(), settings.CALL)
    session.send(b"nearest", literals.vector(embedding))
    session.flush("candidates")
    return session.receive()


def begin(
    session: Session,
    count_tokens: Counter,
    conversation: str,
    query: str,
    intent: str,
    embedding: Sequence[float],
) -> Begun:
    """Begins a turn in a transaction of its own, which is left open."""
    watch = session.watch
    tenant, name, corpus = session.tenant, conversation.encode(), session.tables.corpus
    vector = literals.vector(embedding)
    session.send(b"begin")
    session.send(b"open", tenant, name, corpus.encode())
    session.send(b"live", tenant, name)
    session.send(b"markers", tenant, name)
    session.send(b"lexical", corpus.encode(), query.encode(), settings.CALL)
    session.send(b"nearest", vector)
    session.flush("candidates and memory")
    # While the server searches:
    request_hash = hashlib.sha256(
        orjson.dumps([query, corpus, intent]) + vector + settings.CALL
    ).hexdigest()
    query_tokens = count_tokens(query)
    stems = facts.query_stems(query)
    _, opened, live_rows, registry, scored, nearest = session.receive()

    conversation_id, turn_number = opened[0]
    live = [Live(*row) for row in live_rows]
    if _may_carry_beyond(scored, live, session.tables.scores):
        # Rare: some hundred passages score as half the best does, seldom a thousand.
        session.send(b"all lexical", corpus.encode(), query.encode(), settings.CALL)
        session.flush("scores beyond")
        (scored,) = session.receive()
    lexical: list[Hit] = scored[: settings.CANDIDATES]
    passages, evidence = _read_passages(session, vector, lexical, nearest, dict(scored), live)
    found = {key: passages[key] for key, _ in (*lexical, *nearest) if key in passages}
    watch.lap("passages")

    composed = _compose(
        lexical,
        nearest,
        found,
        evidence,
        live,
        [mark.Bound.of(row) for row in registry],
        intent != "new_topic",
        stems,
        count_tokens,
        session,
    )
    context = turn_rows.context(composed)
    watch.lap("context")
    _send_turn(
        session,
        (conversation_id, turn_number, registry[-1][-1] if registry else 0),
        (name, query, intent, request_hash, vector, query_tokens),
        composed,
        context,
    )
    session.flush("writes of begin")
    watch.lap("write")
    rows = turn_rows.returned(composed)
    watch.lap("rows")
    written = session.receive()
    return Begun(written[0][0][0], rows)


def _may_carry_beyond(scored: list[Hit], live: list[Live], most: int) -> bool:
    """Whether a remembered passage may score beyond those read, and enough to be carried."""
    if len(scored) < most or scored[-1][1] < settings.CARRY_THRESHOLD * scored[0][1]:
        return False
    known = {key for key, _ in scored}
    return any(not source.passage or source.passage not in known for source in live)


def _read_passages(
    session: Session,
    vector: bytes,
    lexical: list[Hit],
    nearest: list[Hit],
    scores: dict[str, float],
    live: list[Live],
) -> tuple[dict[str, Passage], Evidence]:
    """The passages behind the candidates and behind the remembered sources."""
    remembered = [source.passage for source in live if source.passage]
    keys = {key for key, _ in lexical}
    keys.update(key for key, _ in nearest)
    keys.update(remembered)
    documents = sorted({source.doc_id for source in live if not source.passage})
    session.send(
        b"passages", literals.key_array(list(keys)), literals.key_array(remembered), vector
    )
    if documents:
        session.send(b"pinned", literals.text_array(documents), vector)
    session.flush("passages")
    scale = Scale(lexical, nearest)
    corpus = session.tables.corpus
    passages: dict[str, Passage] = {}
    distances: dict[str, float] = {}
    by_document: dict[str, list[str]] = {}
    rows, *pinned = session.receive()
    for row in rows:
        passages[row[0]] = Passage(corpus, row)
        if row[15] is not None:
            distances[row[0]] = row[15]
    for row in pinned[0] if pinned else ():
        passages.setdefault(row[0], Passage(corpus, row))
        by_document.setdefault(row[1], []).append(row[0])
        if row[15] is not None:
            distances[row[0]] = row[15]
    return passages, Evidence(passages, by_document, scores, distances, scale)


def _compose(
    lexical: list[Hit],
    nearest: list[Hit],
    found: dict[str, Passage],
    evidence: Evidence,
    live: list[Live],
    registry: list[mark.Bound],
    carries: bool,
    stems: list[str],
    count_tokens: Counter,
    session: Session,
) -> Composed:
    """fuse → collapse → cut → carry → select → mark → facts."""
    watch = session.watch
    known = {source.passage for source in live if source.passage}
    fused, dropped = fuse(lexical, nearest, found, known, evidence.scale)
    watch.lap("fuse")
    merged, members = collapse(fused, count_tokens)
    watch.lap("collapse")
    top = settings.RERANK_TOP
    memory = carry.carry(merged[:top], merged[top:], live, evidence, carries)
    watch.lap("carry")
    context = select(memory.pins.candidates, memory.fresh.candidates, memory.in_order(), carries)
    sources = context.sources
    watch.lap("select")
    markers, new = mark.assign(sources, registry)
    watch.lap("mark")
    dropped += members
    dropped += [
        (candidate, "rerank", "below_rerank_cut", None) for candidate in memory.beyond.candidates
    ]
    dropped += memory.dropped
    dropped += context.dropped
    warnings = memory.warnings | _shortfalls(lexical, nearest)
    if not sources and any(reason == "over_token_budget" for _, _, reason, _ in dropped):
        warnings.add("budget_too_small")
    sheet = [facts.extract(candidate.passage.text, stems) for candidate in sources]
    watch.lap("facts")
    return Composed(sources, markers, new, sheet, dropped, context.tokens, warnings)


def _shortfalls(lexical: list[Hit], nearest: list[Hit]) -> set[str]:
    """What the branches did not deliver."""
    warnings = set()
    if not lexical and not nearest:
        warnings.add("nothing_found")
    if len(nearest) < settings.CANDIDATES:
        near = {key for key, _ in nearest}
        if any(key not in near for key, _ in lexical):
            warnings.add("short_branch")
    return warnings


def _send_turn(
    session: Session,
    place: tuple[int, int, int],
    request: tuple[bytes, str, str, str, bytes, int],
    composed: Composed,
    context: bytes,
) -> None:
    """Queues the rows of a turn: one statement a table."""
    tenant = session.tenant
    conversation_id, number, last_binding = place
    _, query, intent, request_hash, vector, query_tokens = request
    session.send(
        b"add turn",
        tenant,
        literals.number(conversation_id),
        literals.number(number),
        request_hash.encode(),
        query.encode(),
        vector,
        session.tables.corpus.encode(),
        intent.encode(),
        settings.EFFECTIVE,
        context,
        literals.number(composed.tokens),
        literals.number(query_tokens),
        literals.text_array(sorted(composed.warnings)),
    )
    if composed.new:
        session.send(
            b"add markers",
            tenant,
            literals.number(conversation_id),
            literals.number(number),
            orjson.dumps(turn_rows.new_markers(composed, last_binding)),
        )
    session.send(b"add facts", tenant, orjson.dumps(turn_rows.fact_sheet(composed)))
    session.send(b"add trace", tenant, *turn_rows.trace(composed))
