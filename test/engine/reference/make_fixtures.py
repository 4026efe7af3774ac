"""Generates the fixtures for the embedded engine: loss, log-probabilities and gradients by PyTorch in float64.

    pip install torch==2.13.0 transformers==5.22.2 safetensors
    python test/engine/reference/make_fixtures.py            # writes <model>.fixture.json next to this file
    python test/engine/reference/make_fixtures.py --check    # recomputes everything and compares (1e-6)

The models are in tiny_models.py, the losses in losses.py. Every sequence is run alone, so no padding is involved.
A gradient is stored in full up to 64 entries; of larger ones 16 sampled entries (flat, row-major index), the sum and the
sum of squares. Computed numbers are rounded to 10 significant digits.

Fields of a fixture
    versions        of Python, torch and transformers
    config          config.json as this transformers writes it; config_old: as transformers 4 wrote it
    inverse_frequencies, attention_scaling   of the rotary embedding, to detect errors early
    weights         by Hugging Face name: shape, scale, values; weight = value * scale. A tied head is not listed
    sequences       inputs, targets (the next tokens), weights; logits [length][vocabulary], logprobs of the targets
    cross_entropy   loss = sum of weight * -logprob over all sequences, gradients by name
    policy          the clipped policy loss for several settings; per sequence and token: sampler_logprobs,
                    old_logprobs (null: the sampler's), advantages, weights; results ratios, objectives,
                    logprob_gradients (d loss / d logprob), loss, gradients by name
    adamw           (some models) five steps of torch.optim.AdamW on sum(weight * -logprob) / sum(weight); the loss
                    before each step and after the last, the gradient's norm before clipping, the final weights
"""

import itertools
import json
import math
import pathlib
import platform
import random
import sys

import torch
import transformers

from losses import cross_entropy, policy_loss, policy_terms, target_logprobs
from tiny_models import MODELS, SCALE, in_double, make_model, old_spelling

HERE = pathlib.Path(__file__).parent
LENGTHS = (14, 9, 3)
WHOLE = 64
SAMPLES = 16
POLICY = {
    "clip": dict(low=0.2, high=0.28),
    "dual clip": dict(low=0.2, high=0.28, dual_clip=3.0),
    "decoupled": dict(low=0.1, high=0.3, dual_clip=2.5, importance_cap=2.0),
}
# Below, inside and above the bounds of every setting; 2.2 and 4.4 are on the two sides of the dual clips.
RATIOS = (0.4, 0.75, 0.95, 1.05, 1.22, 1.5, 2.2, 4.4)
ADAMW = dict(
    learning_rates=[0.01, 0.02, 0.015, 0.005, 0.001],
    betas=[0.9, 0.95],
    eps=1e-8,
    weight_decay=0.1,
    decays="parameters of two dimensions",
)
# A bound that every step exceeds, and one that the last steps stay below.
MAX_NORMS = {"llama": 1.0, "smollm2": 3.0, "qwen2": 1.0}


def digits(value):
    """Nested lists of numbers, rounded to 10 significant digits."""
    if isinstance(value, torch.Tensor):
        value = value.detach().tolist()
    return [digits(item) for item in value] if isinstance(value, list) else float(f"{value:.10g}")


def summary(tensor, picker):
    flat = tensor.detach().flatten()
    base = {"shape": list(tensor.shape)}
    if len(flat) <= WHOLE:
        return {**base, "values": digits(flat)}
    at = sorted(picker.sample(range(len(flat)), SAMPLES))
    return {
        **base,
        "indices": at,
        "values": digits(flat[at]),
        "sum": digits(flat.sum().item()),
        "sum_of_squares": digits(flat.square().sum().item()),
    }


def gradients(model, loss, picker):
    model.zero_grad()
    loss.backward(retain_graph=True)
    return {name: summary(parameter.grad, picker) for name, parameter in model.named_parameters()}


