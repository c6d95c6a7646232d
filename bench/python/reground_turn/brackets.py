"""What stands between two brackets, where it cites.

Read: markers, numbers, lists and ranges of either (`[A1]`, `[A1, B2]`, `[A1-A3]`, `[1, 4-6]`),
their slips (`[a1]`, `[A 1]`, `[A-1]`, `[A1,]`), and author and year, which is reported and never
resolved.

Left out: documents by name (`[Source: guide.md]`) and pages that a citation adds (`[A1, p. 12]`).
Both need documents to be looked up, and no answer of the benchmark has them; one that does is
refused, so that no row can differ in silence.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

MAX_RANGE: Final = 64

Kind = Literal["marker", "ordinal", "author_year", "malformed"]


class UnsupportedCitationError(ValueError):
    """A citation of a family that this client leaves out."""


@dataclass(frozen=True, slots=True)
class Reference:
    """What a citation names: a marker, a number, the words of author and year, or what is wrong."""

    kind: Kind
    name: str


@dataclass(frozen=True, slots=True)
class Inside:
    """The references of a bracket, in order."""

    references: list[Reference]
    repaired: bool = False

    def is_plain(self) -> bool:
        """Markers or numbers only, the forms that also stand as the text of a link."""
        return all(r.kind in ("marker", "ordinal") for r in self.references)

    def is_numeric(self) -> bool:
        """Numbers only, the form that is also an array index."""
        return all(r.kind == "ordinal" for r in self.references)


_DASHES: Final = "‐‑‒–—−"
_SPACES: Final = (
    "\t\n\v\f\r\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_FOLD: Final = {
    **{code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, _DASHES), ord("-")),
    **dict.fromkeys(map(ord, _SPACES), ord(" ")),
    ord("、"): ord(","),
}
_PLAIN: Final = re.compile(r"[A-Z]{1,3}(?:0|[1-9][0-9]{0,4})\Z")
_NAMED: Final = re.compile(
    r"\s*(?:sources?|src|documents?|doc|references?|ref|citation|cite|quelle|fuente|来源)\s*:",
    re.IGNORECASE,
)
_HYPHENATED: Final = re.compile(r"[A-Z]{1,2}-[0-9]{1,3}\Z")
_MARKER: Final = re.compile(r"([A-Za-z]++)( *)([0-9]++)")
_NUMBER: Final = re.compile(r"[0-9]++")
_RANGE: Final = re.compile(r" *- *([A-Za-z]*)")
_INTERVAL: Final = r"[0-9]++(?: *--? *[0-9]++|(?![A-Za-z]))"
_PAGES: Final = re.compile(
    r"(?:第?" + _INTERVAL + r" *[页頁]"
    r"|(?:pp|p|pages|page|pgs|pg|seiten|seite|s|páginas|página|стр)(?![^\W\d_])\.? *"
    + _INTERVAL
    + r"(?: *(?:[,&]|and(?![^\W\d_])) *"
    + _INTERVAL
    + r")*)",
    re.IGNORECASE,
)
_CLAIMED_PAGES: Final = re.compile(r" *[,:]? *(?=" + _PAGES.pattern + ")", re.IGNORECASE)
_SEPARATOR: Final = re.compile(r"( *)([,;&/|:]?) *((?i:and)(?![^\W\d_]))? *")
_YEAR_INSIDE: Final = re.compile(r"(?:1[5-9]|2[01])[0-9]{2}")


def in_brackets(inside: str, *, foreign: bool) -> Inside | None:
    """Reads what stands between square brackets."""
    if not foreign and _PLAIN.match(inside):
        return Inside([Reference("marker", inside)])
    text = _folded(inside)
    _refuse_named(text)
    found = _markers(text) or _ordinals(text) or _author_year(text)
    if found is None:
        return None
    repaired = any(r.kind == "marker" for r in found.references) and (
        found.repaired or foreign or text != inside
    )
    return Inside(found.references, repaired)


def in_parentheses(inside: str) -> Inside | None:
    """Reads what stands between round brackets: only forms that plainly cite."""
    if ":" not in inside and _YEAR_INSIDE.search(inside) is None and inside.isascii():
        return None
    text = _folded(inside)
    _refuse_named(text)
    return _author_year(text)


def _folded(inside: str) -> str:
    """Full-width and typographic characters as what they stand for."""
    return (
        inside if inside.isascii() and inside.isprintable() else inside.translate(_FOLD)
    ).strip()


def _refuse_named(text: str) -> None:
    if ":" in text and _NAMED.match(text):
        raise UnsupportedCitationError(f"a document by name: {text}")


def _malformed(why: str) -> Inside:
    return Inside([Reference("malformed", why)])


def _markers(text: str) -> Inside | None:
    if _HYPHENATED.match(text):
        return _malformed("bad_marker")
    references: list[Reference] = []
    repaired = False
    at = 0
    while True:
        item = _MARKER.match(text, at)
        if item is None:
            return _unfinished(references, repaired)
        letters, spaces, digits = item.groups()
        lower = letters.islower()
        if (
            len(letters) > (2 if lower else 3)
            or not (lower or letters.isupper())
            or (spaces and len(letters) > 1)
            or len(digits) > (3 if lower else 5)
        ):
            return _unfinished(references, repaired)
        repaired = repaired or lower or bool(spaces) or (len(digits) > 1 and digits[0] == "0")
        at = item.end()
        first = last = int(digits)
        ranged = _RANGE.match(text, at)
        if ranged is not None:
            # The letters may be said again, and must then be the same.
            start = ranged.end() if ranged[1] == letters else ranged.end() - len(ranged[1])
            end = _NUMBER.match(text, start)
            if end is not None and len(end[0]) <= 5:
                last, at = int(end[0]), end.end()
        why = _unexpandable(first, last)
        if why is not None:
            return _malformed(why)
        _refuse_pages(text, at)
        upper = letters.upper()
        references += [Reference("marker", f"{upper}{n}") for n in range(first, last + 1)]
        at, follows = _separator(text, at)
        if follows == "end":
            return Inside(references, repaired)
        if follows == "trailing":
            return _malformed("trailing_separator")
        if follows == "space" and lower:
            return None
        if follows == "none" or not (text[at].isascii() and text[at].isalpha()):
            return _unfinished(references, repaired)


def _ordinals(text: str) -> Inside | None:
    text = text.removesuffix("\\")
    references: list[Reference] = []
    at = 0
    while True:
        item = _NUMBER.match(text, at)
        if item is None or len(item[0]) > 3 or (len(item[0]) > 1 and item[0][0] == "0"):
            return None
        at = item.end()
        first = last = int(item[0])
        ranged = _RANGE.match(text, at)
        if ranged is not None and not ranged[1]:
            end = _NUMBER.match(text, ranged.end())
            if end is not None and len(end[0]) <= 3:
                last, at = int(end[0]), end.end()
        _refuse_pages(text, at)
        at, follows = _separator(text, at)
        why = _unexpandable(first, last)
        if why is not None:
            return _malformed(why) if follows == "end" else None
        references += [Reference("ordinal", str(n)) for n in range(first, last + 1)]
        if follows == "end":
            return Inside(references)
        if follows != "sign":
            return None


def _unexpandable(first: int, last: int) -> str | None:
    if last < first:
        return "descending_range"
    return "range_too_long" if last - first >= MAX_RANGE else None


def _refuse_pages(text: str, at: int) -> None:
    if at < len(text) and _CLAIMED_PAGES.match(text, at):
        raise UnsupportedCitationError(f"a page: {text}")


def _separator(text: str, at: int) -> tuple[int, str]:
    """Where the next item would begin, and what parts it from the last."""
    found = _SEPARATOR.match(text, at)
    if found is None:
        return at, "none"
    if at + len(found[1]) == len(text):
        return len(text), "end"
    after = found.end()
    if found[2] or found[3]:
        return after, "trailing" if after == len(text) else "sign"
    return after, "space" if found[1] else "none"


def _unfinished(references: list[Reference], repaired: bool) -> Inside | None:
    """A list broken off is meant as one of ours if its first item is spelled as ours are."""
    return _malformed("unexpected_text") if references and not repaired else None


# --- author and year --------------------------------------------------------------------------

_LEAD: Final = re.compile(r"(?:see also|see|e\.g\.,|e\.g\.|cf\.|i\.e\.,)(?= )")
_PARTICLE: Final = re.compile(
    r"(?:van|von|der|den|del|della|de|di|da|dos|du|la|le|el|al|bin|ter)(?![^\W\d_]) *",
    re.IGNORECASE,
)
_SURNAME: Final = re.compile(r"(?:[^\W\d_]|['’-])+")
_DATES: Final = frozenset(
    "january february march april may june july august september october november december "
    "spring summer autumn winter".split()
)
_ET_AL: Final = re.compile(r"(,?)( *)et(?![^\W\d_]) +al(?![^\W\d_])\.?", re.IGNORECASE)
_AND: Final = re.compile(r"(,?)( *)((?<= )&|(?<= )and(?![^\W\d_]))? *", re.IGNORECASE)
_YEAR: Final = re.compile(r"(?:1[5-9]|2[01])[0-9]{2}(?![0-9])[a-z]?(?![a-z])")
_MORE: Final = re.compile(r"[,:] *")
_MAX_AUTHORS: Final = 8


def _author_year(text: str) -> Inside | None:
    """A list of author–year citations and nothing else."""
    if _YEAR_INSIDE.search(text) is None:
        return None
    references = []
    for part in text.split(";"):
        reference = _one(part.strip())
        if reference is None:
            return None
        references.append(reference)
    return Inside(references)


def _one(part: str) -> Reference | None:
    lead = _LEAD.match(part)
    text = part[lead.end() :].strip() if lead else part
    read = _authors(text)
    if read is None:
        return None
    at, several = read
    comma = text[at : at + 1] == ","
    at += comma
    spaced = text[at : at + 1] == " "
    # `(Paris 2020)` is a place; with one name only the comma tells.
    if not spaced or not (comma or several):
        return None
    at = len(text) - len(text[at:].lstrip(" "))
    year = _YEAR.match(text, at)
    if year is None:
        return None
    at = year.end()
    while (more := _MORE.match(text, at)) is not None:
        following = _YEAR.match(text, more.end()) or _PAGES.match(text, more.end())
        if following is None:
            return None
        at = following.end()
    return Reference("author_year", text) if at == len(text) else None


def _authors(text: str) -> tuple[int, bool] | None:
    """Where the authors end, and whether they are plainly several."""
    end = _name(text, 0)
    if end is None:
        return None
    at = end
    for count in range(1, _MAX_AUTHORS):
        et_al = _ET_AL.match(text, at)
        if et_al is not None:
            return et_al.end(), True
        joined = _AND.match(text, at)
        if joined is None or not (joined[1] or joined[3]):
            return at, count > 1
        end = _name(text, joined.end())
        if end is None:
            return at, count > 1
        at = end
    return at, True


def _name(text: str, at: int) -> int | None:
    """Where a name that begins here ends."""
    while (particle := _PARTICLE.match(text, at)) is not None:
        at = particle.end()
    while text[at : at + 1].isupper() and text[at + 1 : at + 2] == ".":
        at += 2
        while text[at : at + 1] == " ":
            at += 1
    surname = _SURNAME.match(text, at)
    if surname is None or len(surname[0]) < 2 or not surname[0][0].isupper():
        return None
    return None if surname[0].lower() in _DATES else surname.end()
