"""The engine step by step for all questions at once against one question at a time: same models, same tokens."""

import tempfile
from pathlib import Path

import torch
from measure import Figure, interleaved
from transformers import GenerationConfig

from slmcollab.generation.engine import LocalBackend
from slmcollab.generation.requests import Decoding, Member, Request
from slmcollab.models import toy
from slmcollab.models.toy_tokenizer import build_tokenizer
from slmcollab.seeding import derive

NUM_QUESTIONS, NUM_STEPS, DECODING = 64, 3, Decoding(max_new_tokens=48, temperature=0.9, top_p=0.95)
FAMILIES = {"a1": "llama", "a2": "qwen2", "a3": "gpt2"}
TURNS = [("a1", "a2", "a3"), ("a1", "a3", "a2")]  # who speaks, by question
HEAD = "You are {}. The team is a1, a2, a3. Everyone sees all steps so far. Give your answer in tags, then an action."


def team(root: Path) -> list[Member]:
    """Write three random models of 0.1 M parameters that now and then end a response; return their places."""
    tokenizer = build_tokenizer()
    for slot, family in FAMILIES.items():
        model = toy.build_model(toy.Architecture(family, 64, 2, 4), tokenizer, seed=derive(0, slot))
        # Tied embeddings of norm 1 say the last token again and again; these rows are short enough to let others in.
        with torch.no_grad():
            model.get_input_embeddings().weight.mul_(0.4)
        ends = [tokenizer.eos_token_id, *range(5, len(tokenizer), 100)]
        model.generation_config = GenerationConfig(eos_token_id=ends, pad_token_id=tokenizer.pad_token_id)
        model.save_pretrained(root / slot)
        tokenizer.save_pretrained(root / slot)
    return [Member(slot, family, root / slot, 1e-4) for slot, family in FAMILIES.items()]


def work(backend: LocalBackend, questions: list[int]) -> dict[int, list]:
    """Return the responses to each question in three steps, in each of which a slot reads what was said before it.

    All start with the first slot; it hands half of them to the second and half to the third, and these to each other.
    """
    said: dict[int, list] = {question: [] for question in questions}
    for step in range(NUM_STEPS):
        requests = []
        for question in questions:
            history = "".join(f"\nStep {at}: {response.text}" for at, response in enumerate(said[question]))
            slot = TURNS[question % len(TURNS)][step]
            task = {"role": "user", "content": f"What is {question} + {question % 7}?{history}"}
            head = {"role": "system", "content": HEAD.format(slot)}
            requests.append(Request(slot, [head, task], derive(0, question, step)))
        for question, response in zip(questions, backend.generate(requests, DECODING), strict=True):
            said[question].append(response)
    return said


def engine_trajectories() -> Figure:
    questions, found = list(range(NUM_QUESTIONS)), {}
    with tempfile.TemporaryDirectory() as folder:
        members = team(Path(folder))
        backend = LocalBackend(members, dtype="float32", resident="all", batch_size=NUM_QUESTIONS)
        ours, peer = interleaved(
            3,
            lambda: found.update(ours=work(backend, questions)),
            lambda: found.update(peer={question: work(backend, [question])[question] for question in questions}),
        )
    assert found["ours"] == found["peer"]
    responses = [response for steps in found["ours"].values() for response in steps]
    tokens, ended = (
        sum(each.output_tokens for each in responses),
        sum(each.finish_reason == "stop" for each in responses),
    )
    note = f"{tokens} tokens, {ended} of {len(responses)} responses end early"
    count = NUM_QUESTIONS
    return Figure("engine_trajectories", peer / ours, 6, count / ours, "traj/s", count / peer, at_least=True, note=note)
