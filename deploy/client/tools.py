"""The tools by tag: each gets what the model wrote between the tags, and returns what the model will read."""

import re
import subprocess
import sys

# What runs the model's programs. This one has no limits but time: use a container for anything that matters.
PYTHON = [sys.executable, "-I", "-"]
SECONDS = 10


def code(body):
    fenced = re.search(r"```\w*\n(.*?)\n?```", body, re.DOTALL)
    program = fenced[1] if fenced else body
    try:
        done = subprocess.run(PYTHON, input=program, capture_output=True, text=True, encoding="utf-8", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return "The program ran too long and was stopped."
    parts = [done.stdout.rstrip(), f"stderr:\n{done.stderr.rstrip()}" if done.stderr.strip() else ""]
    if done.returncode != 0:
        parts.append(f"The program ended with exit code {done.returncode}.")
    return "\n".join(part for part in parts if part) or "The program printed nothing."


TOOLS = {"code": code}
