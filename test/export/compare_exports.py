"""Opens exported files with the libraries that trainers use, and compares them with the original sequences.

Usage: compare_exports.py FOLDER TOKENIZER. FOLDER has sequences.jsonl and one folder per format. Prints one JSON object.
"""

import json
import os
import sys

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"

import datasets
import pandas
import transformers

folder, tokenizer_folder = sys.argv[1:3]
datasets.disable_progress_bars()
tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder)
with open(f"{folder}/sequences.jsonl", encoding="utf-8") as lines:
    sequences = [json.loads(line) for line in lines]


def load(name, file="data.jsonl"):
    kind = "parquet" if file.endswith(".parquet") else "json"
    cache = f"{folder}/cache"
    return datasets.load_dataset(kind, data_files=f"{folder}/{name}/{file}", split="train", cache_dir=cache)


def pieces(sequence):
    """Adjacent spans of the same kind, joined; written independently of the exporter."""
    found = []
    for span in sequence["spans"]:
        if span["text"] == "":
            continue
        if found and found[-1][1] == span["trainable"]:
            found[-1][0] += span["text"]
        else:
            found.append([span["text"], span["trainable"]])
    return found


def encode(text):
    return tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)


def own_labels(sequence):
    """Ids and labels from transformers alone: the prompt by its template, each piece separately, then the end token."""
    rendered = tokenizer.apply_chat_template(sequence["prompt"], tokenize=False, add_generation_prompt=True)
    ids = tokenizer.encode(rendered, add_special_tokens=False)
    labels = [-100] * len(ids)
    for text, trained in pieces(sequence):
        part = encode(text)
        ids += part
        labels += part if trained else [-100] * len(part)
    return ids + [tokenizer.eos_token_id], labels + [tokenizer.eos_token_id]


def compare_tokens():
    rows = load("trl-tokens")
    different = 0
    tokens = 0
    for row, sequence in zip(rows, sequences, strict=True):
        ids, labels = own_labels(sequence)
        tokens += len(ids)
        different += sum(a != b for a, b in zip(row["input_ids"], ids)) + abs(len(row["input_ids"]) - len(ids))
        different += sum(a != b for a, b in zip(row["labels"], labels)) + abs(len(row["labels"]) - len(labels))
    return {"rows": len(rows), "tokens": tokens, "different": different}


def straddling():
    """axolotl's documented rule: the message is encoded as a whole, tokens that straddle parts are masked."""
    count = 0
    for row in load("axolotl"):
        parts = row["messages"][-1]["content"]
        borders, at = set(), 0
        for part in parts[:-1]:
            at += len(part["text"])
            borders.add(at)
        text = "".join(part["text"] for part in parts)
        encoded = tokenizer(text, return_offsets_mapping=True, add_special_tokens=False, split_special_tokens=True)
        count += sum(any(start < border < end for border in borders) for start, end in encoded["offset_mapping"])
    return count


def as_json(value):
    return json.loads(json.dumps(value))


def same_as_lines(name):
    """Whether `datasets` reads exactly what the file contains. Missing keys are returned as None."""

    def dense(value):
        if isinstance(value, dict):
            return {key: dense(item) for key, item in value.items() if item is not None}
        return [dense(item) for item in value] if isinstance(value, list) else value

    with open(f"{folder}/{name}/data.jsonl", encoding="utf-8") as lines:
        return [dense(as_json(row)) for row in load(name)] == [json.loads(line) for line in lines]


def verl():
    frame = pandas.read_parquet(f"{folder}/verl-sft/train.parquet")
    messages = [[dict(message) for message in row] for row in frame["messages"]]
    wanted = []
    for sequence in sequences:
        turns = [{"role": "assistant" if trained else "user", "content": text} for text, trained in pieces(sequence)]
        wanted.append(sequence["prompt"] + turns)
    tasks = load("verl-rl", "train.parquet")
    return {
        "messages": messages == wanted,
        "tasks": len(tasks),
        "gold": all(json.loads(row["extra_info"]["gold"])["checker"] for row in tasks),
    }


def trained_text(ids, labels):
    """The text of each run of trained tokens."""
    runs, run = [], []
    for token, label in zip(ids, labels):
        if label != -100:
            run.append(token)
        elif run:
            runs.append(run)
            run = []
    return [tokenizer.decode(run) for run in (runs + [run] if run else runs)]


CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{% if message['role'] == 'assistant' %}{% generation %}{{ message['content'] + '<|im_end|>' }}{% endgeneration %}"
    "{% else %}{{ message['content'] + '<|im_end|>' }}{% endif %}{{ '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def trl():
    import torch
    import trl as library
    from trl.chat_template_utils import get_training_chat_template

    config = transformers.Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, num_key_value_heads=1, max_position_embeddings=8192,
    )
    settings = {
        "output_dir": f"{folder}/trainer", "max_length": None, "report_to": "none", "use_cpu": True, "bf16": False,
        "max_steps": 1, "per_device_train_batch_size": 2, "disable_tqdm": True, "save_strategy": "no",
    }

    def trainer(name, **more):
        model = transformers.Qwen2ForCausalLM(config)
        arguments = library.SFTConfig(**settings, **more)
        return library.SFTTrainer(model=model, args=arguments, train_dataset=load(name), processing_class=tokenizer)

    ours = load("trl-tokens")
    tokens = trainer("trl-tokens")
    kept = list(tokens.train_dataset["labels"]) == list(ours["labels"])
    batch = tokens.data_collator([tokens.train_dataset[index] for index in range(len(ours))])
    collated = all(
        batch["labels"][index][: len(labels)].tolist() == labels and bool((batch["labels"][index][len(labels):] == -100).all())
        for index, labels in enumerate(ours["labels"])
    )
    loss = tokens.train().training_loss

    try:
        template = get_training_chat_template(tokenizer)
    except ValueError:
        # Not one of the templates TRL knows: as the card says, provide one that marks the model's output.
        tokenizer.chat_template = template = CHATML

    messages = trainer("trl-messages", assistant_only_loss=True, completion_only_loss=True)
    exact = 0
    for row, sequence in zip(messages.train_dataset, sequences, strict=True):
        runs = trained_text(row["input_ids"], row["labels"])
        wanted = [text for text, trained in pieces(sequence) if trained]
        # The template's own markers around each turn also get a loss: that is the difference the card mentions.
        # TRL's template for Qwen includes the newlines around a turn, ours does not.
        if template == CHATML:
            wanted = [f"{text}<|im_end|>" for text in wanted]
        else:
            wanted = [f"\n{tokenizer.decode(encode(text))}<|im_end|>\n" for text in wanted]
            wanted[0] = wanted[0].removeprefix("\n")
        exact += runs == wanted
    return {
        "version": library.__version__, "torch": torch.__version__, "kept": kept, "collated": collated,
        "trains": bool(loss == loss), "messages": exact,
    }


result = {
    "transformers": transformers.__version__,
    "datasets": datasets.__version__,
    "tokens": compare_tokens(),
    "straddling": straddling(),
    "lines": {
        name: same_as_lines(name)
        for name in ["llama-factory-sharegpt", "llama-factory-alpaca", "trl-messages", "axolotl", "openai", "trl-tokens"]
    },
    "verl": verl(),
}
try:
    import trl as _installed  # noqa: F401
except ImportError:
    result["trl"] = None
else:
    result["trl"] = trl()
print("\n" + json.dumps(result))
