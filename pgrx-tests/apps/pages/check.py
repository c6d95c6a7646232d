"""Compares the report pages in a browser with the counts of the database.

check.py write FOLDER              splits the rows of pages.sql on standard input into NAME.html and NAME.json
check.py dom NAME.json NAME.dom    checks the document of the browser: elements, attributes, links, counts
check.py picture FILE.png          checks that the screenshot is not empty

Standard library only. The DOM was serialised by the browser after it had parsed the page and run its scripts, so text that does
not occur as an element or attribute in it had no effect.
"""

import base64
import json
import struct
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

# All elements that a page may have, with their attributes; any other element comes from data.
SHARED = {"class", "id", "dir", "title", "aria-label", "aria-hidden", "role", "tabindex"}
ELEMENTS = {
    "html": {"lang"}, "head": set(), "meta": {"charset", "http-equiv", "content", "name"}, "title": set(), "style": set(), "body": set(),
    "main": set(), "header": set(), "footer": set(), "section": set(), "h1": set(), "h2": set(), "p": set(), "a": {"href", "rel"}, "span": set(),
    "b": set(), "bdi": set(), "div": set(), "dl": set(), "dt": set(), "dd": set(), "ul": set(), "ol": set(), "li": set(), "figure": set(),
    "figcaption": set(), "details": {"open"}, "summary": set(), "table": set(), "thead": set(), "tbody": set(), "tr": set(), "th": {"scope"},
    "td": {"data-name"}, "svg": {"viewbox", "aria-labelledby", "preserveaspectratio"}, "path": {"d"}, "g": set(), "text": {"x", "y", "text-anchor"},
}
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
# Characters that the page must show by their number, because they change or hide text.
HIDDEN = set(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x61C, 0x1B]))
# Minimum number of colours in a picture with text, lines and tints.
LEAST_COLOURS = 200


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.faults, self.classes, self.links, self.text = [], [], [], []
        self.inside, self.title, self.policy = [], "", None

    def handle_starttag(self, tag, attributes):
        allowed = ELEMENTS.get(tag)
        if allowed is None:
            self.faults.append(f"element <{tag}>")
            return
        for name, value in attributes:
            if name not in allowed | SHARED:
                self.faults.append(f"attribute {name} of <{tag}>")
            if name == "href":
                self.links.append(value)
        said = dict(attributes)
        self.classes.extend((tag, name) for name in (said.get("class") or "").split())
        if said.get("http-equiv") == "Content-Security-Policy":
            self.policy = said.get("content")
        if tag not in ("meta",):
            self.inside.append(tag)

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()
        else:
            self.faults.append(f"</{tag}> within {self.inside[-3:]}")

    def handle_comment(self, data):
        self.faults.append(f"comment {data[:40]!r}")

    def handle_data(self, data):
        if self.inside == ["html", "head", "title"]:
            self.title += data
        if "style" not in self.inside:
            self.text.append(data)

    def count(self, tag, name):
        return sum(1 for found in self.classes if found == (tag, name))


def write(folder):
    for line in sys.stdin.read().splitlines():
        name, expected, page = line.split("|", 1)[0], *line.split("|", 1)[1].rsplit("|", 1)
        Path(folder, f"{name}.html").write_bytes(base64.b64decode(page))
        Path(folder, f"{name}.json").write_text(expected, encoding="utf-8")
        print(name)


def dom(expected, found):
    expected = json.loads(Path(expected).read_text(encoding="utf-8"))
    page = Page()
    page.feed(Path(found).read_text(encoding="utf-8"))
    page.close()
    faults = page.faults
    if page.policy != POLICY:
        faults.append(f"policy {page.policy!r}")
    for link in page.links:
        if not link.startswith(("#turn-", "https://docs.example/")):
            faults.append(f"link {link!r}")
    hidden = HIDDEN & set("".join(page.text))
    if hidden:
        faults.append(f"hidden characters {sorted(map(ord, hidden))}")
    if expected["title"] is not None and page.title != expected["title"]:
        faults.append(f"title {page.title!r}, not {expected['title']!r}")
    counts = {
        "citations": page.count("span", "cite"), "turns": page.count("section", "turn"), "intervals": page.count("svg", "interval"),
        "plots": page.count("svg", "plot") + "".join(page.text).count("Nothing to show yet."),
    }
    text = "".join(page.text)
    for name, count in counts.items():
        if count != expected[name]:
            faults.append(f"{count} {name}, and the database has {expected[name]}")
    if expected["worst"] and text.count(", turn ") < expected["worst"]:
        faults.append(f"fewer than {expected['worst']} answers to read first")
    for fault in faults:
        print(f"  {fault}", file=sys.stderr)
    print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return 1 if faults else 0


def picture(path):
    """Returns the colours of a PNG with 8 bits per channel and no interlacing, as written by Chromium."""
    data = Path(path).read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        print("  not a PNG", file=sys.stderr)
        return 1
    at, packed, header = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        if kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, _, colour, _, _, _ = header
    size = {2: 3, 6: 4}[colour]
    raw, row, colours = zlib.decompress(packed), bytearray(width * size), set()
    for y in range(height):
        start = y * (width * size + 1)
        kind, line = raw[start], bytearray(raw[start + 1:start + 1 + width * size])
        for i in range(len(line)):
            left = line[i - size] if i >= size else 0
            above, corner = row[i], row[i - size] if i >= size else 0
            if kind == 1:
                line[i] = line[i] + left & 255
            elif kind == 2:
                line[i] = line[i] + above & 255
            elif kind == 3:
                line[i] = line[i] + (left + above >> 1) & 255
            elif kind == 4:
                guess = left + above - corner
                nearest = min((abs(guess - left), 0, left), (abs(guess - above), 1, above), (abs(guess - corner), 2, corner))[2]
                line[i] = line[i] + nearest & 255
        row = line
        colours.update(line[i:i + 3].hex() for i in range(0, len(line), size))
    print(f"{width} x {height}, {len(colours)} colours")
    return 0 if len(colours) >= LEAST_COLOURS else 1


if __name__ == "__main__":
    sys.exit({"write": write, "dom": dom, "picture": picture}[sys.argv[1]](*sys.argv[2:]))
