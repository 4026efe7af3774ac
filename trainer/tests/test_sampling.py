"""Sampling matches the learner and does not depend on what else is being sampled."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from coa_trainer.errors import TrainerError
from coa_trainer.model.adamw import AdamSettings
from coa_trainer.model.datum import Datum, Loss
from coa_trainer.model.fused_weights import fuse_weights
from coa_trainer.model.load import load_model
from coa_trainer.model.trained import TrainedModel
from coa_trainer.sampling.bursts import Bursts
from coa_trainer.sampling.choose_decoder import choose_decoder
from coa_trainer.sampling.decoder import Decoder, RecomputingDecoder, TransformersDecoder
from coa_trainer.sampling.job import Batch
from coa_trainer.sampling.llama_decoder import LlamaDecoder
from coa_trainer.sampling.sampler import Sampler
from coa_trainer.sampling.step_graphs import StepGraphs
from coa_trainer.server.sources import _decode_with
from helpers import bases_of, full_model, lora_model, request, sample_all
from tiny import save_tiny

Make = Callable[[Any], Decoder]


def stepping(model: Any) -> Decoder:
    """The code path of CUDA, where each step covers all rows with fixed sizes, but without graph capture."""
    decoder = LlamaDecoder(model)
    decoder.steps = StepGraphs(decoder)
    return decoder


def bursting(model: Any) -> Decoder:
    """The code path of CUDA for multi-step decoding."""
    decoder = LlamaDecoder(model)
    decoder.steps = StepGraphs(decoder)
    decoder.bursts = Bursts(decoder)
    return decoder


def with_fused_weights(make: Make) -> Make:
    """With fused weights, as in a loaded model."""

    def made(model: Any) -> Decoder:
        fuse_weights(model)
        decoder = make(model)
        assert isinstance(decoder, LlamaDecoder)
        assert decoder.fused is not None
        return decoder

    return made


DECODERS: list[Make] = [LlamaDecoder, stepping, with_fused_weights(stepping), TransformersDecoder, RecomputingDecoder]
PROMPT = list(b"The prompt is some forty bytes of text. ")


def sampler_of(trained: TrainedModel, **options: Any) -> Sampler:
    trained.weights.activate()
    return Sampler(choose_decoder(trained.weights.model, 259), 256, 259, None, **options)


def learned(trained: TrainedModel, prompt: list[int], tokens: list[int]) -> list[float]:
    """The learner's log-probabilities of a continuation."""
    whole = np.array([*prompt, *tokens])
    result = trained.run([Datum(whole[:-1], whole[1:])], Loss("cross_entropy"), backward=False)
    return [float(each) for each in result.logprobs[0][len(prompt) - 1 :]]


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("make", DECODERS)
def test_every_decoder_matches_the_models_logits(tmp_path: Path, kind: str, make: Make) -> None:
    save_tiny(tmp_path / kind, kind)
    model = load_model(tmp_path / kind)
    decoder = make(model)
    decoder.cache.grow(4, 64)
    texts = {0: PROMPT[:30], 2: PROMPT[10:23], 3: PROMPT[5:6]}
    reached = dict.fromkeys(texts, 0)
    for sizes in ((7, 5, 1), (20, 1, 0), (1, 1, 0), (1, 6, 0)):
        rows = [row for row, size in zip(texts, sizes, strict=True) if size]
        parts = [texts[row][reached[row] : reached[row] + size] for row, size in zip(texts, sizes, strict=True) if size]
        found = decoder.extend(rows, parts, [reached[row] for row in rows])
        for row, part, logits in zip(rows, parts, found, strict=True):
            reached[row] += len(part)
            with torch.no_grad():
                wanted = model(torch.tensor([texts[row][: reached[row]]]), use_cache=False).logits[0, -1]
            assert float((logits - wanted).abs().max()) < 1e-4


def test_the_fastest_decoder_is_chosen(tiny_folder: Path) -> None:
    assert isinstance(choose_decoder(load_model(tiny_folder), 259), LlamaDecoder)


@pytest.mark.parametrize("which", ["full", "lora"])
def test_sampled_log_probabilities_match_the_learners(tiny_folder: Path, which: str) -> None:
    bases = bases_of(tiny_folder)
    trained = full_model(bases) if which == "full" else lora_model(bases, unembedding=True)
    prompt = np.array(PROMPT)
    for _ in range(2):
        trained.run([Datum(prompt[:-1], prompt[1:])], Loss("cross_entropy"), backward=True)
        trained.optimizer.update(AdamSettings(learning_rate=0.01))
    [sequences] = sample_all(sampler_of(trained), [request(PROMPT, 50, count=5, seed=3)])
    for sequence in sequences:
        expected = learned(trained, PROMPT, sequence["tokens"])
        assert np.abs(np.array(sequence["model_logprobs"]) - expected).max() < 1e-5
        assert sequence["logprobs"] == pytest.approx(sequence["model_logprobs"], abs=1e-9)


