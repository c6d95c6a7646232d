// Drives a JavaScript program of the guide: drive.mjs DRIVER NAME URI ADMIN_URI, in the folder with the programs. It makes
// the same checks as drive.py, in the same order, with the same variables.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";

const [driver, name, uri, adminUri] = process.argv.slice(2);
const [size, sessions, wait] = ["POOL", "SESSIONS", "WAIT"].map((variable) => Number(process.env[variable]));
const prepared = process.env.PREPARED === "yes";
const { turn } = await import(`${process.cwd()}/turn.mjs`);
const { forTenant, openPool } = await import(`${process.cwd()}/${driver}_query.mjs`);
const CONVERSATIONS = 20;
const PIECES = ["Passwords expire", " after 90 days [A", "1]. Pigs", " fly over Paris [Z9]", "."];
const ANSWER = PIECES.join("");
const pool = openPool(uri, size);

// A template without values.
const plain = (sql) => Object.assign([sql], { raw: [sql] });
const rows = (tenant, sql) => forTenant(pool, tenant)(plain(sql));
const embed = async (texts) => texts.map(() => [1, 0.25, 0]);

async function* write(system, messages) {
  assert(system.includes("[A1]") && system.includes("Passwords expire after 90 days."), system);
  const said = messages.map((message) => message.content);
  const number = /^How long do passwords last, ([12])[?]$/.exec(said.at(-1));
  if (number) {
    assert(system.includes("Passwords: [A1]"), system);
    assert.equal(said[said.indexOf(`How long do passwords last, ${number[1] - 1}?`) + 1], ANSWER);
  } else {
    assert.equal(messages.length, 1);
  }
  yield* PIECES;
}

// Runs a turn, checks its events, and returns the last one.
async function ask(tenant, conversation, question, request, writing = write) {
  let shown = "";
  for await (const [kind, data] of turn(forTenant(pool, tenant), conversation, question, request, embed, writing)) {
    if (kind === "sources") {
      assert.deepEqual([data[0].marker, data[0].title], ["A1", "Passwords"]);
    } else if (kind === "text") {
      shown += data;
      // No citation is cut in two.
      assert(ANSWER.startsWith(shown) && shown.split("[").length === shown.split("]").length, shown);
    } else if (kind === "citations") {
      assert.deepEqual(data.map((row) => row.marker), shown.includes("Z9") ? ["A1", "Z9"] : ["A1"]);
    } else {
      assert.equal(shown, ANSWER);
      return data;
    }
  }
  return assert.fail("there is no last event");
}

function told(tenant, conversation, end) {
  for (const cited of end.citations) {
    assert.equal(typeof cited.support, cited.support === null ? "object" : "number");
    console.log([tenant, conversation, end.turn_id, cited.raw, cited.status, cited.holds ? "t" : "f", (cited.support ?? 0).toFixed(4)].join("|"));
  }
  return end;
}

async function refused(what) {
  try {
    await what;
  } catch (error) {
    return (error.cause ?? error).code;
  }
  return assert.fail("it was not refused");
}

// Two tenants alternate in conversations with the same name, and each sees its own.
async function tenants() {
  const turns = { acme: [], bolt: [] };
  for (let number = 0; number < 3; number += 1) {
    for (const tenant of ["acme", "bolt"]) {
      const end = await ask(tenant, name, `How long do passwords last, ${number}?`, `${name} ${number}`);
      turns[tenant].push(told(tenant, name, end).turn_id);
      assert.deepEqual(await rows(tenant, "SELECT DISTINCT tenant FROM reground.turns"), [{ tenant }]);
    }
  }
  // The next user of the server connection that sets no tenant has none.
  const stranger = new pg.Client({ connectionString: uri });
  await stranger.connect();
  const left = await stranger.query("SELECT coalesce(current_setting('app.tenant_id', true), '') AS tenant, count(*)::int AS count FROM reground.turns");
  await stranger.end();
  assert.deepEqual(left.rows, [{ tenant: "", count: 0 }]);
  assert.deepEqual(await rows("", "SELECT count(*) AS count FROM reground.turns"), [{ count: "0" }]);
  assert.equal(await refused(rows("bolt", `SELECT reground.prompt_context(${turns.acme[0]})`)), "P0002");
  // The repeated request returns the same turn without an error.
  const again = await ask("acme", name, "How long do passwords last, 2?", `${name} 2`);
  assert.equal(again.turn_id, turns.acme[2]);
  assert.deepEqual(again.citations.map((cited) => cited.status), ["resolved_current", "unknown_id"]);
  assert.equal(await refused(ask("acme", name, "Something else?", `${name} 2`)), "23505");
}

