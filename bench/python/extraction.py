"""Find the forms of citations with regular expressions of `re`, to compare the speed of the extraction.

Standard input is a JSON array of answers. Code and hidden reasoning are removed first, then each form is searched for. Prints the
shortest time of the rounds and the number of strings found, as JSON.
"""

import argparse
import json
import re
import sys
import time

HIDDEN = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t>]*(?P=fence)[`~]*[ \t]*$|\Z)"
    r"|(?P<ticks>`+)[^`\n]+(?P=ticks)(?!`)|<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)",
    re.S | re.M | re.I,
)
OPEN, CLOSE = r"[\[【［]", r"[\]】］]"
NUMBER = r"\d{1,3}(?:\s*[-–]\s*\d{1,3})?"
LIST = rf"{NUMBER}(?:\s*(?:,|;|&|and)\s*{NUMBER})*"
LABEL = r"(?:ID|ref|cite|citation|web|attached_file|doc|document|source|sources)"
NAME = r"(?:[Ss]ources?|[Ss]rc|[Dd]oc(?:ument)?s?|[Rr]ef(?:erence)?s?|[Cc]itations?|[Qq]uelle|[Ff]uente|来源)"
AUTHOR = r"(?:[A-Z][\w'’-]+)(?:(?:,| and| &) [A-Z][\w'’-]+)*(?: et al\.?)?,? (?:1[5-9]|20|21)\d\d[a-z]?"

FORMS = [
    re.compile(pattern)
    for pattern in (
        rf"{OPEN}[A-Z]{{1,3}}\d{{1,5}}(?:\s*[,;]\s*[A-Z]{{1,3}}\d{{1,5}})*{CLOSE}",
        rf"{OPEN}{{1,2}}{LIST}{CLOSE}{{1,2}}(?:\([^)\n]*\))?",
        rf"[\[【［(]{LABEL}\s*:\s*{LIST}[\]】］)]",
        r"\bref\d{1,3}\b",
        r"\[(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,8}\]",
        r"[【\[]\d+(?::\d+)?†[^】\]\n]*[】\]]",
        "\ue200[^\ue200\ue201]*\ue201",
        r"(?:file)?cite(?:turn\d+[a-z]+\d+)+|\b(?:turn\d+[a-z]+\d+)+",
        r"\[span_\d+\]\((?:start|end)_span\)",
        rf"\{{\{{{LABEL}:\d+\}}\}}",
        r"\[doc\d+\]",
        r"<co:?\s*[\d, ]+>|</co:?[\d, ]*>",
        r"<source\s[^>]*>|<cite[^>]*>.*?</cite>",
        r"\[\^[\w.-]+\^?\]",
        r"\bSources? \d{1,3}\b",
        rf"[\[(]{NAME}\s*:[^\])\n]*[\])]",
        rf"[(\[]{AUTHOR}(?:; {AUTHOR})*[)\]]",
        r"(?<=\w{4})[¹²³⁰⁴-⁹]+|(?<=[.,;!?”])[¹²³⁰⁴-⁹]+",
        r"[①-⑳]",
    )
]


def found(text: str) -> int:
    """Return the number of citation strings in an answer."""
    prose = HIDDEN.sub(lambda hidden: " " * len(hidden.group()), text)
    return sum(sum(1 for _ in form.finditer(prose)) for form in FORMS)


def main() -> int:
    """Run the rounds and print the result; return 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    answers = json.load(sys.stdin)
    best, count = float("inf"), 0
    for _ in range(rounds):
        begun = time.process_time()
        count = sum(found(answer) for answer in answers)
        best = min(best, time.process_time() - begun)
    json.dump({"seconds": best, "found": count}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
