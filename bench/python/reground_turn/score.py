"""What the citations of an answer add up to, and how far each came."""

from __future__ import annotations

from dataclasses import dataclass

from reground_turn import status
from reground_turn.judge import Judgement, Shown

Facts = tuple[bool, bool, bool, bool]
"""Whether a candidate has coordinates, was retrieved, left the rerank, and was in the context."""
Key = tuple[str, str, str]
Factors = tuple[int | None, int | None, int | None, int | None, int | None]

STAGES = ("coordinates", "retrieval", "rerank", "context", "generation")
NO_FACTORS: Factors = (None, None, None, None, None)


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a message; a mean over nothing is none."""

    cfs: float | None
    stage_cfs: float | None
    grounded_cfs: float | None
    malformed: int
    scored: int


def furthest(rows: list[tuple[list[str], ...]]) -> dict[Key, Facts]:
    """How far each passage came; of one that is in the trace twice, what came furthest counts."""
    reached: dict[Key, Facts] = {}
    for corpora, doc_ids, passages, members, left_at, coordinates in rows:
        for corpus, doc_id, passage, merged, left, placed in zip(
            corpora, doc_ids, passages, members, left_at, coordinates, strict=True
        ):
            facts = (
                bool(placed),
                left != "carry",
                left != "carry" and left != "rerank",
                left is None,
            )
            for key in {passage, *merged.split("\x1f")} if "\x1f" in merged else (passage,):
                name = (corpus, doc_id, key)
                before = reached.get(name)
                if before is None or sum(facts) > sum(before):
                    reached[name] = facts
    return reached


def factors_of(judgement: Judgement, context: list[Shown], trace: dict[Key, Facts]) -> Factors:
    """The five factors of a citation; after the first loss the rest is none."""
    verdict = judgement.verdict
    if verdict is status.MALFORMED or verdict is status.UNRESOLVABLE:
        return NO_FACTORS
    if verdict is status.UNKNOWN_ID:
        return (None, None, None, None, 0)
    missed = verdict is status.STALE_TURN
    facts = _facts(judgement, context, trace)
    if facts is None:
        facts = (True, False, False, False) if missed else (True, True, True, True)
    generated = verdict is not status.WRONG_SOURCE and verdict is not status.UNSUPPORTED
    kept = (*facts[:3], facts[3] and not missed, generated)
    factors: list[int | None] = [None] * 5
    for place, passed in enumerate(kept):
        factors[place] = int(passed)
        if not passed:
            break
    return tuple(factors)  # type: ignore[return-value]


def lost_at(factors: Factors) -> str | None:
    """The stage that lost the citation."""
    return STAGES[factors.index(0)] if 0 in factors else None


def score(judgements: list[Judgement], factors: list[Factors]) -> Scores:
    """Adds up a message."""
    scores: list[float] = []
    grounded: list[float] = []
    stages: list[float] = []
    malformed = 0
    for judgement, passed in zip(judgements, factors, strict=True):
        value = judgement.verdict.score
        malformed += judgement.verdict is status.MALFORMED
        if value is not None:
            scores.append(value)
            # Without a valid place there is nothing that support could be of.
            if value == 0.0:
                grounded.append(0.0)
            elif judgement.support is not None:
                grounded.append(value * judgement.support)
        if passed is not NO_FACTORS:
            stages.append(0.0 if 0 in passed else 1.0)
    return Scores(_mean(scores), _mean(stages), _mean(grounded), malformed, len(scores))


def _facts(judgement: Judgement, context: list[Shown], trace: dict[Key, Facts]) -> Facts | None:
    if judgement.source is not None:
        shown = context[judgement.source]
        passage = shown["passage"]
        corpus, doc_id, keys = passage["corpus"], passage["doc_id"], [passage["key"]]
        keys += shown["members"]
    elif judgement.known is not None:
        bound = judgement.known
        corpus, doc_id, keys = bound.corpus, bound.doc_id, [bound.passage]
    else:
        return None
    for key in keys:
        facts = trace.get((corpus, doc_id, key))
        if facts is not None:
            return facts
    return None


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
