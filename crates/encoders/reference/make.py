#!/usr/bin/env python3
"""Makes tiny random models with transformers, and reference outputs for tests/reference.rs.

    pip install torch transformers    # the CPU build of torch is enough
    crates/encoders/reference/make.py [FOLDER]

FOLDER (default: crates/encoders/tests/models) gets one folder per model: config.json, tokenizer.json, model.safetensors, and
expected.json with inputs and the outputs of transformers. The weights are random, with a fixed seed. The tokenizer knows about
hundred words; the texts are made of these words and a few others.
"""

import json
import random
import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    BertModel,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    DistilBertConfig,
    DistilBertModel,
    ModernBertConfig,
    ModernBertForSequenceClassification,
    ModernBertForTokenClassification,
    ModernBertModel,
    RobertaConfig,
    RobertaForSequenceClassification,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

WIDTH = 16
SHAPE = dict(hidden_size=WIDTH, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
WORDS = (
    "the a of in on at to and or not is was are were has had with for from by river city mountain lake station harbour bridge "
    "tower museum garden north south east west old new large small long short first second third year month day people water "
    "stone wood iron glass built opened closed moved found lost wrote read said asked told gave took made one two three four "
    "five six seven eight nine ten passage answer question following text output summarize briefly é 中"
).split()
PIECES = list("abcdefghijklmnopqrstuvwxyz0123456789.,:;?!\"'()\n-")


def tokenizer(bos, eos, pad, unk, first_specials, pair_separators):
    """A WordPiece tokenizer with the special tokens of a family. Unknown words become letters."""
    specials = list(first_specials)
    vocabulary = specials + PIECES + [f"##{piece}" for piece in PIECES[:36]] + WORDS
    ids = {token: number for number, token in enumerate(dict.fromkeys(vocabulary))}
    made = Tokenizer(models.WordPiece(ids, unk_token=unk, max_input_chars_per_word=60))
    made.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=False)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    middle = " ".join([f"{eos}:0"] * pair_separators)
    made.post_processor = processors.TemplateProcessing(
        single=f"{bos}:0 $A:0 {eos}:0",
        pair=f"{bos}:0 $A:0 {middle} $B:1 {eos}:1",
        special_tokens=[(bos, ids[bos]), (eos, ids[eos])],
    )
    made.add_special_tokens(specials)
    return made, len(ids), ids[pad]


def bert_tokens():
    return tokenizer("[CLS]", "[SEP]", "[PAD]", "[UNK]", ["[PAD]", "[UNK]", "[CLS]", "[SEP]"], 1)


def roberta_tokens():
    return tokenizer("<s>", "</s>", "<pad>", "<unk>", ["<s>", "<pad>", "</s>", "<unk>"], 2)


def sentences(seed, lengths):
    chosen = random.Random(seed)
    words = WORDS + ["unknown", "zebra", "42"]
    return [" ".join(chosen.choice(words) for _ in range(length)) for length in lengths]


TEXTS = sentences(1, [0, 1, 2, 3, 5, 8, 13, 21, 30, 55, 70, 40, 4, 200])
PAIRS = list(zip(sentences(2, [2, 5, 9, 1, 14, 3]), sentences(3, [20, 4, 31, 66, 1, 0])))


