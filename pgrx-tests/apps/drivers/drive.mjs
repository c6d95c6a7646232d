// Drives a JavaScript program of the guide: drive.mjs DRIVER NAME URI ADMIN_URI, in the folder with the programs. It makes
// the same checks as drive.py, in the same order, with the same variables.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const [driver, name, uri, adminUri] = process.argv.slice(2);
const [size, sessions, wait] = ["POOL", "SESSIONS", "WAIT"].map((variable) => Number(process.env[variable]));
const prepared = process.env.PREPARED === "yes";
const CONVERSATIONS = 20;
const ANSWER = "Passwords expire after 90 days [A1]. Pigs fly over Paris [Z9].";

const apps = {
  pg: async () => {
    const program = await import(`${process.cwd()}/pg_turn.mjs`);
    const pool = program.openPool(uri, size);
    return {
      turn: (...what) => program.turn(pool, ...what),
      work: (tenant, statements) => program.transaction(pool, tenant, async (client) => {
        let found;
        for (const statement of statements()) found = await client.query(statement);
        return found.rows;
      }),
      state: (error) => error.code,
      end: () => pool.end(),
    };
  },
  drizzle: async () => {
    const program = await import(`${process.cwd()}/drizzle_turn.mjs`);
    const { sql } = await import("drizzle-orm");
    const db = program.openPool(uri, size);
    return {
      turn: (...what) => program.turn(db, ...what),
      work: (tenant, statements) => program.transaction(db, tenant, async (tx) => {
        let found;
        for (const statement of statements()) found = await tx.execute(sql.raw(statement));
        return found.rows;
      }),
      state: (error) => error.cause.code,
      end: () => db.$client.end(),
    };
  },
};

const embed = async () => [1, 0.25, 0];
async function write(system, sources, history, question) {
  assert(sources.includes("[A1]") && sources.includes("Passwords expire after 90 days."), sources);
  assert(system.includes("[A1]"), system);
  const number = /^How long do passwords last, ([12])[?]$/.exec(question);
  if (number) {
    const said = history.map((message) => message.content);
    assert(history[0].role === "sources" && said[0].includes("Passwords: [A1]"), said[0]);
    assert.equal(said[said.indexOf(`How long do passwords last, ${number[1] - 1}?`) + 1], ANSWER);
  } else {
    assert.deepEqual(history, []);
  }
  return ANSWER;
}

function told(tenant, conversation, turn) {
  for (const cited of turn.citations) {
    assert.equal(typeof cited.support, cited.support === null ? "object" : "number");
    console.log([tenant, conversation, turn.turnId, cited.raw, cited.status, cited.holds ? "t" : "f", (cited.support ?? 0).toFixed(4)].join("|"));
  }
  return turn;
}

async function refused(app, what) {
  try {
    await what;
  } catch (error) {
    return app.state(error);
  }
  return assert.fail("it was not refused");
}

// Two tenants alternate in conversations with the same name, and each sees its own.
async function tenants(app) {
  const turns = { acme: [], bolt: [] };
  for (let number = 0; number < 3; number += 1) {
    for (const tenant of ["acme", "bolt"]) {
      const turn = await app.turn(tenant, name, `How long do passwords last, ${number}?`, `${name} ${number}`, embed, write);
      turns[tenant].push(told(tenant, name, turn).turnId);
      assert.deepEqual(await app.work(tenant, () => ["SELECT DISTINCT tenant FROM reground.turns"]), [{ tenant }]);
    }
  }
  // The next user of the server connection that sets no tenant has none.
  const stranger = new pg.Client({ connectionString: uri });
  await stranger.connect();
  const left = await stranger.query("SELECT coalesce(current_setting('app.tenant_id', true), '') AS tenant, count(*)::int AS count FROM reground.turns");
  await stranger.end();
  assert.deepEqual(left.rows, [{ tenant: "", count: 0 }]);
  assert.deepEqual(await app.work("", () => ["SELECT count(*) AS count FROM reground.turns"]), [{ count: "0" }]);
  assert.equal(await refused(app, app.work("bolt", () => [`SELECT reground.prompt_context(${turns.acme[0]})`])), "P0002");
  // The repeated request returns the same turn without an error.
  const again = await app.turn("acme", name, "How long do passwords last, 2?", `${name} 2`, embed, write);
  assert.equal(again.turnId, turns.acme[2]);
  assert.deepEqual(again.citations.map((cited) => cited.status), ["resolved_current", "unknown_id"]);
  assert.equal(await refused(app, app.turn("acme", name, "Something else?", `${name} 2`, embed, write)), "23505");
}

