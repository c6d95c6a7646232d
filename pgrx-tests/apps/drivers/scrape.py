"""Compares served metrics with the rows of the database: scrape.py ADDRESS DATABASE. The parser is that of prometheus_client."""

import sys
from urllib.error import HTTPError
from urllib.request import urlopen

import psycopg
from prometheus_client.openmetrics.parser import text_string_to_metric_families

address, database = sys.argv[1:]
# Names that would break the text if they were not escaped.
HOSTILE = 'a\\b"c\nd{e="f"} 1 # EOF\n'
with psycopg.connect(database) as connection:
    connection.execute("INSERT INTO reground.metric_totals VALUES (%s, %s, %s, 'answers', 'accept', 3), (%s, %s, %s, 'answer_seconds', '2', 3)", [HOSTILE] * 6)
    stored = dict(connection.execute(
        "SELECT metric, sum(total)::double precision FROM reground.metric_totals GROUP BY 1").fetchall())

with urlopen(f"{address}/metrics") as answer:
    assert answer.headers["Content-Type"].startswith("application/openmetrics-text"), answer.headers
    text = answer.read().decode()
families = {family.name: family for family in text_string_to_metric_families(text)}


def total(name, suffix, **labels):
    return sum(s.value for s in families[name].samples if s.name == name + suffix and labels.items() <= s.labels.items())


faults = [
    (name, found, expected)
    for name, found, expected in [
        ("answers", total("reground_answers", "_total"), stored["answers"]),
        ("citations", total("reground_citations", "_total"), stored["citations"]),
        ("turns", total("reground_turns", "_total"), stored["turns"]),
        ("tokens", total("reground_tokens", "_total"), stored["tokens"]),
        ("hostile", total("reground_answers", "_total", tenant=HOSTILE, corpus=HOSTILE, model=HOSTILE), 3),
        ("times", total("reground_answer_seconds", "_count"), stored["answer_seconds"]),
        ("below 5 s", total("reground_answer_seconds", "_bucket", le="5.0", model=HOSTILE), 3),
        ("queue", total("reground_queue_tasks", "", queue="audit"), 0),
    ]
    if found != expected
]
for name in ("reground_alerts", "reground_coordinate_faults", "reground_maintenance_failed", "reground_cost", "reground_refusals"):
    if name not in families:
        faults.append(("missing", name, None))
try:
    urlopen(f"{address}/other")
    faults.append(("path", "served", "404"))
except HTTPError as error:
    if error.code != 404:
        faults.append(("path", error.code, 404))
if faults:
    sys.exit(f"{faults}\n{text}")
