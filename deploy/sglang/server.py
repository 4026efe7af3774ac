from post import post


class Stream:
    """A text on SGLang, continued through /generate."""

    def __init__(self, config, url=None):
        self.config, self.url, self.text = config, url or "http://127.0.0.1:30000", ""

    def append(self, text):
        self.text += text

    def generate(self, max_tokens):
        found = post(
            f"{self.url}/generate",
            {
                "text": self.text,
                "sampling_params": {
                    "max_new_tokens": max_tokens,
                    "temperature": 0,
                    "stop": self.config["stop"],
                    "no_stop_trim": True,
                    "skip_special_tokens": False,
                    "spaces_between_special_tokens": False,
                },
            },
        )
        self.text += found["text"]
        info = found["meta_info"]
        is_end = not isinstance(info["finish_reason"].get("matched"), str)
        return {"text": found["text"], "tokens": info["completion_tokens"], "is_end": is_end, "is_cut": False}
