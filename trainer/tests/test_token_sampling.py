"""Token sampling: the distribution, truncation, and dependence on seed and step alone."""

import math

import pytest
import torch

from coa_trainer.sampling.token_sampling import SampledToken, SamplingParams, sample_tokens, uniform_list


def one(logits: list[float], params: SamplingParams, number: float) -> SampledToken | None:
    return sample_tokens(torch.tensor([logits]), [params], [number])[0]


def shares(logits: list[float]) -> list[float]:
    total = sum(math.exp(each) for each in logits)
    return [math.exp(each) / total for each in logits]


def counted(logits: list[float], params: SamplingParams, count: int = 20_000) -> list[int]:
    batch = torch.tensor([logits]).expand(count, -1)
    found = sample_tokens(batch, [params] * count, uniform_list([(11, step) for step in range(count)]))
    tally = [0] * len(logits)
    for each in found:
        assert each is not None
        tally[each.token] += 1
    return tally


def chi_square(tally: list[int], expected: list[float]) -> float:
    count = sum(tally)
    assert all(seen == 0 for seen, share in zip(tally, expected, strict=True) if share == 0)
    return sum(
        (seen - count * share) ** 2 / (count * share) for seen, share in zip(tally, expected, strict=True) if share
    )


LOGITS = [0.0, 1.0, -1.0, 2.0, 0.5, -3.0, 1.5, 0.2]
# The 0.999 quantile with 7 degrees of freedom; the samples are fixed, so the test is deterministic.
LIMIT = 24.3


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_tokens_follow_their_probabilities(temperature: float) -> None:
    expected = shares([each / temperature for each in LOGITS])
    assert chi_square(counted(LOGITS, SamplingParams(temperature)), expected) < LIMIT


@pytest.mark.parametrize(
    ("params", "kept"),
    [
        (SamplingParams(top_k=3), {3, 6, 1}),
        (SamplingParams(top_p=0.5), {3, 6}),
        (SamplingParams(top_p=0.999), set(range(8))),
        (SamplingParams(top_k=2, top_p=0.9), {3, 6}),
        (SamplingParams(top_p=0.0), {3}),
    ],
)
def test_truncation_keeps_the_most_likely_tokens(params: SamplingParams, kept: set[int]) -> None:
    whole = shares(LOGITS)
    total = sum(whole[token] for token in kept)
    expected = [whole[token] / total if token in kept else 0.0 for token in range(8)]
    assert chi_square(counted(LOGITS, params, 5000), expected) < LIMIT


def test_ties_keep_the_smaller_token_id() -> None:
    assert {seen for seen in range(4) if counted([1.0] * 4, SamplingParams(top_k=2), 500)[seen]} == {0, 1}


def test_log_probabilities_are_of_the_sampling_distribution() -> None:
    found = one(LOGITS, SamplingParams(temperature=0.5, top_k=2), 0.99)
    assert found is not None
    two = shares([LOGITS[3] / 0.5, LOGITS[6] / 0.5])
    assert found.token == 6
    assert found.logprob == pytest.approx(math.log(two[1]))
    assert found.model_logprob == pytest.approx(math.log(shares(LOGITS)[6]), abs=1e-6)


def test_temperature_zero_takes_the_most_likely_allowed_token() -> None:
    found = one(LOGITS, SamplingParams(temperature=0), 0.3)
    assert found is not None
    assert (found.token, found.logprob) == (3, 0.0)
    allowed = torch.tensor([True, True, False, False, True, True, False, True])
    found = one(LOGITS, SamplingParams(temperature=0, allowed=allowed), 0.3)
    assert found is not None
    assert found.token == 1


def test_allowed_tokens_are_renormalized() -> None:
    allowed = torch.tensor([True, False, True, False, False, True, False, False])
    expected = shares([LOGITS[0], LOGITS[2], LOGITS[5]])
    whole = [expected[0], 0.0, expected[1], 0.0, 0.0, expected[2], 0.0, 0.0]
    assert chi_square(counted(LOGITS, SamplingParams(allowed=allowed)), whole) < LIMIT


def test_a_single_allowed_token_is_certain_however_unlikely() -> None:
    logits = [100.0, -400.0, 50.0]
    found = one(logits, SamplingParams(allowed=torch.tensor([False, True, False])), 0.7)
    assert found is not None
    assert (found.token, found.logprob) == (1, 0.0)
    assert found.model_logprob == pytest.approx(-500.0)


def test_no_allowed_token_gives_none() -> None:
    assert one(LOGITS, SamplingParams(allowed=torch.zeros(8, dtype=torch.bool)), 0.5) is None


def test_rounding_never_selects_a_token_of_zero_probability() -> None:
    found = one([0.0, 0.0, -math.inf, -math.inf], SamplingParams(), 1.0 - 2**-53)
    assert found is not None
    assert found.token == 1


def test_random_numbers_are_uniform_and_unique() -> None:
    numbers = uniform_list([(seed, step) for seed in range(100) for step in range(100)])
    assert len(set(numbers)) == 10_000
    tally = [0] * 10
    for number in numbers:
        tally[int(number * 10)] += 1
    assert chi_square(tally, [0.1] * 10) < 27.9
    # Adjacent seeds are uncorrelated.
    five, six = (uniform_list([(seed, step) for step in range(5000)]) for seed in (5, 6))
    pairs = [(one - 0.5) * (other - 0.5) for one, other in zip(five, six, strict=True)]
    assert abs(sum(pairs) / 5000) < 4 / 12 / math.sqrt(5000)
