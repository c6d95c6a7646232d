"""Drives a Python program of the guide: drive.py DRIVER NAME URI ADMIN_URI, in the folder with the programs.

Prints a line for each citation that a turn returned, for the comparison with the database; all other checks are
assertions. POOL is the size of the driver's pool, PREPARED whether statements may be prepared, SESSIONS the maximum number of its
sessions on the server, WAIT the seconds that each conversation of `waits` waits for its model.
"""

import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg

sys.path.insert(0, os.getcwd())
from turn import turn

driver, name, uri, admin_uri = sys.argv[1:]
size, sessions, wait = int(os.environ["POOL"]), int(os.environ["SESSIONS"]), float(os.environ["WAIT"])
prepared = os.environ["PREPARED"] == "yes"
connect = {} if prepared else {"prepare_threshold": None}
CONVERSATIONS = 20
PIECES = ["Passwords expire", " after 90 days [A", "1]. Pigs", " fly over Paris [Z9]", "."]
ANSWER = "".join(PIECES)

if driver == "psycopg":
    import psycopg_query as program
    pool = program.open_pool(uri, size, **connect)
else:
    import sqlalchemy_query as program
    pool = program.open_pool(uri.replace("postgresql:", "postgresql+psycopg:"), size, **connect)


def rows(tenant, sql, **values):
    return [dict(row) for row in program.for_tenant(pool, tenant)(sql, **values)]


def embed(texts):
    return [[1, 0.25, 0] for _ in texts]


def write(system, messages):
    assert "[A1]" in system and "Passwords expire after 90 days." in system, system
    said = [message["content"] for message in messages]
    number = said[-1].removeprefix("How long do passwords last, ").removesuffix("?")
    if number in ("1", "2"):
        assert "Passwords: [A1]" in system, system
        assert said[said.index(f"How long do passwords last, {int(number) - 1}?") + 1] == ANSWER, said
    else:
        assert len(messages) == 1, messages
    yield from PIECES


def ask(tenant, conversation, question, request, write=write):
    """Runs a turn, checks its events, and returns the last one."""
    shown, seen = "", []
    for kind, data in turn(program.for_tenant(pool, tenant), conversation, question, request, embed, write):
        seen.append(kind)
        if kind == "sources":
            assert data[0]["marker"] == "A1" and data[0]["title"] == "Passwords", data
        elif kind == "text":
            shown += data
            # No citation is cut in two.
            assert ANSWER.startswith(shown) and shown.count("[") == shown.count("]"), shown
        elif kind == "citations":
            assert [row["marker"] for row in data] == (["A1"] if "Z9" not in shown else ["A1", "Z9"]), (data, shown)
        else:
            assert shown == ANSWER, shown
            return data
    raise AssertionError(f"the last event is {seen[-1:]}")


def told(tenant, conversation, end):
    for row in end["citations"]:
        print(tenant, conversation, end["turn_id"], row["raw"], row["status"], "t" if row["holds"] else "f", f"{row['support'] or 0:.4f}", sep="|")
    return end


def refused(what, *arguments):
    try:
        what(*arguments)
    except Exception as error:
        return getattr(error, "orig", error).sqlstate
    raise AssertionError("it was not refused")


def tenants():
    """Two tenants alternate in conversations with the same name, and each sees its own."""
    turns = {}
    for number in range(3):
        for tenant in ("acme", "bolt"):
            end = ask(tenant, name, f"How long do passwords last, {number}?", f"{name} {number}")
            turns.setdefault(tenant, []).append(told(tenant, name, end)["turn_id"])
            seen = rows(tenant, "SELECT DISTINCT tenant FROM reground.turns")
            assert seen == [{"tenant": tenant}], seen
    # The next user of the server connection that sets no tenant has none.
    with psycopg.connect(uri, **connect) as stranger:
        left = stranger.execute("SELECT coalesce(current_setting('app.tenant_id', true), ''), count(*) FROM reground.turns").fetchone()
    assert left == ("", 0), left
    assert rows("", "SELECT count(*) AS count FROM reground.turns") == [{"count": 0}]
    assert refused(rows, "bolt", f"SELECT reground.prompt_context({turns['acme'][0]})") == "P0002"
    # The repeated request returns the same turn without an error.
    again = ask("acme", name, "How long do passwords last, 2?", f"{name} 2")
    assert again["turn_id"] == turns["acme"][2], (again, turns)
    assert [row["status"] for row in again["citations"]] == ["resolved_current", "unknown_id"], again
    assert refused(ask, "acme", name, "Something else?", f"{name} 2") == "23505"


