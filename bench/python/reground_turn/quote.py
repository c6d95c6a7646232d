"""The sentence of a source that comes nearest to a claim."""

from __future__ import annotations

import re
from typing import Final

from reground_turn.marks import COMBINING, FORMATTING
from reground_turn.sentences import sentence_spans

MAX_LEXEMES: Final = 256
STEM_FROM: Final = 5

# Words as UAX #29 has them for scripts with spaces: what joins letters, what joins digits; a lone
# character of a script without spaces, and a superscript, is a word of its own.
_ALONE: Final = "\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff²³¹⁰-⁹₀-₉¼-¾⅐-⅞"
_RUN: Final = rf"(?:(?![{_ALONE}])[\w{COMBINING}{FORMATTING}])+"
_WORD: Final = re.compile(
    rf"{_RUN}(?:(?:(?<=[^\W\d_])[.':’‘·‧․](?=[^\W\d_])|(?<=\d)[.,;'’‘․](?=\d)){_RUN})*|[{_ALONE}]"
)
_LETTER_OR_DIGIT: Final = re.compile(r"[^\W_]")

# An ASCII text is translated as bytes: lower case, and a space for every sign that parts words.
_TO_WORDS: Final = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() or chr(code) == "_" else ord(" ")
    for code in range(128)
) + bytes(128)
_JOINED: Final = re.compile(r"[.',;:](?:(?<=[A-Za-z][.':])(?=[A-Za-z])|(?<=[0-9][.',;])(?=[0-9]))")
_LONE: Final = re.compile(r"(?<![a-z0-9_])_+(?![a-z0-9_])")


class Quotable:
    """A passage cut into sentences, ready to be compared with claims."""

    __slots__ = ("_sentences", "_text", "_words")

    def __init__(self, text: str) -> None:
        self._text = text
        # A stem is the beginning of a word if it follows a space here.
        if text.isascii():
            words = " " + _ascii_words(text)
            self._sentences = [
                ((start, end), "", words[start : end + 1]) for start, end in sentence_spans(text)
            ]
            self._words = words
            return
        self._sentences = []
        for start, end in sentence_spans(text):
            lower = text[start:end].lower()
            self._sentences.append(((start, end), lower, _words(lower)))
        self._words = "".join([words for _, _, words in self._sentences])

    def best(self, lexemes: list[str]) -> str | None:
        """The sentence that holds most of the claim; of equals the shortest, then the first."""
        stems = []
        for lexeme in lexemes[:MAX_LEXEMES]:
            stem = " " + (lexeme[:-1] if len(lexeme) >= STEM_FROM else lexeme)
            # What the whole text does not hold, no sentence does.
            if stem in self._words or not lexeme.isascii():
                stems.append((stem, lexeme, lexeme.isascii()))
        if not stems:
            return None
        best, most, fewest = None, 0, 0
        for span, lower, words in self._sentences:
            held = 0
            for stem, lexeme, ascii_only in stems:
                if stem in words or (not ascii_only and lexeme in lower):
                    held += 1
            if held == 0 or held < most:
                continue
            count = len(words.split())
            if held > most or count < fewest:
                best, most, fewest = span, held, count
        return None if best is None else self._text[best[0] : best[1]]


def _ascii_words(text: str) -> str:
    """The text, as long, with nothing but its words, in lower case."""
    words = text.encode().translate(_TO_WORDS)
    joints = [joint.start() for joint in _JOINED.finditer(text)]
    if joints:
        signs = bytearray(words)
        for at in joints:
            signs[at] = ord(text[at])
        words = bytes(signs)
    spaced = words.decode()
    return _LONE.sub(lambda lone: " " * len(lone[0]), spaced) if "_" in spaced else spaced


def _words(lower: str) -> str:
    """The words, a space before each."""
    return "".join([" " + word for word in _WORD.findall(lower) if _LETTER_OR_DIGIT.search(word)])
