"""A team of three agents and one tool, written with the plain OpenAI client.

The only thing it does for coa is to choose the base URL: /run/ID/agent/NAME/v1.
"""

import json
import os
import urllib.request

from openai import OpenAI

GATEWAY = os.environ["GATEWAY"]
CAPITALS = {"Peru": "Lima", "Chad": "N'Djamena", "Laos": "Vientiane", "Mali": "Bamako"}
PEOPLE = {"Lima": 10_092_000, "N'Djamena": 1_592_000, "Vientiane": 1_058_000, "Bamako": 4_227_000}

LOOK_UP = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look up the capital of a country or the number of people in a city.",
        "parameters": {
            "type": "object",
            "properties": {"name": {"type": "string"}},
            "required": ["name"],
        },
    },
}


def look_up(name):
    if name in CAPITALS:
        return f"The capital of {name} is {CAPITALS[name]}."
    return f"{PEOPLE[name]:,} people live in {name}." if name in PEOPLE else f"Nothing is known about {name}."


class Team:
    def __init__(self, run):
        self.run = run

    def agent(self, name, system, user, tools=None):
        client = OpenAI(base_url=f"{GATEWAY}/run/{self.run}/agent/{name}/v1")
        messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        while True:
            options = {"tools": tools} if tools else {}
            reply = client.chat.completions.create(model="scripted", messages=messages, **options)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if not message.tool_calls:
                return message.content
            for call in message.tool_calls:
                output = look_up(**json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": output})

    def answer(self, question):
        plan = self.agent("planner", "You are the planner. Say what to look up.", question)
        facts = self.agent(
            "researcher",
            "You are the researcher. Look up what the plan asks for.",
            f"Question: {question}\nPlan: {plan}",
            tools=[LOOK_UP],
        )
        return self.agent(
            "writer",
            "You are the writer. Answer with a number only.",
            f"Question: {question}\nFacts: {facts}",
        )

    def end(self, answer, gold):
        """Says that the run is complete, and whether its answer is correct."""
        body = {"answer": answer, "gold": gold, "reward": 1 if answer == gold else 0}
        urllib.request.urlopen(f"{GATEWAY}/run/{self.run}/end", data=json.dumps(body).encode())


for country, capital in CAPITALS.items():
    team = Team(f"people-{country.lower()}")
    answer = team.answer(f"How many people live in the capital of {country}?")
    team.end(answer, str(PEOPLE[capital]))
    print(f"{country}: {answer}")
