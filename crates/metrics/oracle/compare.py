"""Compares the measures with the libraries that define them, on random cases.

    python compare.py path/to/examples/oracle

Ranking is compared with trec_eval, the U test and Wilson's interval with scipy, shares of citations with
statsmodels, ROUGE-L with Google's rouge_score. SQuAD's F1 and exact match are reimplemented here. Stops at the first value that differs
by more than 1e-9 and prints its case.
"""

import argparse
import itertools
import json
import math
import random
import re
import string
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator

import pytrec_eval
from rouge_score.rouge_scorer import RougeScorer
from scipy import stats
from statsmodels.stats.proportion import (
    confint_proportions_2indep,
    proportion_effectsize,
    proportions_ztest,
)

TOLERANCE = 1e-9

Case = dict
# None where the crate returns no value. The libraries return 0 or nothing there.
Values = dict[str, float | None]


def rankings(rng: random.Random) -> Iterator[Case]:
    """Ties, empty rankings, unjudged documents, no relevant documents, negative grades."""
    while True:
        documents = [f"d{number}" for number in range(rng.randint(1, rng.choice([3, 12, 60])))]
        grades = rng.choice([[0, 1], [0, 0, 0, 1], [-2, -1, 0, 1, 2, 3], [0], [1], [0, 1, 2, 10]])
        # Few distinct scores make ties. The last kind differs only beyond the precision of trec_eval.
        score = rng.choice(
            [rng.random, lambda: float(rng.randint(-2, 2)), lambda: 1 + rng.randint(0, 9) * 1e-9]
        )
        judged = rng.sample(documents, rng.randint(1, len(documents)))
        scored = rng.sample(documents, rng.randint(0, len(documents)))
        judgements = {document: rng.choice(grades) for document in judged}
        if max(judgements.values()) < 0:
            # trec_eval counts grades from 0 to the highest. It crashes if the highest is negative.
            judgements[judged[0]] = 0
        yield {
            "judged": judgements,
            "scored": {document: score() for document in scored},
            "k": rng.choice([1, 2, 3, 5, 10, 20, 100]),
        }


def trec_eval(case: Case) -> Values:
    """Values of trec_eval for one query."""
    k = case["k"]
    names = {"ndcg_cut": f"ndcg_cut_{k}", "recall": f"recall_{k}", "P": f"P_{k}"}
    names |= {"recip_rank": "recip_rank", "map": "map"}
    asked = {f"ndcg_cut.{k}", f"recall.{k}", f"P.{k}", "recip_rank", "map"}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": case["judged"]}, asked)
    measured = evaluator.evaluate({"q": case["scored"]})["q"]
    values: Values = {name: measured[theirs] for name, theirs in names.items()}
    if not any(grade > 0 for grade in case["judged"].values()):
        values |= dict.fromkeys(["ndcg_cut", "recall", "recip_rank", "map"])
    return values


def samples(rng: random.Random) -> Iterator[Case]:
    """Two samples: tiny, unequal and large, with and without ties, constant, shifted, far apart."""
    while True:
        sizes = [rng.choice([1, 2, 5, 8, 9, 20, 120, 400]) for _ in range(2)]
        sizes = [rng.randint(1, size) for size in sizes]
        shift = rng.choice([0.0, 0.0, 0.3, 5.0])
        draw = rng.choice(
            [
                rng.random,
                lambda: float(rng.randint(0, 3)),
                lambda: 0.5,
                lambda: rng.gauss(0, 1) * 1e6,
            ]
        )
        yield {
            "first": [draw() + shift for _ in range(sizes[0])],
            "second": [draw() for _ in range(sizes[1])],
        }


def mann_whitney(case: Case) -> Values:
    """Values of scipy's test, and scipy's rule for the method."""
    first, second = case["first"], case["second"]
    test = stats.mannwhitneyu(
        first, second, alternative="two-sided", method="auto", use_continuity=True
    )
    tied = len({*first, *second}) < len(first) + len(second)
    exact = min(len(first), len(second)) <= 8 and not tied
    return {
        "statistic": float(test.statistic),
        "p_value": float(test.pvalue),
        "effect": float(test.statistic) / (len(first) * len(second)),
        "exact": float(exact),
    }


