"""The verdict on each citation: what it names, and whether that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reground_turn import status, support
from reground_turn.brackets import Reference
from reground_turn.extract import Extraction
from reground_turn.lexemes import SEPARATOR, numbers_of, words_of
from reground_turn.mark import Bound
from reground_turn.passages import CARRIED
from reground_turn.quote import Quotable
from reground_turn.settings import SUPPORT_THRESHOLD
from reground_turn.status import Verdict
from reground_turn.support import Coverage

Shown = dict[str, Any]
"""A source of the context as the turn keeps it."""

_STATUS = {
    support.WRONG_SOURCE: status.WRONG_SOURCE,
    support.UNSUPPORTED: status.UNSUPPORTED,
    support.INSUFFICIENT: status.INSUFFICIENT,
}


@dataclass(slots=True)
class Judgement:
    """The verdict on one citation."""

    verdict: Verdict
    source: int | None = None
    known: Bound | None = None
    fidelity: float | None = None
    support: float | None = None
    quote: str | None = None
    best_other: str | None = None
    detail: str | None = None


class Bench:
    """Everything that an answer is judged by."""

    def __init__(
        self, context: list[Shown], source_lexemes: list[str], registry: list[Bound]
    ) -> None:
        self.context = context
        self._lexemes = source_lexemes
        self._words: list[set[str]] | None = None
        self._digits: list[str] = []
        self._numbers: dict[int, set[str]] = {}
        self._quotable: dict[int, Quotable] = {}
        self._by_marker: dict[str, int] = {}
        self._by_member: dict[tuple[str, str, str], int] = {}
        for index, shown in enumerate(context):
            passage = shown["passage"]
            self._by_marker.setdefault(shown["marker"], index)
            for member in (*shown["members"], passage["key"]):
                self._by_member.setdefault((passage["corpus"], passage["doc_id"], member), index)
        self._known: dict[str, Bound] = {}
        for bound in registry:
            self._known.setdefault(bound.marker, bound)

    def judge(self, extraction: Extraction, claim_lexemes: list[str]) -> list[Judgement]:
        """Judges every citation, in order; those of one claim together."""
        citations = extraction.citations
        judged: list[Judgement] = [self._resolve(citation.reference) for citation in citations]
        by_claim: dict[int, list[Judgement]] = {}
        for citation, judgement in zip(citations, judged, strict=True):
            if citation.claim is not None:
                by_claim.setdefault(citation.claim, []).append(judgement)
        for claim, judgements in by_claim.items():
            self._weigh(extraction.claims[claim], claim_lexemes[claim], judgements)
        return judged

    def _resolve(self, reference: Reference) -> Judgement:
        """Which place a citation names, before anybody has read what stands there."""
        if reference.kind == "malformed":
            return Judgement(status.MALFORMED, detail=reference.name)
        if reference.kind == "author_year":
            return Judgement(status.UNRESOLVABLE)
        source = self._by_marker.get(reference.name)
        if source is None:
            bound = self._known.get(reference.name)
            if bound is None:
                return Judgement(status.UNKNOWN_ID, fidelity=0.0)
            # A merge gave the passage another marker in this turn: it is in the context all the
            # same.
            source = self._by_member.get((bound.corpus, bound.doc_id, bound.passage))
            if source is None:
                return Judgement(status.STALE_TURN, known=bound, fidelity=0.0, detail="stale_turn")
        carried = self.context[source]["origin"] == CARRIED
        resolved = status.RESOLVED_CARRIED if carried else status.RESOLVED_CURRENT
        return Judgement(resolved, source=source, fidelity=1.0)

    def _weigh(self, claim: str, lexemes: str, judgements: list[Judgement]) -> None:
        """Weighs the citations of one claim against all sources of the context."""
        words, numbers = words_of(lexemes), numbers_of(claim)
        content = sorted(words | numbers)
        if not content:
            return
        cited = {j.source for j in judgements if j.source is not None}
        if not cited and all(j.known is None for j in judgements):
            return
        coverage = self._coverage(content, numbers)
        joint = coverage.joint(cited)
        other = coverage.best_other(joint)
        best_other = None if other is None else self.context[other]["marker"]
        quotes: dict[int, str | None] = {}
        for judgement in judgements:
            source = judgement.source
            if source is None:
                if judgement.known is not None:
                    judgement.best_other = best_other
                continue
            verdict = coverage.verdict(source, joint, other)
            judgement.support = coverage.support(source)
            judgement.verdict = _STATUS.get(verdict, judgement.verdict)
            if verdict == support.HELD and judgement.support < SUPPORT_THRESHOLD:
                judgement.detail = "held_jointly"
            if source not in quotes:
                quotes[source] = self._quote(source, content)
            judgement.quote = quotes[source]
            judgement.best_other = best_other

    def _coverage(self, content: list[str], numbers: set[str]) -> Coverage:
        """Which sources hold which lexeme."""
        if self._words is None:
            self._words = [set(lexemes.split(SEPARATOR)) for lexemes in self._lexemes]
        holders = [
            (
                self._with_number(lexeme)
                if lexeme in numbers
                else [source for source, words in enumerate(self._words) if lexeme in words]
            )
            for lexeme in content
        ]
        return Coverage(len(content), holders, len(self.context))

    def _with_number(self, number: str) -> list[int]:
        """The sources that hold a number. Only texts that have its digits are read for numbers."""
        if not self._digits:
            for shown in self.context:
                text = _text_of(shown)
                # A grouped number is looked for without its commas, too.
                self._digits.append(f"{text}\n{text.replace(',', '')}")
        holders = []
        for source, digits in enumerate(self._digits):
            if number in digits:
                found = self._numbers.get(source)
                if found is None:
                    found = self._numbers[source] = numbers_of(_text_of(self.context[source]))
                if number in found:
                    holders.append(source)
        return holders

    def _quote(self, source: int, content: list[str]) -> str | None:
        quotable = self._quotable.get(source)
        if quotable is None:
            quotable = Quotable(self.context[source]["passage"]["text"])
            self._quotable[source] = quotable
        return quotable.best(content)


def _text_of(shown: Shown) -> str:
    passage = shown["passage"]
    return f"{passage['title'] or ''}\n{passage['text']}"
