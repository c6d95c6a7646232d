"""The process that the harness drives: JSON lines in, JSON lines out.

Times are taken inside, from the arguments in hand to the rows in hand; reading the harness' line
and printing the answer are in none of them. A transaction is committed after its time was taken,
and the commit has a time of its own.
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import orjson

from reground_turn import schema
from reground_turn.begin import begin, candidates
from reground_turn.end import end
from reground_turn.session import Session
from reground_turn.statements import Tables
from reground_turn.stopwatch import Stopwatch
from reground_turn.tokens import counter

Message = dict[str, Any]


class Worker:
    """One session and what it counts tokens with."""

    def __init__(self, dsn: str, tables: Tables, vocabulary: Path | None) -> None:
        self._watch = Stopwatch()
        self._session = Session(dsn, tables, self._watch)
        self._count_tokens = counter(vocabulary)
        self._operations: dict[str, Callable[[Message], Message]] = {
            "setup": self._setup,
            "candidates": self._candidates,
            "begin": self._begin,
            "end": self._end,
            "profile": self._profile,
        }

    def answer(self, message: Message) -> Message:
        """Does what a message asks."""
        try:
            return self._operations[message["op"]](message)
        except Exception as error:  # The harness reports it; the session lives on.
            return {"error": f"{type(error).__name__}: {error}"}

    def _setup(self, _: Message) -> Message:
        self._session.run(schema.script(self._session.tables.own))
        return {"ok": True}

    def _candidates(self, message: Message) -> Message:
        query, embedding = message["query"], message["embedding"]
        self._session.watch = Stopwatch()  # Its round trip is none of a turn's.
        start = perf_counter_ns()
        candidates(self._session, query, embedding)
        microseconds = (perf_counter_ns() - start) / 1000
        self._session.watch = self._watch
        return {"us": microseconds}

    def _begin(self, message: Message) -> Message:
        conversation, query = message["conversation"], message["query"]
        intent, embedding = message["intent"], message["embedding"]
        start = perf_counter_ns()
        self._watch.start()
        begun = begin(self._session, self._count_tokens, conversation, query, intent, embedding)
        microseconds = (perf_counter_ns() - start) / 1000
        return {
            "us": microseconds,
            "commit_us": self._commit(),
            "turn": begun.turn,
            "rows": begun.rows,
        }

    def _end(self, message: Message) -> Message:
        turn, answer = message["turn"], message["answer"]
        start = perf_counter_ns()
        self._watch.start()
        try:
            rows = end(self._session, self._count_tokens, turn, answer)
        except (LookupError, ValueError):
            self._session.rollback()
            raise
        microseconds = (perf_counter_ns() - start) / 1000
        return {"us": microseconds, "commit_us": self._commit(), "rows": rows}

    def _profile(self, _: Message) -> Message:
        return self._watch.report()

    def _commit(self) -> float:
        start = perf_counter_ns()
        self._session.commit()
        return (perf_counter_ns() - start) / 1000


def main() -> None:
    """Answers messages until there are no more."""
    parser = argparse.ArgumentParser(prog="reground_turn", description=__doc__)
    parser.add_argument("--dsn", required=True)
    parser.add_argument("--corpus", default="mtrag", help="a corpus made by create_corpus")
    parser.add_argument("--schema", default="eval", help="schema of its tables")
    parser.add_argument("--vocabulary", type=Path, help="o200k_base.tiktoken, if not cargo's")
    arguments = parser.parse_args()
    passages = f"{arguments.schema}.{arguments.corpus}"
    tables = Tables(arguments.corpus, passages, f"{passages}_documents")
    worker = Worker(arguments.dsn, tables, arguments.vocabulary)
    # What lives now lives on: the collector need not look at it again in the middle of a turn.
    gc.collect()
    gc.freeze()
    for line in sys.stdin.buffer:
        if line.strip():
            answer = orjson.dumps(worker.answer(orjson.loads(line)))
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()
