"""Where the time of a turn goes, stage by stage."""

from __future__ import annotations

from time import perf_counter_ns


class Stopwatch:
    """Adds up stages. A lap costs a tenth of a microsecond, so it always runs."""

    __slots__ = ("_last", "calls", "nanoseconds", "round_trips")

    def __init__(self) -> None:
        self.nanoseconds: dict[str, int] = {}
        self.calls: dict[str, int] = {}
        self.round_trips = 0
        self._last = 0

    def start(self) -> None:
        """Begins a call: what came before belongs to no stage."""
        self._last = perf_counter_ns()

    def lap(self, stage: str) -> None:
        """Ends a stage that began where the one before it ended."""
        now = perf_counter_ns()
        self.nanoseconds[stage] = self.nanoseconds.get(stage, 0) + now - self._last
        self.calls[stage] = self.calls.get(stage, 0) + 1
        self._last = now

    def report(self) -> dict[str, object]:
        """Microseconds and calls of each stage, and the round trips."""
        stages = {
            stage: {"us": total / 1000, "calls": self.calls[stage]}
            for stage, total in self.nanoseconds.items()
        }
        return {"round_trips": self.round_trips, "stages": stages}
