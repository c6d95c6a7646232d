"""Drives a Python program of the guide: drive.py DRIVER NAME URI ADMIN_URI, in the folder with the programs.

Prints a line for each citation that a turn returned, for the comparison with the database; all other checks are
assertions. POOL is the size of the driver's pool, PREPARED whether statements may be prepared, SESSIONS the maximum number of its
sessions on the server, WAIT the seconds that each conversation of `waits` waits for its model.
"""

import asyncio
import functools
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg

driver, name, uri, admin_uri = sys.argv[1:]
size, sessions, wait = int(os.environ["POOL"]), int(os.environ["SESSIONS"]), float(os.environ["WAIT"])
prepared = os.environ["PREPARED"] == "yes"
connect = {} if prepared else {"prepare_threshold": None}
CONVERSATIONS = 20
ANSWER = "Passwords expire after 90 days [A1]. Pigs fly over Paris [Z9]."
sys.path.insert(0, os.getcwd())


class Psycopg:
    def __init__(self):
        import psycopg_turn as program
        self.program, self.pool = program, program.open_pool(uri, size, **connect)

    async def __aenter__(self):
        await self.pool.open()
        return self

    async def __aexit__(self, *_):
        await self.pool.close()

    async def work(self, tenant, statements):
        """Runs the statements of statements() in one transaction; returns the rows of the last."""
        async def work(connection):
            for statement in statements():
                found = await connection.execute(statement)
            return await found.fetchall()
        return await self.program.transaction(self.pool, tenant, work)

    async def turn(self, tenant, conversation, question, request, embed, write):
        return await self.program.turn(self.pool, tenant, conversation, question, request, embed, write)

    def state(self, error):
        return error.sqlstate


class Alchemy:
    def __init__(self):
        import sqlalchemy_turn as program
        self.program, self.engine = program, program.open_pool(uri.replace("postgresql:", "postgresql+psycopg:"), size, **connect)
        self.threads = ThreadPoolExecutor(CONVERSATIONS)

    async def __aenter__(self):
        self.loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *_):
        self.engine.dispose()

    async def thread(self, work, *arguments):
        return await self.loop.run_in_executor(self.threads, functools.partial(work, *arguments))

    async def work(self, tenant, statements):
        def work(connection):
            for statement in statements():
                found = connection.execute(self.program.text(statement))
            return found.mappings().all()
        return await self.thread(self.program.transaction, self.engine, tenant, work)

    async def turn(self, tenant, conversation, question, request, embed, write):
        def waits(function):
            return lambda *arguments: asyncio.run_coroutine_threadsafe(function(*arguments), self.loop).result()
        return await self.thread(self.program.turn, self.engine, tenant, conversation, question, request, waits(embed), waits(write))

    def state(self, error):
        return error.orig.sqlstate


async def embed(_):
    return [1, 0.25, 0]


async def write(system, sources, history, question):
    assert "[A1]" in sources and "Passwords expire after 90 days." in sources, sources
    assert "[A1]" in system, system
    number = re.fullmatch("How long do passwords last, ([12])[?]", question)
    if number:
        roles = [message["role"] for message in history]
        said = [message["content"] for message in history]
        assert roles[0] == "sources" and "Passwords: [A1]" in said[0], history
        assert said[said.index(f"How long do passwords last, {int(number[1]) - 1}?") + 1] == ANSWER, history
    else:
        assert history == [], history
    return ANSWER


def told(tenant, conversation, turn):
    for citation in turn["citations"]:
        print(tenant, conversation, turn["turn_id"], citation["raw"], citation["status"], "t" if citation["holds"] else "f", f"{citation['support'] or 0:.4f}", sep="|")
    return turn


async def refused(app, what):
    try:
        await what
    except Exception as error:
        return app.state(error)
    raise AssertionError("it was not refused")


