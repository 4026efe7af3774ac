"""Trains a Hugging Face checkpoint with PyTorch in float32 and prints the loss of every step: the reference curve for
the embedded engine.

    python test/engine/reference/curve.py <checkpoint folder> <tokens.jsonl> <settings.json>

tokens.jsonl    one sequence per line: {"ids": [...], "weights": [...]} of equal length. weights[t] belongs to predicting
                ids[t] from the tokens before it; weights[0] is ignored
settings.json   batches         [[line, line, ...], ...]: the lines of every step, in order
                learning_rates  one number, or one per step
                betas           default [0.9, 0.95]      eps       default 1e-8
                weight_decay    default 0.1, on parameters of two dimensions only
                max_norm        default 1.0; null does not clip the gradient
                threads         default 2
                save            a folder for the trained checkpoint (optional)

The loss of a step is sum(weight * -logprob) / sum(weight) over its batch, before its update. Printed, one per line:
{"step", "loss", "gradient_norm", "weight"}, the norm before clipping; at the end {"seconds", "tokens_per_second"}.
"""

import json
import sys
import time

import torch
from transformers import AutoModelForCausalLM


def batch_of(sequences, lines):
    rows = [sequences[line] for line in lines]
    length = max(len(row["ids"]) for row in rows)
    # Padding is on the right, where a causal model does not look, and has no weight.
    ids = torch.tensor([row["ids"] + [0] * (length - len(row["ids"])) for row in rows])
    weights = torch.tensor([row["weights"] + [0.0] * (length - len(row["weights"])) for row in rows])
    return ids[:, :-1], ids[:, 1:], weights[:, 1:]


def main(folder, tokens, settings):
    with open(settings) as file:
        settings = json.load(file)
    with open(tokens) as file:
        sequences = [json.loads(line) for line in file]
    torch.set_num_threads(settings.get("threads", 2))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="sdpa")
    # No dropout, whatever the config says: the engine has none.
    model.eval()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": settings.get("weight_decay", 0.1)},
            {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
        ],
        betas=tuple(settings.get("betas", (0.9, 0.95))),
        eps=settings.get("eps", 1e-8),
    )
    rates = settings["learning_rates"]
    max_norm = settings.get("max_norm", 1.0)
    started, count = time.perf_counter(), 0
    for step, lines in enumerate(settings["batches"]):
        inputs, targets, weights = batch_of(sequences, lines)
        for group in optimizer.param_groups:
            group["lr"] = rates[step] if isinstance(rates, list) else rates
        logits = model(input_ids=inputs, use_cache=False).logits
        losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        loss = (losses * weights.flatten()).sum() / weights.sum()
        optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(parameters, float("inf") if max_norm is None else max_norm)
        optimizer.step()
        count += inputs.numel()
        row = {"step": step, "loss": loss.item(), "gradient_norm": norm.item(), "weight": weights.sum().item()}
        print(json.dumps(row), flush=True)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "tokens_per_second": count / seconds}))
    if "save" in settings:
        model.save_pretrained(settings["save"])


if __name__ == "__main__":
    main(*sys.argv[1:4])