@pytest.mark.parametrize("make", DECODERS)
def test_sampling_is_batch_invariant(tiny_folder: Path, make: Make) -> None:
    model = load_model(tiny_folder)

    def sampler() -> Sampler:
        return Sampler(make(model), 256, 259, None)

    wanted = request(PROMPT, 30, count=3, seed=5, temperature=1.1, top_p=0.9)
    [alone] = sample_all(sampler(), [wanted])
    others = [request(PROMPT[:length], 7 + length, count=2, seed=length) for length in (1, 5, 20, 33)]
    together = sample_all(sampler(), [*others[:2], wanted, *others[2:]])[2]
    assert [each["tokens"] for each in alone] == [each["tokens"] for each in together]
    for one, other in zip(alone, together, strict=True):
        assert one["logprobs"] == pytest.approx(other["logprobs"], abs=1e-5)
    # Continuation i equals a single one with seed + i.
    [third] = sample_all(sampler(), [request(PROMPT, 30, seed=7, temperature=1.1, top_p=0.9)])
    assert third[0]["tokens"] == alone[2]["tokens"]


def test_one_token_at_a_time_gives_the_same_sequence(tiny_folder: Path) -> None:
    sampler = sampler_of(full_model(bases_of(tiny_folder)))
    [[whole]] = sample_all(sampler, [request(PROMPT, 12, seed=9)])
    tokens: list[int] = []
    for step in range(12):
        [[one]] = sample_all(sampler, [request([*PROMPT, *tokens], 1, seed=9, first_step=step)])
        tokens += one["tokens"]
    assert tokens == whole["tokens"]


