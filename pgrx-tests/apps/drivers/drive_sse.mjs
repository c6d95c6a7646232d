// Asks sse_server.py of the guide with the script of its page: drive_sse.mjs URL ADMIN_URI, in the folder of the server. The script runs
// with the few parts of a browser that it uses.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import vm from "node:vm";
import pg from "pg";

const [url, adminUri] = process.argv.slice(2);
const ANSWER = `Passwords expire after 90 days [A1]. Pigs fly over 巴黎 🐖 [Z9].${Array.from({ length: 200 }, (_, n) => `\n\nSentence ${n}.`).join("")}`;

const admin = new pg.Client({ connectionString: adminUri });
await admin.connect();

// What the script uses of EventSource, and all events for the checks.
class Events {
  static all = [];
  constructor(path) {
    this.handlers = {};
    this.seen = [];
    this.abort = new AbortController();
    Events.all.push(this);
    this.done = this.read(new URL(path, url)).catch((error) => { if (!this.abort.signal.aborted) throw error; });
  }
  addEventListener(name, handler) { this.handlers[name] = handler; }
  close() { this.closed = true; }
  async read(from) {
    const response = await fetch(from, { signal: this.abort.signal });
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    const decoder = new TextDecoder();
    let buffer = "";
    for await (const chunk of response.body) {
      buffer += decoder.decode(chunk, { stream: true });
      for (let end = buffer.indexOf("\n\n"); end >= 0; end = buffer.indexOf("\n\n")) {
        const [, name, data] = /^event: (\w+)\ndata: (.*)$/.exec(buffer.slice(0, end));
        buffer = buffer.slice(end + 2);
        this.seen.push([name, JSON.parse(data)]);
        if (!this.closed) this.handlers[name]?.({ data });
        this.wake?.();
      }
    }
    assert.equal(buffer, "");
    if (!this.closed) this.onerror?.();
  }
  // Waits for an event of this name.
  async until(name) {
    while (!this.seen.some((event) => event[0] === name)) {
      await Promise.race([new Promise((resolve) => { this.wake = resolve; }), this.done.then(() => { throw new Error(`no event ${name}`); })]);
    }
  }
}

const element = () => ({ textContent: "", value: "", children: [], replaceChildren(...children) { this.children = children; }, addEventListener(_, handler) { this.submit = handler; } });
const elements = Object.fromEntries(["form", "question", "answer", "citations"].map((id) => [id, element()]));
const document = { getElementById: (id) => elements[id], createElement: element };
const page = await (await fetch(url)).text();
vm.runInNewContext(/<script>(.*)<\/script>/s.exec(page)[1], { document, crypto, URLSearchParams, EventSource: Events });

// Submits a question; the gate of the model is closed.
function ask(question) {
  rmSync("gate", { force: true });
  elements.question.value = question;
  elements.form.submit({ preventDefault() {} });
  return Events.all.at(-1);
}
const open = () => writeFileSync("gate", "");
const listed = () => elements.citations.children.map((item) => item.textContent);

async function state(question) {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await admin.query("SELECT state FROM reground.turns WHERE query = $1", [question]);
    if (found.rows.length > 0 && found.rows[0].state !== "open") return found.rows.map((row) => row.state);
    await pause(100);
  }
  return assert.fail(`${question} stays open`);
}

// The first sentence is displayed while the model waits, and no citation is cut in two.
const first = ask("How long do passwords last?");
await first.until("citations");
assert.equal(elements.answer.textContent, "Passwords expire after 90 days [A1]. ");
assert.deepEqual(listed(), ["A1: Passwords (…)"]);
open();
await first.done;
assert.equal(elements.answer.textContent, ANSWER);
assert.deepEqual(listed(), ["A1: Passwords (resolved_current)", "Z9: no source (unknown_id)"]);
assert(first.closed);
const names = first.seen.map(([name]) => name);
assert.deepEqual([names[0], names.at(-1), names.filter((name) => name === "end").length], ["sources", "end", 1]);
assert.deepEqual(first.seen[0][1].map((source) => source.marker)[0], "A1");
// Verdicts come before the end, when their paragraph has ended.
assert(first.seen.some(([name, data]) => name === "citations" && data.some((row) => row.marker === "A1" && row.status === "resolved_current")));
const stored = await admin.query("SELECT answer FROM reground.messages WHERE message_id = $1", [first.seen.at(-1)[1].message_id]);
assert.deepEqual(stored.rows, [{ answer: ANSWER }]);

// A failure of the model is an event, and abandons the turn.
const second = ask("Does it fail?");
await second.until("citations");
open();
await second.done;
assert.equal(elements.answer.textContent, "There is no answer. Please ask again.");
assert.deepEqual(await state("Does it fail?"), ["abandoned"]);

// So does a browser that leaves.
const third = ask("Is anybody there?");
await third.until("citations");
third.abort.abort();
await third.done;
open();
assert.deepEqual(await state("Is anybody there?"), ["abandoned"]);
await admin.end();
console.log(`${names.length} events`);
