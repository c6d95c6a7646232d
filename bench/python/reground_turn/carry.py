"""Which sources of earlier turns this one carries: pins always, others where they are relevant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from reground_turn.fuse import overlap
from reground_turn.passages import CARRIED, PINNED, Candidate, Chars, Dropped, Passage
from reground_turn.relevance import Scale
from reground_turn.settings import CARRY_THRESHOLD, MAX_PINNED, TWIN_OVERLAP

_LAST = 1 << 63


class Live(NamedTuple):
    """A remembered source; `passage` is empty for a pin on the whole document."""

    corpus: str
    doc_id: str
    passage: str
    carry_score: float
    pinned: bool
    pin_order: int | None
    hash: str | None


class Shelf:
    """Candidates in order, and by what each stands for: its passages, its text, its stretch of a
    document."""

    __slots__ = ("_by_hash", "_by_member", "_by_text", "candidates")

    def __init__(self, candidates: list[Candidate]) -> None:
        self.candidates = candidates
        self._by_member: dict[str, int] | None = None
        self._by_hash: dict[str, int] = {}
        self._by_text: dict[tuple[str, int | None], list[tuple[Chars, int]]] = {}

    def append(self, candidate: Candidate) -> None:
        """Puts a candidate last."""
        self.candidates.append(candidate)
        self._by_member = None

    def take(self, index: int) -> Candidate:
        """Takes a candidate out."""
        self._by_member = None
        return self.candidates.pop(index)

    def standing_for(self, passage: Passage) -> int | None:
        """The candidate that stands for a passage: itself, a merge that holds it, or a twin."""
        if not self.candidates:
            return None
        if self._by_member is None:
            self._by_member = self._indexed()
        index = self._by_member.get(passage.key)
        if index is not None:
            return index
        index = self._by_hash.get(passage.hash)
        if passage.chars is not None:
            start, end = passage.chars
            for chars, place in self._by_text.get((passage.doc_id, passage.version), ()):
                if index is not None and place > index:
                    break
                touch = start < chars[1] and chars[0] < end
                if touch and overlap(chars, passage.chars) >= TWIN_OVERLAP:
                    return place
        return index

    def _indexed(self) -> dict[str, int]:
        """Makes the indices anew: the first candidate counts."""
        by_member: dict[str, int] = {}
        self._by_hash.clear()
        self._by_text.clear()
        for index, candidate in enumerate(self.candidates):
            passage = candidate.passage
            for member in candidate.members:
                by_member.setdefault(member, index)
            self._by_hash.setdefault(passage.hash, index)
            if passage.chars is not None:
                text = (passage.doc_id, passage.version)
                self._by_text.setdefault(text, []).append((passage.chars, index))
        return by_member


@dataclass(slots=True)
class Memory:
    """What carry-over gave."""

    fresh: Shelf
    beyond: Shelf
    pins: Shelf
    carried: Shelf
    dropped: list[Dropped] = field(default_factory=list)
    warnings: set[str] = field(default_factory=set)

    def in_order(self) -> list[Candidate]:
        """The carried candidates as they compete for the reserved slots."""
        return sorted(self.carried.candidates, key=lambda c: (-priority(c), c.passage.key))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was read for the remembered sources."""

    passages: dict[str, Passage]
    by_document: dict[str, list[str]]
    scores: dict[str, float]
    distances: dict[str, float]
    scale: Scale


def carry(
    fresh: list[Candidate],
    beyond: list[Candidate],
    sources: list[Live],
    evidence: Evidence,
    carries: bool,
) -> Memory:
    """Sets the remembered sources beside the candidates within the rerank cut and beyond it."""
    out = Memory(Shelf(fresh), Shelf(beyond), Shelf([]), Shelf([]))
    ordered = sorted(
        sources,
        key=lambda s: (
            not s.pinned,
            _LAST if s.pin_order is None else s.pin_order,
            s.doc_id,
            s.passage,
        ),
    )
    for source in ordered:
        candidate = _choose(source, evidence, out)
        if candidate is None:
            if source.pinned:
                out.warnings.add("pin_gone")
        elif source.pinned:
            _pin(candidate, out)
        else:
            _carry_one(candidate, out, carries)
    return out


