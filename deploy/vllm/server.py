from post import post


class Stream:
    """A text on vLLM, continued through /v1/completions."""

    def __init__(self, config, url=None):
        self.config, self.url, self.text = config, url or "http://127.0.0.1:8000", ""

    def append(self, text):
        self.text += text

    def generate(self, max_tokens):
        found = post(
            f"{self.url}/v1/completions",
            {
                "model": self.config["model"],
                "prompt": self.text,
                "max_tokens": max_tokens,
                "temperature": 0,
                "stop": self.config["stop"],
                "include_stop_str_in_output": True,
                "add_special_tokens": False,
                "skip_special_tokens": False,
                "spaces_between_special_tokens": False,
            },
        )
        choice = found["choices"][0]
        self.text += choice["text"]
        is_end = not isinstance(choice["stop_reason"], str)
        tokens = found["usage"]["completion_tokens"]
        return {"text": choice["text"], "tokens": tokens, "is_end": is_end, "is_cut": False}
