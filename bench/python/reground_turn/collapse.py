"""Adjacent passages become one: the union of their ranges, the overlap once."""

from __future__ import annotations

from reground_turn.passages import Candidate, Chars, Dropped, Pages, Passage
from reground_turn.settings import MAX_MERGED_TOKENS
from reground_turn.tokens import Counter

Place = tuple[str, int | None, int]


class _Union:
    """A growing union: members in text order, and the stretch that they cover."""

    __slots__ = ("chars", "members", "ordinal", "pages", "text", "tokens")

    def __init__(
        self,
        members: list[int],
        ordinal: int | None,
        pages: Pages | None,
        chars: Chars | None,
        text: str,
        tokens: int,
    ) -> None:
        self.members = members
        self.ordinal = ordinal
        self.pages = pages
        self.chars = chars
        self.text = text
        self.tokens = tokens


def collapse(
    candidates: list[Candidate], count_tokens: Counter
) -> tuple[list[Candidate], list[Dropped]]:
    """Lets each candidate, strongest first, grow by neighbours while the union is short enough."""
    places: dict[Place, int] = {}
    for index, candidate in enumerate(candidates):
        passage = candidate.passage
        if passage.ordinal is not None:
            places.setdefault((passage.doc_id, passage.version, passage.ordinal), index)
    taken = [False] * len(candidates)
    merged: list[Candidate] = []
    dropped: list[Dropped] = []
    for seed, candidate in enumerate(candidates):
        if taken[seed]:
            continue
        taken[seed] = True
        passage = candidate.passage
        if not _has_neighbour(passage, places, taken):
            merged.append(candidate)
            continue
        union = _Union(
            [seed], passage.ordinal, passage.pages, passage.chars, passage.text, passage.tokens
        )
        while _grow(union, candidates, places, taken, count_tokens):
            pass
        if len(union.members) == 1:
            merged.append(candidate)
            continue
        key = passage.key
        dropped.extend(
            (candidates[member], "collapse", "merged", key)
            for member in union.members
            if member != seed
        )
        merged.append(_united(candidate, union, candidates))
    return merged, dropped


def _has_neighbour(passage: Passage, places: dict[Place, int], taken: list[bool]) -> bool:
    if passage.ordinal is None:
        return False
    doc_id, version, ordinal = passage.doc_id, passage.version, passage.ordinal
    before = places.get((doc_id, version, ordinal - 1))
    after = places.get((doc_id, version, ordinal + 1))
    return (before is not None and not taken[before]) or (after is not None and not taken[after])


def _grow(
    union: _Union,
    candidates: list[Candidate],
    places: dict[Place, int],
    taken: list[bool],
    count_tokens: Counter,
) -> bool:
    """Takes in the stronger neighbour that fits; false when none does."""
    neighbours: list[tuple[int, bool]] = []
    for edge, step in ((union.members[0], -1), (union.members[-1], 1)):
        passage = candidates[edge].passage
        if passage.ordinal is None:
            continue
        index = places.get((passage.doc_id, passage.version, passage.ordinal + step))
        if index is not None and not taken[index]:
            neighbours.append((index, step < 0))
    neighbours.sort()
    for index, in_front in neighbours:
        neighbour = candidates[index].passage
        if in_front:
            edge_passage = candidates[union.members[0]].passage
            fits = _touches(neighbour, edge_passage) and _join(union, neighbour, True, count_tokens)
        else:
            edge_passage = candidates[union.members[-1]].passage
            fits = _touches(edge_passage, neighbour) and _join(
                union, neighbour, False, count_tokens
            )
        if fits:
            union.members.insert(0 if in_front else len(union.members), index)
            taken[index] = True
            return True
    return False


def _touches(before: Passage, after: Passage) -> bool:
    a, b = before.chars, after.chars
    return a is not None and b is not None and a[0] <= b[0] <= a[1]


def _join(union: _Union, neighbour: Passage, in_front: bool, count_tokens: Counter) -> bool:
    """Widens the union; false where offsets and text disagree, or it would be too long."""
    if max(union.tokens, neighbour.tokens) > MAX_MERGED_TOKENS:
        return False
    first, first_text = (neighbour.chars, neighbour.text) if in_front else (union.chars, union.text)
    second, second_text = (
        (union.chars, union.text) if in_front else (neighbour.chars, neighbour.text)
    )
    if first is None or second is None:
        return False
    if len(first_text) != first[1] - first[0] or len(second_text) != second[1] - second[0]:
        return False
    shared = min(first[1] - second[0], second[1] - second[0])
    offset = second[0] - first[0]
    if shared < 0 or offset < 0 or first_text[offset : offset + shared] != second_text[:shared]:
        return False
    text = first_text + second_text[shared:]
    tokens = count_tokens(text)
    if tokens > MAX_MERGED_TOKENS:
        return False
    if in_front:
        union.ordinal = neighbour.ordinal
    union.pages = _both(union.pages, neighbour.pages)
    union.chars = (first[0], max(first[1], second[1]))
    union.text, union.tokens = text, tokens
    return True


def _both(a: Pages | None, b: Pages | None) -> Pages | None:
    if a is None or b is None:
        return a or b
    return min(a[0], b[0]), max(a[1], b[1])


def _united(stronger: Candidate, union: _Union, candidates: list[Candidate]) -> Candidate:
    """The strongest member with the text of all."""
    united = stronger.copy()
    members = [candidates[member] for member in union.members]
    united.passage = stronger.passage.widened(
        union.ordinal, union.pages, union.chars, union.text, union.tokens
    )
    united.members = [key for member in members for key in member.members]
    united.also_in = [place for member in members for place in member.also_in]
    united.relevance = max(member.relevance for member in members)
    return united
