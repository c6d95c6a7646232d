# Each target calls one script. Downloads, builds and servers are in ~/.cache/reground (REGROUND_CACHE=…), not in the clone.

export ARGS WORKER PG PG_CONFIG ANALYST APPS CITUS PACKAGES DEBS MAINTAINER PGBOUNCER DATA DOCS PROFILE RECREATE URI OUT ROUNDS ROWS SECONDS_EACH PART MINUTES CALLS

.DEFAULT_GOAL := help
.PHONY: help demo test test-bench test-metrics test-models test-apps test-update test-pgvector test-installed test-packages test-image test-owner test-upgrade test-crash test-sealing test-subscriber test-erasure test-citus test-replicas test-nodes soak worker server server-stop eval eval-sample bench bench-alerts bench-audit bench-growth bench-recording bench-lexical bench-scale bench-visible-rows all build install package fmt lint clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 22
	@echo
	@echo "  PG=18 | PG=16        the embedded PostgreSQL to use (default 18)"
	@echo "  PG_CONFIG=/path/to/pg_config    a PostgreSQL of your own, 15 to 18, with pgvector"

demo: ## ingest documents, hold a conversation of six turns, audit every citation (DOCS=folder for your own documents)
	@scripts/demo.sh

test: ## layer check, lints, unit tests, SQL regression tests and client tests on a temporary server
	@scripts/test.sh

test-bench: ## formatting, clippy and unit tests of bench/, a workspace of its own
	@scripts/test-bench.sh

test-metrics: ## compare the metrics with scipy, trec_eval and rouge_score
	@scripts/test-metrics.sh

test-models: ## compare local models with torch and transformers, on tiny models that it makes
	@scripts/test-models.sh

test-apps: ## test the report pages in Chromium, the programs of the guide through pgbouncer, and its recipes for schema tools (APPS=optional: skip what cannot be installed)
	@scripts/test-apps.sh

test-update: ## test ALTER EXTENSION UPDATE from the previous release, with data and objects of users
	@scripts/test-update.sh

test-pgvector: ## run the SQL regression suite with pgvector 0.7, the oldest version that reground supports
	@scripts/test-pgvector.sh

test-installed: ## run the SQL regression suite on the extension that is installed in PG_CONFIG
	@scripts/test-installed.sh

test-packages: ## test the Debian packages for 15 and 17 with the SQL regression suite (as root; PACKAGES=optional: skip what cannot be installed)
	@scripts/test-packages.sh

test-image: ## run the steps of docker/Dockerfile without Docker, and the server as a container (as root, PG=18, WORKER=1: the worker too)
	@scripts/test-image.sh

test-owner: ## test a managed server: the owner of the database, who is no superuser, grants roles, sets the tenant, dumps and restores
	@scripts/test-owner.sh

test-upgrade: ## test the upgrade from 16 to 18 with data, by logical replication and by pg_upgrade
	@scripts/test-upgrade.sh

test-crash: ## test the BM25 index under kill -9, replay and promotion (ROUNDS=3)
	@scripts/test-crash.sh

test-sealing: ## test encrypted sources: equal results with and without keys, and no word of a source in files, WAL, dumps and the log
	@scripts/test-sealing.sh

test-subscriber: ## test a logical subscriber of a PostgreSQL without the extension
	@scripts/test-subscriber.sh

test-erasure: ## test that erased text is in no dump, no file of the server and no restored backup
	@scripts/test-erasure.sh

test-replicas: ## test reads on a standby, and a failover during turns, directly and through pgbouncer
	@scripts/test-replicas.sh

test-nodes: ## test a set of tenants per server, audited in one database through postgres_fdw, and the split of a server (ANALYST=pg_config with postgres_fdw; ANALYST=optional: read the servers one by one)
	@scripts/test-nodes.sh

test-citus: ## test corpora over tables that Citus distributes, with a coordinator and two workers (PG_CONFIG=server with Citus; CITUS=optional: skip without one)
	@scripts/test-citus.sh

soak: ## run the tests that take two hours, in four parts: random input, crashes and memory, twice an application under load (PART=2)
	@scripts/soak.sh

server: ## start a server with the extension; the last line is its URI (RECREATE=1 creates the extension again)
	@scripts/start-server.sh

server-stop: ## stop that server; its data remain
	@scripts/stop-server.sh

worker: ## run the worker that calls models, on the development server or on REGROUND_DATABASES (ARGS=--once)
	@scripts/worker.sh

eval: ## evaluate retrieval and turns on public data sets (DATA=folder); fails below bench/floors.json
	@scripts/eval.sh --check

eval-sample: ## the same evaluation on a fixed quarter of the conversations
	@scripts/eval.sh --check --sample

bench: ## measure the cost of a turn, into docs/benchmarks.md (DATA=folder; URI=… for another server)
	@scripts/bench.sh

bench-alerts: ## false alarms of the alert rules in simulated months, and the time until they find a fault
	@scripts/bench-alerts.sh

bench-growth: ## measure a turn late in a conversation and in a large database (DATA=folder)
	@scripts/bench-growth.sh

bench-audit: ## measure audit queries over ten million citations (generates 15 GB first), and with DATA=folder the cost of provenance, corrected answers and conflicts
	@scripts/bench-audit.sh

bench-recording: ## measure how many imported answers are recorded per second (DATA=folder)
	@scripts/bench-recording.sh

bench-visible-rows: ## measure searches under policies, principals and filters beside plain SQL, into docs/benchmarks-visible-rows.md
	@scripts/bench-visible-rows.sh

bench-lexical: ## compare indexes for ranked text search, into docs/benchmarks-lexical.md (DATA=folder; URI=…)
	@scripts/bench-lexical.sh

bench-scale: ## ten million passages in an index for ranked text search, and hybrid search over a million, into docs/benchmarks-scale.md (DATA=folder; URI=…)
	@scripts/bench-scale.sh

# pgxn calls all and install.
all: build

build: ## build the extension's library with full optimisation (PROFILE=dev: faster to build)
	@PROFILE=$${PROFILE:-release} scripts/build-extension.sh

install: ## build and install into the server of PG or PG_CONFIG
	@library=$$(PROFILE=$${PROFILE:-release} scripts/build-extension.sh) && scripts/install-extension.sh "$$library"

package: ## make the tarball, the archive for PGXN and the Debian packages (as root, DEBS="bookworm:15 trixie:17"; with PG_CONFIG: one package for it)
	@scripts/package.sh

fmt: ## format the Rust sources
	@cargo fmt --all
	@cd bench && cargo fmt

lint: ## layers, formatting, clippy (of bench/: make test-bench)
	@scripts/check-layers.sh
	@scripts/lint.sh

clean: ## remove build results; downloads and the servers' data remain
	@scripts/clean.sh
