"""Where citations stand in an answer, and the claims that they stand on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from reground_turn.brackets import (
    Inside,
    Reference,
    UnsupportedCitationError,
    in_brackets,
    in_parentheses,
)
from reground_turn.claims import place
from reground_turn.prose import hidden

Span = tuple[int, int]

_OPENING: Final = re.compile(r"[\[(【［（]")
_SQUARE: Final = re.compile(r"([^\n\[\]【】［］]{0,1023})[\]】］]")
_ROUND: Final = re.compile(r"([^\n\[【［(（)）]{0,1023})[)）]")
_UNCLOSED: Final = re.compile(r"[A-Z]{1,2}+(?![A-Z])[0-9]{1,3}+(?![0-9])(?![\w-])")
_DEFINITION: Final = re.compile(r":\s*(?:http|www\.|<|/|#|mailto:)")
_NAME: Final = re.compile(r"[A-Za-z0-9_]{1,64}\Z")
MAX_ADDRESS: Final = 2048


@dataclass(frozen=True, slots=True)
class Found:
    """A citation string and what it names."""

    start: int
    end: int
    inside: Inside


@dataclass(frozen=True, slots=True)
class Citation:
    """One cited thing, with its claim and its place in characters, bytes and UTF-16 units."""

    raw: str
    reference: Reference
    repaired: bool
    claim: int | None
    chars: Span
    bytes: Span
    utf16: Span


@dataclass(frozen=True, slots=True)
class Extraction:
    """Everything that an answer says about its citations."""

    citations: list[Citation]
    claims: list[str]


def extract(answer: str) -> Extraction:
    """Reads every citation of an answer."""
    found = scan(answer)
    if not found:
        return Extraction([], [])
    claims, standing = place(answer, [(f.start, f.end) for f in found])
    ascii_only = answer.isascii()
    citations = []
    for string, claim in zip(found, standing, strict=True):
        chars = (string.start, string.end)
        if ascii_only:
            in_bytes = utf16 = chars
        else:
            in_bytes = (_bytes(answer[: chars[0]]), _bytes(answer[: chars[1]]))
            utf16 = (_utf16(answer[: chars[0]]), _utf16(answer[: chars[1]]))
        raw = answer[chars[0] : chars[1]]
        for reference in string.inside.references:
            repaired = string.inside.repaired and reference.kind == "marker"
            citations.append(Citation(raw, reference, repaired, claim, chars, in_bytes, utf16))
    return Extraction(citations, claims)


def scan(answer: str) -> list[Found]:
    """Every citation string, in order."""
    scanner = _Scanner(answer)
    start = 0
    for begin, end in hidden(answer):
        scanner.prose(start, begin)
        start = end
    scanner.prose(start, len(answer))
    return scanner.found


class _Scanner:
    __slots__ = ("_index_end", "found", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Found] = []
        self._index_end: int | None = None

    def prose(self, start: int, limit: int) -> None:
        at = start
        while (opening := _OPENING.search(self.text, at, limit)) is not None:
            if opening[0] in "(（":
                at = self._round(opening.start(), limit)
            else:
                at = self._square(opening.start(), limit, foreign=opening[0] != "[")

    def _round(self, opening: int, limit: int) -> int:
        closed = _ROUND.match(self.text, opening + 1, limit)
        read = in_parentheses(closed[1]) if closed else None
        if closed is None or read is None:
            return opening + 1
        return self._push(opening, closed.end(), read)

    def _square(self, opening: int, limit: int, *, foreign: bool) -> int:
        text, inner = self.text, opening + 1
        closed = _SQUARE.match(text, inner, limit)
        if closed is None:
            marker = _UNCLOSED.match(text, inner, limit)
            if marker is None:
                return inner
            return self._push(opening, marker.end(), Inside([Reference("malformed", "unclosed")]))
        start, end = opening, closed.end()
        # `[[1]]`: the outer pair belongs to the citation.
        if text[start - 1 : start] == "[" and text[end : min(end + 1, limit)] == "]":
            start, end = start - 1, end + 1
        defined = _DEFINITION.match(text, end, limit)
        if defined is not None and self._starts_line(start):
            line_end = text.find("\n", end, limit)
            return line_end if line_end >= 0 else limit
        address = _address(text, end, limit)
        if address is not None:
            return self._link(start, address, closed[1], foreign=foreign)
        read = in_brackets(closed[1], foreign=foreign)
        if read is None:
            return inner
        if read.is_numeric() and self._is_index(start, end):
            self._index_end = end
            return end
        return self._push(start, end, read)

    def _link(self, start: int, end: int, inside: str, *, foreign: bool) -> int:
        """A Markdown link cites only where its text is a marker or a number, an image never."""
        if self.text[start - 1 : start] == "!":
            return end
        try:
            read = in_brackets(inside, foreign=foreign)
        except UnsupportedCitationError:
            return end
        return self._push(start, end, read) if read is not None and read.is_plain() else end

    def _push(self, start: int, end: int, inside: Inside) -> int:
        self.found.append(Found(start, end, inside))
        return end

    def _starts_line(self, start: int) -> bool:
        before = self.text[max(start - 4, 0) : start].rstrip(" ")
        return not before or before[-1] == "\n"

    def _is_index(self, start: int, end: int) -> bool:
        """Whether a number in brackets is an index: `my_list[0]`, `data[2].name`, `v[1] = 3`."""
        if self._index_end == start:
            return True
        text = self.text
        named = _NAME.search(text, max(start - 64, 0), start)
        if named is None:
            return False
        name = named[0]
        before = text[named.start() - 1 : named.start()] if named.start() else ""
        if before == "." or before.isalpha():
            return False
        variable = "_" in name or (len(name) == 1 and "a" <= name <= "z")
        after = text[end : end + 2]
        return (
            variable
            or after[:1] == "="
            or text.startswith(" = ", end)
            or (after[:1] == "." and "a" <= after[1:] <= "z")
        )


def _address(text: str, start: int, limit: int) -> int | None:
    """One past the `(address)` or `(address "title")` that makes a bracket a Markdown link."""
    if start >= limit or text[start] != "(":
        return None
    depth, titled = 0, False
    for at in range(start, min(limit, start + MAX_ADDRESS)):
        sign = text[at]
        if sign == "(":
            if depth == 2:
                return None
            depth += 1
        elif sign == ")":
            if depth == 1:
                return at + 1 if at > start + 1 else None
            depth -= 1
        elif sign == "\n":
            return None
        elif sign == " " and not titled:
            following = text[at + 1 : at + 2]
            if following in ('"', "'"):
                titled = True
            elif following != ")":
                return None
    return None


def _bytes(text: str) -> int:
    return len(text.encode())


def _utf16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
