"""Markers that never move: bound once a conversation to document, version, range and text."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from reground_turn.passages import Candidate, Chars, Pages, Passage, chars_of, pages_of

_MARKER: Final = re.compile(r"([A-Z]*)([0-9]+)\Z")


class Bound(NamedTuple):
    """What a marker is bound to."""

    marker: str
    corpus: str
    doc_id: str
    passage: str
    version: int | None
    pages: Pages | None
    chars: Chars | None
    hash: str

    @staticmethod
    def of(row: tuple[Any, ...]) -> Bound:
        """From a row of the registry."""
        marker, corpus, doc_id, passage, version, first, last, start, end, known_hash, *_ = row
        return Bound(
            marker,
            corpus,
            doc_id,
            passage,
            version,
            pages_of(first, last),
            chars_of(start, end),
            known_hash,
        )


def assign(sources: list[Candidate], known: list[Bound]) -> tuple[list[str], list[int]]:
    """A marker for each source, and the indices of the sources whose marker is new."""
    by_document: dict[tuple[str, str], list[Bound]] = {}
    letters: dict[tuple[str, str], int] = {}
    numbers: dict[int, int] = {}
    last_letters = 0
    for bound in known:
        document = (bound.corpus, bound.doc_id)
        by_document.setdefault(document, []).append(bound)
        parsed = _MARKER.match(bound.marker)
        if parsed is None or not parsed[1]:
            continue
        place = _place(parsed[1])
        last_letters = max(last_letters, place)
        letters.setdefault(document, place)
        numbers[place] = max(numbers.get(place, 0), int(parsed[2]))
    used: set[str] = set()
    markers: list[str] = []
    new: list[int] = []
    for index, candidate in enumerate(sources):
        passage = candidate.passage
        document = (passage.corpus, passage.doc_id)
        marker = _find(by_document.get(document, []), passage, used)
        if marker is None:
            place = letters.get(document, 0)
            if not place:
                last_letters += 1
                place = letters[document] = last_letters
            numbers[place] = number = numbers.get(place, 0) + 1
            marker = f"{_spell(place)}{number}"
            new.append(index)
        used.add(marker)
        markers.append(marker)
    return markers, new


def _find(bindings: list[Bound], passage: Passage, used: set[str]) -> str | None:
    """The marker that the passage has; of equal bindings the one of the same key."""
    fitting = None
    for bound in bindings:
        if (
            bound.hash == passage.hash
            and bound.chars == passage.chars
            and bound.version == passage.version
            and bound.pages == passage.pages
            and bound.marker not in used
        ):
            if bound.passage == passage.key:
                return bound.marker
            if fitting is None and (bound.pages is not None or bound.chars is not None):
                fitting = bound.marker
    return fitting


def _spell(place: int) -> str:
    """Letters of the n-th document, from 1: A … Z, AA …"""
    letters = ""
    while place:
        place, digit = divmod(place - 1, 26)
        letters = chr(65 + digit) + letters
    return letters


def _place(letters: str) -> int:
    place = 0
    for letter in letters:
        place = place * 26 + ord(letter) - 64
    return place
