"""Trains models/nano from scratch. It needs only PyTorch and the standard library.

    python train.py --text out/text.bin.gz --tokenizer ../../models/nano --out out/nano --seconds 300

It evaluates the model every few seconds on held-out names and saves the best one, so an interrupted run has a result.
"""

import argparse
import json
import math
import os
import time

import torch
import torch.nn.functional as F

from bpe import GIVEN, Tokenizer
from exams import Exams
from llama import Llama, Shape, save
from rows import BaseText, RowMaker, RowSource


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", required=True, nargs="+", help="token files")
    parser.add_argument("--tokenizer", required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", required=True, help="output folder of the model")
    parser.add_argument("--seconds", type=float, default=300, help="training time, not counting compilation")
    parser.add_argument("--steps", type=int, default=0, help="stop after this many steps; 0: no limit")
    for name, value in (("width", 128), ("layers", 6), ("heads", 4), ("kv-heads", 2), ("mlp", 320), ("context", 2048)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--rows", type=int, default=64, help="rows per step")
    parser.add_argument("--length", type=int, default=1024, help="tokens per row")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--decay", type=float, default=0.1)
    parser.add_argument("--drill-share", type=float, default=0.45, help="fraction of tokens after the warm-up")
    parser.add_argument("--drills", default="", help="use only these drills, such as copy,look_up")
    parser.add_argument("--given-weight", type=float, default=0.1, help="loss weight of given tokens")
    parser.add_argument("--mask", choices=["documents", "none"], default="documents")
    parser.add_argument("--workers", type=int, default=min(12, os.cpu_count() or 1), help="processes that generate rows")
    parser.add_argument("--test-every", type=float, default=20, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-compile", action="store_true")
    return parser.parse_args()


def batch_of(source: RowSource, options, device):
    """Input tokens, target tokens, and loss weights."""
    width = options.length + 1
    parts = [torch.frombuffer(bytearray(source.next()), dtype=torch.int16) for _ in range(options.rows // source.rows)]
    stored = torch.cat(parts).view(-1, width).to(device, non_blocking=True)
    tokens = (stored & (GIVEN - 1)).long()
    weights = torch.where(stored < 0, options.given_weight, 1.0)[:, 1:]
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous(), weights.contiguous()


def document_mask(tokens, end: int, dtype):
    """Attention mask that separates documents."""
    ends = (tokens == end).int()
    number = ends.cumsum(1) - ends
    length = tokens.shape[1]
    causal = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
    seen = (number[:, :, None] == number[:, None, :]) & causal
    return torch.zeros(seen.shape, dtype=dtype, device=tokens.device).masked_fill_(~seen, -math.inf)[:, None]


def main() -> None:
    options = arguments()
    torch.manual_seed(options.seed)
    tokenizer = Tokenizer(os.path.join(options.tokenizer, "tokenizer.json"))
    text = BaseText(options.text, tokenizer.end)

    def maker(worker: int) -> RowMaker:
        made = RowMaker(text, tokenizer, 1000 * options.seed + worker, options.length, options.drill_share)
        wanted = options.drills.split(",") if options.drills else []
        made.drills.kinds = [kind for kind in made.drills.kinds if not wanted or kind.__name__ in wanted]
        return made

    # Before the device is initialized, because the processes are forked.
    source = RowSource(maker, options.workers, math.gcd(options.rows, 8))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_float32_matmul_precision("high")
    number = torch.bfloat16 if device.type == "cuda" else torch.float32
    shape = Shape(tokenizer.size, options.width, options.layers, options.heads, options.kv_heads, options.mlp, options.context)
    model = Llama(shape, number).to(device)
    parameters = sum(each.numel() for each in model.parameters())
    print(f"{parameters} parameters, {len(text.tokens)} tokens of text in {text.documents} documents, {device}", flush=True)
    exams = Exams(text, tokenizer, options.context, device, number)
    matrices = [each for each in model.parameters() if each.dim() == 2]
    vectors = [each for each in model.parameters() if each.dim() < 2]
    optimizer = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": options.decay}, {"params": vectors, "weight_decay": 0.0}],
        lr=options.rate,
        betas=(0.9, 0.98),
        eps=1e-8,
        fused=device.type == "cuda",
    )

    def plain_loss(tokens, targets, weights, mask):
        with torch.autocast(device.type, dtype=number, enabled=number != torch.float32):
            logits = model(tokens, mask)
        losses = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
        return (losses * weights.flatten()).sum() / weights.sum()

    loss_of = plain_loss if options.no_compile else torch.compile(plain_loss)

    def learn(step: int, progress: float):
        nonlocal loss_of
        tokens, targets, weights = batch_of(source, options, device)
        mask = document_mask(tokens, tokenizer.end, number) if options.mask == "documents" else None
        rate = options.rate * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * min(1, progress))))
        for group in optimizer.param_groups:
            group["lr"] = rate
        try:
            loss = loss_of(tokens, targets, weights, mask)
            loss.backward()
        except Exception as error:  # any compiler error: training without it is only slower
            if step > 0 or loss_of is plain_loss:
                raise
            print(f"not compiled: {type(error).__name__}: {str(error)[:300]}", flush=True)
            loss_of = plain_loss
            optimizer.zero_grad(set_to_none=True)
            loss = loss_of(tokens, targets, weights, mask)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    best = -1.0
    log: list[dict] = []
    step, seen = 0, 0
    losses: list[torch.Tensor] = []
    launched = time.perf_counter()
    learn(0, 0.0)
    print(f"first step after {time.perf_counter() - launched:.0f} s", flush=True)
    started = tested = time.perf_counter()
    progress = 0.0
    while progress < 1:
        step += 1
        losses.append(learn(step, progress))
        seen += options.rows * options.length
        if step % 8 == 0 and device.type == "cuda":
            torch.cuda.synchronize()
        now = time.perf_counter()
        progress = max((now - started) / options.seconds, step / options.steps if options.steps else 0)
        source.progress.value = progress
        if now - tested < options.test_every and progress < 1:
            continue
        loss = torch.stack(losses).mean().item()
        losses.clear()
        results = exams.evaluate(model)
        score = sum(results.values()) / len(results)
        tokens_per_second = seen / (time.perf_counter() - started)
        shown = " ".join(f"{name} {accuracy:.3f}" for name, accuracy in results.items())
        print(f"{now - started:.0f} s, step {step}, {seen} tokens, {tokens_per_second:.0f}/s, loss {loss:.4f}, exact {score:.4f}: {shown}", flush=True)
        log.append({"seconds": round(now - started), "step": step, "tokens": seen, "loss": loss, "exact": score, **results})
        if score >= best:
            best = score
            save(model, options.out, options.tokenizer, tokenizer.end)
        with open(os.path.join(options.out, "training.json"), "w", encoding="utf-8") as file:
            record = {"options": vars(options), "parameters": parameters, "torch": torch.__version__, "tests": log}
            file.write(json.dumps(record, indent=1) + "\n")
        tested = time.perf_counter()
    source.close()
    print(f"best {best:.4f}, in {options.out}")


if __name__ == "__main__":
    main()
