"""The model of the test of sse_server.py. After the first sentence it waits for the file `gate`; a question with "fail" makes it fail."""

import time
from pathlib import Path


def embed(texts):
    return [[1, 0.25, 0] for _ in texts]


def write(system, messages):
    assert "[A1]" in system and "Passwords expire after 90 days." in system, system
    yield "Passwords expire"
    yield " after 90 days [A1]. Pi"
    until = time.monotonic() + 120
    while not Path("gate").exists():
        assert time.monotonic() < until, "nobody opens the gate"
        time.sleep(0.02)
    if "fail" in messages[-1]["content"]:
        raise RuntimeError("no model")
    # Several sentences, so that the server notices that its client has left.
    yield from ("gs fly over 巴黎 🐖 [Z9].", *(f"\n\nSentence {number}." for number in range(200)))
