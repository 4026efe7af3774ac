"""A separate program: continues prompts greedily with transformers and prints the token ids."""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

with open(sys.argv[1]) as file:
    job = json.load(file)
torch.set_num_threads(1)
model = AutoModelForCausalLM.from_pretrained(job["model"]).float()
found = []
for prompt in job["prompts"]:
    ids = torch.tensor([prompt])
    mask = torch.ones_like(ids)
    full = model.generate(ids, attention_mask=mask, max_new_tokens=job["count"], do_sample=False)
    found.append(full[0, len(prompt) :].tolist())
print("\n" + json.dumps(found))