def proportions(rng: random.Random) -> Iterator[Case]:
    """Small and large samples, and shares of 0 and 1."""
    while True:
        trials = rng.randint(0, rng.choice([1, 10, 1000, 100_000]))
        successes = rng.choice([0, trials, rng.randint(0, trials)])
        confidence = rng.choice([0.95, 0.9, 0.99, 0.999, rng.uniform(0.01, 0.9999)])
        yield {"successes": successes, "trials": trials, "confidence": confidence}


def wilson(case: Case) -> Values:
    """Values of scipy's interval."""
    if case["trials"] == 0:
        return {"low": None, "high": None}
    test = stats.binomtest(case["successes"], case["trials"])
    interval = test.proportion_ci(case["confidence"], method="wilson")
    return {"low": float(interval.low), "high": float(interval.high)}


def clustered(rng: random.Random) -> Iterator[Case]:
    """Answers of two groups, with few and many citations each, that depend on each other or do not."""
    while True:
        answers = []
        for group in (0, 1):
            share, spread = rng.uniform(0.01, 0.99), rng.choice([0.0, 0.3, 1.0])
            for _ in range(rng.randint(1, rng.choice([2, 20, 200]))):
                size = rng.randint(1, rng.choice([1, 6]))
                own = float(rng.random() < share) if rng.random() < spread else share
                holding = sum(rng.random() < own for _ in range(size))
                samples = [{"sum": 0.0, "count": 0}, {"sum": 0.0, "count": 0}]
                samples[group] = {"sum": float(holding), "count": size}
                answers.append(samples)
        yield {"answers": answers}


def shares(case: Case) -> Values:
    """Values of statsmodels for effective sizes, whose correlation is computed here over all pairs of citations."""
    groups = [[a[group] for a in case["answers"] if a[group]["count"]] for group in (0, 1)]
    sizes = [sum(a["count"] for a in group) for group in groups]
    means = [sum(a["sum"] for a in group) / n for group, n in zip(groups, sizes, strict=True)]
    products, squares = [], []
    for group, mean in zip(groups, means, strict=True):
        for answer in group:
            failing = int(answer["count"] - answer["sum"])
            residuals = [1 - mean] * int(answer["sum"]) + [-mean] * failing
            squares += [residual**2 for residual in residuals]
            products += [a * b for a, b in itertools.permutations(residuals, 2)]
    square = math.fsum(squares) / len(squares)
    related = math.fsum(products) / len(products) / square if products and square else 0.0
    related = min(max(related, 0.0), 1.0)
    effective = [
        n / (sum(a["count"] * (1 + (a["count"] - 1) * related) for a in group) / n)
        for group, n in zip(groups, sizes, strict=True)
    ]
    counts = [mean * n for mean, n in zip(means, effective, strict=True)]
    pooled = sum(mean * n for mean, n in zip(means, sizes, strict=True)) / sum(sizes)
    low, high = confint_proportions_2indep(
        counts[0], effective[0], counts[1], effective[1], method="newcomb", compare="diff"
    )
    p_value = 1.0
    if means[0] != means[1]:
        # The variance that it takes is that of both shares pooled, with pooled sizes.
        p_value = float(proportions_ztest(counts, effective, prop_var=pooled)[1])
    return {
        "p_value": p_value,
        "difference": means[0] - means[1],
        "low": float(low),
        "high": float(high),
        "effect": float(proportion_effectsize(means[0], means[1])),
    }


