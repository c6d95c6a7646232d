"""Reciprocal rank fusion over identities: passages with the same text or range count as one."""

from __future__ import annotations

from collections.abc import Sequence

from reground_turn.passages import Candidate, Chars, Dropped, Passage
from reground_turn.relevance import Hit, Scale
from reground_turn.settings import LEXICAL_WEIGHT, RRF_K, TWIN_OVERLAP, VECTOR_WEIGHT

Standing = tuple[int | None, float | None, int | None, float | None, float]
"""Ranks, values and fused score of a key."""


def fuse(
    lexical: Sequence[Hit],
    vector: Sequence[Hit],
    passages: dict[str, Passage],
    known: set[str],
    scale: Scale,
) -> tuple[list[Candidate], list[Dropped]]:
    """One candidate for each identity, best first, and the twins that gave way."""
    own = _standings(lexical, vector, {key: key for key in passages})
    ranked = sorted(own, key=lambda key: (-own[key][4], key))
    # Of twins the one stands that the conversation knows already.
    members = ranked
    if known:
        members = [key for key in ranked if key in known] + [
            key for key in ranked if key not in known
        ]
    leaders = _leaders(members, passages)
    if not any(leaders[key] != key for key in members):
        return [_fresh(passages[key], own[key], scale.fresh.get(key, 0.0)) for key in ranked], []

    fused = _standings(lexical, vector, leaders)
    dropped: list[Dropped] = []
    also_in: dict[str, list[tuple[str, str]]] = {}
    relevance: dict[str, float] = {}
    for key in members:
        leader = leaders[key]
        mine = scale.fresh.get(key, 0.0)
        relevance[leader] = max(relevance.get(leader, 0.0), mine)
        if leader != key:
            passage = passages[key]
            also_in.setdefault(leader, []).append((passage.doc_id, key))
            dropped.append((_fresh(passage, own[key], mine), "collapse", "twin", leader))
    candidates = []
    for key in sorted(fused, key=lambda key: (-fused[key][4], key)):
        candidate = _fresh(passages[key], fused[key], relevance[key])
        candidate.also_in = also_in.get(key, [])
        candidates.append(candidate)
    return candidates, dropped


def _standings(
    lexical: Sequence[Hit], vector: Sequence[Hit], name: dict[str, str]
) -> dict[str, Standing]:
    """How each identity stands in the lists: its best rank. Hits without a name keep theirs."""
    first: dict[str, tuple[int, float]] = {}
    for rank, (key, value) in enumerate(lexical, 1):
        identity = name.get(key)
        if identity is not None and identity not in first:
            first[identity] = (rank, value)
    second: dict[str, tuple[int, float]] = {}
    for rank, (key, value) in enumerate(vector, 1):
        identity = name.get(key)
        if identity is not None and identity not in second:
            second[identity] = (rank, value)
    standings: dict[str, Standing] = {}
    for identity, (rank, score) in first.items():
        share = LEXICAL_WEIGHT / (RRF_K + rank)
        other = second.get(identity)
        if other is None:
            standings[identity] = (rank, score, None, None, share)
        else:
            standings[identity] = (rank, score, *other, share + VECTOR_WEIGHT / (RRF_K + other[0]))
    for identity, (rank, distance) in second.items():
        if identity not in first:
            share = VECTOR_WEIGHT / (RRF_K + rank)
            standings[identity] = (None, None, rank, distance, share)
    return standings


def _leaders(members: list[str], passages: dict[str, Passage]) -> dict[str, str]:
    """The passage that stands for each: the first, in this order, that it is a twin of."""
    by_hash: dict[str, int] = {}
    by_text: dict[tuple[str, int | None], list[tuple[Chars, int]]] = {}
    leaders: dict[str, str] = {}
    for index, key in enumerate(members):
        passage = passages[key]
        leader = by_hash.get(passage.hash)
        chars = passage.chars
        text = (passage.doc_id, passage.version)
        if chars is not None:
            start, end = chars
            for other, place in by_text.get(text, ()):
                # Most passages of a document do not touch: no call for those.
                if start < other[1] and other[0] < end and overlap(other, chars) >= TWIN_OVERLAP:
                    leader = place if leader is None else min(leader, place)
                    break
        if leader is None:
            leader = index
            by_hash[passage.hash] = index
            if chars is not None:
                by_text.setdefault(text, []).append((chars, index))
        leaders[key] = members[leader]
    return leaders


def overlap(a: Chars, b: Chars) -> float:
    """Share of the shorter of two ranges that both have in common."""
    shorter = min(a[1] - a[0], b[1] - b[0])
    if shorter <= 0:
        return 0.0
    return max(min(a[1], b[1]) - max(a[0], b[0]), 0) / shorter


def _fresh(passage: Passage, standing: Standing, relevance: float) -> Candidate:
    return Candidate(passage, standing[:2], standing[2:4], standing[4], relevance)
