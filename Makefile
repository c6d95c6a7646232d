# Each target calls the one script that does it. Downloads, builds and servers live in ~/.cache/reground
# (REGROUND_CACHE=…), never in the clone.

export PG PG_CONFIG APPS PGBOUNCER DATA DOCS PROFILE RECREATE URI OUT ROUNDS SECONDS_EACH

.DEFAULT_GOAL := help
.PHONY: help demo test test-bench test-metrics test-apps test-upgrade test-crash test-subscriber test-erasure soak server server-stop eval eval-sample bench bench-audit bench-growth bench-recording bench-lexical build install fmt lint clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22
	@echo
	@echo "  PG=18 | PG=16        the embedded PostgreSQL to use (default 18)"
	@echo "  PG_CONFIG=/path/to/pg_config    a PostgreSQL of your own, 15 to 18, with pgvector"

demo: ## documents in, a conversation of six turns, every citation audited (DOCS=folder for your own)
	@scripts/demo.sh

test: ## layers, lints, unit tests, then SQL regression and client tests over a throw-away server
	@scripts/test.sh

test-bench: ## formatting, clippy and unit tests of bench/, a workspace of its own
	@scripts/test-bench.sh

test-metrics: ## the measures, held against scipy, trec_eval and rouge_score
	@scripts/test-metrics.sh

test-apps: ## the report pages in Chromium, and the programs of docs/guide/drivers.md through pgbouncer (APPS=optional: leave out what cannot be had)
	@scripts/test-apps.sh

test-upgrade: ## pg_upgrade from 16 to 18 with data: nothing is lost, and it goes on
	@scripts/test-upgrade.sh

test-crash: ## kill -9 under load and a standby that is read and promoted: the BM25 index stays sound (ROUNDS=3)
	@scripts/test-crash.sh

test-subscriber: ## a plain PostgreSQL publishes its tables, a subscriber with the extension serves the conversations
	@scripts/test-subscriber.sh

test-erasure: ## what was forgotten is in no dump, no file of the server and no restored backup, by the commands of the guide
	@scripts/test-erasure.sh

soak: ## fuzzing for longer, and fifty crashes (SECONDS_EACH=600, ROUNDS=50)
	@scripts/soak.sh

server: ## start a server with the extension; the last line is its URI (RECREATE=1 makes the extension anew)
	@scripts/start-server.sh

server-stop: ## stop it; its data stay
	@scripts/stop-server.sh

eval: ## citations, retrieval and whole turns on public data sets (DATA=folder); fails below bench/floors.json
	@scripts/eval.sh --check

eval-sample: ## the same on a fixed quarter of the conversations
	@scripts/eval.sh --check --sample

bench: ## time and space of a turn, writes docs/benchmarks.md (DATA=folder; URI=… for another server)
	@scripts/bench.sh

bench-growth: ## turns late in a conversation, and in a database with many conversations (DATA=folder)
	@scripts/bench-growth.sh

bench-audit: ## audit queries over ten million citations (generates 15 GB first); with DATA=folder the cost of provenance
	@scripts/bench-audit.sh

bench-recording: ## answers of other systems that are checked and recorded per second (DATA=folder)
	@scripts/bench-recording.sh

bench-lexical: ## compares indexes for ranked text search, writes docs/benchmarks-lexical.md (DATA=folder; URI=…)
	@scripts/bench-lexical.sh

build: ## the extension's library (PROFILE=release for full optimisation)
	@scripts/build-extension.sh

install: ## build, and install into the server of PG or PG_CONFIG
	@library=$$(scripts/build-extension.sh) && scripts/install-extension.sh "$$library"

fmt: ## format the Rust sources
	@cargo fmt --all
	@cd bench && cargo fmt

lint: ## layers, formatting, clippy (of bench/: make test-bench)
	@scripts/check-layers.sh
	@scripts/lint.sh

clean: ## remove what was built; downloads and the servers' data stay
	@scripts/clean.sh
