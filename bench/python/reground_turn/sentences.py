"""Sentences as the extension cuts them: claims and quotes are columns, so the rules are the same.

Lines that stand for themselves (blank, headings, list items, table rows, fences) bound the blocks;
inside a block a sentence ends after a terminator, what closes it and the citation markers that
trail it, unless it goes on in lower case or the full stop belongs to an abbreviation.
"""

from __future__ import annotations

import re
from typing import Final

from reground_turn.marks import COMBINING

Span = tuple[int, int]

LOOK_AHEAD: Final = 48
WRAPPED: Final = 40

_LINE: Final = re.compile(
    r"[^\n\r\x85\x0c\u2028\u2029]*(?:\r\n|[\n\r\x85\x0c\u2028\u2029])|[^\n\r\x85\x0c\u2028\u2029]+"
)
# What ends a line for Python and not for us, or the other way round.
_OTHER_BREAKS: Final = re.compile(r"[\r\v\f\x1c-\x1e\x85\u2028\u2029]")
_HEADING: Final = re.compile(r"\s*#{1,6}(?!#)[ \t]")
_ITEM: Final = re.compile(r"\s*(?:>|[-*+•‣◦▪–]\s|[0-9]{1,4}[.)]\s|[A-Za-z]\)\s)")
_ITEM_SIGNS: Final = ">-*+•‣◦▪–0123456789"
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")

_TERMINATORS: Final = ".!?…‼⁇⁈⁉؟۔։।॥።፧၊။។៕᠃"
_WIDE: Final = "。！？｡．"
_RUN: Final = re.compile(f"[{_TERMINATORS}{_WIDE}]+")
# In ASCII a terminator ends a sentence only before white space and no lower-case letter, before a
# marker, or at the end: the regular expression passes over all others.
_ASCII_END: Final = re.compile(
    r"([.!?]++)[\"')\]}*_`.!?]*+(?:\s+([^\sa-z,;:])|(?=\[|\s*\Z))", re.ASCII
)
_HAS_WIDE: Final = re.compile(f"[{_WIDE}]")
_JOINED: Final = "\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff"
_SUPERSCRIPTS: Final = "¹²³⁰⁴⁵⁶⁷⁸⁹"
_CLOSING: Final = rf"\"')\]}}`”’“»›」』】〉》）］{_SUPERSCRIPTS}{_JOINED}{COMBINING}"
_CLOSES: Final = re.compile(f"[{_CLOSING}*_{_TERMINATORS}{_WIDE}]*")
# German closes with the mark that Chinese opens with.
_CLOSES_WIDE: Final = re.compile(f"[{_CLOSING.replace('“', '')}*_{_TERMINATORS}{_WIDE}]*")
_AFTER_MARKER: Final = re.compile(f"[{_CLOSING}]*")
_MARKER: Final = re.compile(
    r"\s{0,2}(?!\s)(?:\[([^\n\[\]]{1,46})\]|【([^\n【】]{1,46})】)(?=[\s\[【.*\"”]|\Z)"
)
_DIGITS: Final = re.compile(r"[0-9]{1,3}\Z")

_ABBREVIATIONS: Final = frozenset("""
    adm al approx asst brig bzw ca capt cf ch cmdr col d.h dept dr dra e.g ed eds eg eq eqs evtl ex
    fig figs gen ggf gov hon hr i.e ie incl insb lt m.e maj messrs mlle mme mr mrs ms mt p.ej ph.d
    prof rep resp rev sen sgt sog sr sra st u.a usw vgl viz vs z.b
    """.split())
_LONGER: Final = 1 + max(map(len, _ABBREVIATIONS))
_BEFORE_NUMBERS: Final = frozenset("""
    abs art bd cap chap jan feb mar apr jun jul aug sep sept oct nov dec no nos nr p par pp s sec
    sect vol vols n
    """.split())


def sentence_spans(text: str) -> list[Span]:
    """Ranges of the sentences, without white space at their ends."""
    spans: list[Span] = []
    for start, end in _blocks(text):
        block = text[start:end]
        at = 0
        is_heading = "#" in block and _HEADING.match(block) and "\n" not in block.rstrip()
        ends = [] if is_heading else _ends(block)
        ends.append(len(block))
        for stop in ends:
            sentence = block[at:stop]
            bare = sentence.strip()
            if bare:
                first = start + at + len(sentence) - len(sentence.lstrip())
                spans.append((first, first + len(bare)))
            at = stop
    return spans


