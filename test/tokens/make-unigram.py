"""Generates unigram.fixture.json: a small Unigram tokenizer for the tests of src/language/tokens.

    pip install tokenizers==0.23.3 sentencepiece protobuf
    python3 test/tokens/make-unigram.py

It is trained on sentences composed from word lists, so the fixture contains no downloaded data. It has everything that
complicates positions: a Precompiled table (SentencePiece's format, with our own rules), NFKC, double spaces
collapsed, a dummy prefix, and no byte fallback, so that characters outside its alphabet become <unk>.
"""
import io
import json
import os
import random
import tempfile

import sentencepiece
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

here = os.path.dirname(os.path.abspath(__file__))
random.seed(7)

NOUNS = "river lighthouse teacher engine garden letter winter bridge planet violin market forest answer question".split()
VERBS = "finds carries repairs describes crosses remembers measures paints explains searches observes".split()
PLACES = "behind the old harbour|near the quiet square|under a wooden roof|in the northern valley|after the long rain".split("|")
TAGS = ["<think>", "</think>", "<plan>", "</plan>", "<web_search>", "</web_search>", "<observation>", "</observation>", "<answer>", "</answer>"]
OTHER = ["Straße über Köln, größer als früher.", "L'été dernier, à côté du café.", "Москва встречает утро.", "東京の朝は静かです。", "1 2 3 4 5 6 7 8 9 0 = + - * / % ( ) [ ] { } : ; , . ! ? ' \" # @ & | _ ~"]


def sentences():
    for _ in range(4000):
        kind = random.random()
        sentence = f"The {random.choice(NOUNS)} {random.choice(VERBS)} the {random.choice(NOUNS)} {random.choice(PLACES)}."
        if kind < 0.2:
            tag = random.choice(TAGS)
            sentence = f"{tag}{sentence}{random.choice(TAGS)}"
        elif kind < 0.4:
            sentence += f" In {random.randint(1500, 2030)} it was {random.randint(1, 999)}.{random.randint(0, 99)} km away."
        elif kind < 0.5:
            sentence = random.choice(OTHER)
        yield sentence


def charsmap():
    """A table with our own rules: ligature, quotes, no-break and thin space, removed soft hyphen, a two-character rule."""
    rules = [("FB01", "66 69"), ("2018", "27"), ("2019", "27"), ("201C", "22"), ("201D", "22"), ("A0", "20"), ("2009", "20"), ("AD", ""), ("9", "20"), ("61 30A", "E5"), ("2026", "2E 2E 2E"), ("1F468", "6D 61 6E")]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rules.tsv")
        with open(path, "w") as file:
            file.writelines(f"{source}\t{target}\n" for source, target in rules)
        model = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["a b c d e f g h"] * 10), model_writer=model, vocab_size=12, normalization_rule_tsv=path, minloglevel=2
        )
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return proto.normalizer_spec.precompiled_charsmap


tokenizer = Tokenizer(models.Unigram())
tokenizer.normalizer = normalizers.Sequence(
    [normalizers.Precompiled(charsmap()), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
)
tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always")
tokenizer.decoder = decoders.Metaspace(replacement="▁", prepend_scheme="always")
tokenizer.train_from_iterator(
    sentences(),
    trainers.UnigramTrainer(vocab_size=700, special_tokens=["<pad>", "<s>", "</s>", "<unk>"], unk_token="<unk>", show_progress=False),
)
value = json.loads(tokenizer.to_str())
with open(os.path.join(here, "unigram.fixture.json"), "w") as file:
    json.dump({"tokenizer": value, "config": {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}}, file, ensure_ascii=False, separators=(",", ":"))
    file.write("\n")