def test_a_small_cache_does_not_change_the_results(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    requests = [request(PROMPT[: 3 + 4 * n], 10 + n, count=3, seed=n) for n in range(6)]
    many = sample_all(sampler_of(trained), requests)
    few = sample_all(sampler_of(trained, max_rows=2), requests)
    tight = sample_all(sampler_of(trained, cache_tokens=200), requests)
    for one, two, three in zip(many, few, tight, strict=True):
        assert [each["tokens"] for each in one] == [each["tokens"] for each in two]
        assert [each["tokens"] for each in one] == [each["tokens"] for each in three]


def test_a_computed_prefix_is_reused(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    sampler = sampler_of(trained)
    [group] = sample_all(sampler, [request(PROMPT, 8, count=4, seed=1)])
    assert [each["reused"] for each in group] == [0, 39, 39, 39]
    longer = [*PROMPT, *group[2]["tokens"], 1, 2, 3]
    [[again]] = sample_all(sampler, [request(longer, 8, seed=2)])
    # All but the last sampled token are in the cache.
    assert again["reused"] == len(PROMPT) + 7
    [[fresh]] = sample_all(sampler_of(trained), [request(longer, 8, seed=2)])
    assert fresh["reused"] == 0
    assert fresh["tokens"] == again["tokens"]
    assert fresh["logprobs"] == pytest.approx(again["logprobs"], abs=1e-5)


def test_an_optimizer_step_invalidates_the_cache(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    sampler = sampler_of(trained)
    sample_all(sampler, [request(PROMPT, 8, seed=1)])
    prompt = np.array(PROMPT)
    trained.run([Datum(prompt[:-1], prompt[1:])], Loss("cross_entropy"), backward=True)
    trained.optimizer.update(AdamSettings(learning_rate=0.02))
    sampler.weights_changed(1)
    [[after]] = sample_all(sampler, [request(PROMPT, 8, seed=1)])
    assert after["reused"] == 0
    assert np.abs(np.array(after["model_logprobs"]) - learned(trained, PROMPT, after["tokens"])).max() < 1e-5


def test_weights_may_change_during_sampling(tiny_folder: Path) -> None:
    """The rest of a sequence is sampled from the new weights, with keys and values recomputed from them."""
    trained = full_model(bases_of(tiny_folder))
    sampler = sampler_of(trained)
    results: list[Any] = []
    sampler.add(request(PROMPT, 20, seed=1), Batch(results.extend, results.append))
    for _ in range(8):
        sampler.step()
    prompt = np.array(PROMPT)
    trained.run([Datum(prompt[:-1], prompt[1:])], Loss("cross_entropy"), backward=True)
    trained.optimizer.update(AdamSettings(learning_rate=0.02))
    sampler.weights_changed(1)
    while not sampler.idle:
        sampler.step()
    expected = learned(trained, PROMPT, results[0]["tokens"])
    assert np.abs(np.array(results[0]["model_logprobs"][8:]) - expected[8:]).max() < 1e-5
    assert np.abs(np.array(results[0]["model_logprobs"][:8]) - expected[:8]).max() > 1e-3
    assert results[0]["versions"] == [[0, 8], [1, 12]]


def test_stop_reasons(tiny_folder: Path) -> None:
    trained = full_model(bases_of(tiny_folder))
    sampler = sampler_of(trained)
    [[free]] = sample_all(sampler, [request(PROMPT, 20, seed=4)])
    assert (free["stopped"], free["stop_reason"], len(free["tokens"])) == ("length", "length", 20)
    [[token]] = sample_all(sampler, [request(PROMPT, 20, seed=4, stop_tokens=(free["tokens"][6],))])
    assert token["stopped"] == "token"
    assert token["tokens"] == free["tokens"][: free["tokens"].index(free["tokens"][6]) + 1]
    [[full]] = sample_all(sampler, [request(PROMPT, 1000, seed=4)])
    assert (full["stopped"], len(full["tokens"])) == ("context", 256 - len(PROMPT))
    nothing = torch.zeros(259, dtype=torch.bool)
    [[none]] = sample_all(sampler, [request(PROMPT, 1, allowed=nothing)])
    assert (none["stopped"], none["tokens"]) == ("nothing-allowed", [])


def test_a_stop_string_may_span_tokens(tiny_folder: Path) -> None:
    decode = _decode_with(tiny_folder / "tokenizer.json")
    trained = full_model(bases_of(tiny_folder))
    trained.weights.activate()
    sampler = Sampler(choose_decoder(trained.weights.model, 259), 256, 259, decode)
    [[free]] = sample_all(sampler, [request(PROMPT, 60, seed=2, top_k=12)])
    spoken = [token for token in range(60 - 3) if all(32 < each < 127 for each in free["tokens"][token : token + 3])]
    assert spoken, "the seed must give three printable bytes in a row"
    text = bytes(free["tokens"][spoken[0] : spoken[0] + 3]).decode()
    [[ended]] = sample_all(sampler, [request(PROMPT, 60, seed=2, top_k=12, stop_texts=(text,))])
    assert ended["stopped"] == "text"
    assert ended["stop_reason"] == "stop"
    assert ended["tokens"] == free["tokens"][: len(ended["tokens"])]
    assert decode(ended["tokens"]).endswith(text)


@pytest.mark.parametrize(
    ("prompt", "words"), [([], "empty"), ([259], "outside"), ([-1], "outside"), ([1] * 256, "256 tokens")]
)
def test_invalid_prompts_are_rejected(tiny_folder: Path, prompt: list[int], words: str) -> None:
    sampler = sampler_of(full_model(bases_of(tiny_folder)))
    with pytest.raises(TrainerError, match=words):
        sample_all(sampler, [request(prompt, 4)])
    assert sampler.idle


@pytest.mark.parametrize(("how", "options"), [("modules", {}), ("fused", {}), ("fused", {"max_rows": 3})])
def test_bursts_match_single_steps(tiny_folder: Path, how: str, options: dict[str, int]) -> None:
    """Same tokens and log-probabilities, with all stop reasons and with truncation."""
    decode = _decode_with(tiny_folder / "tokenizer.json")
    free = request(PROMPT, 40, count=3, seed=5)
    requests = [
        free,
        request(PROMPT[:7], 9, count=2, seed=1, temperature=0.7, top_k=20),
        request(PROMPT[3:20], 33, seed=8, top_p=0.9),
        request(PROMPT[:3], 21, seed=2, temperature=0.0),
        request(PROMPT * 6, 40, seed=3),
    ]
    found = []
    for make in (LlamaDecoder, bursting if how == "modules" else with_fused_weights(bursting)):
        sampler = Sampler(make(load_model(tiny_folder)), 256, 259, decode, **options)
        first = sample_all(sampler, requests)
        stop = first[0][0]["tokens"][17]
        again = sample_all(sampler, [request(PROMPT, 40, count=3, seed=5, stop_tokens=(stop,)), *requests[1:]])
        # Stop strings of two and three bytes, which also span chunks; some occur after a stop token.
        texts = tuple(decode(first[0][number]["tokens"][at : at + 2 + number]) for number, at in ((0, 15), (1, 21)))
        both = request(PROMPT, 40, count=3, seed=5, stop_tokens=(stop,), stop_texts=texts)
        last = sample_all(sampler, [both, request(PROMPT, 40, count=3, seed=5, stop_texts=texts), *requests[1:]])
        found.append([first, again, last])
    single, burst = ([each for part in side for group in part for each in group] for side in found)
    assert {each["stopped"] for each in single} == {"token", "text", "length", "context"}
    for one, other in zip(single, burst, strict=True):
        assert (one["tokens"], one["stopped"]) == (other["tokens"], other["stopped"])
        for name in ("logprobs", "model_logprobs"):
            assert np.abs(np.array(one[name]) - np.array(other[name])).max() < 1e-5


def test_a_burst_computes_only_the_sequences_that_are_left(tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decoder = bursting(load_model(tiny_folder))
    sizes: list[int] = []
    step = LlamaDecoder.step

    def counting(self: LlamaDecoder, tokens: Any, state: Any) -> Any:
        sizes.append(len(tokens))
        return step(self, tokens, state)

    monkeypatch.setattr(LlamaDecoder, "step", counting)
    short, long = request(PROMPT, 10, count=11, seed=5), request(PROMPT[:7], 120, seed=1)
    sampler = Sampler(decoder, 256, 259, None)
    found = sample_all(sampler, [short, long])
    assert [len(each["tokens"]) for group in found for each in group] == [10] * 11 + [120]
    # At most twelve sequences at once; the one that is left gets a batch of its own, whatever its row.
    assert max(sizes) <= 12
    assert sizes[-1] == 1
    assert sizes.count(1) >= 60
    [[alone]] = sample_all(Sampler(LlamaDecoder(load_model(tiny_folder)), 256, 259, None), [long])
    assert found[1][0]["tokens"] == alone["tokens"]


def test_rows_of_a_burst_can_be_reused(tiny_folder: Path) -> None:
    model = load_model(tiny_folder)
    sampler = Sampler(bursting(model), 256, 259, None)
    (first,) = sample_all(sampler, [request(PROMPT, 21, seed=4)])[0]
    longer = [*PROMPT, *first["tokens"], *b" and so on"]
    (continued,) = sample_all(sampler, [request(longer, 12, seed=6)])[0]
    (fresh,) = sample_all(Sampler(LlamaDecoder(model), 256, 259, None), [request(longer, 12, seed=6)])[0]
    assert continued["tokens"] == fresh["tokens"]
    assert continued["reused"] >= len(PROMPT) + 20


def test_a_burst_yields_to_other_work(tiny_folder: Path) -> None:
    """Chunks in flight are taken; the sampler then returns and continues later."""
    sampler = Sampler(bursting(load_model(tiny_folder)), 256, 259, None)
    [[whole]] = sample_all(sampler, [request(PROMPT, 120, seed=1)])
    results: list[Any] = []
    waits = [True, True, False]
    sampler.should_yield = lambda: waits.pop(0) if waits else False
    streamed: list[int] = []
    sampler.add(
        request(PROMPT, 120, seed=1), Batch(results.extend, results.append, lambda _, token: streamed.append(token))
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("coa_trainer.sampling.sampler.PATIENCE_SECONDS", 0.0)
        sampler.step()
    assert 0 < len(streamed) < 120
    assert not results
    while not sampler.idle:
        sampler.step()
    assert results[0]["tokens"] == whole["tokens"] == streamed


def test_many_rows_find_their_prefixes(tiny_folder: Path) -> None:
    """With more rows than are compared one by one, a group still prefills its prompt once."""
    sampler = Sampler(bursting(load_model(tiny_folder)), 256, 259, None)
    prompts = [[*PROMPT[:20], number, *PROMPT[20:]] for number in range(24)]
    found = sample_all(sampler, [request(prompt, 3, count=4, seed=number) for number, prompt in enumerate(prompts)])
    for sequences in found:
        # The first of a group may share the common prefix; the others share the whole prompt.
        assert [each["reused"] for each in sequences[1:]] == [len(PROMPT)] * 3
    alone = Sampler(LlamaDecoder(load_model(tiny_folder)), 256, 259, None)
    [again] = sample_all(alone, [request(prompts[17], 3, count=4, seed=17)])
    assert [each["tokens"] for each in again] == [each["tokens"] for each in found[17]]