// A transient failure is retried once; a permanent one is reported.
async function repeats() {
  const begin = (kind, times) => rows("acme", `SELECT fault('${kind}', ${times})::int AS tries, turn_id
    FROM reground.begin_turn('${name} again', 'How long do passwords last?', corpus => 'help') LIMIT 1`);
  for (const kind of ["conflict", "loss"]) {
    await rows("acme", "SELECT setval('tries', 1, false)");
    assert.equal((await begin(kind, 1))[0].tries, 2);
  }
  await rows("acme", "SELECT setval('tries', 1, false)");
  assert.equal(await refused(begin("conflict", 9)), "40001");
  assert.deepEqual(await rows("acme", "SELECT nextval('tries')::int AS tries"), [{ tries: 4 }]);
  const kept = await rows("acme", `SELECT count(*) AS count FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '${name} again'`);
  assert.deepEqual(kept, [{ count: "2" }]);
}

const state = (conversation) => rows("acme", `SELECT t.state FROM reground.turns AS t JOIN reground.conversations AS c USING (conversation_id) WHERE c.conversation_ref = '${conversation}'`);

// If the model fails or the user leaves, the turn is abandoned.
async function fails() {
  async function* broken() {
    yield* PIECES.slice(0, 3);
    throw new RangeError("no model");
  }
  await assert.rejects(ask("acme", `${name} failed`, "How long do passwords last?", `${name} failed`, broken), RangeError);
  assert.deepEqual(await state(`${name} failed`), [{ state: "abandoned" }]);
  for await (const [kind] of turn(forTenant(pool, "acme"), `${name} left`, "How long do passwords last?", `${name} left`, embed, write)) {
    if (kind === "text") break;
  }
  assert.deepEqual(await state(`${name} left`), [{ state: "abandoned" }]);
}

// All conversations wait for their models at once: the server has no open transaction of them, and no more sessions than allowed.
async function waits(admin) {
  let waiting = 0, allWait, goOn;
  const allWaiting = new Promise((resolve) => { allWait = resolve; });
  const going = new Promise((resolve) => { goOn = resolve; });
  async function* slow(...what) {
    waiting += 1;
    if (waiting === CONVERSATIONS) allWait();
    await going;
    yield* write(...what);
  }
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
  const turns = names.map(([tenant, conversation]) => ask(tenant, conversation, "How long do passwords last?", conversation, slow));
  const done = await Promise.all([...turns, look()]);
  names.forEach(([tenant, conversation], number) => told(tenant, conversation, done[number]));
}

const admin = new pg.Client({ connectionString: adminUri });
await admin.connect();
await waits(admin);
await tenants();
await fails();
if (prepared && driver === "pg") {
  // A program with named queries gets the same statement on each connection.
  for (let number = 0; number < 5; number += 1) {
    const client = await pool.connect();
    await client.query("BEGIN");
    const named = await client.query({ name: "named", text: "SELECT count(*)::int AS count FROM pg_prepared_statements" });
    await client.query("COMMIT");
    client.release();
    assert(named.rows[0].count > 0, "nothing was prepared");
  }
}
await repeats();
await (driver === "pg" ? pool : pool.$client).end();
await admin.end();