def randomise(model, seed):
    """Larger weights than transformers' own, so that a wrong computation shows."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_norm_weight = "norm" in name.lower() and name.endswith("weight")
            noise = torch.randn(parameter.shape, generator=generator)
            # With larger ones, DeBERTa's softmax of the labels is 0 or 1.
            scale = 0.25 if type(model).__name__.startswith("Deberta") else 0.6
            parameter.copy_(1 + 0.2 * noise if is_norm_weight else scale * noise)
    return model.eval()


def encode(tokens, first, second=None, max_tokens=128, strategy="longest_first"):
    tokens.enable_truncation(max_tokens, strategy=strategy)
    return tokens.encode(first) if second is None else tokens.encode(first, second)


def run(model, encoding, types):
    inputs = {"input_ids": torch.tensor([encoding.ids]), "attention_mask": torch.ones(1, len(encoding.ids), dtype=torch.long)}
    if types:
        inputs["token_type_ids"] = torch.tensor([encoding.type_ids])
    with torch.no_grad():
        return model(**inputs)


def save(folder, name, model, tokens, expected, files=None):
    target = folder / name
    target.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(target)
    (target / "model.safetensors").chmod(0o644)
    tokens.no_truncation()
    (target / "tokenizer.json").write_text(tokens.to_str(pretty=False))
    (target / "expected.json").write_text(json.dumps(expected, ensure_ascii=False))
    for path, content in (files or {}).items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_text(json.dumps(content))
    size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
    print(f"{name}: {size / 1000:.0f} kB")


def sentence_encoder(folder, name, model, tokens, types, pooling, normalise, seed):
    model = randomise(model, seed)
    embeddings = []
    for text in TEXTS:
        states = run(model, encode(tokens, text, max_tokens=64), types).last_hidden_state[0]
        vector = {"cls": states[0], "mean": states.mean(0), "max": states.max(0).values}[pooling]
        vector = vector / vector.norm() if normalise else vector
        embeddings.append([round(value, 6) for value in vector.tolist()])
    # In the form of sentence-transformers before version 6.
    flags = {f"pooling_mode_{mode}": mode.startswith(pooling) for mode in ("cls_token", "mean_tokens", "max_tokens")}
    kinds = ["Transformer", "Pooling"] + ["Normalize"] * normalise
    files = {
        "sentence_bert_config.json": {"max_seq_length": 64},
        "1_Pooling/config.json": {"word_embedding_dimension": WIDTH, **flags},
        "modules.json": [
            {"idx": i, "name": str(i), "path": "1_Pooling" if kind == "Pooling" else "", "type": f"sentence_transformers.models.{kind}"}
            for i, kind in enumerate(kinds)
        ],
    }
    save(folder, name, model, tokens, {"kind": "sentence", "texts": TEXTS, "embeddings": embeddings}, files)


def cross_encoder(folder, name, model, tokens, types, seed):
    model = randomise(model, seed)
    logits = [run(model, encode(tokens, *pair), types).logits[0][-1].item() for pair in PAIRS]
    save(folder, name, model, tokens, {"kind": "cross", "pairs": PAIRS, "logits": logits})


def entailment(folder, name, model, tokens, types, separator, label, seed):
    """The probability of each pair, and of a long premise, whose sentences are windows of their own."""
    model = randomise(model, seed)

    def probability(premise, hypothesis):
        if separator is None:
            encoding = encode(tokens, premise, hypothesis)
        else:
            encoding = encode(tokens, premise + separator + hypothesis)
        return run(model, encoding, types).logits[0].softmax(-1)[label].item()

    probabilities = [probability(*pair) for pair in PAIRS]
    # Each sentence fills more than half of the 128 tokens, so each is a window. The first has the smallest probability.
    hypothesis = PAIRS[0][0]
    long = {sentence.capitalize() + ".": 0.0 for sentence in sentences(4, [70, 72, 68])}
    long = {sentence: probability(sentence, hypothesis) for sentence in long}
    probabilities.append(max(long.values()))
    long = sorted(long, key=long.get)
    pairs = PAIRS + [(" ".join(long), hypothesis)]
    save(folder, name, model, tokens, {"kind": "entailment", "pairs": pairs, "probabilities": probabilities})


def prompt(passages, question):
    context = "\n".join(f"passage {i + 1}: {passage}" for i, passage in enumerate(passages))
    if question is None:
        return f"\nSummarize the following text:\n{context}\noutput:\n"
    return (
        f"\nBriefly answer the following question:\n{question}\nBear in mind that your response should be strictly based on the "
        f"following {len(passages)} passages:\n{context}\nIn case the passages do not contain the necessary information to answer "
        'the question, please reply with: "Unable to answer based on given passages."\noutput:\n'
    )


def spans(folder, name, model, tokens, seed):
    """Spans of the answer with offsets in characters, and their mean and largest probability."""
    model = randomise(model, seed)
    cases = []
    # The long passages of the last case need an input each.
    for number, (length, sizes) in enumerate([(3, [9, 25]), (12, [9, 25]), (40, [9, 25]), (40, [700, 600])]):
        passages = sentences(10 + number, sizes)
        question = None if number == 2 else sentences(20 + number, [6])[0] + "?"
        # Characters of several bytes before and inside of spans.
        answer = "é中 " + sentences(30 + number, [length])[0] + " 中é stone"
        probabilities = {}
        for group in [[passage] for passage in passages] if sum(sizes) > 1000 else [passages]:
            encoding = encode(tokens, prompt(group, question), answer, 1000, "only_first")
            logits = run(model, encoding, False).logits[0]
            for place, sequence, probability in zip(encoding.offsets, encoding.sequence_ids, logits.softmax(-1)[:, 1].tolist()):
                if sequence == 1:
                    probabilities[place] = min(probability, probabilities.get(place, 1.0))
        found, current = [], []
        for place, probability in [*probabilities.items(), (None, 0.0)]:
            if probability > 0.5:
                current.append((place, probability))
            elif current:
                found.append(current)
                current = []
        cases.append({
            "passages": passages, "question": question, "answer": answer,
            "spans": [
                [span[0][0][0], span[-1][0][1], sum(p for _, p in span) / len(span), max(p for _, p in span)] for span in found
            ],
        })
    save(folder, name, model, tokens, {"kind": "spans", "cases": cases})


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "tests/models"
    tokens, size, pad = bert_tokens()
    bert = dict(SHAPE, vocab_size=size, pad_token_id=pad, max_position_embeddings=128)
    sentence_encoder(folder, "bert-mean", BertModel(BertConfig(**bert), add_pooling_layer=False), tokens, True, "mean", True, 1)
    distilbert = DistilBertConfig(
        vocab_size=size, dim=WIDTH, n_layers=2, n_heads=2, hidden_dim=24, max_position_embeddings=128, pad_token_id=pad
    )
    sentence_encoder(folder, "distilbert-cls", DistilBertModel(distilbert), tokens, False, "cls", False, 2)
    cross_encoder(folder, "bert-cross", BertForSequenceClassification(BertConfig(**bert, num_labels=1)), tokens, True, 3)
    # Local attention to two tokens on each side, so that short texts have keys outside of the reach.
    modern = dict(
        SHAPE, vocab_size=size, pad_token_id=pad, max_position_embeddings=128, local_attention=4, global_attn_every_n_layers=2,
        bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3,
    )
    sentence_encoder(folder, "modernbert-max", ModernBertModel(ModernBertConfig(**modern)), tokens, False, "max", True, 4)
    model = ModernBertForSequenceClassification(ModernBertConfig(**modern, num_labels=1, classifier_pooling="mean"))
    cross_encoder(folder, "modernbert-cross", model, tokens, False, 5)
    model = ModernBertForTokenClassification(ModernBertConfig(**dict(modern, max_position_embeddings=1000), num_labels=2))
    spans(folder, "modernbert-spans", model, tokens, 6)
    deberta = DebertaV2Config(
        **dict(bert, type_vocab_size=0), relative_attention=True, position_buckets=16, max_relative_positions=-1,
        norm_rel_ebd="layer_norm", share_att_key=True, pos_att_type=["p2c", "c2p"], position_biased_input=False,
        pooler_hidden_size=WIDTH, id2label={0: "entailment", 1: "not_entailment"}, label2id={"entailment": 0, "not_entailment": 1},
    )
    entailment(folder, "deberta-entailment", DebertaV2ForSequenceClassification(deberta), tokens, False, None, 0, 7)

    tokens, size, pad = roberta_tokens()
    roberta = dict(SHAPE, vocab_size=size, pad_token_id=pad, bos_token_id=0, eos_token_id=2, max_position_embeddings=130, type_vocab_size=1)
    model = XLMRobertaModel(XLMRobertaConfig(**roberta), add_pooling_layer=False)
    sentence_encoder(folder, "xlm-roberta-mean", model, tokens, False, "mean", False, 8)
    model = XLMRobertaForSequenceClassification(XLMRobertaConfig(**roberta, num_labels=1))
    cross_encoder(folder, "xlm-roberta-cross", model, tokens, False, 9)
    model = RobertaForSequenceClassification(RobertaConfig(**roberta, num_labels=2))
    entailment(folder, "roberta-minicheck", model, tokens, False, "</s>", 1, 10)
    labels = {0: "contradiction", 1: "neutral", 2: "entailment"}
    model = RobertaForSequenceClassification(RobertaConfig(**roberta, id2label=labels, label2id={v: k for k, v in labels.items()}))
    entailment(folder, "roberta-nli", model, tokens, False, None, 2, 11)


if __name__ == "__main__":
    main()