async def tenants(app):
    """Two tenants alternate in conversations with the same name, and each sees its own."""
    turns = {}
    for number in range(3):
        for tenant in ("acme", "bolt"):
            turn = await app.turn(tenant, name, f"How long do passwords last, {number}?", f"{name} {number}", embed, write)
            turns.setdefault(tenant, []).append(told(tenant, name, turn)["turn_id"])
            seen = await app.work(tenant, lambda: ["SELECT DISTINCT tenant FROM reground.turns"])
            assert [row["tenant"] for row in seen] == [tenant], seen
    # The next user of the server connection that sets no tenant has none.
    async with await psycopg.AsyncConnection.connect(uri, **connect) as stranger:
        found = await stranger.execute("SELECT coalesce(current_setting('app.tenant_id', true), ''), count(*) FROM reground.turns")
        left = await found.fetchone()
    assert left == ("", 0), left
    seen = await app.work("", lambda: ["SELECT count(*) AS count FROM reground.turns"])
    assert int(seen[0]["count"]) == 0, seen
    other = f"SELECT reground.prompt_context({turns['acme'][0]})"
    assert await refused(app, app.work("bolt", lambda: [other])) == "P0002"
    # The repeated request returns the same turn without an error.
    again = await app.turn("acme", name, "How long do passwords last, 2?", f"{name} 2", embed, write)
    assert again["turn_id"] == turns["acme"][2], (again, turns)
    for line in again["citations"]:
        assert line["status"] in ("resolved_current", "unknown_id"), line
    assert await refused(app, app.turn("acme", name, "Something else?", f"{name} 2", embed, write)) == "23505"


async def repeats(app):
    """A transient failure is retried once; a permanent one is reported."""
    begin = f"SELECT DISTINCT turn_id FROM reground.begin_turn('{name} again', 'How long do passwords last?', corpus => 'help')"
    for fault in ("DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$", "SELECT pg_terminate_backend(pg_backend_pid())"):
        tries = []

        def statements():
            tries.append(fault)
            return [fault, begin] if len(tries) == 1 else [begin]
        assert len(await app.work("acme", statements)) == 1
        assert len(tries) == 2, tries
    tries = []

    def always():
        tries.append(begin)
        return [begin, "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$"]
    assert await refused(app, app.work("acme", always)) == "40001"
    assert len(tries) == 3, tries
    kept = await app.work("acme", lambda: [f"SELECT count(*) AS count FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '{name} again'"])
    assert int(kept[0]["count"]) == 2, kept


async def fails(app):
    """If the model fails, the turn is abandoned and the error is returned."""
    async def broken(*_):
        raise KeyError("no model")
    try:
        await app.turn("acme", f"{name} failed", "How long do passwords last?", f"{name} failed", embed, broken)
        raise AssertionError("the error is lost")
    except KeyError:
        pass
    found = await app.work("acme", lambda: [f"SELECT t.state FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '{name} failed'"])
    assert [row["state"] for row in found] == ["abandoned"], found


async def waits(app, admin):
    """All conversations wait for their models at once: the server has no open transaction of them, and no more sessions than allowed."""
    waiting, all_wait, go_on = [], asyncio.Event(), asyncio.Event()

    async def slow(*arguments):
        waiting.append(arguments)
        if len(waiting) == CONVERSATIONS:
            all_wait.set()
        await go_on.wait()
        return await write(*arguments)

    async def look():
        await all_wait.wait()
        until = asyncio.get_running_loop().time() + wait
        while True:
            found = await admin.execute("SELECT count(*), count(*) FILTER (WHERE state <> 'idle' OR xact_start IS NOT NULL) FROM pg_stat_activity WHERE usename = 'app'")
            count, busy = await found.fetchone()
            assert busy == 0 and 1 <= count <= sessions, (count, busy)
            if asyncio.get_running_loop().time() >= until:
                break
            await asyncio.sleep(1)
        # All connections are lost meanwhile, and no turn is.
        await admin.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'app'")
        go_on.set()

    names = [(("acme", "bolt")[number % 2], f"{name} waits {number}") for number in range(CONVERSATIONS)]
    turns = [app.turn(tenant, conversation, "How long do passwords last?", conversation, embed, slow) for tenant, conversation in names]
    *turns, _ = await asyncio.wait_for(asyncio.gather(*turns, look()), 240 + wait)
    for (tenant, conversation), turn in zip(names, turns):
        told(tenant, conversation, turn)


async def main():
    admin = await psycopg.AsyncConnection.connect(admin_uri, autocommit=True)
    async with {"psycopg": Psycopg, "sqlalchemy": Alchemy}[driver]() as app:
        await waits(app, admin)
        # psycopg forgets all prepared statements after a ROLLBACK.
        kept = await app.work("acme", lambda: ["SELECT count(*) AS count FROM pg_prepared_statements"])
        assert (kept[0]["count"] > 0) == prepared, f"{kept[0]['count']} prepared statements"
        await tenants(app)
        await fails(app)
        await repeats(app)
    await admin.close()


asyncio.run(main())
