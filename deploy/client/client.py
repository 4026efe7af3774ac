"""The tool loop: the model writes until a tool's closing tag, the tool runs, its output is appended, and the same text
continues.

    python client.py "QUESTION" [URL]
"""

import json
import pathlib
import re
import sys

from server import Stream
from tools import TOOLS

CONFIG = json.loads((pathlib.Path(__file__).parent / "coa.json").read_text("utf-8"))


def last_turn(chain, tags):
    """The last turn of a chain: its tag, its text, and whether it is open. A tag inside another turn is part of its text."""
    opening, turn, at = re.compile(f"<({'|'.join(tags)})>"), None, 0
    while found := opening.search(chain, at):
        tag, start = found[1], found.end()
        end = chain.find(f"</{tag}>", start)
        if end == -1:
            return tag, chain[start:], True
        turn, at = (tag, chain[start:end], False), end + len(tag) + 3
    return turn


def solve(question, url=None, show=lambda text: None):
    """Answers a question; `show` gets the chain as it grows."""
    tags, observation, limits = CONFIG["tags"], CONFIG["observation"], CONFIG["limits"]
    question = question.strip()
    for token in CONFIG["controlTokens"]:
        question = question.replace(token, "")
    stream = Stream(CONFIG, url)
    stream.append(CONFIG["prompt"]["before"] + question + CONFIG["prompt"]["after"])
    chain, calls, left, read = "", 0, limits["tokens"], 0
    while left > 0:
        piece = stream.generate(left)
        left -= piece["tokens"]
        chain += piece["text"]
        tag, body, is_open = last_turn(chain, tags) or ("", "", True)
        # Some servers cut off the tag at which they stopped.
        if piece["is_cut"] and is_open and tags.get(tag) in ("tool", "answer"):
            chain += f"</{tag}>"
            stream.append(f"</{tag}>")
            is_open = False
        show(chain[read:])
        read = len(chain)
        if not is_open and tags[tag] == "answer":
            return {"answer": body.strip(), "chain": chain, "calls": calls}
        if not is_open and tags[tag] == "tool":
            if calls == limits["calls"]:
                break
            output = TOOLS[tag](body) if tag in TOOLS else f"{tag} is not available"
            output = output.replace(f"</{observation}>", f"<\\/{observation}>")
            shown = f"\n<{observation}>{output}</{observation}>\n"
            chain += shown
            stream.append(shown)
            calls += 1
        elif piece["is_end"]:
            break
    return {"answer": None, "chain": chain, "calls": calls}


if __name__ == "__main__":
    found = solve(sys.argv[1], *sys.argv[2:3], show=lambda text: print(text, end="", file=sys.stderr, flush=True))
    print(found["answer"] or "no answer")
