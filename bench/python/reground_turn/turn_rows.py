"""A composed turn as rows: those that it writes, and those that its caller gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson

from reground_turn import literals
from reground_turn.facts import Fact
from reground_turn.passages import Candidate, Dropped, locator

MEMBERS: Final = "\x1f"
"""Between the keys of merged passages."""

ROW: Final = (
    "marker",
    "corpus",
    "doc_id",
    "chunk_id",
    "title",
    "uri",
    "locator",
    "published",
    "content",
    "facts",
    "origin",
    "score",
    "tokens",
    "metadata",
)


@dataclass(slots=True)
class Composed:
    """A context with markers and facts, and everything that stayed out of it."""

    sources: list[Candidate]
    markers: list[str]
    new: list[int]
    facts: list[list[Fact]]
    dropped: list[Dropped]
    tokens: int
    warnings: set[str]


def context(composed: Composed) -> bytes:
    """The context as a turn keeps it."""
    sources = []
    for position, (candidate, marker, sheet) in enumerate(
        zip(composed.sources, composed.markers, composed.facts, strict=True), 1
    ):
        passage = candidate.passage
        pages, chars = passage.pages, passage.chars
        sources.append(
            {
                "marker": marker,
                "position": position,
                "passage": {
                    "corpus": passage.corpus,
                    "doc_id": passage.doc_id,
                    "key": passage.key,
                    "version": passage.version,
                    "ordinal": passage.ordinal,
                    "pages": pages and {"start": pages[0], "end": pages[1]},
                    "chars": chars and {"start": chars[0], "end": chars[1]},
                    "text": passage.text,
                    "hash": passage.hash,
                    "tokens": passage.tokens,
                    "title": passage.title,
                    "uri": passage.uri,
                    "published": passage.published,
                    # It is JSON already.
                    "metadata": orjson.Fragment(passage.metadata),
                },
                "lexical_rank": candidate.lexical_rank,
                "lexical_score": candidate.lexical_score,
                "vector_rank": candidate.vector_rank,
                "vector_distance": candidate.vector_distance,
                "fused": candidate.fused,
                "rerank": None,
                "relevance": candidate.relevance,
                "carry_score": candidate.carry_score,
                "origin": candidate.origin,
                "entities": [],
                "members": candidate.members,
                "also_in": candidate.also_in,
                "facts": [
                    {"text": text, "chars": {"start": start, "end": end}}
                    for text, start, end in sheet
                ],
            }
        )
    return orjson.dumps(sources)


def new_markers(composed: Composed, last_binding: int) -> list[dict[str, Any]]:
    """The markers that this turn binds."""
    rows = []
    for binding, index in enumerate(composed.new, last_binding + 1):
        passage = composed.sources[index].passage
        pages, chars = passage.pages or (None, None), passage.chars or (None, None)
        rows.append(
            {
                "marker": composed.markers[index],
                "corpus": passage.corpus,
                "doc_id": passage.doc_id,
                "passage": passage.key,
                "version": passage.version,
                "page_start": pages[0],
                "page_end": pages[1],
                "char_start": chars[0],
                "char_end": chars[1],
                "hash": passage.hash,
                "title": passage.title,
                "uri": passage.uri,
                "binding_no": binding,
            }
        )
    return rows


def fact_sheet(composed: Composed) -> list[dict[str, Any]]:
    """The facts of every source."""
    return [
        {
            "marker": marker,
            "fact_no": number,
            "fact": text,
            "char_start": start,
            "char_end": end,
            "published": candidate.passage.published,
            "version": candidate.passage.version,
            "hash": candidate.passage.hash,
        }
        for candidate, marker, sheet in zip(
            composed.sources, composed.markers, composed.facts, strict=True
        )
        for number, (text, start, end) in enumerate(sheet, 1)
    ]


def trace(composed: Composed) -> tuple[bytes, ...]:
    """Every candidate as a place in parallel arrays, those of the context first."""
    kept, dropped = composed.sources, composed.dropped
    everyone = kept + [candidate for candidate, _, _, _ in dropped]
    passages = [candidate.passage for candidate in everyone]
    inside = [None] * len(kept)
    text, number = literals.text_array, literals.number_array
    return (
        text([p.key for p in passages]),
        text([p.doc_id for p in passages]),
        text([p.corpus for p in passages]),
        text([MEMBERS.join(c.members) for c in everyone]),
        text([c.origin for c in everyone]),
        number([c.lexical_rank for c in everyone]),
        number([c.lexical_score for c in everyone]),
        number([c.vector_rank for c in everyone]),
        number([c.vector_distance for c in everyone]),
        number([c.fused for c in everyone]),
        number([None] * len(everyone)),
        number([c.relevance for c in everyone]),
        number([c.carry_score for c in everyone]),
        text(inside + [stage for _, stage, _, _ in dropped]),
        text(inside + [reason for _, _, reason, _ in dropped]),
        text(inside + [into for _, _, _, into in dropped]),
        text(composed.markers + [None] * len(dropped)),
        literals.bool_array([p.has_coordinates() for p in passages]),
    )


def returned(composed: Composed) -> list[dict[str, Any]]:
    """What the caller gets; one row without a source where there is none."""
    rows = []
    for candidate, marker, sheet in zip(
        composed.sources, composed.markers, composed.facts, strict=True
    ):
        passage = candidate.passage
        rows.append(
            {
                "marker": marker,
                "corpus": passage.corpus,
                "doc_id": passage.doc_id,
                "chunk_id": passage.key,
                "title": passage.title,
                "uri": passage.uri,
                "locator": locator(passage.pages, passage.chars),
                "published": passage.published,
                "content": passage.text,
                "facts": [text for text, _, _ in sheet],
                "origin": candidate.origin,
                "score": candidate.relevance,
                "tokens": passage.tokens,
                "metadata": orjson.loads(passage.metadata),
            }
        )
    return rows or [dict.fromkeys(ROW) | {"facts": [], "origin": "none"}]