def make_sequences(picker, vocabulary):
    for length in LENGTHS:
        tokens = [picker.randrange(vocabulary) for _ in range(length + 1)]
        # A masked start, like a prompt, and uneven weights after it.
        weights = [0.0 if t < length // 4 else picker.choice([1.0, 1.0, 0.5, 2.0, 0.25, 0.0]) for t in range(length)]
        weights[-1] = 1.0
        yield {"inputs": tokens[:-1], "targets": tokens[1:], "weights": weights}


def forward(model, sequence):
    return model(input_ids=torch.tensor([sequence["inputs"]]), use_cache=False).logits[0]


def draws(picker):
    """Endless (ratio, sign of the advantage, weight): every combination once with a weight, then all again."""
    combinations = list(itertools.product(RATIOS, (-1, 1)))
    picker.shuffle(combinations)
    for weights in itertools.chain([(1.0, 0.5)], itertools.repeat((1.0, 0.5, 0.0))):
        for ratio, sign in combinations:
            yield ratio * (1 + picker.uniform(-0.03, 0.03)), sign, picker.choice(weights)


def policy_data(logprobs, options, drawn, picker, decoupled):
    """Log-probabilities that give the sampled ratios, none within 1e-3 of a kink."""
    count = len(logprobs)
    ratios, signs, weights = zip(*itertools.islice(drawn, count))
    advantages = [round(picker.uniform(0.2, 2) * sign, 3) for sign in signs]
    old = [round(logprobs[t].item() - math.log(ratios[t]), 6) for t in range(count)]
    # exp(old - sampler) from 0.6 to 3: on both sides of the cap.
    shift = [math.log(picker.choice([0.6, 0.9, 1.2, 1.7, 2.4, 3.0])) for _ in range(count)]
    sampler = [round(old[t] - shift[t], 6) for t in range(count)] if decoupled else old
    kinks = [1 - options["low"], 1 + options["high"], options.get("dual_clip", 99)]
    actual = [math.exp(logprobs[t].item() - old[t]) for t in range(count)]
    assert all(abs(ratio - kink) > 1e-3 for ratio in actual for kink in kinks)
    return {
        "sampler_logprobs": sampler,
        "old_logprobs": old if decoupled else None,
        "advantages": advantages,
        "weights": list(weights),
    }


def policy_case(model, name, options, logprobs, picker):
    decoupled = "importance_cap" in options
    rows, losses, kinds, drawn = [], [], set(), draws(picker)
    for row in logprobs:
        data = policy_data(row, options, drawn, picker, decoupled)
        sampler, advantages, weights = (
            torch.tensor(data[key], dtype=torch.float64) for key in ("sampler_logprobs", "advantages", "weights")
        )
        old = torch.tensor(data["old_logprobs"], dtype=torch.float64) if decoupled else sampler
        leaf = row.detach().requires_grad_()
        ratios, objectives = policy_terms(leaf, old, sampler, advantages, **options)
        (slope,) = torch.autograd.grad(policy_loss(objectives, weights), leaf)
        losses.append(policy_loss(policy_terms(row, old, sampler, advantages, **options)[1], weights))
        rows.append(
            {**data, "ratios": digits(ratios), "objectives": digits(objectives), "logprob_gradients": digits(slope)}
        )
        for ratio, advantage, weight, gradient in zip(ratios, advantages, weights, slope):
            if weight > 0:
                side = "below" if ratio < 1 - options["low"] else "above" if ratio > 1 + options["high"] else "inside"
                kinds.add((side, bool(advantage > 0), bool(gradient != 0)))
    # Every side with both signs; above the bounds with A < 0 both with a gradient and, by dual clip, without.
    assert {(side, sign) for side, sign, _ in kinds} == {(s, b) for s in ("below", "inside", "above") for b in (True, False)}
    assert ("above", False, True) in kinds and (("above", False, False) in kinds) == ("dual_clip" in options)
    loss = sum(losses)
    return {
        "name": name,
        "low": options["low"],
        "high": options["high"],
        "dual_clip": options.get("dual_clip"),
        "importance_cap": options.get("importance_cap"),
        "sequences": rows,
        "loss": digits(loss.item()),
        "gradients": gradients(model, loss, picker),
    }


def adamw(model, sequences, max_norm, picker):
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in parameters if p.dim() >= 2], "weight_decay": ADAMW["weight_decay"]},
            {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
        ],
        betas=tuple(ADAMW["betas"]),
        eps=ADAMW["eps"],
    )

    def loss_now():
        total = sum(sum(sequence["weights"]) for sequence in sequences)
        return sum(
            cross_entropy(
                target_logprobs(forward(model, sequence), torch.tensor(sequence["targets"])),
                torch.tensor(sequence["weights"], dtype=torch.float64),
            )
            for sequence in sequences
        ) / total

    losses, norms = [], []
    for rate in ADAMW["learning_rates"]:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad()
        loss = loss_now()
        loss.backward()
        losses.append(loss.item())
        norms.append(torch.nn.utils.clip_grad_norm_(parameters, max_norm).item())
        optimizer.step()
    losses.append(loss_now().item())
    return {
        **ADAMW,
        "max_norm": max_norm,
        "losses": digits(losses),
        "gradient_norms": digits(norms),
        "weights": {name: summary(parameter, picker) for name, parameter in model.named_parameters()},
    }


