import pathlib

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

FOLDER = pathlib.Path(__file__).parent / "model"
LOADED = []


def load():
    if not LOADED:
        model = AutoModelForCausalLM.from_pretrained(FOLDER, dtype="auto", device_map=None)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        # On a CPU, float16 is slow, and the results of narrower types differ from one machine to another.
        LOADED.extend([model.to(device) if device == "cuda" else model.float(), AutoTokenizer.from_pretrained(FOLDER)])
    return LOADED


class Stream:
    """A text as token ids, continued by the model in this process."""

    def __init__(self, config, url=None):
        self.config, self.ids = config, []
        self.model, self.tokenizer = load()

    def append(self, text):
        self.ids += self.tokenizer(text, add_special_tokens=False).input_ids

    def generate(self, max_tokens):
        ids = torch.tensor([self.ids], device=self.model.device)
        found = self.model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_tokens,
            do_sample=False,
            stop_strings=self.config["stop"],
            tokenizer=self.tokenizer,
        )
        added = found[0, len(self.ids) :].tolist()
        self.ids += added
        text = self.tokenizer.decode(added, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        is_end = not any(stop in text for stop in self.config["stop"])
        return {"text": text, "tokens": len(added), "is_end": is_end, "is_cut": False}
