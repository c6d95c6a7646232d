"""How much of a claim stands in which source: the share of its content lexemes that it has."""

from __future__ import annotations

from dataclasses import dataclass

from reground_turn.settings import OTHER_SOURCE_MARGIN, SUPPORT_THRESHOLD

HELD, WRONG_SOURCE, UNSUPPORTED = "held", "wrong_source", "unsupported"
INSUFFICIENT = "insufficient_attribution"


@dataclass(slots=True)
class Joint:
    """How the cited sources together cover a claim."""

    cited: set[int]
    union: int
    sole: list[int]
    """Lexemes that one cited source alone brings, by source."""
    gain: list[int]
    """Lexemes that an uncited source would add, by source."""


class Coverage:
    """How the sources of a context cover one claim."""

    __slots__ = ("_holders", "counts", "size")

    def __init__(self, size: int, holders: list[list[int]], sources: int) -> None:
        """`holders` has, for each lexeme of the claim, the sources that hold it."""
        self.size = size
        self._holders = holders
        self.counts = [0] * sources
        for among in holders:
            for source in among:
                self.counts[source] += 1

    def support(self, source: int) -> float:
        """Support by one source."""
        return self.counts[source] / self.size

    def joint(self, cited: set[int]) -> Joint:
        """The cited sources taken together."""
        sources = len(self.counts)
        joint = Joint(cited, 0, [0] * sources, [0] * sources)
        for among in self._holders:
            citing = [source for source in among if source in cited]
            if not citing:
                for source in among:
                    joint.gain[source] += 1
                continue
            joint.union += 1
            if len(citing) == 1:
                joint.sole[citing[0]] += 1
        return joint

    def best_other(self, joint: Joint) -> int | None:
        """The best source that the claim does not cite; the earliest of equals."""
        best, most = None, -1
        for source, count in enumerate(self.counts):
            if count > most and source not in joint.cited:
                best, most = source, count
        return best

    def verdict(self, source: int, joint: Joint, other: int | None) -> str:
        """The verdict on one of the cited sources."""
        counts, size = self.counts, self.size
        if counts[source] / size >= SUPPORT_THRESHOLD or (
            joint.union / size >= SUPPORT_THRESHOLD and joint.sole[source] > 0
        ):
            return HELD
        if other is not None and counts[other] / size >= SUPPORT_THRESHOLD:
            ahead = counts[other] / size - counts[source] / size
            return WRONG_SOURCE if ahead >= OTHER_SOURCE_MARGIN else UNSUPPORTED
        if (
            joint.sole[source] > 0
            and joint.union / size < SUPPORT_THRESHOLD
            and (joint.union + max(joint.gain, default=0)) / size >= SUPPORT_THRESHOLD
        ):
            return INSUFFICIENT
        return UNSUPPORTED
