"""Asks a server with OpenAI's own client, in every way, and prints what it got."""

import json
import sys

from openai import AuthenticationError, NotFoundError, OpenAI

base, key, question = sys.argv[1:]
client = OpenAI(base_url=base, api_key=key, max_retries=0)
messages = [{"role": "user", "content": question}]
seen = {}

whole = client.chat.completions.create(model="mine", messages=messages)
seen["chat"] = whole.choices[0].message.content
seen["reasoning"] = whole.choices[0].message.reasoning_content

seen["streamed"] = ""
for chunk in client.chat.completions.create(model="mine", messages=messages, stream=True):
    if chunk.choices:
        seen["streamed"] += chunk.choices[0].delta.content or ""

response = client.responses.create(model="mine", input=question)
seen["responses"] = response.output_text
seen["items"] = [item.type for item in response.output]

with client.responses.stream(model="mine", input=question) as stream:
    for _ in stream:
        pass
    seen["responses_streamed"] = stream.get_final_response().output_text

seen["models"] = [model.id for model in client.models.list()]

try:
    OpenAI(base_url=base, api_key="wrong", max_retries=0).models.list()
except AuthenticationError as error:
    seen["wrong_key"] = type(error).__name__
try:
    client.chat.completions.create(model="other", messages=messages)
except NotFoundError as error:
    seen["wrong_model"] = type(error).__name__

stored = client.post(
    "/feedback", cast_to=object, body={"id": response.id, "verdict": "good", "note": "clear"}
)
seen["feedback"] = stored["rating"]
try:
    client.post("/feedback", cast_to=object, body={"id": "chatcmpl-0", "verdict": "good"})
except NotFoundError as error:
    seen["feedback_on_nothing"] = type(error).__name__

print(json.dumps(seen))
