"""The end of a turn: one round trip to read what the answer is judged by, one to write."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import orjson

from reground_turn import literals, memory, score, status
from reground_turn.extract import Extraction, extract
from reground_turn.judge import Bench, Judgement, Shown
from reground_turn.mark import Bound
from reground_turn.passages import locator
from reground_turn.session import Row, Session
from reground_turn.statements import CITATION_COLUMNS
from reground_turn.tokens import Counter

RETURNED = (
    "marker",
    "raw",
    "corpus",
    "doc_id",
    "chunk_id",
    "title",
    "uri",
    "locator",
    "claim",
    "quote",
    "status",
    "holds",
    "mode",
    "score",
    "coordinate_fidelity",
    "support",
    "diagnostic",
    "repaired",
    "char_start",
    "char_end",
    "byte_start",
    "byte_end",
    "utf16_start",
    "utf16_end",
)
"""Columns of end_turn, but ids and the state of the source."""


@dataclass(frozen=True, slots=True)
class _Turn:
    """What was read of a turn that ends."""

    turn: int
    conversation_id: int
    last_ended: int | None
    state: str
    context: list[Shown]
    before: list[memory.Source]
    live: list[memory.Source]
    registry: list[Row]
    superseded: bool


def end(session: Session, count_tokens: Counter, turn: int, answer: str) -> list[dict[str, Any]]:
    """Ends a turn in a transaction of its own, which is left open; the citations, judged."""
    watch = session.watch
    answer_hash = hashlib.sha256(answer.encode()).hexdigest()
    extraction = extract(answer)
    watch.lap("extract")
    _ask(session, turn, extraction)
    answer_tokens = count_tokens(answer)
    read, source_lexemes, claim_lexemes, trace = _read(session, turn, answer_hash)
    watch.lap("turn")

    registry = [Bound.of(row) for row in read.registry]
    bench = Bench(read.context, source_lexemes, registry)
    judgements = bench.judge(extraction, claim_lexemes)
    watch.lap("judge")
    passed = [score.factors_of(judgement, read.context, trace) for judgement in judgements]
    scores = score.score(judgements, passed)
    cited = {key for judgement in judgements if (key := _cited(judgement, read.context))}
    after = memory.after_turn(read.before, read.context, cited)
    watch.lap("score")
    citations = _citations(extraction, judgements, passed, read)
    watch.lap("rows")
    _send(session, read, (answer, answer_hash, answer_tokens), scores, judgements, citations, after)
    session.flush("writes of end")
    watch.lap("write")
    if citations:
        rows = [{name: citation[name] for name in RETURNED} for citation in citations]
    else:
        rows = [dict.fromkeys(RETURNED)]
    watch.lap("rows")
    session.receive()
    return rows


def _ask(session: Session, turn: int, extraction: Extraction) -> None:
    """Asks for everything at once: the claims are known before the database is."""
    tenant, number = session.tenant, literals.number(turn)
    session.send(b"begin")
    session.send(b"lock", tenant, number)
    session.send(b"turn", number, tenant)
    session.send(b"remembered", number)
    session.send(b"registry", number)
    session.send(b"earlier", number)
    session.send(b"trace", number)
    session.send(b"source lexemes", number, tenant)
    session.send(b"claim lexemes", literals.text_array(extraction.claims))
    session.flush("turn and lexemes")


def _read(
    session: Session, turn: int, answer_hash: str
) -> tuple[_Turn, list[str], list[str], dict[score.Key, score.Facts]]:
    _, locked, turns, live_rows, registry, earlier, trace, sources, claims = session.receive()
    if not locked or not turns:
        raise LookupError(f"there is no turn {turn}")
    state, context, sources_before = turns[0]
    if state not in ("open", "ended"):
        raise ValueError(f"turn {turn} is {state}")
    if any(hashed == answer_hash and not superseded for _, hashed, superseded in earlier):
        raise ValueError(f"turn {turn} has this answer already")
    live = [dict(zip(memory.FIELDS, row, strict=True)) for row in live_rows]
    before = live
    if sources_before is not None:
        before = memory.with_pins_of(orjson.loads(sources_before), live)
    conversation_id, last_ended = locked[0]
    read = _Turn(
        turn,
        conversation_id,
        last_ended,
        state,
        orjson.loads(context),
        before,
        live,
        registry,
        any(not superseded for _, _, superseded in earlier),
    )
    return (
        read,
        [lexemes for (lexemes,) in sources],
        [lexemes for (lexemes,) in claims],
        score.furthest(trace),
    )


def _cited(judgement: Judgement, context: list[Shown]) -> memory.Key | None:
    """The source that a citation keeps alive, whether or not it held."""
    if judgement.source is not None:
        return memory.key_of_shown(context[judgement.source])
    bound = judgement.known
    return bound and (bound.corpus, bound.doc_id, bound.passage)


def _citations(
    extraction: Extraction,
    judgements: list[Judgement],
    passed: list[score.Factors],
    read: _Turn,
) -> list[dict[str, Any]]:
    """A row of message_citations for each citation."""
    names = [name for name, _ in CITATION_COLUMNS]
    by_marker = {row[0]: row for row in reversed(read.registry)}
    rows = []
    for number, (citation, judgement, factors) in enumerate(
        zip(extraction.citations, judgements, passed, strict=True), 1
    ):
        verdict = judgement.verdict
        marker = citation.reference.name if citation.reference.kind == "marker" else None
        corpus = doc_id = chunk_id = title = uri = place = fact = version = hashed = None
        if judgement.source is not None:
            shown = read.context[judgement.source]
            passage, sheet = shown["passage"], shown["facts"]
            marker = shown["marker"]
            corpus, doc_id, chunk_id = passage["corpus"], passage["doc_id"], passage["key"]
            title, uri = passage["title"], passage["uri"]
            place = locator(_ends(passage["pages"]), _ends(passage["chars"]))
            fact = sheet[0]["text"] if sheet else None
            version, hashed = passage["version"], passage["hash"]
        elif marker is not None and (row := by_marker.get(marker)) is not None:
            # A marker of an earlier turn: what it was bound to is in the registry.
            bound = Bound.of(row)
            title, uri = row[10], row[11]
            place = locator(bound.pages, bound.chars)
            version, hashed = bound.version, bound.hash
        if judgement.source is None and judgement.known is not None:
            known = judgement.known
            corpus, doc_id, chunk_id = known.corpus, known.doc_id, known.passage
        claim = None if citation.claim is None else extraction.claims[citation.claim]
        values = (
            number,
            marker,
            citation.raw,
            corpus,
            doc_id,
            chunk_id,
            title,
            uri,
            place,
            claim,
            judgement.quote,
            fact,
            verdict.status,
            verdict.holds,
            verdict.mode,
            verdict.score,
            judgement.fidelity,
            judgement.support,
            verdict.diagnostic,
            judgement.detail,
            judgement.best_other,
            *factors,
            score.lost_at(factors),
            version,
            hashed,
            citation.repaired,
            *citation.chars,
            *citation.bytes,
            *citation.utf16,
        )
        rows.append(dict(zip(names, values, strict=True)))
    return rows


def _ends(stretch: dict[str, int] | None) -> tuple[int, int] | None:
    return None if stretch is None else (stretch["start"], stretch["end"])


def _send(
    session: Session,
    read: _Turn,
    answered: tuple[str, str, int],
    scores: score.Scores,
    judgements: list[Judgement],
    citations: list[dict[str, Any]],
    after: list[memory.Source],
) -> None:
    """Queues the rows of an answer: one statement a table."""
    tenant = session.tenant
    conversation, turn = literals.number(read.conversation_id), literals.number(read.turn)
    answer, answer_hash, answer_tokens = answered
    unknown = any(judgement.verdict is status.UNKNOWN_ID for judgement in judgements)
    if read.superseded:
        session.send(b"supersede", turn)
    session.send(
        b"add message",
        tenant,
        conversation,
        turn,
        answer.encode(),
        answer_hash.encode(),
        literals.number(answer_tokens),
        literals.number(len(citations)),
        literals.number(scores.malformed),
        literals.number(scores.cfs),
        literals.number(scores.stage_cfs),
        literals.number(scores.grounded_cfs),
        None if scores.scored else b"no_citations_found",
        b"regenerate" if unknown else b"accept",
        b"{unknown_id}" if unknown else b"{}",
    )
    if citations:
        session.send(b"add citations", tenant, conversation, turn, orjson.dumps(citations))
    if read.state != "open" and read.last_ended != read.turn:
        return
    remembered = {memory.key_of(source) for source in after}
    gone = [source for source in read.live if memory.key_of(source) not in remembered]
    sources = orjson.dumps(after)
    if gone:
        session.send(b"forget", conversation, orjson.dumps(gone))
    session.send(b"remember", tenant, conversation, sources)
    session.send(b"end turn", turn, orjson.dumps(read.before), sources)
    session.send(b"ended", conversation, turn)
