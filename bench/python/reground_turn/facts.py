"""Key facts of a source: the two sentences that have most words of the query, verbatim.

The harness does not compare facts, so the rules for sentences are plain ones, and words are found
by searching the text for the beginnings of the query's words instead of taking the text apart.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from reground_turn.settings import FACTS_PER_SOURCE

Fact = tuple[str, int, int]
"""The sentence and its range of characters."""

STEM: Final = 5
FEWEST_SPACES: Final = 3
MOST_SPACES: Final = 59
_WORD: Final = re.compile(r"\w+")
# It begins with a set of characters: such a pattern is searched for, not tried at each place.
_BREAK: Final = re.compile(r"[.!?\n](?:(?<=\n)()|([\"')\]]*)(?=\s))\s*(?=[A-Z0-9\"'(\[`]|(?<=\n))")
_STOP: Final = frozenset("""
    the and but for with from are was were what which who whom how why when where does did has have
    had can could would should will may might not this that these those there their its his her our
    your you they them into about than then also any some
    """.split())


def query_stems(query: str) -> list[str]:
    """Beginnings of the query's content words, lower-case."""
    words = {
        word[:STEM]
        for word in _WORD.findall(query.lower())
        if word not in _STOP and (len(word) > 2 or any(c.isdigit() for c in word))
    }
    return sorted(words)


def extract(text: str, stems: list[str]) -> list[Fact]:
    """Up to two sentences, in the order of the text; without a match the first ones."""
    starts, ends = [0], []
    for found in _BREAK.finditer(text):
        ends.append(found.start() if found[2] is None else found.end(2))
        starts.append(found.end())
    ends.append(len(text))
    covers: dict[int, set[str]] = {}
    lower = text.lower()
    if len(lower) == len(text):
        for stem in stems:
            at = lower.find(stem)
            while at >= 0:
                if at == 0 or not lower[at - 1].isalnum():
                    covers.setdefault(bisect_right(starts, at) - 1, set()).add(stem)
                at = lower.find(stem, at + len(stem))
    chosen: list[int] = []
    covered: set[str] = set()
    while len(chosen) < FACTS_PER_SOURCE:
        best, best_rank = -1, (-1, -1)
        # Sentences that hold a word of the query; where none is left, the opening ones.
        for index in sorted(covers) or range(len(starts)):
            if index in chosen or not _is_bullet(text, starts[index], ends[index]):
                continue
            held = covers.get(index, covered)
            rank = (len(held - covered), len(held))
            if rank > best_rank:
                best, best_rank = index, rank
            if not covers:
                break
        if best < 0:
            if not covers:
                break
            covers = {}
            continue
        covered |= covers.get(best, set())
        chosen.append(best)
    return [(text[starts[i] : ends[i]], starts[i], ends[i]) for i in sorted(chosen)]


def _is_bullet(text: str, start: int, end: int) -> bool:
    """Neither a heading nor a paragraph, by its length in words."""
    return FEWEST_SPACES <= text.count(" ", start, end) <= MOST_SPACES
