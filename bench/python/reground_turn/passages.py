"""Passages, and the candidates that they become."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Any

Pages = tuple[int, int]
Chars = tuple[int, int]

FRESH, CARRIED, PINNED = "fresh", "carried", "pinned"


class Passage:
    """A passage as it stands in the corpus, or the union of several."""

    __slots__ = (
        "chars",
        "corpus",
        "doc_id",
        "hash",
        "key",
        "metadata",
        "ordinal",
        "pages",
        "published",
        "text",
        "title",
        "tokens",
        "uri",
        "version",
    )

    def __init__(self, corpus: str, row: tuple[Any, ...]) -> None:
        """From a row of the statements `passages` and `pinned`."""
        self.corpus = corpus
        (
            self.key,
            self.doc_id,
            self.version,
            self.ordinal,
            first_page,
            last_page,
            first_char,
            last_char,
            self.text,
            self.hash,
            self.tokens,
            self.title,
            self.uri,
            self.published,
            self.metadata,
            _,
        ) = row
        self.pages = pages_of(first_page, last_page)
        self.chars = chars_of(first_char, last_char)

    def has_coordinates(self) -> bool:
        """Whether it knows its place in the document."""
        return self.pages is not None or self.chars is not None or self.ordinal is not None

    def widened(
        self, ordinal: int | None, pages: Pages | None, chars: Chars | None, text: str, tokens: int
    ) -> Passage:
        """The same passage, standing for a longer stretch of its document."""
        wide = object.__new__(Passage)
        for name in Passage.__slots__:
            setattr(wide, name, getattr(self, name))
        wide.ordinal, wide.pages, wide.chars = ordinal, pages, chars
        wide.text, wide.tokens, wide.hash = text, tokens, content_hash(text)
        return wide

    @staticmethod
    def gone(corpus: str, doc_id: str, key: str, known_hash: str | None) -> Passage:
        """A passage of which only memory is left."""
        row = (key, doc_id, None, None, None, None, None, None, "", known_hash or "", 0)
        return Passage(corpus, (*row, None, None, None, "null", None))


class Candidate:
    """A passage under consideration, with how it got there."""

    __slots__ = (
        "also_in",
        "carry_score",
        "fused",
        "lexical_rank",
        "lexical_score",
        "members",
        "origin",
        "passage",
        "relevance",
        "vector_distance",
        "vector_rank",
    )

    def __init__(
        self,
        passage: Passage,
        lexical: tuple[int | None, float | None],
        vector: tuple[int | None, float | None],
        fused: float,
        relevance: float,
        carry_score: float | None = None,
        origin: str = FRESH,
    ) -> None:
        self.passage = passage
        self.lexical_rank, self.lexical_score = lexical
        self.vector_rank, self.vector_distance = vector
        self.fused = fused
        self.relevance = relevance
        self.carry_score = carry_score
        self.origin = origin
        self.members = [passage.key]
        self.also_in: list[tuple[str, str]] = []

    def copy(self) -> Candidate:
        """A candidate of its own: what happens to one does not happen to the other."""
        twin = object.__new__(Candidate)
        twin.passage = self.passage
        twin.lexical_rank, twin.lexical_score = self.lexical_rank, self.lexical_score
        twin.vector_rank, twin.vector_distance = self.vector_rank, self.vector_distance
        twin.fused, twin.relevance = self.fused, self.relevance
        twin.carry_score, twin.origin = self.carry_score, self.origin
        twin.members, twin.also_in = self.members, self.also_in
        return twin


Dropped = tuple[Candidate, str, str, str | None]
"""A candidate that left: the stage, the reason, and the key that it gave way to."""


def pages_of(first: int | None, last: int | None) -> Pages | None:
    """An interval of pages, whichever comes first."""
    if first is None:
        return None
    if last is None:
        return first, first
    return (first, last) if first <= last else (last, first)


def chars_of(first: int | None, last: int | None) -> Chars | None:
    """A range of characters, where both ends are known."""
    return None if first is None or last is None else (first, last)


def locator(pages: Pages | None, chars: Chars | None) -> str | None:
    """Where a passage stands, for people: pages where they are known, else characters."""
    if pages is not None:
        return f"p. {pages[0]}" if pages[0] == pages[1] else f"pp. {pages[0]}–{pages[1]}"
    return None if chars is None else f"chars {chars[0]}–{chars[1]}"


def content_hash(text: str) -> str:
    """SHA-256 of the NFC text, every run of white space one space."""
    folded = " ".join(unicodedata.normalize("NFC", text).split())
    return hashlib.sha256(folded.encode()).hexdigest()