def fixture(name):
    picker = random.Random(name)
    model = make_model(name)
    sequences = list(make_sequences(picker, model.config.vocab_size))
    plain = [forward(model, sequence) for sequence in sequences]
    in_double(model)
    logits = [forward(model, sequence) for sequence in sequences]
    assert all(torch.allclose(a, b, rtol=0, atol=1e-5) for a, b in zip(plain, logits)), "float64 changed the model"
    logprobs = [target_logprobs(row, torch.tensor(s["targets"])) for row, s in zip(logits, sequences)]
    loss = sum(
        cross_entropy(row, torch.tensor(s["weights"], dtype=torch.float64)) for row, s in zip(logprobs, sequences)
    )
    config = {
        "architectures": [type(model).__name__],
        **json.loads(model.config.to_json_string(use_diff=True)),
        "dtype": "float32",
    }
    rotary = model.model.rotary_emb
    old = type(model)(type(model.config).from_dict(old_spelling(config))).model.rotary_emb
    assert torch.allclose(old.inv_freq.double(), rotary.inv_freq.double()), "the old format gives different values"
    assert old.attention_scaling == rotary.attention_scaling
    made = {
        "versions": {
            "python": platform.python_version(),
            "torch": torch.__version__,
            "transformers": transformers.__version__,
        },
        "config": config,
        "config_old": old_spelling(config),
        "inverse_frequencies": digits(rotary.inv_freq),
        "attention_scaling": digits(float(rotary.attention_scaling)),
        "weights": {
            key: {
                "shape": list(parameter.shape),
                "scale": SCALE,
                "values": [round(value / SCALE) for value in parameter.detach().flatten().tolist()],
            }
            for key, parameter in model.named_parameters()
        },
        "sequences": [
            {**s, "logits": digits(a), "logprobs": digits(b)} for s, a, b in zip(sequences, logits, logprobs)
        ],
        "cross_entropy": {"loss": digits(loss.item()), "gradients": gradients(model, loss, picker)},
        "policy": [policy_case(model, key, options, logprobs, picker) for key, options in POLICY.items()],
    }
    if name in MAX_NORMS:
        made["adamw"] = adamw(model, sequences, MAX_NORMS[name], picker)
    return made


def differences(path, new, old):
    """Relative differences between two fixtures above 1e-6; versions may differ."""
    if path == "/versions" or path.endswith("/transformers_version"):
        return []
    if isinstance(new, dict) and isinstance(old, dict) and new.keys() == old.keys():
        return [found for key in new for found in differences(f"{path}/{key}", new[key], old[key])]
    if isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        return [found for at, pair in enumerate(zip(new, old)) for found in differences(f"{path}/{at}", *pair)]
    numbers = all(isinstance(value, (int, float)) for value in (new, old))
    same = math.isclose(new, old, rel_tol=1e-6, abs_tol=1e-8) if numbers else new == old
    return [] if same else [f"{path}: {str(new)[:60]} is not {str(old)[:60]}"]


def write(value):
    """JSON with one line per key down to the third level, for readable diffs and a small file."""

    def lines(value, depth):
        if not isinstance(value, dict) or depth == 3:
            return json.dumps(value, separators=(",", ":"))
        pad = " " * (depth + 1)
        inner = ",\n".join(f"{pad}{json.dumps(key)}: {lines(item, depth + 1)}" for key, item in value.items())
        return "{\n" + inner + "\n" + " " * depth + "}"

    return lines(value, 0) + "\n"


def main():
    torch.set_num_threads(1)
    wrong = 0
    for name in MODELS:
        path = HERE / f"{name}.fixture.json"
        made = fixture(name)
        if "--check" in sys.argv:
            found = differences("", json.loads(json.dumps(made)), json.loads(path.read_text()))
            wrong += len(found)
            print(f"{name}: {len(found)} differences", *found[:5], sep="\n  ")
        else:
            path.write_text(write(made))
            print(f"{path.name}: {path.stat().st_size} bytes, loss {made['cross_entropy']['loss']}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
