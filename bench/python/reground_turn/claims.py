"""The sentence that each citation stands on, without its citations: what it is said to support.

A citation stands on the sentence that it is in; after a full stop, on the one before, unless that
has its own; alone on a line, on the last one with words. In a list of references it claims nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from reground_turn.sentences import sentence_spans

Span = tuple[int, int]

_HAS_WORDS: Final = re.compile(r"[^\W_]")
_SPACE: Final = re.compile(r"\s+")
_BEFORE_SIGN: Final = re.compile(r" (?=[.,;:!?。，；])")
_EDGES: Final = re.compile(r"^[\W_]+|[\W_]+\Z")
_LABELS: Final = frozenset(
    (
        "references",
        "reference",
        "sources",
        "source",
        "bibliography",
        "works cited",
        "citations",
        "citation",
        "footnotes",
        "quellen",
        "literatur",
        "références",
        "fuentes",
        "referencias",
        "参考文献",
        "参考资料",
        "引用",
        "источники",
    )
)


def place(text: str, found: list[Span]) -> tuple[list[str], list[int | None]]:
    """The claims, and for each citation string the index of its claim."""
    spans = sentence_spans(_without_citations(text, found))
    held = _held(spans, found)
    remainders = [
        _remainder(text, span, found[first:last])
        for span, (first, last) in zip(spans, held, strict=True)
    ]
    lists = _reference_lists(text)
    standing: list[int | None] = []
    last_with_words: int | None = None
    for number, span in enumerate(spans):
        words = _HAS_WORDS.search(remainders[number]) is not None
        label = _is_label(remainders[number])
        read, leads = span[0], True
        for start, end in found[held[number][0] : held[number][1]]:
            leads = leads and _HAS_WORDS.search(text, read, start) is None
            read = end
            before = number - 1
            after_stop = (
                leads
                and before >= 0
                and held[before][0] == held[before][1]
                and _HAS_WORDS.search(remainders[before]) is not None
                and "\n" not in text[spans[before][1] : start]
            )
            if label:
                standing.append(None)
            elif not words:
                standing.append(last_with_words)
            elif after_stop:
                standing.append(before)
            else:
                standing.append(None if leads and _holds(lists, start) else number)
        if words and not label:
            last_with_words = number
    cited = sorted({sentence for sentence in standing if sentence is not None})
    index = {sentence: claim for claim, sentence in enumerate(cited)}
    return (
        [remainders[sentence] for sentence in cited],
        [None if sentence is None else index[sentence] for sentence in standing],
    )


def _without_citations(text: str, found: list[Span]) -> str:
    """The text, as long, with hanging citations turned to spaces and free-standing ones to X.

    Then no boundary falls into a citation, `so.[1] Next` breaks after it, and `so. [1] says`
    before.
    """
    parts: list[str] = []
    at, last_end, hangs = 0, None, False
    for start, end in found:
        between = text[at:start]
        parts.append(between)
        # A run of citations hangs as a whole.
        if last_end != start:
            hangs = bool(between) and not between[-1].isspace()
        parts.append((" " if hangs else "X") * (end - start))
        at = last_end = end
    parts.append(text[at:])
    return "".join(parts)


def _held(spans: list[Span], found: list[Span]) -> list[Span]:
    """By sentence, the citation strings that start in it or in the gap after it."""
    held, following = [], 0
    for number in range(len(spans)):
        limit = spans[number + 1][0] if number + 1 < len(spans) else None
        first = following
        while following < len(found) and (limit is None or found[following][0] < limit):
            following += 1
        held.append((first, following))
    return held


def _remainder(text: str, span: Span, held: list[Span]) -> str:
    """The sentence without its citations, white space folded and none left before a stop."""
    at, parts = span[0], []
    for start, end in held:
        parts.append(text[at:start])
        at = max(end, at)
    parts.append(text[at : span[1]])
    folded = _SPACE.sub(" ", " ".join(parts)).strip()
    return _BEFORE_SIGN.sub("", folded)


def _is_label(text: str) -> bool:
    """Whether a text is nothing but the name of a list of references."""
    if len(text) > 64:
        return False
    bare = _EDGES.sub("", text)
    return len(bare.encode()) <= 32 and bare.lower() in _LABELS


def _reference_lists(text: str) -> list[Span]:
    """Ranges from a heading that names such a list to the next heading or the end."""
    lists: list[Span] = []
    opened: int | None = None
    at = 0
    for line in text.split("\n"):
        end = min(at + len(line) + 1, len(text))
        names_list = bool(line) and _is_label(line)
        if names_list or line.startswith("#"):
            if opened is not None:
                lists.append((opened, at))
            opened = end if names_list else None
        at = end
    if opened is not None:
        lists.append((opened, at))
    return lists


def _holds(lists: list[Span], at: int) -> bool:
    after = bisect_right(lists, at, key=lambda span: span[0])
    return after > 0 and at < lists[after - 1][1]
