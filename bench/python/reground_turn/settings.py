"""The settings of every turn: the extension's defaults, and what the benchmark sets."""

from __future__ import annotations

from typing import Final

import orjson

CANDIDATES: Final = 40
RERANK_TOP: Final = 40
MAX_SOURCES: Final = 10
MIN_SOURCES: Final = 8
MAX_TOKENS: Final = 4000
RESERVED_SLOTS: Final = 3
CARRY_THRESHOLD: Final = 0.5
CARRY_DECAY: Final = 0.7
CARRY_TTL_TURNS: Final = 3
MAX_PINNED: Final = 3
TWIN_OVERLAP: Final = 0.9
MAX_MERGED_TOKENS: Final = 512
RRF_K: Final = 60.0
LEXICAL_WEIGHT: Final = 1.0
VECTOR_WEIGHT: Final = 1.0
FACTS_PER_SOURCE: Final = 2
SUPPORT_THRESHOLD: Final = 0.5
OTHER_SOURCE_MARGIN: Final = 0.2

CALL: Final = orjson.dumps(
    {
        "query_from": "turn",
        "fusion": "rrf",
        "reserved_slots": RESERVED_SLOTS,
        "carry_threshold": CARRY_THRESHOLD,
        "carry_activation": "context",
        "support_threshold": SUPPORT_THRESHOLD,
    }
)
"""What the benchmark gives to each call."""

EFFECTIVE: Final = orjson.dumps(
    {
        "candidates": CANDIDATES,
        "rerank_top": RERANK_TOP,
        "max_sources": MAX_SOURCES,
        "min_sources": MIN_SOURCES,
        "max_tokens": MAX_TOKENS,
        "reserved_slots": RESERVED_SLOTS,
        "carry_over": True,
        "carry_threshold": CARRY_THRESHOLD,
        "carry_decay": CARRY_DECAY,
        "carry_ttl_turns": CARRY_TTL_TURNS,
        "carry_max_age": None,
        "carry_activation": "context",
        "max_pinned": MAX_PINNED,
        "collapse_twins": True,
        "merge_adjacent": True,
        "twin_overlap": TWIN_OVERLAP,
        "max_merged_tokens": MAX_MERGED_TOKENS,
        "rrf_k": RRF_K,
        "lexical_weight": LEXICAL_WEIGHT,
        "vector_weight": VECTOR_WEIGHT,
        "query_from": "turn",
        "history_weight": 1.0,
        "fusion": "rrf",
        "vector_share": 0.7,
        "reranker": None,
        "facts_per_source": FACTS_PER_SOURCE,
        "require_embedding": False,
        "vector_search": "auto",
        "passage_order": "score",
        "marker_style": "A1",
        "keep_candidates": "all",
        "provenance": "metadata",
        "store_answers": "full",
        "support_threshold": SUPPORT_THRESHOLD,
        "other_source_margin": OTHER_SOURCE_MARGIN,
        "min_cfs": None,
        "require_citations": False,
        "query_history": 4,
    }
)
"""As a turn stores them."""
