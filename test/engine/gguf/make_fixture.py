"""Writes gguf.fixture.json with the Python package gguf (0.19.0) and numpy: its quantized bytes and their values.

    python make_fixture.py > gguf.fixture.json
"""

import base64
import json
import sys
import tempfile

import gguf
import numpy as np
from gguf import GGMLQuantizationType as T

random = np.random.default_rng(7)


def encoded(array):
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def stored(kind, blocks):
    """Bytes of a type: from its quantizer, or random with finite scales."""
    values, size = gguf.GGML_QUANT_SIZES[kind]
    try:
        data = random.normal(0, 0.05, (blocks, values)).astype(np.float32)
        data[0, 3] = 0
        return data, gguf.quants.quantize(data, kind)
    except NotImplementedError:
        raw = random.integers(0, 256, (blocks, size), dtype=np.uint8)
        scales = {T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208]}[kind]
        for offset in scales:
            raw[:, offset : offset + 2] = random.normal(0, 0.01, (blocks, 1)).astype(np.float16).view(np.uint8)
        return None, raw


def block_types():
    for kind in [T.Q8_0, T.Q4_0, T.Q4_1, T.Q5_0, T.Q5_1, T.Q4_K, T.Q5_K, T.Q6_K]:
        data, raw = stored(kind, 2)
        values = gguf.quants.dequantize(raw, kind).astype(np.float32)
        yield {
            "type": kind.name,
            **({} if data is None else {"values": encoded(data)}),
            "bytes": encoded(raw),
            "read": encoded(values),
        }


def whole_file():
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        writer = gguf.GGUFWriter(file.name, "llama")
        writer.add_block_count(2)
        writer.add_layer_norm_rms_eps(1e-5)
        writer.add_token_list(["a", "Ġb", "日本"])
        writer.add_token_types([1, 1, 3])
        writer.add_bool("test.yes", True)
        writer.add_int64("test.long", -(2**60))
        writer.add_float64("test.double", 0.1)
        writer.add_array("test.numbers", [1, -2, 3])
        writer.add_tensor("one", np.arange(6, dtype=np.float32).reshape(2, 3))
        writer.add_tensor("two", np.array([0.5, -1.25, 3], dtype=np.float16))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return base64.b64encode(open(file.name, "rb").read()).decode()


json.dump({"gguf": "0.19.0", "types": list(block_types()), "file": whole_file()}, sys.stdout, indent=1)
print()
