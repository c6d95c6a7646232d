"""What the conversation remembers after a turn has ended."""

from __future__ import annotations

from typing import Any

from reground_turn.judge import Shown
from reground_turn.passages import FRESH
from reground_turn.settings import CARRY_DECAY, CARRY_TTL_TURNS

Key = tuple[str, str, str]
Source = dict[str, Any]

FIELDS = (
    "corpus",
    "doc_id",
    "passage",
    "carry_score",
    "inactive_turns",
    "pinned",
    "pin_order",
    "cited",
    "hash",
)


def key_of(source: Source) -> Key:
    """The key of a remembered source."""
    return source["corpus"], source["doc_id"], source["passage"]


def key_of_shown(shown: Shown) -> Key:
    """The key under which a source of the context is remembered."""
    passage = shown["passage"]
    return passage["corpus"], passage["doc_id"], passage["key"]


def with_pins_of(before: list[Source], live: list[Source]) -> list[Source]:
    """The sources before a turn, for judging its answer anew, with today's pins."""
    pins = {key_of(source): source for source in live if source["pinned"]}
    sources = {key_of(source): dict(source) for source in before}
    for key, source in sources.items():
        pin = pins.get(key)
        source["pinned"] = pin is not None
        source["pin_order"] = pin and pin["pin_order"]
    for key, pin in pins.items():
        sources.setdefault(key, dict(pin))
    return [sources[key] for key in sorted(sources)]


def after_turn(before: list[Source], context: list[Shown], cited: set[Key]) -> list[Source]:
    """What was cited or found afresh reads 1, the rest ages; then all that is not pinned fades."""
    shown_by_key = {key_of_shown(shown): shown for shown in context}
    active = cited | {key for key, shown in shown_by_key.items() if shown["origin"] == FRESH}
    sources = {key_of(source): dict(source) for source in before}
    for key in shown_by_key:
        if key in active and key not in sources:
            corpus, doc_id, passage = key
            sources[key] = dict(
                zip(
                    FIELDS, (corpus, doc_id, passage, 1.0, 0, False, None, False, None), strict=True
                )
            )
            sources[key]["hash"] = shown_by_key[key]["passage"]["hash"]
    after = []
    for key in sorted(sources):
        source = sources[key]
        source["cited"] = source["cited"] or key in cited
        shown = shown_by_key.get(key)
        if shown is not None:
            # A merged one has the hash of the union, which no single passage will ever have again.
            merged = len(shown["members"]) > 1
            source["hash"] = None if merged else shown["passage"]["hash"]
        if key in active:
            source["carry_score"], source["inactive_turns"] = 1.0, 0
        else:
            source["inactive_turns"] += 1
        if not source["pinned"]:
            source["carry_score"] *= CARRY_DECAY
        if source["pinned"] or source["inactive_turns"] < CARRY_TTL_TURNS:
            after.append(source)
    return after
