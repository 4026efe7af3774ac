"""What can be sampled from: loaded models, base models and saved weights."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from ..errors import bad_request
from ..model.bases import BaseModels
from ..model.checkpoint import ADAPTER_FILE
from ..model.learner import PassOptions
from ..model.lora import LoraSettings
from ..model.read_checkpoint import apply_checkpoint, read_adapter_config, read_checkpoint
from ..model.trained import TrainedModel, adapter_weights, base_weights, full_weights, trained_model
from ..sampling.choose_decoder import choose_decoder
from ..sampling.sampler import Sampler

log = logging.getLogger(__name__)

# Saved checkpoints kept loaded for sampling.
KEPT_LOADED = 2


@dataclass(frozen=True)
class SamplerOptions:
    max_rows: int = 256
    cache_tokens: int = 0
    """0: as many as fit in a fraction of the memory."""


@dataclass(eq=False)
class Source:
    trained: TrainedModel
    sampler: Sampler
    version: int


class Sources:
    def __init__(self, bases: BaseModels, passes: PassOptions, options: SamplerOptions) -> None:
        self._bases = bases
        self._passes = passes
        self._options = options
        self._live: dict[str, Source] = {}
        self._loaded: OrderedDict[str, Source] = OrderedDict()
        self._decoders: dict[str, Callable[[Sequence[int]], str] | None] = {}
        self.should_yield: Callable[[], bool] = lambda: False
        """Whether requests wait, so that a long burst should end."""

    def of_model(self, trained: TrainedModel) -> Source:
        if trained.id not in self._live:
            self._live[trained.id] = self._source(trained)
        return self._live[trained.id]

    def has(self, model_id: str) -> bool:
        return model_id in self._live

    def samples(self, model_id: str) -> bool:
        return self.has(model_id) and not self._live[model_id].sampler.idle

    def of_base(self, name: str) -> Source:
        key = f"base:{name}"
        if key not in self._live:
            weights = base_weights(self._bases, name)
            self._live[key] = self._source(trained_model(self._bases, key, weights, self._passes, trains=False))
        return self._live[key]

    def of_folder(self, folder: Path, base: str) -> Source:
        """Weights from disk; the least recently used are evicted."""
        key = f"{folder}:{folder.stat().st_mtime_ns}"
        if key not in self._loaded:
            self._evict_loaded()
            self._loaded[key] = self._source(self._load(folder, base))
        self._loaded.move_to_end(key)
        return self._loaded[key]

    def _evict_loaded(self) -> None:
        for key, source in list(self._loaded.items()):
            if len(self._loaded) < KEPT_LOADED:
                return
            if source.sampler.idle:
                source.trained.weights.release()
                del self._loaded[key]

    def _load(self, folder: Path, base: str) -> TrainedModel:
        name = f"sampler-{len(self._loaded)}-{folder.stat().st_mtime_ns}"
        if (folder / ADAPTER_FILE).is_file():
            rank, alpha, targets = read_adapter_config(folder)
            head = "lm_head" in targets or "embed_out" in targets
            attention = any("q_proj" in target or "attn" in target or "c_attn" in target for target in targets)
            feed_forward = any("up" in target or "fc" in target or "mlp" in target for target in targets)
            lora = LoraSettings(rank, alpha, 0, attention, feed_forward, head)
            weights = adapter_weights(self._bases, base, name, lora)
            trained = trained_model(self._bases, name, weights, self._passes)
            apply_checkpoint(trained, read_checkpoint(folder, trained, self._bases, optimizer=False))
            return trained
        weights = full_weights(self._bases, base, self._bases.fresh(base, folder))
        return trained_model(self._bases, name, weights, self._passes, trains=False)

    def _source(self, trained: TrainedModel) -> Source:
        trained.weights.activate()
        sampler = Sampler(
            choose_decoder(trained.weights.model, trained.vocabulary),
            trained.context_length,
            trained.vocabulary,
            self.decoder(trained.weights.base),
            self._options.max_rows,
            self._options.cache_tokens or default_cache_tokens(trained.weights.model),
            trained.version,
        )
        sampler.should_yield = self._should_yield
        return Source(trained, sampler, trained.version)

    def _should_yield(self) -> bool:
        return self.should_yield() or sum(not source.sampler.idle for source in self.all()) > 1

    def decoder(self, base: str) -> Callable[[Sequence[int]], str] | None:
        """Decodes tokens to text, if the base model has a tokenizer.json."""
        if base not in self._decoders:
            path = self._bases.folder(base) / "tokenizer.json"
            self._decoders[base] = _decode_with(path) if path.is_file() else None
        return self._decoders[base]

    def remove(self, model_id: str) -> None:
        source = self._live.pop(model_id, None)
        if source is not None:
            source.sampler.fail(bad_request(f"Model {model_id} was unloaded."))

    def weights_changed(self, model_id: str) -> None:
        source = self._live.get(model_id)
        if source is not None:
            source.version = source.trained.version
            source.sampler.weights_changed(source.version)

    def all(self) -> list[Source]:
        return [*self._live.values(), *self._loaded.values()]

    def sequences(self) -> int:
        return sum(source.sampler.sequences for source in self.all())

    # Called by the worker: one step of each sampler that has work.

    def busy(self) -> bool:
        return any(not source.sampler.idle for source in self.all())

    def step(self) -> None:
        from .worker import as_trainer_error

        for source in self.all():
            if source.sampler.idle:
                continue
            try:
                source.trained.weights.activate()
                source.sampler.step()
            except Exception as error:
                source.sampler.fail(as_trainer_error(error))


def default_cache_tokens(model: Any) -> int:
    """KV cache size in tokens: 30% of GPU memory, or 1 GiB of host memory."""
    config = model.config.get_text_config()
    parameter = next(model.parameters())
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", 1)
    width = getattr(config, "head_dim", None) or config.hidden_size // getattr(config, "num_attention_heads", 1)
    bytes_each = 2 * config.num_hidden_layers * heads * width * parameter.element_size()
    budget = 1 << 30
    if parameter.device.type == "cuda":
        budget = torch.cuda.get_device_properties(parameter.device).total_memory * 3 // 10
    return max(1, int(budget // bytes_each))


def _decode_with(path: Path) -> Callable[[Sequence[int]], str]:
    tokenizer: Any = Tokenizer.from_file(str(path))

    def decode(tokens: Sequence[int]) -> str:
        text: str = tokenizer.decode(list(tokens), skip_special_tokens=False)
        return text

    return decode
