"""Loads models from Hugging Face folders, or initializes them randomly from config.json."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from transformers import AutoConfig, AutoModelForCausalLM

from ..errors import TrainerError, bad_request
from . import attention

_LAYER_COUNTS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")
# Layer limit for models without weight files.
_MAX_LAYERS_WITHOUT_WEIGHTS = 1000


def read_config(folder: Path) -> Any:
    if not (folder / "config.json").is_file():
        raise bad_request(f"{folder} has no config.json: pass a folder in the Hugging Face layout.")
    _check_layers(folder)
    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError, json.JSONDecodeError) as error:
        raise bad_request(f"{folder / 'config.json'} is invalid: {error}") from error


def is_weight_file(name: str) -> bool:
    return name.endswith(".safetensors") and not name.startswith(("optimizer.", "adapter_"))


def _check_layers(folder: Path) -> None:
    """Checked in the raw file, because transformers builds per-layer lists as soon as it reads a configuration."""
    path = folder / "config.json"
    files = [each for each in folder.iterdir() if is_weight_file(each.name)]
    try:
        config = json.loads(path.read_text())
        most = sum(map(_tensor_count, files)) if files else _MAX_LAYERS_WITHOUT_WEIGHTS
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        raise bad_request(f"The model in {folder.name} cannot be read: {error}") from error
    sections = [config, *config.values()] if isinstance(config, dict) else []
    for section in sections:
        for name in _LAYER_COUNTS if isinstance(section, dict) else ():
            layers = section.get(name)
            if isinstance(layers, int | float) and layers > most:
                has = f"its files hold {most} tensors" if files else f"the limit without weight files is {most}"
                raise bad_request(f"{path.name} of {folder.name} has {name} {layers:.15g}, but {has}.")


def _tensor_count(path: Path) -> int:
    with safe_open(path, framework="pt") as file:
        return len(file.keys())


def load_model(folder: Path, random_seed: int | None = None) -> Any:
    """Loads in float32 on the CPU, so that no precision is lost before the caller picks a dtype."""
    config = read_config(folder)
    for implementation in (attention.NAME, None):
        settings: dict[str, Any] = {"dtype": torch.float32}
        if implementation is not None:
            settings["attn_implementation"] = implementation
        try:
            return _build(folder, config, random_seed, settings)
        except TrainerError:
            raise
        except (ValueError, TypeError, ImportError) as error:
            # Models without pluggable attention raise here and are loaded with their own.
            if implementation is None:
                raise bad_request(f"The model in {folder} cannot be loaded: {error}") from error
        except (OSError, RuntimeError, KeyError, SafetensorError) as error:
            raise bad_request(f"The model in {folder} cannot be loaded: {error}") from error
    raise AssertionError


def _build(folder: Path, config: Any, random_seed: int | None, settings: dict[str, Any]) -> Any:
    if random_seed is not None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(random_seed)
            model = AutoModelForCausalLM.from_config(config, **settings)
    else:
        model, loading = AutoModelForCausalLM.from_pretrained(
            folder, local_files_only=True, output_loading_info=True, **settings
        )
        # transformers would initialize them randomly.
        absent = sorted({str(key) for key in loading["missing_keys"]})
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise bad_request(f"The weights in {folder.name} are incomplete: {absent[0]}{more} missing.")
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    return model.eval()


def context_length(config: Any) -> int:
    text = config.get_text_config()
    for name in ("max_position_embeddings", "n_positions", "max_sequence_length", "seq_length"):
        value = getattr(text, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return 1 << 20