def priority(candidate: Candidate) -> float:
    """What orders carried sources."""
    return candidate.relevance * (candidate.carry_score or 0.0)


def eligible(candidate: Candidate, carries: bool) -> bool:
    """Whether a candidate may take a reserved slot."""
    return carries and candidate.carry_score is not None and candidate.relevance >= CARRY_THRESHOLD


def _choose(source: Live, evidence: Evidence, out: Memory) -> Candidate | None:
    """The most relevant passage that a source gives."""
    keys = [source.passage] if source.passage else evidence.by_document.get(source.doc_id, [])
    origin = PINNED if source.pinned else CARRIED
    best: tuple[float, Passage] | None = None
    for key in sorted(keys):
        passage = evidence.passages.get(key)
        if passage is None:
            continue
        relevance = evidence.scale.of(key, evidence.scores.get(key), evidence.distances.get(key))
        if best is None or relevance > best[0]:
            best = (relevance, passage)
    if best is None:
        passage = Passage.gone(source.corpus, source.doc_id, source.passage, source.hash)
        lost = Candidate(passage, (None, None), (None, None), 0.0, 0.0, source.carry_score, origin)
        out.dropped.append((lost, "carry", "gone", None))
        return None
    relevance, passage = best
    candidate = Candidate(
        passage,
        (None, evidence.scores.get(passage.key)),
        (None, evidence.distances.get(passage.key)),
        0.0,
        relevance,
        source.carry_score,
        origin,
    )
    if passage.doc_id != source.doc_id:
        out.dropped.append((candidate, "carry", "changed", None))
        return None
    if source.hash is not None and source.hash != passage.hash and source.passage:
        out.warnings.add("source_changed")
    return candidate


def _pin(candidate: Candidate, out: Memory) -> None:
    other = out.pins.standing_for(candidate.passage)
    if other is not None:
        into = out.pins.candidates[other].passage.key
        out.dropped.append((candidate, "carry", "twin", into))
        return
    if len(out.pins.candidates) >= MAX_PINNED:
        out.dropped.append((candidate, "carry", "pin_over_cap", None))
        return
    for shelf in (out.fresh, out.beyond):
        index = shelf.standing_for(candidate.passage)
        if index is not None:
            found = shelf.take(index)
            out.dropped.append(_found_fresh(candidate, found))
            candidate = _remembered_as(found, candidate, PINNED)
            break
    out.pins.append(candidate)


def _carry_one(candidate: Candidate, out: Memory, carries: bool) -> None:
    for shelf in (out.fresh, out.pins):
        index = shelf.standing_for(candidate.passage)
        if index is None:
            continue
        found = shelf.candidates[index]
        score = candidate.carry_score
        if found.carry_score is None or (score is not None and score > found.carry_score):
            found.carry_score = score
        out.dropped.append(_found_fresh(candidate, found))
        return
    if not carries:
        out.dropped.append((candidate, "carry", "intent_drops_carried", None))
        return
    if candidate.relevance < CARRY_THRESHOLD:
        out.dropped.append((candidate, "carry", "below_carry_threshold", None))
        return
    index = out.beyond.standing_for(candidate.passage)
    if index is not None:
        kept = _remembered_as(out.beyond.take(index), candidate, CARRIED)
        out.dropped.append(_found_fresh(candidate, kept))
        candidate = kept
    index = out.carried.standing_for(candidate.passage)
    if index is not None:
        into = out.carried.candidates[index].passage.key
        out.dropped.append((candidate, "carry", "twin", into))
    else:
        out.carried.append(candidate)


def _remembered_as(found: Candidate, memory: Candidate, origin: str) -> Candidate:
    """A candidate of retrieval with what memory says of it."""
    kept = found.copy()
    kept.origin = origin
    kept.carry_score = memory.carry_score
    kept.relevance = max(memory.relevance, found.relevance)
    return kept


def _found_fresh(carried: Candidate, found: Candidate) -> Dropped:
    key = carried.passage.key
    same = key == found.passage.key or key in found.members
    return carried, "carry", "found_fresh" if same else "twin", found.passage.key
