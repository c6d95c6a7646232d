#!/usr/bin/env python3
"""licences.py FOLDER: prints the licences of the crates that are linked into the extension of the clone FOLDER."""

import json
import pathlib
import subprocess
import sys

FILES = ("licen[cs]e*", "LICEN[CS]E*", "copying*", "COPYING*", "notice*", "NOTICE*")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(metadata):
    """The packages that `reground` depends on, except those for building and testing it."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    found, waiting = {}, [id for id, package in packages.items() if package["name"] == "reground"]
    while waiting:
        id = waiting.pop()
        macros = any("proc-macro" in target["kind"] for target in packages[id]["targets"])
        if id not in found and not macros:
            found[id] = packages[id]
            waiting += [
                dependency["pkg"]
                for dependency in nodes[id]["deps"]
                if any(kind["kind"] is None for kind in dependency["dep_kinds"])
            ]
    return [package for package in found.values() if package["source"]]


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    files = {file for pattern in FILES for file in folder.glob(pattern) if file.is_file()}
    return [file.read_text(errors="replace").strip() for file in sorted(files)]


def main():
    target = output("rustc", "--print", "host-tuple").strip()
    metadata = json.loads(
        output("cargo", "metadata", "--format-version=1", "--locked", "--filter-platform", target, "--manifest-path", f"{sys.argv[1]}/Cargo.toml")
    )
    # Many crates have the same text.
    crates = {}
    for package in linked(metadata):
        name = f"{package['name']} {package['version']}, {package['license'] or 'see the text'}"
        crates.setdefault("\n\n".join(texts(package)), []).append(name)
    for text, names in sorted(crates.items(), key=lambda item: sorted(item[1])):
        print("\n".join(sorted(names)), text or "(no text in the crate)", "=" * 80, sep="\n\n")


main()
