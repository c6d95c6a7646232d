"""Answers such as a model writes from a context, with its faults, by a seeded generator."""

from __future__ import annotations

import random
import re
from typing import Any, Final

from reground_turn.brackets import UnsupportedCitationError
from reground_turn.extract import scan

Row = dict[str, Any]

_SENTENCE: Final = re.compile(r"[^\n.!?]{30,300}[.!?](?=\s|\Z)")
_JOINS: Final = (" ", " ", " ", "\n\n", "\n- ", "\n")


def write(rows: list[Row], stale: list[str], chance: random.Random) -> str:
    """An answer from sentences of the context, each with markers that fit it, or do not."""
    rows = [row for row in rows if row["marker"]]
    if not rows or chance.random() < 0.03:
        return "The sources do not say."
    parts: list[str] = []
    for _ in range(chance.randint(2, 7)):
        part = _cited(rows, stale, chance)
        if _is_read(part):
            parts += [part, chance.choice(_JOINS)]
    if chance.random() < 0.1:
        parts.append(f"\n\nSources:\n[{rows[0]['marker']}] {rows[0]['title']}\n")
    return "".join(parts)


def _cited(rows: list[Row], stale: list[str], chance: random.Random) -> str:
    source = chance.choice(rows)
    sentence = _sentence(source["content"], chance)
    marker, other = source["marker"], chance.choice(rows)["marker"]
    body, stop = sentence[:-1], sentence[-1]
    kind = chance.random()
    if kind < 0.40:
        return f"{body} [{marker}]{stop}"
    if kind < 0.50:
        return f"{sentence} [{marker}]"
    if kind < 0.58:
        return f"{body} [{marker}, {other}]{stop}"
    if kind < 0.64:
        return f"{body}[{marker}][{other}]{stop}"
    if kind < 0.72:
        return f"{body} [{other}]{stop}"  # mostly the wrong source
    if kind < 0.77:
        return f"{body} [{chance.choice(['Z9', 'QQ4', '17', 'A999', 'ZZZ1-ZZZ3'])}]{stop}"
    if kind < 0.82:
        return f"{_half(body)}, which 1,234.5 of 99 zebras confirmed in 2019-2020 [{marker}]{stop}"
    if kind < 0.86 and stale:
        return f"{body} [{chance.choice(stale)}]{stop}"
    if kind < 0.93:
        return f"{body} {_slip(marker, other, chance)}{stop}"
    if kind < 0.95:
        second = _half(_sentence(chance.choice(rows)["content"], chance))
        return f"{_half(body)} and {second} [{marker}]{stop}"
    if kind < 0.97:
        return f"Größe 🦓 → {body} [{marker}]{stop}"
    return sentence


def _slip(marker: str, other: str, chance: random.Random) -> str:
    letters = marker.rstrip("0123456789")
    return chance.choice(
        (
            f"[{marker.lower()}]",
            f"[{marker}",
            f"[{marker},]",
            f"[{marker} and {other}]",
            f"[{letters}1-{letters}3]",
            f"[{letters}3-1]",
            f"【{marker}】",
            f"[[{marker}]]",
            f"[{marker}](https://example.org/a)",
            f"`x[{marker}]` [{other}]",
            f"[{marker}: the guide]",
            "(Smith et al., 2020)",
            f"[{letters}-1]",
            "[1, 2]",
        )
    )


def _sentence(content: str, chance: random.Random) -> str:
    found = _SENTENCE.findall(content)
    return chance.choice(found).strip() if found else content.strip()[:200].rstrip(".") + "."


def _half(text: str) -> str:
    return text[: len(text) // 2].rsplit(" ", 1)[0]


def _is_read(part: str) -> bool:
    """Whether the client reads all that the part cites; families that it leaves out it refuses."""
    try:
        scan(part)
    except UnsupportedCitationError:
        return False
    return True
