"""Relevance to the query in [0, 1]: each branch's value as a share of the best that it found."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

Hit = tuple[str, float]


class Scale:
    """The measure of one turn. Cosine distance only: no other is in the benchmark."""

    __slots__ = ("_lexical", "_vector", "fresh")

    def __init__(self, lexical: Sequence[Hit], vector: Sequence[Hit]) -> None:
        similarities = [(key, max(1.0 - distance, 0.0)) for key, distance in vector]
        self._lexical = max((value for _, value in lexical if isfinite(value)), default=0.0)
        self._vector = max((value for _, value in similarities if isfinite(value)), default=0.0)
        fresh: dict[str, float] = {}
        for hits, best in ((lexical, self._lexical), (similarities, self._vector)):
            for key, value in hits:
                share = _share(value, best)
                if share >= fresh.get(key, 0.0):
                    fresh[key] = share
        self.fresh = fresh

    def of(self, key: str, lexical_score: float | None, distance: float | None) -> float:
        """Relevance of a remembered passage: by its own scores, or by its place in the lists."""
        relevance = self.fresh.get(key, 0.0)
        if lexical_score is not None:
            relevance = max(relevance, _share(lexical_score, self._lexical))
        if distance is not None:
            relevance = max(relevance, _share(max(1.0 - distance, 0.0), self._vector))
        return relevance


def _share(value: float, best: float) -> float:
    if best <= 0.0:
        return 0.0
    return min(max(value / best, 0.0), 1.0)