def pair(rng: random.Random, words: list[str], gaps: list[str]) -> tuple[str, str]:
    """A text and an edited copy (words removed, inserted and moved), sometimes an unrelated text."""

    def text() -> list[str]:
        length = rng.randint(0, rng.choice([3, 20, 200]))
        return [rng.choice(words) for _ in range(length)]

    def spell(tokens: list[str]) -> str:
        return "".join(rng.choice([token, token.upper()]) + rng.choice(gaps) for token in tokens)

    one = text()
    other = [token for token in one if rng.random() < 0.8]
    for token in text()[: len(one) // 4]:
        other.insert(rng.randint(0, len(other)), token)
    if rng.random() < 0.2:
        rng.shuffle(other)
    return spell(one), spell(rng.choice([other, other, other, one, text()]))


def ascii_texts(rng: random.Random) -> Iterator[Case]:
    """ASCII texts."""
    words = "rye barley a the grows 1990 x2 can't 3.14 snake_case e-mail U.S. field".split()
    gaps = [" ", " ", "  ", "\n", ", ", "; ", "-", "/", "\t", "\x00"]
    while True:
        text, reference = pair(rng, words, gaps)
        yield {"text": text, "reference": reference}


SCORER = RougeScorer(["rougeL"], use_stemmer=False)


def rouge_l(case: Case) -> Values:
    """Values of Google's package."""
    if not re.search("[a-zA-Z0-9]", case["reference"]):
        return dict.fromkeys(["precision", "recall", "f1"])
    score = SCORER.score(case["reference"], case["text"])["rougeL"]
    return {"precision": score.precision, "recall": score.recall, "f1": score.fmeasure}


def answers(rng: random.Random) -> Iterator[Case]:
    """Short and long answers in any script, with articles and punctuation at any position."""
    words = (
        "rye The a AN the Field theatre U.S. can't $5 été Ångström λόγος ПОЛЕ 知识 ２ x² a' _the_"
    ).split()
    # Includes characters that only Python treats as white space, and lookalikes that are none.
    gaps = [" ", "  ", ", ", *" \n.-—…“", *"\u00a0\u3000\x1c\x01\u200b"]
    while True:
        answer, reference = pair(rng, words, gaps)
        yield {"answer": answer, "reference": reference}


def squad(case: Case) -> Values:
    """Normalisation and both measures of SQuAD 2.0."""

    def tokens(text: str) -> list[str]:
        bare = text.lower().translate(str.maketrans("", "", string.punctuation))
        return re.sub(r"\b(?:a|an|the)\b", " ", bare).split()

    answer, reference = tokens(case["answer"]), tokens(case["reference"])
    shared = (Counter(answer) & Counter(reference)).total()
    if answer and reference:
        precision, recall = shared / len(answer), shared / len(reference)
        f1 = 2 * precision * recall / (precision + recall) if shared else 0.0
    else:
        f1 = float(answer == reference)
    return {"exact_match": float(answer == reference), "f1": f1}


SUITES: dict[
    str, tuple[int, Callable[[random.Random], Iterator[Case]], Callable[[Case], Values]]
] = {
    "ranking": (2000, rankings, trec_eval),
    "mann_whitney": (2000, samples, mann_whitney),
    "wilson": (1000, proportions, wilson),
    "shares": (500, clustered, shares),
    "rouge_l": (500, ascii_texts, rouge_l),
    "squad": (1500, answers, squad),
}


def measured(oracle: str, cases: list[Case]) -> list[Values]:
    """Values of the crate for each case."""
    lines = "".join(json.dumps(case) + "\n" for case in cases)
    answer = subprocess.run([oracle], input=lines, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def agree(ours: float | None, theirs: float | None) -> bool:
    """Whether both are the same number, or both None."""
    if ours is None or theirs is None:
        return ours is theirs
    return math.isfinite(theirs) and abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs))


def main() -> int:
    """Returns 1 if a value differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("oracle", help="the example `oracle` of the crate, built")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    for measure, (count, make, reference) in SUITES.items():
        source = make(random.Random(f"{measure} {arguments.seed}"))
        cases = [{"measure": measure, **next(source)} for _ in range(count)]
        answers = measured(arguments.oracle, cases)
        if len(answers) != count:
            print(f"{measure}: {len(answers)} answers to {count} cases", file=sys.stderr)
            return 1
        worst = 0.0
        for case, ours in zip(cases, answers, strict=True):
            theirs = reference(case)
            if ours.keys() != theirs.keys() or not all(
                agree(ours[name], theirs[name]) for name in theirs
            ):
                print(f"{measure} differs\ncase   {json.dumps(case)}", file=sys.stderr)
                print(f"ours   {json.dumps(ours)}\ntheirs {json.dumps(theirs)}", file=sys.stderr)
                return 1
            gaps = [abs(ours[name] - value) for name, value in theirs.items() if value is not None]
            worst = max([worst, *gaps])
        print(f"{measure}: {count} cases agree, the worst to {worst:.1e}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
