"""Generates trec_eval.json: random runs and judgements with the values that trec_eval computes for them.

    pip install pytrec_eval-terrier==0.5.11
    python trec_eval.py > trec_eval.json
"""

import json
import random

import pytrec_eval

MEASURES = {"ndcg_cut.1,5,10", "recall.5,10", "P.5,10", "recip_rank", "map"}
NAMES = ["ndcg_cut_1", "ndcg_cut_5", "ndcg_cut_10", "recall_5", "recall_10", "P_5", "P_10", "recip_rank", "map"]

rng = random.Random(20)
cases = []
for _ in range(50):
    documents = [f"d{number}" for number in range(rng.randint(2, 30))]
    grades = rng.choice([[0, 1], [0, 0, 0, 1], [-1, 0, 1, 2, 3], [0]])
    judged = {d: rng.choice(grades) for d in rng.sample(documents, rng.randint(1, len(documents)))}
    # Few distinct scores make ties. The last kind differs only in double precision.
    score = rng.choice([rng.random, lambda: float(rng.randint(0, 3)), lambda: 1 + rng.randint(0, 9) * 1e-9])
    scored = {d: score() for d in rng.sample(documents, rng.randint(1, len(documents)))}
    evaluator = pytrec_eval.RelevanceEvaluator({"q": judged}, MEASURES)
    measured = evaluator.evaluate({"q": scored})["q"]
    cases.append({"judged": judged, "scored": scored, "measured": {name: measured[name] for name in NAMES}})
print("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]")
