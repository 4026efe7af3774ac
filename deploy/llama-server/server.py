from post import post
from words import separated


class Stream:
    """A text on llama-server, kept as token ids, so that nothing is tokenized twice."""

    def __init__(self, config, url=None):
        self.config, self.url, self.ids = config, url or "http://127.0.0.1:8080", []

    def append(self, text):
        content = separated(text, self.config["words"])
        body = {"content": content, "add_special": False, "parse_special": True}
        self.ids += post(f"{self.url}/tokenize", body)["tokens"]

    def generate(self, max_tokens):
        found = post(
            f"{self.url}/completion",
            {
                "prompt": self.ids,
                "n_predict": max_tokens,
                "stop": self.config["stop"],
                "temperature": 0,
                "samplers": ["temperature"],
                "cache_prompt": True,
                "return_tokens": True,
            },
        )
        self.ids += found["tokens"]
        is_end = found["stop_type"] != "word"
        text = found["content"] + ("" if is_end else found["stopping_word"])
        return {"text": text, "tokens": len(found["tokens"]), "is_end": is_end, "is_cut": False}
