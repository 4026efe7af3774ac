"""Builds results as the protocol defines them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.datum import Datum, Floats, Loss, PassResult
from ..model.trained import TrainedModel
from .parse import integer


def _tensor(values: Floats) -> dict[str, Any]:
    return {"data": values.tolist(), "dtype": "float32", "shape": [len(values)]}


def pass_result(result: PassResult) -> dict[str, Any]:
    outputs = [
        {"logprobs": _tensor(logprobs), "elementwise_loss": _tensor(losses)}
        for logprobs, losses in zip(result.logprobs, result.elementwise, strict=True)
    ]
    return {
        "type": "forward_backward",
        "loss_fn_output_type": "TensorData",
        "loss_fn_outputs": outputs,
        "metrics": {"loss:sum": result.loss},
    }


def prompt_logprobs(trained: TrainedModel, prompt: Sequence[int], body: dict[str, Any]) -> dict[str, Any]:
    """Log-probabilities of the prompt's own tokens, if requested; the first token has none."""
    best = integer(body.get("topk_prompt_logprobs") or 0, "topk_prompt_logprobs", 0, trained.vocabulary)
    wanted = bool(body.get("prompt_logprobs")) or best > 0
    answer: dict[str, Any] = {"prompt_logprobs": None, "topk_prompt_logprobs": None}
    if not wanted:
        return answer
    if len(prompt) == 1:
        answer["prompt_logprobs"] = [None]
        answer["topk_prompt_logprobs"] = [None] if best else None
        return answer
    trained.weights.activate()
    whole = np.array(prompt, dtype=np.int64)
    scored = trained.run([Datum(whole[:-1], whole[1:])], Loss("cross_entropy"), backward=False)
    answer["prompt_logprobs"] = [None, *scored.logprobs[0].tolist()]
    if best:
        rows = trained.learner.top_tokens(prompt[:-1], best)
        answer["topk_prompt_logprobs"] = [None, *([list(pair) for pair in row] for row in rows)]
    return answer
