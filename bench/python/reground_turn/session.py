"""One connection: statements prepared once, and round trips that carry many of them.

psycopg's cursors take 50 µs a statement before anything is sent, most of a round trip on a Unix
socket. The statements of a turn are fixed, so they go through `psycopg.pq` instead, psycopg's own
layer over libpq, and their results through its C transformer.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg
from psycopg import pq
from psycopg.adapt import Transformer

from reground_turn.statements import STATEMENTS, Tables
from reground_turn.stopwatch import Stopwatch

BINARY: Final = 1
Row = tuple[Any, ...]

SETTINGS: Final = (
    # reground.search warns that it was given no embedding.
    "SET client_min_messages = error",
    "SET hnsw.ef_search = 100",
    "SET hnsw.iterative_scan = strict_order",
)
"""Set once: the extension sets what a search needs each time, since a session is not its own."""


class Session:
    """A connection in pipeline mode."""

    def __init__(self, dsn: str, tables: Tables, watch: Stopwatch) -> None:
        self.tables = tables
        self.watch = watch
        self._connection = psycopg.connect(dsn, autocommit=True, prepare_threshold=None)
        self._libpq = self._connection.pgconn
        self._transformer = Transformer(self._connection)
        self._formats: dict[bytes, list[int]] = {}
        self._prepared = False
        self._purpose = ""
        user = self._connection.execute("SELECT current_user::text").fetchone()
        self.tenant: bytes = user[0].encode() if user else b""
        # Replies are read only after all is sent: with what is sent here that cannot fill both
        # directions.
        self._libpq.nonblocking = 0

    def run(self, statement: str) -> None:
        """Runs a script, outside the pipeline."""
        self._leave()
        self._connection.execute(statement.encode())

    def send(self, name: bytes, *values: bytes | None) -> None:
        """Queues a prepared statement; its result comes with the next `receive`."""
        if not self._prepared:
            self._prepare()
        self._libpq.send_query_prepared(name, values, self._formats[name], BINARY)

    def flush(self, purpose: str) -> None:
        """Sends what is queued, as one round trip; the profile names it by its purpose."""
        self._libpq.pipeline_sync()
        self._purpose = purpose
        self.watch.round_trips += 1
        self.watch.lap("send")

    def receive(self) -> list[list[Row]]:
        """The rows of each statement that was sent, in order."""
        watch = self.watch
        watch.lap("work while the server works")
        get_result = self._libpq.get_result
        results = []
        failure = None
        while True:
            result = get_result()
            if result is None:
                continue
            status = result.status
            if status == pq.ExecStatus.PIPELINE_SYNC:
                break
            if status == pq.ExecStatus.FATAL_ERROR:
                failure = psycopg.errors.error_from_result(result)
            results.append(result)
        watch.lap(f"wait for the {self._purpose}")
        if failure is not None:
            self.rollback()
            raise failure
        transformer = self._transformer
        rows = []
        for result in results:
            count = result.ntuples
            if count:
                transformer.set_pgresult(result)
                rows.append(transformer.load_rows(0, count, tuple))
            else:
                rows.append([])
        watch.lap("read rows")
        return rows

    def commit(self) -> None:
        """Ends the transaction."""
        self._end(b"commit")

    def rollback(self) -> None:
        """Gives the transaction up."""
        self._end(b"rollback")

    def _end(self, how: bytes) -> None:
        self.send(how)
        self._libpq.pipeline_sync()
        while True:
            result = self._libpq.get_result()
            if result is None:
                continue
            if result.status == pq.ExecStatus.FATAL_ERROR:
                raise psycopg.errors.error_from_result(result)
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                return

    def _prepare(self) -> None:
        for setting in SETTINGS:
            self._connection.execute(setting.encode())
        found = self._connection.execute("SELECT 'vector'::regtype::oid").fetchone()
        if not found:
            raise RuntimeError("no vector type")
        for name, statement in STATEMENTS.items():
            kinds = [
                found[0] if index in statement.vectors else 0
                for index in range(statement.parameters)
            ]
            prepared = self._libpq.prepare(name, statement.text(self.tables).encode(), kinds)
            if prepared.status != pq.ExecStatus.COMMAND_OK:
                raise psycopg.errors.error_from_result(prepared)
            self._formats[name] = [
                int(index in statement.vectors) for index in range(statement.parameters)
            ]
        self._libpq.enter_pipeline_mode()
        self._prepared = True

    def _leave(self) -> None:
        if self._prepared:
            self._libpq.exit_pipeline_mode()
            self._connection.execute("DEALLOCATE ALL")
            self._prepared = False