def _blocks(text: str) -> list[Span]:
    """The stretches of lines that a sentence does not leave."""
    blocks: list[Span] = []
    start = at = 0
    before, parted = "", True
    plain = _OTHER_BREAKS.search(text) is None
    for line in text.splitlines(keepends=True) if plain else _LINE.findall(text):
        bare = line.strip()
        # What sets a line apart from the one before it and from the one after it, and from the one
        # before only.
        alone = not bare or (bare[0] in "#`~|" and _stands_alone(line))
        item = bare and (bare[0] in _ITEM_SIGNS or bare[1:2] == ")") and _is_item(line)
        if at and (parted or alone or item or _ended_on_purpose(before, line)):
            blocks.append((start, at))
            start = at
        parted = alone or line[-1] in "\x0c\u2029"
        before = bare
        at += len(line)
    if start < at:
        blocks.append((start, at))
    return blocks


def _is_item(line: str) -> bool:
    """List items and quotations."""
    return _ITEM.match(line) is not None


def _ended_on_purpose(before: str, following: str) -> bool:
    """A line shorter than wrapped text has, before one that does not go on in lower case."""
    if len(before) >= WRAPPED or len(before.encode()) >= WRAPPED:
        return False
    first = _LETTER_OR_DIGIT.search(following[:WRAPPED])
    return first is not None and first[0].isupper()


def _stands_alone(line: str) -> bool:
    """Headings, fences, table rows."""
    bare = line.lstrip()
    return bare.startswith(("```", "~~~", "|")) or (bare[0] == "#" and bool(_HEADING.match(bare)))


def _ends(block: str) -> list[int]:
    """The ends of the sentences of a block, but its own."""
    if block.isascii():
        return _ascii_ends(block)
    ends: list[int] = []
    start = 0
    found = _RUN.search(block)
    while found:
        run, stop = found.span()
        end = _trailing(block, stop)
        if end < len(block) and _is_end(block, start, run, stop, end):
            ends.append(end)
            start = end
        found = _RUN.search(block, end)
    return ends


def _ascii_ends(block: str) -> list[int]:
    """The same of a text without other signs, an order of magnitude faster."""
    ends: list[int] = []
    start = 0
    found = _ASCII_END.search(block)
    while found:
        run, stop = found.span(1)
        first = found[2]
        if first is None or first == "[":
            end = _trailing(block, stop)
            is_end = end < len(block) and _is_end(block, start, run, stop, end)
        else:
            following = found.start(2)
            end = len(block[:following].rstrip())
            is_end = (first.isalnum() or not _goes_on(block[following:])) and (
                found[1] != "." or not _is_abbreviation(block[start:run], first)
            )
        if is_end:
            ends.append(end)
            start = end
        found = _ASCII_END.search(block, end)
    return ends


def _is_end(block: str, start: int, run: int, stop: int, end: int) -> bool:
    terminators = block[run:stop]
    if _HAS_WIDE.search(terminators):
        return True
    if not block[end].isspace():
        return False
    after = block[end:].lstrip() if block[end : end + 2].isspace() else block[end + 1 :]
    if _goes_on(after):
        return False
    return terminators != "." or not _is_abbreviation(block[start:run], after)


def _goes_on(after: str) -> bool:
    """Whether what follows continues a sentence: a lower-case letter or a comma comes first."""
    first = after[:1]
    if not first or first == "`":
        return False
    if first in ",;:،、":
        return True
    letter = first if first.isalnum() else _LETTER_OR_DIGIT.search(after[:LOOK_AHEAD])
    return letter is not None and (letter if isinstance(letter, str) else letter[0]).islower()


def _is_abbreviation(sentence: str, following: str) -> bool:
    """Whether a full stop belongs to an abbreviation, an initial or an enumerator."""
    if sentence[-_LONGER:].isalpha() and len(sentence) >= _LONGER:
        return False
    sentence = sentence.lstrip()
    recent = sentence[-LOOK_AHEAD:]
    at = len(recent)
    while at and (recent[at - 1].isalnum() or recent[at - 1] == "."):
        at -= 1
    word = recent[at:]
    if not word:
        return False
    if len(word) == len(sentence) and _DIGITS.match(word):
        return True
    if len(word) == 1 and word.isupper():
        before = recent[: len(recent) - 1]
        before = before.rstrip()
        while before and not (before[-1].isalnum() or before[-1] == "."):
            before = before[:-1]
        names = before.split()
        return not names or names[-1][0].isupper()
    if "." in word and all(len(part) == 1 and part.isupper() for part in word.split(".")):
        return True
    lower = word.lower()
    return lower in _ABBREVIATIONS or (lower in _BEFORE_NUMBERS and following[:1].isnumeric())


def _trailing(block: str, stop: int) -> int:
    """The end of what belongs to a terminator: closing signs and citation markers."""
    closes = _CLOSES_WIDE if block[stop - 1] in _WIDE else _CLOSES
    found = closes.match(block, stop)
    end = found.end() if found else stop
    while (marker := _MARKER.match(block, end)) is not None:
        if not _LETTER_OR_DIGIT.search(marker[1] or marker[2]):
            break
        after = _AFTER_MARKER.match(block, marker.end())
        end = after.end() if after else marker.end()
    return end
