"""The verdicts on a citation, and what follows from each."""

from __future__ import annotations

from typing import Final, NamedTuple


class Verdict(NamedTuple):
    """A row of citation_statuses, with the diagnostic."""

    status: str
    holds: bool | None
    score: float | None
    mode: str | None
    diagnostic: str | None


_EXACT: Final = "exact_context_match"

RESOLVED_CURRENT: Final = Verdict("resolved_current", True, 1.0, None, _EXACT)
RESOLVED_CARRIED: Final = Verdict("resolved_carried", True, 1.0, None, _EXACT)
WRONG_SOURCE: Final = Verdict("wrong_source", False, 1.0, "cross_text_conflation", _EXACT)
UNSUPPORTED: Final = Verdict("unsupported", False, 1.0, "paraphrase_attribution", _EXACT)
INSUFFICIENT: Final = Verdict("insufficient_attribution", False, 1.0, None, _EXACT)
STALE_TURN: Final = Verdict("stale_turn", False, 0.3, None, "valid_doc_invalid_page_or_unretrieved")
UNKNOWN_ID: Final = Verdict(
    "unknown_id", False, 0.0, "fabricated_coordinate", "hallucinated_document_id"
)
MALFORMED: Final = Verdict("malformed", None, None, None, None)
UNRESOLVABLE: Final = Verdict("unresolvable", None, None, None, None)
