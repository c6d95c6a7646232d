"""Exact o200k_base token counts by tiktoken, from the vocabulary that the project builds with."""

from __future__ import annotations

import base64
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import tiktoken

Counter = Callable[[str], int]

WORKSPACE: Final = Path(__file__).resolve().parents[3]
PATTERN: Final = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


def counter(vocabulary: Path | None = None) -> Counter:
    """A function that counts the tokens of a text.

    tiktoken would download the vocabulary; crates/tokens has it from the crate tiktoken-rs, where
    cargo knows the place.
    """
    lines = (vocabulary or _vocabulary()).read_bytes().splitlines()
    ranks = {}
    for line in lines:
        token, rank = line.split()
        ranks[base64.b64decode(token)] = int(rank)
    encoding = tiktoken.Encoding(
        "o200k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={}
    )
    encode = encoding.encode_ordinary
    return lambda text: len(encode(text))


def _vocabulary() -> Path:
    """The vocabulary in cargo's copy of tiktoken-rs, of the version in Cargo.lock."""
    lock = tomllib.loads((WORKSPACE / "Cargo.lock").read_text())
    version = next(p["version"] for p in lock["package"] if p["name"] == "tiktoken-rs")
    home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    pattern = f"registry/src/*/tiktoken-rs-{version}/assets/o200k_base.tiktoken"
    for found in home.glob(pattern):
        return found
    raise FileNotFoundError(f"{home}/{pattern}: build reground-tokens first, or give --vocabulary")
