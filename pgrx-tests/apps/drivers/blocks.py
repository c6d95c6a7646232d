"""Extracts the programs of a page: blocks.py PAGE FOLDER writes each block that names a file, and the sql blocks as setup.sql."""

import sys
from pathlib import Path

page, folder = Path(sys.argv[1]), Path(sys.argv[2])
name, lines, sql = None, [], []
for line in page.read_text(encoding="utf-8").splitlines():
    if name is None and line.startswith("```"):
        kind, _, file = line[3:].partition(" ")
        name, lines = file or kind, []
    elif name is not None and line == "```":
        if name == "sql":
            sql += lines
        elif "." in name:
            Path(folder, name).write_text("\n".join(lines) + "\n", encoding="utf-8")
            print(name)
        name = None
    elif name is not None:
        lines.append(line)
Path(folder, "setup.sql").write_text("\n".join(sql) + "\n", encoding="utf-8")
