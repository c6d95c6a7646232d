"""The stretches of an answer that are not prose: code and hidden reasoning cite nothing."""

from __future__ import annotations

import re
from typing import Final

Span = tuple[int, int]

_FENCE: Final = re.compile(r"[ \t>]*(?:(`{3,})(?=[^`\n]*(?:\n|\Z))|(~{3,}))")
_SIGNS: Final = re.compile(r"[`<\n]")
_TICKS: Final = re.compile(r"`+")
_INDENT: Final = re.compile(r"[ \t>]*")
_THINK: Final = re.compile(r"<(think|thinking)>", re.IGNORECASE | re.ASCII)


def hidden(text: str) -> list[Span]:
    """Ranges of fenced code, inline code and `<think>` blocks, ascending."""
    if "`" not in text and "<" not in text and "~~~" not in text:
        return []
    found: list[Span] = []
    closers = _inline_closers(text)
    at, line_starts = 0, True
    while at < len(text):
        if line_starts and (fence := _FENCE.match(text, at)):
            end = _fence_end(text, fence)
            found.append((at, end))
            at = end
            continue
        sign = _SIGNS.search(text, at)
        if sign is None:
            break
        at = sign.start()
        line_starts = sign[0] == "\n"
        end = at + 1
        if sign[0] == "`":
            ticks = _TICKS.match(text, at)
            length = len(ticks[0]) if ticks else 1
            close = closers.get(at)
            end = at + length
            if close is not None:
                end = close + length
                found.append((at, end))
        elif sign[0] == "<" and (thought := _THINK.match(text, at)):
            close_tag = re.compile(f"</{thought[1]}>", re.IGNORECASE | re.ASCII)
            closed = close_tag.search(text, thought.end())
            end = closed.end() if closed else len(text)
            found.append((at, end))
        at = end
    return found


def _fence_end(text: str, fence: re.Match[str]) -> int:
    """One past the line that closes a fence; the end of the text where none does."""
    sign = fence[1] or fence[2]
    closing = re.compile(rf"^[ \t>]*{re.escape(sign[0])}{{{len(sign)},}}[ \t\r\f]*$", re.MULTILINE)
    body = text.find("\n", fence.end())
    closed = closing.search(text, body + 1) if body >= 0 else None
    if closed is None:
        return len(text)
    return min(closed.end() + 1, len(text))


def _inline_closers(text: str) -> dict[int, int]:
    """For each run of backticks the next of the same length in its paragraph."""
    following: dict[int, int] = {}
    closers: dict[int, int] = {}
    runs: list[tuple[int, int, int]] = []
    paragraph = at = 0
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):
        indent = _INDENT.match(line)
        content = line[indent.end() if indent else 0 :]
        if content[:1] in ("", "\n", "\r") or _FENCE.match(line):
            paragraph += 1
        runs.extend((at + run.start(), len(run[0]), paragraph) for run in _TICKS.finditer(line))
        at += len(line)
    current = paragraph
    for at, length, paragraph in reversed(runs):
        if paragraph != current:
            following.clear()
            current = paragraph
        if length in following:
            closers[at] = following[length]
        following[length] = at
    return closers
