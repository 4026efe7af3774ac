"""Generates minimind.fixture.json: transformers with MiniMind2-Small's dequantized weights, in float64.

    COA_TEST_MINIMIND=1 npx node test/engine/reference/write-minimind.ts /tmp/minimind-hf
    python test/engine/reference/make_minimind.py /tmp/minimind-hf

Fields: versions; onnx_sha256 (of the package's graph, to verify the weights); prompts, each with
    messages, text, ids     the chat, as the tokenizer's template writes it, and its tokens
    reply                   {text, ids, logprobs}: log-probabilities of a sensible answer; evidence that the weights are correct
    positions               [{position, top: [[token, logit] x 8]}] of the forward pass over `ids`
    logprobs                of ids[1:], each given the tokens before it
    greedy                  {ids, text, logprobs, margins}: the most likely continuation; a margin is the difference
                            between the best logit and the second, to tell a tie from an error
"""

import json
import pathlib
import platform
import sys

import torch
import transformers
from safetensors import safe_open

from losses import target_logprobs
from make_fixtures import digits
from tiny_models import in_double

PROMPTS = [
    ("世界上最高的山峰是什么？", "世界上最高的山峰是珠穆朗玛峰，位于喜马拉雅山脉，海拔约8848米。"),
    ("What is the capital of France?", "The capital of France is Paris."),
]
TOP = 8
POSITIONS = 10
NEW = 24


def logits_of(model, ids):
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]


def greedy(model, tokenizer, ids):
    made, logprobs, margins = [], [], []
    while len(made) < NEW and (not made or made[-1] != tokenizer.eos_token_id):
        last = logits_of(model, ids + made)[-1]
        best = last.topk(2)
        made.append(best.indices[0].item())
        margins.append((best.values[0] - best.values[1]).item())
        logprobs.append(torch.log_softmax(last, -1)[made[-1]].item())
    return {"ids": made, "text": tokenizer.decode(made), "logprobs": digits(logprobs), "margins": digits(margins)}


def prompt(model, tokenizer, question, answer):
    messages = [{"role": "user", "content": question}]
    text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer.encode(text, add_special_tokens=False)
    logits = logits_of(model, ids)
    step = (len(ids) - 1) / (POSITIONS - 1)
    tops = [(at, logits[at].topk(TOP)) for at in sorted({round(step * n) for n in range(POSITIONS)})]
    reply = tokenizer.encode(f"{answer}<|im_end|>", add_special_tokens=False)
    whole = logits_of(model, ids + reply)
    return {
        "messages": messages,
        "text": text,
        "ids": ids,
        "reply": {
            "text": answer,
            "ids": reply,
            "logprobs": digits(target_logprobs(whole[len(ids) - 1 : -1], torch.tensor(reply))),
        },
        "positions": [
            {"position": at, "top": [[i, digits(v)] for i, v in zip(top.indices.tolist(), top.values.tolist())]}
            for at, top in tops
        ],
        "logprobs": digits(target_logprobs(logits[:-1], torch.tensor(ids[1:]))),
        "greedy": greedy(model, tokenizer, ids),
    }


def main(folder):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
    with safe_open(f"{folder}/model.safetensors", "pt") as file:
        onnx_sha256 = file.metadata()["sha256"]
    in_double(model)
    made = {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
        "onnx_sha256": onnx_sha256,
        "prompts": [prompt(model, tokenizer, *pair) for pair in PROMPTS],
    }
    path = pathlib.Path(__file__).parent / "minimind.fixture.json"
    path.write_text(json.dumps(made, ensure_ascii=False, separators=(",", ":")) + "\n")
    for row in made["prompts"]:
        mean = -sum(row["reply"]["logprobs"]) / len(row["reply"]["logprobs"])
        print(f"{row['greedy']['text']!r}; {mean:.3f} nats per token of the reply, margin >= {min(row['greedy']['margins']):.3f}")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1])