// A transient failure is retried once; a permanent one is reported.
async function repeats(app) {
  const begin = `SELECT DISTINCT turn_id FROM reground.begin_turn('${name} again', 'How long do passwords last?', corpus => 'help')`;
  const conflict = "DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$";
  for (const fault of [conflict, "SELECT pg_terminate_backend(pg_backend_pid())"]) {
    let tries = 0;
    const rows = await app.work("acme", () => { tries += 1; return tries === 1 ? [fault, begin] : [begin]; });
    assert.deepEqual([rows.length, tries], [1, 2]);
  }
  let tries = 0;
  assert.equal(await refused(app, app.work("acme", () => { tries += 1; return [begin, conflict]; })), "40001");
  assert.equal(tries, 3);
  const kept = await app.work("acme", () => [`SELECT count(*) AS count FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '${name} again'`]);
  assert.deepEqual(kept, [{ count: "2" }]);
}

// If the model fails, the turn is abandoned and the error is returned.
async function fails(app) {
  const broken = async () => { throw new RangeError("no model"); };
  await assert.rejects(app.turn("acme", `${name} failed`, "How long do passwords last?", `${name} failed`, embed, broken), RangeError);
  const found = await app.work("acme", () => [`SELECT t.state FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '${name} failed'`]);
  assert.deepEqual(found, [{ state: "abandoned" }]);
}

// All conversations wait for their models at once: the server has no open transaction of them, and no more sessions than allowed.
async function waits(app, admin) {
  let waiting = 0, allWait, goOn;
  const allWaiting = new Promise((resolve) => { allWait = resolve; });
  const going = new Promise((resolve) => { goOn = resolve; });
  const slow = async (...what) => {
    waiting += 1;
    if (waiting === CONVERSATIONS) allWait();
    await going;
    return write(...what);
  };
  const look = async () => {
    await allWaiting;
    for (const until = Date.now() + wait * 1000; ; await pause(1000)) {
      const found = await admin.query("SELECT count(*)::int AS count, (count(*) FILTER (WHERE state <> 'idle' OR xact_start IS NOT NULL))::int AS busy FROM pg_stat_activity WHERE usename = 'app'");
      const { count, busy } = found.rows[0];
      assert(busy === 0 && count >= 1 && count <= sessions, `${count} sessions, ${busy} busy`);
      if (Date.now() >= until) break;
    }
    // All connections are lost meanwhile, and no turn is.
    await admin.query("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'app'");
    goOn();
  };
  const names = Array.from({ length: CONVERSATIONS }, (_, number) => [["acme", "bolt"][number % 2], `${name} waits ${number}`]);
  const turns = names.map(([tenant, conversation]) => app.turn(tenant, conversation, "How long do passwords last?", conversation, embed, slow));
  const done = await Promise.all([...turns, look()]);
  names.forEach(([tenant, conversation], number) => told(tenant, conversation, done[number]));
}

const admin = new pg.Client({ connectionString: adminUri });
await admin.connect();
const app = await apps[driver]();
await waits(app, admin);
await tenants(app);
await fails(app);
if (prepared && driver === "pg") {
  // A program with named queries gets the same statement on each connection.
  for (let number = 0; number < 5; number += 1) {
    const named = { name: "named", text: "SELECT count(*)::int AS count FROM pg_prepared_statements", values: [] };
    const rows = await app.work("acme", () => [named]);
    assert(rows[0].count > 0, "nothing was prepared");
  }
}
await repeats(app);
await app.end();
await admin.end();
