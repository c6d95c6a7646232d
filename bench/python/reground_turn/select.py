"""The final context: pins, then fresh candidates by score, carried ones in reserved slots."""

from __future__ import annotations

from reground_turn.carry import eligible, priority
from reground_turn.passages import CARRIED, Candidate, Dropped
from reground_turn.settings import MAX_SOURCES, MAX_TOKENS, MIN_SOURCES, RESERVED_SLOTS


class Context:
    """Sources in prompt order, what did not enter, and the tokens."""

    __slots__ = ("_carried", "_fresh", "_overflowed", "_pins", "dropped", "tokens")

    def __init__(self) -> None:
        self._pins: list[Candidate] = []
        self._fresh: list[Candidate] = []
        self._carried: list[Candidate] = []
        self._overflowed = False
        self.dropped: list[Dropped] = []
        self.tokens = 0

    @property
    def sources(self) -> list[Candidate]:
        """In prompt order."""
        return self._pins + self._fresh + self._carried

    def __len__(self) -> int:
        return len(self._pins) + len(self._fresh) + len(self._carried)

    def admit_pin(self, candidate: Candidate) -> bool:
        """Takes a pin in: the budget alone can refuse it, even past the first overflow."""
        return self._admit(candidate, self._pins, is_pin=True)

    def admit_fresh(self, candidate: Candidate) -> bool:
        """Takes a candidate of this turn's retrieval in."""
        return self._admit(candidate, self._fresh, is_pin=False)

    def admit_carried(self, candidate: Candidate) -> bool:
        """Takes a candidate in by memory."""
        if not self._admit(candidate, self._carried, is_pin=False):
            return False
        candidate.origin = CARRIED
        return True

    def leave(self, candidate: Candidate, reason: str) -> None:
        """Notes that a candidate stays out."""
        self.dropped.append((candidate, "context", reason, None))

    def _admit(self, candidate: Candidate, part: list[Candidate], *, is_pin: bool) -> bool:
        if len(self) >= MAX_SOURCES:
            self.leave(candidate, "over_max_sources")
            return False
        tokens = self.tokens + candidate.passage.tokens
        full = self._overflowed and len(self) >= MIN_SOURCES
        if tokens > MAX_TOKENS or (full and not is_pin):
            self._overflowed = True
            self.leave(candidate, "over_token_budget")
            return False
        self.tokens = tokens
        part.append(candidate)
        return True


def select(
    pins: list[Candidate], fresh: list[Candidate], carried: list[Candidate], carries: bool
) -> Context:
    """Admits fresh and carried in proportion: a budget that ends early starves neither."""
    context = Context()
    for pin in pins:
        context.admit_pin(pin)
    free = max(MAX_SOURCES - len(context), 0)
    reserved = min(max(RESERVED_SLOTS - len(context), 0), free)
    known = sum(eligible(candidate, carries) for candidate in fresh)
    reserved = min(reserved, len(carried) + known)
    fresh_slots = free - reserved

    queue: list[Candidate] = []
    waiting = list(carried)
    for rank, candidate in enumerate(fresh):
        if rank >= fresh_slots and eligible(candidate, carries):
            waiting.append(candidate)
        else:
            queue.append(candidate)
    waiting.sort(key=lambda c: (-priority(c), c.passage.key))

    fresh_in = carried_in = next_fresh = next_waiting = 0
    while len(context) < MAX_SOURCES:
        due = fresh_in * reserved // fresh_slots if fresh_slots else reserved
        wants_carried = carried_in < reserved and (carried_in < due or fresh_in >= fresh_slots)
        has_waiting = next_waiting < len(waiting)
        if wants_carried and has_waiting:
            by_memory = True
        elif next_fresh < len(queue):
            by_memory = False
        elif carried_in < reserved and has_waiting:
            by_memory = True
        else:
            break
        if by_memory:
            carried_in += context.admit_carried(waiting[next_waiting])
            next_waiting += 1
        else:
            fresh_in += context.admit_fresh(queue[next_fresh])
            next_fresh += 1
    for candidate in queue[next_fresh:]:
        context.leave(candidate, "over_max_sources")
    slots_used = carried_in >= reserved
    for candidate in waiting[next_waiting:]:
        past = slots_used and candidate.origin == CARRIED
        context.leave(candidate, "over_reserved_slots" if past else "over_max_sources")
    return context
