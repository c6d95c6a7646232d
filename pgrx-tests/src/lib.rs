//! Tests over a real server live in `tests/`.
