"""The public SDK against this server, if it is installed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from live import server

tinker: Any = pytest.importorskip("tinker")

TEXT = list(b"some text to be learned by heart")


@pytest.fixture(scope="module")
def service(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with server(tiny_folder, tmp_path_factory.mktemp("data"), key="tml-test") as live:
        url = live.url.removesuffix("/api/v1")
        yield tinker.ServiceClient(base_url=url, api_key="tml-test")


def datum() -> Any:
    return tinker.Datum(
        model_input=tinker.ModelInput.from_ints(TEXT[:-1]),
        loss_fn_inputs={
            "target_tokens": tinker.TensorData(data=TEXT[1:], dtype="int64", shape=[len(TEXT) - 1]),
            "weights": tinker.TensorData(data=[1.0] * (len(TEXT) - 1), dtype="float32", shape=[len(TEXT) - 1]),
        },
    )


def test_training_and_sampling(service: Any) -> None:
    names = [model.model_name for model in service.get_server_capabilities().supported_models]
    assert names == ["tiny"]
    training = service.create_lora_training_client(base_model="tiny", rank=8)
    losses = []
    for _ in range(20):
        done = training.forward_backward([datum()], "cross_entropy")
        step = training.optim_step(tinker.AdamParams(learning_rate=0.02))
        losses.append(done.result().metrics["loss:sum"])
        step.result()
    assert losses[-1] < losses[0] / 3
    looked = training.forward([datum()], "cross_entropy").result()
    logprobs = looked.loss_fn_outputs[0]["logprobs"].data
    assert len(logprobs) == len(TEXT) - 1
    sampling = training.save_weights_and_get_sampling_client(name="learned")
    params = tinker.SamplingParams(max_tokens=6, temperature=0.0, seed=1)
    prompt = tinker.ModelInput.from_ints(TEXT[:20])
    sampled = sampling.sample(prompt=prompt, num_samples=2, sampling_params=params).result()
    assert len(sampled.sequences) == 2
    assert list(sampled.sequences[0].tokens) == TEXT[20:26]
    assert sampled.sequences[0].stop_reason == "length"
    scores = sampling.compute_logprobs(tinker.ModelInput.from_ints(TEXT)).result()
    assert [float(each) for each in scores[1:]] == pytest.approx([float(each) for each in logprobs], abs=1e-4)
    path = training.save_state("state").result().path
    again = service.create_training_client_from_state(path)
    relooked = again.forward([datum()], "cross_entropy").result()
    assert relooked.metrics["loss:sum"] == pytest.approx(looked.metrics["loss:sum"], rel=1e-6)
    assert training.get_info().model_data.model_name == "tiny"


def test_errors_reach_the_caller(service: Any) -> None:
    training = service.create_lora_training_client(base_model="tiny", rank=2)
    with pytest.raises(Exception, match="nonsense"):
        training.forward_backward([datum()], "nonsense").result(timeout=600)
