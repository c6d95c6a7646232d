"""Runs real conversations through the extension and through this client, and demands the same rows.

    python compare.py --dsn DSN --data FOLDER --turns N

FOLDER is the mtrag folder of the evaluation data. Compared after each call: the rows that the
caller gets, and all rows that the call wrote, column by column (floats within 1e-6). Left out are
ids and times, facts, and what the package says it leaves out. Conversations of the extension
are removed afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.rows import dict_row

import answers
from reground_turn.end import RETURNED
from reground_turn.settings import CARRY_THRESHOLD
from reground_turn.statements import Tables
from reground_turn.worker import Worker

Row = dict[str, Any]

OWN: Final = "bench_python_compare"
"""Schema of the client's tables, so that a benchmark can run beside."""
DIMENSIONS: Final = 384
TOLERANCE: Final = 1e-6
# The most that reground.search returns. A carried passage that ranks beyond has its lexical score
# there and none here. Such scores are counted instead of called a difference; their share of the
# best is far below what carries a source.
MOST_RESULTS: Final = 10_000
EVERY_PIN: Final = 7
EVERY_REGENERATION: Final = 5

# By table: what a turn wrote, in an order that both sides have, without ids, times and facts.
WRITTEN: Final = {
    "conversations": """SELECT tenant, corpus, settings, turn_count, next_pin,
            last_ended_turn = %(turn)s AS ended_last
        FROM {schema}.conversations WHERE conversation_id = %(conversation)s""",
    "turns": """SELECT tenant, number, state, request_id, query, query_embedding, corpus, filter, intent,
            intent_confidence, settings, pool, context_tokens, query_tokens, warnings, tags,
            sources_before, sources_after, ended_at IS NULL AS is_open,
            (SELECT jsonb_agg(s - 'facts' ORDER BY n)
             FROM jsonb_array_elements(context) WITH ORDINALITY AS c(s, n)) AS context
        FROM {schema}.turns WHERE turn_id = %(turn)s""",
    "conversation_markers": """SELECT to_jsonb(m) - 'conversation_id' AS row FROM {schema}.conversation_markers AS m
        WHERE conversation_id = %(conversation)s ORDER BY binding_no""",
    "conversation_sources": """SELECT to_jsonb(s) - 'conversation_id' - 'last_used_at' AS row
        FROM {schema}.conversation_sources AS s
        WHERE conversation_id = %(conversation)s ORDER BY corpus, doc_id, passage""",
    "turn_traces": """SELECT to_jsonb(t) - 'turn_id' - 'traced_at' AS row FROM {schema}.turn_traces AS t
        WHERE turn_id = %(turn)s""",
    "messages": """SELECT to_jsonb(m) - ARRAY['message_id', 'conversation_id', 'turn_id', 'created_at'] AS row
        FROM {schema}.messages AS m WHERE turn_id = %(turn)s ORDER BY message_id""",
    "message_citations": """SELECT to_jsonb(c) - ARRAY['citation_id', 'message_id', 'conversation_id', 'turn_id',
            'created_at', 'fact_summary'] AS row
        FROM {schema}.message_citations AS c WHERE turn_id = %(turn)s ORDER BY message_id, citation_no""",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn of a real conversation."""

    conversation: str
    number: int
    query: str
    embedding: tuple[float, ...]


class Comparison:
    """Both sides of a turn, and the differences found so far."""

    def __init__(self, dsn: str, tables: Tables, vocabulary: Path | None) -> None:
        self.corpus = tables.corpus
        self._server = psycopg.connect(dsn, autocommit=True, row_factory=dict_row)
        self._server.execute("SET client_min_messages = error")
        self._client = Worker(dsn, tables, vocabulary)
        self._client.answer({"op": "setup"})
        self.differences: list[str] = []
        self.prefix = f"compare-{os.getpid()}-"
        self.compared = 0
        self.beyond = 0

    def begin(self, asked: Asked) -> tuple[int, int, list[Row]]:
        """Begins a turn on both sides; its ids there and here, and its rows."""
        name, intent = self.prefix + asked.conversation, _intent(asked)
        theirs = self._server.execute(
            """SELECT * FROM reground.begin_turn(%s, %s, corpus => %s, embedding => %s::vector, intent => %s,
                   settings => '{"context_query_weight": 0}')""",
            (name, asked.query, self.corpus, str(list(asked.embedding)), intent),
        ).fetchall()
        ours = self._ask(
            op="begin",
            conversation=name,
            query=asked.query,
            intent=intent,
            embedding=asked.embedding,
        )
        turns = (theirs[0]["turn_id"], ours["turn"])
        where = f"{asked.conversation} turn {asked.number} begin"
        skip = {"turn_id", "facts"}
        self._same(where, _without(theirs, skip), _without(ours["rows"], skip))
        self._same_tables(where, turns)
        return *turns, theirs

    def end(self, turns: tuple[int, int], answer: str, where: str) -> None:
        """Ends a turn on both sides."""
        theirs = self._server.execute(
            "SELECT * FROM reground.end_turn(%s, %s)", (turns[0], answer)
        ).fetchall()
        ours = self._ask(op="end", turn=turns[1], answer=answer)
        kept = [{name: row[name] for name in RETURNED} for row in theirs]
        before = len(self.differences)
        self._same(f"{where} end", kept, ours["rows"])
        self._same_tables(f"{where} end", turns)
        if len(self.differences) > before:
            self.differences.append(f"  answer: {answer!r}")

    def pin(self, asked: Asked, row: Row, *, document: bool) -> None:
        """Pins a source of the context on both sides."""
        name = self.prefix + asked.conversation
        self._server.execute(
            "SELECT reground.pin(%s, doc_id => %s, chunk_id => %s, corpus => %s)",
            (name, row["doc_id"], None if document else row["chunk_id"], self.corpus),
        )
        self._server.execute(
            f"""WITH pinned AS (UPDATE {OWN}.conversations SET next_pin = next_pin + 1
                    WHERE external_id = %s RETURNING conversation_id, tenant, next_pin - 1 AS pin_order)
                INSERT INTO {OWN}.conversation_sources AS s (conversation_id, tenant, corpus, doc_id, passage,
                    carry_score, inactive_turns, pinned, pin_order)
                SELECT conversation_id, tenant, %s, %s, %s, 1, 0, true, pin_order FROM pinned
                ON CONFLICT (conversation_id, corpus, doc_id, passage)
                    DO UPDATE SET pinned = true, pin_order = coalesce(s.pin_order, excluded.pin_order)""",
            (name, self.corpus, row["doc_id"], "" if document else row["chunk_id"]),
        )

    def markers(self, asked: Asked) -> list[str]:
        """Markers that the conversation has bound."""
        rows = self._server.execute(
            f"""SELECT m.marker FROM {OWN}.conversation_markers AS m
                JOIN {OWN}.conversations AS c USING (conversation_id) WHERE c.external_id = %s""",
            (self.prefix + asked.conversation,),
        )
        return [row["marker"] for row in rows]

    def profile(self) -> Row:
        """Where this client's time went."""
        return self._ask(op="profile")

    def clear(self) -> None:
        """Removes what the extension's side left behind."""
        like = (f"{self.prefix}%",)
        self._server.execute(
            """DELETE FROM reground.turn_traces WHERE turn_id IN (
                   SELECT t.turn_id FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id)
                   WHERE c.external_id LIKE %s)""",
            like,
        )
        self._server.execute("DELETE FROM reground.conversations WHERE external_id LIKE %s", like)
        self._server.execute(f"DROP SCHEMA {OWN} CASCADE")

    def _ask(self, **message: Any) -> Row:
        answer = self._client.answer(message)
        if "error" in answer:
            raise RuntimeError(f"{answer['error']} for {message}")
        return answer

    def _same_tables(self, where: str, turns: tuple[int, int]) -> None:
        for table, query in WRITTEN.items():
            theirs, ours = (
                self._server.execute(
                    query.format(schema=schema),
                    {"turn": turn, "conversation": self._conversation(schema, turn)},
                ).fetchall()
                for schema, turn in (("reground", turns[0]), (OWN, turns[1]))
            )
            if table == "turns":
                self.beyond += _pass_over_context(theirs[0]["context"], ours[0]["context"])
            elif table == "turn_traces":
                self.beyond += _pass_over_trace(theirs[0]["row"], ours[0]["row"])
            self._same(f"{where} {table}", theirs, ours)

    def _conversation(self, schema: str, turn: int) -> int:
        row = self._server.execute(
            f"SELECT conversation_id FROM {schema}.turns WHERE turn_id = %s", (turn,)
        ).fetchone()
        if row is None:
            raise LookupError(f"{schema} has no turn {turn}")
        return int(row["conversation_id"])

    def _same(self, where: str, theirs: Any, ours: Any) -> None:
        self.compared += 1
        self.differences += [f"{where}: {difference}" for difference in _differences(theirs, ours)]


def _pass_over_context(theirs: list[Row] | None, ours: list[Row] | None) -> int:
    """Makes equal the scores of the context that lie beyond those read here; their number."""
    count = 0
    for there, here in zip(theirs or (), ours or (), strict=False):
        if here["lexical_score"] is None and there["lexical_score"] is not None:
            there["lexical_score"] = None
            count += 1
    return count


def _pass_over_trace(theirs: Row, ours: Row) -> int:
    """The same in a trace, where relevance may rest on such a score if it carries nothing."""
    count = 0
    scores, relevance = theirs["lexical_scores"], theirs["relevance"]
    for index, here in enumerate(ours["lexical_scores"][: len(scores)]):
        if here is None and scores[index] is not None:
            scores[index] = None
            if ours["relevance"][index] <= relevance[index] < CARRY_THRESHOLD:
                relevance[index] = ours["relevance"][index]
            count += 1
    return count


def _differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Where two values differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in sorted(theirs.keys() | ours.keys()):
            if name not in theirs or name not in ours:
                yield f"{path}.{name} on one side only"
            else:
                yield from _differences(theirs[name], ours[name], f"{path}.{name}")
    elif isinstance(theirs, list | tuple) and isinstance(ours, list | tuple):
        if len(theirs) != len(ours):
            yield f"{path} has {len(theirs)} there and {len(ours)} here"
        for index, pair in enumerate(zip(theirs, ours, strict=False)):
            yield from _differences(*pair, f"{path}[{index}]")
    elif isinstance(theirs, float) and isinstance(ours, float | int):
        if abs(theirs - ours) > TOLERANCE:
            yield f"{path} is {theirs} there and {ours} here"
    elif theirs != ours:
        yield f"{path} is {theirs!r} there and {ours!r} here"


def _without(rows: list[Row], skip: set[str]) -> list[Row]:
    return [{name: value for name, value in row.items() if name not in skip} for row in rows]


def _intent(asked: Asked) -> str:
    return "new_topic" if asked.number == 1 else "drill_down"


def _turns(data: Path) -> Iterator[Asked]:
    """The user's turns, the domains in turn, conversation after conversation."""
    width = DIMENSIONS * 2
    numbers: dict[str, int] = {}
    for domain in ("clapnq", "cloud"):
        vectors = (data / "vectors" / f"{domain}_lastturn.f16").read_bytes()
        lines = (data / "queries" / f"{domain}_lastturn.jsonl").read_text().splitlines()
        for index, line in enumerate(lines):
            query = json.loads(line)
            conversation = f"{domain}-{query['_id'].split('<::>')[0]}"
            numbers[conversation] = number = numbers.get(conversation, 0) + 1
            embedding = struct.unpack(
                f"<{DIMENSIONS}e", vectors[index * width : (index + 1) * width]
            )
            text = query["text"].removeprefix("|user|:").strip()
            yield Asked(conversation, number, text, embedding)


def run(comparison: Comparison, data: Path, wanted: int, seed: int, first: int) -> int:
    """Compares turns, over all conversations as often as it takes; the number of turns."""
    chance = random.Random(seed)
    count = 0
    while count < wanted:
        lap = f"{count}-"
        for asked in islice(_turns(data), first, None):
            if count == wanted:
                break
            asked = Asked(lap + asked.conversation, asked.number, asked.query, asked.embedding)
            theirs, ours, rows = comparison.begin(asked)
            stale = comparison.markers(asked)
            where = f"{asked.conversation} turn {asked.number}"
            comparison.end((theirs, ours), answers.write(rows, stale, chance), where)
            count += 1
            if count % EVERY_REGENERATION == 0:
                again = answers.write(rows, stale, chance) + " Once more."
                comparison.end((theirs, ours), again, f"{where} again")
            if count % EVERY_PIN == 0:
                comparison.pin(asked, chance.choice(rows), document=count % 2 == 0)
            if count % 20 == 0:
                print(f"{count} turns, {len(comparison.differences)} differences", file=sys.stderr)
    return count


def main() -> int:
    """0 where nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="queries to pass over")
    parser.add_argument("--corpus", default="mtrag")
    parser.add_argument("--schema", default="eval")
    parser.add_argument("--vocabulary", type=Path)
    arguments = parser.parse_args()
    passages = f"{arguments.schema}.{arguments.corpus}"
    tables = Tables(arguments.corpus, passages, f"{passages}_documents", OWN, MOST_RESULTS)
    comparison = Comparison(arguments.dsn, tables, arguments.vocabulary)
    try:
        turns = run(comparison, arguments.data, arguments.turns, arguments.seed, arguments.first)
    finally:
        comparison.clear()
    for difference in comparison.differences[:200]:
        print(difference)
    print(
        f"{turns} turns, {comparison.compared} sets of rows compared,"
        f" {len(comparison.differences)} differences,"
        f" {comparison.beyond} lexical scores beyond the first {MOST_RESULTS}"
    )
    return 1 if comparison.differences else 0


if __name__ == "__main__":
    sys.exit(main())
