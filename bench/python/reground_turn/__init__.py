"""A turn of reground, begun and ended by a client instead of by the server.

The competitor of the turn benchmark: the pipeline of reground.begin_turn and reground.end_turn,
with the same rows at its end, over psycopg 3. It asks what the extension costs or saves against a
good client, so everything that a client can do for speed is done: one connection, statements
prepared once, five round trips a turn (begin: 3, end: 2, commits not counted), one statement a
table, and no work whose result no row shows.

What it leaves out, because the workload of the benchmark never asks for it:

- filters, rerankers, other corpora, comparison (intent `compare`), deferred turns;
- ids of requests and of messages;
- the judgement of intent, and the earlier turns that it goes by: the caller gives it (so
  `turns.intent_signals` says only that), and the questions stand alone, so that none of them carries
  what it is about whatever the threshold;
- what history takes from the sources of a turn;
- the settings of conversations and corpora: one set holds, and is stored with each turn;
- citations of documents by name and citations that add a page (see `brackets`).

All of that makes it faster than a full client would be.
"""
