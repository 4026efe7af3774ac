from post import post
from words import separated


class Stream:
    """A text on Ollama, sent as it is (`raw`): a chat message would be put into the template."""

    def __init__(self, config, url=None):
        self.config, self.url, self.text = config, url or "http://127.0.0.1:11434", ""

    def append(self, text):
        self.text += text

    def generate(self, max_tokens):
        config = self.config
        found = post(
            f"{self.url}/api/generate",
            {
                "model": config["model"],
                "prompt": separated(self.text, config["words"]),
                "raw": True,
                "stream": False,
                "options": {
                    "temperature": 0,
                    "repeat_penalty": 1,
                    "num_predict": max_tokens,
                    "num_ctx": config["limits"]["context"],
                    "stop": config["stop"],
                },
            },
        )
        self.text += found["response"]
        # It does not tell a stop text from the end of the text, and cuts the stop text off.
        is_cut = found["done_reason"] == "stop"
        return {"text": found["response"], "tokens": found["eval_count"], "is_end": True, "is_cut": is_cut}
