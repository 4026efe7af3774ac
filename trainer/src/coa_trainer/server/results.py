"""Results as the protocol has them."""

from collections.abc import Sequence
from typing import Any

from ..model.datum import Floats, PassResult
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
    """Scores of the prompt's own tokens, where they are asked for; the first token has none."""
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
    logprobs, ids, values = trained.learner.logprobs(prompt, best)
    answer["prompt_logprobs"] = [None, *logprobs.tolist()]
    if best:
        rows = [
            [[token, value] for token, value in zip(row_ids, row_values, strict=True)]
            for row_ids, row_values in zip(ids.tolist(), values.tolist(), strict=True)
        ]
        answer["topk_prompt_logprobs"] = [None, *rows]
    return answer