def repeats():
    """A transient failure is retried once; a permanent one is reported."""
    begin = f"SELECT fault(%(kind)s, %(times)s) AS tries, turn_id FROM reground.begin_turn('{name} again', 'How long do passwords last?', corpus => 'help') LIMIT 1"
    for kind in ("conflict", "loss"):
        rows("acme", "SELECT setval('tries', 1, false)")
        assert rows("acme", begin, kind=kind, times=1)[0]["tries"] == 2
    rows("acme", "SELECT setval('tries', 1, false)")
    assert refused(lambda: rows("acme", begin, kind="conflict", times=9)) == "40001"
    assert rows("acme", "SELECT nextval('tries') AS tries") == [{"tries": 4}]
    kept = rows("acme", f"SELECT count(*) AS count FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '{name} again'")
    assert kept == [{"count": 2}], kept


def state(conversation):
    return rows("acme", f"SELECT t.state FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '{conversation}'")


def fails():
    """If the model fails or the user leaves, the turn is abandoned."""
    def broken(*_):
        yield from PIECES[:3]
        raise KeyError("no model")
    try:
        ask("acme", f"{name} failed", "How long do passwords last?", f"{name} failed", broken)
        raise AssertionError("the error is lost")
    except KeyError:
        assert state(f"{name} failed") == [{"state": "abandoned"}]
    events = turn(program.for_tenant(pool, "acme"), f"{name} left", "How long do passwords last?", f"{name} left", embed, write)
    while next(events)[0] != "text":
        pass
    events.close()
    assert state(f"{name} left") == [{"state": "abandoned"}]


def waits(admin):
    """All conversations wait for their models at once: the server has no open transaction of them, and no more sessions than allowed."""
    waiting, go_on = threading.Barrier(CONVERSATIONS + 1), threading.Event()

    def slow(*arguments):
        waiting.wait(240)
        assert go_on.wait(240 + wait)
        yield from write(*arguments)

    names = [(("acme", "bolt")[number % 2], f"{name} waits {number}") for number in range(CONVERSATIONS)]
    with ThreadPoolExecutor(CONVERSATIONS) as threads:
        turns = [threads.submit(ask, tenant, conversation, "How long do passwords last?", conversation, slow) for tenant, conversation in names]
        waiting.wait(240)
        until = time.monotonic() + wait
        while True:
            found = admin.execute("SELECT count(*), count(*) FILTER (WHERE state <> 'idle' OR xact_start IS NOT NULL) FROM pg_stat_activity WHERE usename = 'app'")
            count, busy = found.fetchone()
            assert busy == 0 and 1 <= count <= sessions, (count, busy)
            if time.monotonic() >= until:
                break
            time.sleep(1)
        # All connections are lost meanwhile, and no turn is.
        admin.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'app'")
        go_on.set()
        for (tenant, conversation), done in zip(names, turns):
            told(tenant, conversation, done.result())


with psycopg.connect(admin_uri, autocommit=True) as admin:
    waits(admin)
    if prepared:
        # A statement is prepared at its sixth execution on a connection; psycopg forgets all prepared statements after a ROLLBACK.
        for _ in range(30):
            kept = rows("acme", "SELECT count(*) AS count FROM pg_prepared_statements")
        assert kept[0]["count"] > 0, "nothing was prepared"
    else:
        assert rows("acme", "SELECT count(*) AS count FROM pg_prepared_statements") == [{"count": 0}]
    tenants()
    fails()
    repeats()
(pool.close if driver == "psycopg" else pool.dispose)()
