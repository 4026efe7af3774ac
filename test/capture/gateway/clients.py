"""Asks the same question with the official clients: clients.py URL QUESTION."""

import sys

from anthropic import Anthropic
from openai import OpenAI

url, question = sys.argv[1:]
messages = [{"role": "user", "content": question}]


def openai(run):
    return OpenAI(api_key="sk-test-0123456789", base_url=f"{url}/run/{run}/agent/solver/v1")


def anthropic(run):
    return Anthropic(api_key="sk-test-0123456789", base_url=f"{url}/run/{run}/agent/solver")


reply = openai("chat").chat.completions.create(model="m", messages=messages)
print("chat", reply.choices[0].message.content)

chunks = openai("chat-stream").chat.completions.create(model="m", messages=messages, stream=True)
pieces = [choice.delta.content or "" for chunk in chunks for choice in chunk.choices]
print("chat-stream", "".join(pieces))

print("responses", openai("responses").responses.create(model="m", input=question).output_text)

with openai("responses-stream").responses.stream(model="m", input=question) as stream:
    print("responses-stream", stream.get_final_response().output_text)

reply = anthropic("messages").messages.create(model="m", max_tokens=100, messages=messages)
print("messages", reply.content[0].text)

with anthropic("messages-stream").messages.stream(model="m", max_tokens=100, messages=messages) as stream:
    print("messages-stream", stream.get_final_text())
