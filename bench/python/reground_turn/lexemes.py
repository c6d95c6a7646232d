"""The content of texts: the server's lexemes, with numbers read here.

The server cuts `1,000` in two and takes the dash of `2019-2020` for a sign, so numbers come from
the text, in one spelling.
"""

from __future__ import annotations

import re
from typing import Final

SEPARATOR: Final = "\x1f"

_LETTER: Final = re.compile(r"[^\W\d_]")
_NUMBER: Final = re.compile(r"[0-9][0-9.,]*")
_GROUPED: Final = re.compile(r"[^,]{1,3}(?:,[^,.]{3}(?:\.[^,]*)?)+\Z")


def words_of(lexemes: str) -> set[str]:
    """The lexemes that hold a letter."""
    return {
        lexeme
        for lexeme in lexemes.split(SEPARATOR)
        if lexeme.isalpha() or _LETTER.search(lexeme) is not None
    }


def numbers_of(text: str) -> set[str]:
    """Numbers that stand alone, thousands separators dropped: `1,234.5` is `1234.5`."""
    found: set[str] = set()
    for match in _NUMBER.finditer(text):
        if text[match.end() : match.end() + 1].isalnum():
            continue
        before = match.start() - 1
        while before >= 0 and text[before] in ".,":
            before -= 1
        # The rest of a word with letters is no number that stands alone.
        if before >= 0 and text[before].isalnum():
            continue
        number = match[0].rstrip(".,")
        if "," not in number:
            found.add(number)
        elif _GROUPED.match(number) is not None:
            found.add(number.replace(",", ""))
        else:
            found.update(group for group in number.split(",") if group)
    return found
