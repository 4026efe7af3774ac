"""Stands in for a model, so that the example needs none: an OpenAI-compatible server that knows what each agent would say.

It prints its address. To use a real model, give `coa record --upstream` its URL instead.
"""

import json
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def say(text):
    return {"role": "assistant", "content": text}


def look_up(number, name):
    call = {"name": "look_up", "arguments": json.dumps({"name": name})}
    calls = [{"id": f"call_{number}", "type": "function", "function": call}]
    return {"role": "assistant", "content": f"I look up {name}.", "tool_calls": calls}


def reply_to(messages):
    system, user = messages[0]["content"], messages[1]["content"]
    country = re.search(r"capital of (\w+)\?", user)[1]
    outputs = [message["content"] for message in messages if message["role"] == "tool"]
    if "planner" in system:
        return say(f"Find the capital of {country}, and then the number of people who live there.")
    if "writer" in system:
        return say(re.search(r"([\d,]+) people", user)[1].replace(",", ""))
    if not outputs:
        return look_up(1, country)
    if len(outputs) == 1:
        return look_up(2, re.search(r" is (.+)\.", outputs[0])[1])
    return say(" ".join(outputs))


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        message = reply_to(request["messages"])
        finish = "tool_calls" if "tool_calls" in message else "stop"
        body = {
            "id": "scripted",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
