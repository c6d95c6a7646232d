"""Characters that belong to the one before them: Python's re has no \\p{M}."""

from __future__ import annotations

import unicodedata
from typing import Final

_LAST_BMP: Final = 0xFFFF


def _ranges(categories: set[str]) -> str:
    """The characters of some general categories, of the first plane, as ranges of a class."""
    parts: list[str] = []
    first: int | None = None
    for code in range(_LAST_BMP + 2):
        is_such = code <= _LAST_BMP and unicodedata.category(chr(code)) in categories
        if is_such and first is None:
            first = code
        elif not is_such and first is not None:
            parts.append(f"\\u{first:04x}-\\u{code - 1:04x}")
            first = None
    return "".join(parts)


COMBINING: Final = _ranges({"Mn", "Mc", "Me"})
"""Combining marks."""
FORMATTING: Final = _ranges({"Cf"})
"""Joiners, marks of direction and the like."""
