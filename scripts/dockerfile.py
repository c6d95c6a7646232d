#!/usr/bin/env python3
"""dockerfile.py FILE TARGET BASE FOLDER [ARG=VALUE ...]: runs the steps of a Dockerfile without Docker, each stage in a folder below FOLDER.

BASE is a folder with the system that all images begin with. A RUN step gets a root of its own, as debian_run in debian.sh does. COPY takes
the files of the clone that git knows. Prints the folder of the target, its user, its entrypoint and its environment as shell assignments.
"""

import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RUN = '. "$0/scripts/env.sh"; . "$0/scripts/debian.sh"; debian_run "$@"'
KNOWN = {"FROM", "ARG", "ENV", "COPY", "RUN", "USER", "ENTRYPOINT", "EXPOSE", "VOLUME", "STOPSIGNAL"}


def instructions(file):
    """The instructions of a Dockerfile: name, arguments."""
    lines = (line for line in file.read_text().splitlines() if line.strip() and not line.lstrip().startswith("#"))
    text = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    for line in text.splitlines():
        name, _, arguments = line.partition(" ")
        if name not in KNOWN:
            sys.exit(f"unknown instruction: {line}")
        yield name, arguments.strip()


def copy(source, target):
    """Copies a file or the content of a folder, with all attributes."""
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--archive", f"{source}/." if source.is_dir() else source, target], check=True)


class Stage:
    """A stage in a folder. If the folder exists, its steps have been run before."""

    def __init__(self, folder, source, parent=None):
        self.folder, self.entrypoint = folder, "[]"
        self.user = parent.user if parent else "root"
        self.environment = dict(parent.environment) if parent else {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        self.arguments = {}
        self.exists = folder.exists()
        if not self.exists:
            folder.mkdir(parents=True)
            copy(source, folder)

    def expand(self, text):
        values = self.environment | self.arguments
        return re.sub(r"\$\{?(\w+)\}?", lambda match: values.get(match[1], ""), text)

    def run(self, command):
        # debian_run sets a PATH with the toolchain of this machine.
        values = {**self.arguments, **{name: value for name, value in self.environment.items() if name != "PATH"}}
        assignments = [f"{name}={value}" for name, value in values.items()]
        step = ["bash", "-euc", RUN, ROOT, self.folder, "env", *assignments, "sh", "-euc", command]
        subprocess.run(step, check=True, stdout=sys.stderr)

    def copy(self, names, target, source):
        into = self.folder / target.lstrip("/")
        for name in names:
            if source:
                copy(source.folder / name.lstrip("/"), into / pathlib.Path(name).name if target.endswith("/") else into)
                continue
            listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", name], check=True, capture_output=True, text=True)
            for file in filter(None, listed.stdout.split("\0")):
                place = into / file if name == "." else into / pathlib.Path(file).name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / file, place)


class Build:
    def __init__(self, file, base, folder, given):
        self.base, self.folder, self.given = pathlib.Path(base), pathlib.Path(folder), given
        self.defaults, self.steps, self.stages = {}, {}, {}
        label = None
        for name, arguments in instructions(pathlib.Path(file)):
            if name == "FROM":
                label = arguments.split()[2]
                self.steps[label] = [(name, arguments)]
            elif label:
                self.steps[label].append((name, arguments))
            else:
                argument, _, value = arguments.partition("=")
                self.defaults[argument] = value

    def stage(self, label):
        """Runs the steps of a stage, after those of the stages that it needs."""
        if label not in self.stages:
            self.stages[label] = self.run(label, self.steps[label])
        return self.stages[label]

    def run(self, label, steps):
        image = steps[0][1].split()[0]
        parent = self.stage(image) if image in self.steps else None
        stage = Stage(self.folder / label, parent.folder if parent else self.base, parent)
        for name, arguments in steps[1:]:
            print(f"--- {label}: {name} {arguments}", file=sys.stderr, flush=True)
            words = shlex.split(arguments)
            if name == "ARG":
                stage.arguments[arguments] = self.given.get(arguments, self.defaults.get(arguments, ""))
            elif name == "ENV":
                stage.environment |= {variable: stage.expand(value) for variable, value in (word.split("=", 1) for word in words)}
            elif name == "USER":
                stage.user = arguments
            elif name == "ENTRYPOINT":
                stage.entrypoint = arguments
            elif name == "COPY" and not stage.exists:
                source = self.stage(words.pop(0).removeprefix("--from=")) if words[0].startswith("--from=") else None
                stage.copy(words[:-1], words[-1], source)
            elif name == "RUN" and not stage.exists:
                stage.run(arguments)
        return stage


def main():
    file, target, base, folder, *given = sys.argv[1:]
    stage = Build(file, base, folder, dict(argument.split("=", 1) for argument in given)).stage(target)
    environment = " ".join(shlex.quote(f"{name}={value}") for name, value in stage.environment.items())
    print(f"image={shlex.quote(str(stage.folder))} user={shlex.quote(stage.user)} environment=({environment})")
    print("entrypoint=(" + " ".join(map(shlex.quote, json.loads(stage.entrypoint))) + ")")


main()
