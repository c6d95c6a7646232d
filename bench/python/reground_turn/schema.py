"""Tables of our own, as those of the extension."""

from __future__ import annotations

from typing import Final

TABLES: Final = (
    "conversations",
    "turns",
    "conversation_sources",
    "conversation_markers",
    "source_facts",
    "turn_traces",
    "messages",
    "message_citations",
)


def script(own: str) -> str:
    """Makes the schema afresh.

    LIKE takes columns, defaults, identities, checks and indexes over. Foreign keys and row-level
    security it leaves behind, which spares this side their checks. The trace is one table here and
    a ring of partitions there.
    """
    tables = "\n".join(
        f"CREATE TABLE {own}.{table} (LIKE reground.{table} INCLUDING DEFAULTS"
        " INCLUDING IDENTITY INCLUDING INDEXES INCLUDING CONSTRAINTS INCLUDING STORAGE);"
        for table in TABLES
    )
    return f"""
SET client_min_messages = error;
DROP SCHEMA IF EXISTS {own} CASCADE;
CREATE SCHEMA {own};
{tables}
ALTER TABLE {own}.turn_traces ADD PRIMARY KEY (turn_id);
ALTER TABLE {own}.conversation_sources SET (fillfactor = 70);
"""
