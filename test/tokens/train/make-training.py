"""Trains tokenizers with the Rust `tokenizers` library, for comparison with src/language/tokens/train.

    pip install tokenizers==0.23.3
    python3 test/tokens/train/make-training.py                 # writes training.fixture.json from the cases below
    python3 test/tokens/train/make-training.py live < cases    # trains and encodes the cases of a test, on standard output

A case has texts and options; its result contains the outcome of training (vocabulary, merges, added tokens) and the ids of the probes,
once with control tokens recognized and once as text. The Rust library also learns from the letters of added tokens, so the
texts are split there first, like ours. In `live`, a case may include one of our tokenizers, which is loaded instead of training one.
"""
import json
import os
import random
import re
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TAGS = ["<think>", "</think>", "<observation>", "</observation>", "<answer>", "</answer>", "<think", "東京"]
PATTERN = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

PROBES = [
    "", " ", "The river crosses the old bridge near the harbour in 1999.", "  two  spaces\n\n\nlines\r\n\ttab ", "don't WE'LL I'm", "3.14159 and 1,000,000",
    "<think>plan</think>\n<observation>1. [A](https://a.example/x?y=1)</observation>\n\n<answer>42</answer>", "<think <thinking> </think", "<|im_start|>user\nhi<|im_end|>\n<|endoftext|>", "<|im_end|",
    "Straße über Köln, naïve café", "cafe\u0301", "Москва встречает утро", "東京の朝は静かです。京東京", "안녕하세요", "مرحبا", "👍🏽👩\u200d👩\u200d👧 🇩🇪", "𝄞\U0010ffff\ue000", "nul\0\x01\x7f\x85\u2028", "\ufeffbom\ufffd",
    "lighthouse lighthouses teacher's gardenletter", "aaaaaaaaaaaaa aaaa aaa aa", "((())) == != ===", "def f(x):\n    return x ** 2  # square\n",
]


def words(seed, sentences, tags=False):
    """Invented sentences; frequent words come early in the list."""
    source = random.Random(seed)
    known = "the of a river lighthouse teacher garden letter winter bridge finds carries repairs crosses near under behind old quiet harbour keeper measured don't we'll New York café naïve über Köln 東京 Москва утро 안녕 👍🏽 1999 42 3.14 , . ! ? ' (x) == **".split(" ")
    texts = []
    for _ in range(sentences):
        line = " ".join(known[int(source.random() ** 2 * len(known))] for _ in range(source.randint(3, 16))) + source.choice(["", ".", ".\n", "\n\n", "  "])
        if tags:
            line = source.choice(["<think>", "<|im_start|>user\n", "<observation>", ""]) + line + source.choice(["</think>\n", "<|im_end|>\n", "</observation>", "<answer>"])
        texts.append(line)
    return texts


def letters(seed, count):
    """Words of syllables: many pairs with the same count, to test how ties are broken."""
    source = random.Random(seed)
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    return [" ".join("".join(source.choice(syllables) for _ in range(source.randint(1, 5))) for _ in range(12)) for _ in range(count)]


def cases():
    yield {"name": "sentences", "texts": words(1, 250), "options": {"vocabularySize": 420, "minimumFrequency": 2, "controlTokens": CONTROL, "tags": []}}
    yield {"name": "tags and control tokens in the texts", "texts": words(2, 200, tags=True), "options": {"vocabularySize": 400, "minimumFrequency": 2, "controlTokens": CONTROL, "tags": TAGS}}
    yield {"name": "ties", "texts": letters(3, 120), "options": {"vocabularySize": 500, "minimumFrequency": 2, "controlTokens": CONTROL, "tags": []}}
    yield {"name": "fewer merges than asked for", "texts": words(4, 12), "options": {"vocabularySize": 5000, "minimumFrequency": 3, "controlTokens": ["<|endoftext|>", "<|im_end|>"], "tags": ["<think>"]}}
    yield {"name": "every pair", "texts": words(5, 6), "options": {"vocabularySize": 5000, "minimumFrequency": 1, "controlTokens": CONTROL, "tags": []}}


def cut(text, tokens):
    """Texts between added tokens, matched leftmost and longest first."""
    if not tokens:
        return [text]
    return re.split("|".join(re.escape(token) for token in sorted(tokens, key=len, reverse=True)), text)


def train(texts, options):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(PATTERN), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=options["vocabularySize"] - len(options["tags"]), min_frequency=options["minimumFrequency"], special_tokens=options["controlTokens"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False,
    )
    pieces = [piece for text in texts for piece in cut(text, options["controlTokens"] + options["tags"])]
    tokenizer.train_from_iterator(pieces, trainer)
    tokenizer.add_tokens([AddedToken(tag, normalized=False) for tag in options["tags"]])
    return tokenizer


def result(case):
    ours = case.get("tokenizer")
    tokenizer = train(case["texts"], case["options"]) if ours is None else Tokenizer.from_str(json.dumps(ours))
    value = json.loads(tokenizer.to_str())
    rows = []
    for probe in case.get("probes", PROBES):
        row = {"text": probe}
        for name, as_text in [("recognize", False), ("literal", True)]:
            tokenizer.encode_special_tokens = as_text
            row[name] = tokenizer.encode(probe, add_special_tokens=False).ids
        row["decoded"] = tokenizer.decode(row["recognize"], skip_special_tokens=False)
        rows.append(row)
    return {"added": value["added_tokens"], "vocabulary": value["model"]["vocab"], "merges": value["model"]["merges"], "rows": rows}


if __name__ == "__main__":
    if sys.argv[1:] == ["live"]:
        json.dump([result(case) for case in json.load(sys.stdin)], sys.stdout)
    else:
        folder = os.path.dirname(os.path.abspath(__file__))
        with open(os.path.join(folder, "training.fixture.json"), "w") as file:
            json.dump([{**case, "result": result(case)} for case in cases()], file, separators=(",", ":"), ensure_ascii=False)
            file.write("\n")
