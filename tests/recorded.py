"""Hand-made trajectories, calls, answers and verdicts, as short as a test needs them."""

import json

from slmcollab.artifacts import digest
from slmcollab.generation.calls import EVAL, Call
from slmcollab.protocol.trajectory import Step, Trajectory


def wherever(path):
    """Return the digest of a file or folder; of a record, what it says but for its files' paths."""
    try:
        told = json.loads(path.read_bytes())
    except (IsADirectoryError, ValueError):
        return digest(path)
    return {name: value for name, value in told.items() if name != "digests"}


def step(slot, action="continue", *, answer="", reasoning="", anomaly=None):
    """Return a step; action "a2" hands over to a2."""
    target = action if action not in ("continue", "terminate", None) else None
    return Step(slot, "", reasoning, answer, "handoff" if target else action, target, anomaly)


def trajectory(*steps, problem="q0", end="terminated", sample=0):
    return Trajectory(problem, sample, tuple(steps), end)


def path(*slots, problem="q0"):
    """Return a trajectory of which only the slots matter."""
    return trajectory(*(step(slot) for slot in slots), problem=problem)


def call(number, *, model="small", size=1.0, tokens=10, qid="q0", phase=EVAL, retry_of=None, anomaly=None):
    names = {"run": "sums/cl/seed0/eval", "method": "cl", "benchmark": "sums", "qid": qid, "phase": phase}
    spoken = {"agent": "a1", "model": model, "model_b": size, "adapter": None, "seed": 0, "prompt_tokens": 5}
    parsed = {"text": "", "reasoning": "", "answer": "", "action": None, "target": None, "anomaly": anomaly}
    places = {"round": 0, "sample": 0, "step": 0, "retry_of": retry_of, "output_ids": None}
    ended = {"output_tokens": tokens, "finish_reason": "stop", "parse_ok": anomaly is None}
    return Call(id=f"c{number}", **names, **spoken, **parsed, **places, **ended)


def answer_row(problem, answer, num_steps, candidates=()):
    """Return a row of answers.jsonl; candidates are texts of steps 0, 1, ..."""
    rows = [{"step": index, "slot": "a1", "answer": text} for index, text in enumerate(candidates)]
    row = {"id": problem, "answer": answer, "slot": "a1" if answer else None, "end": "terminated"}
    return row | {"num_steps": num_steps, "candidates": rows}


def verdict(correct, candidates=(), *, score=None, group=None, error=None, metrics=None):
    score = float(correct) if score is None else score
    detail = {"accuracy": float(correct), "f1": score} if metrics is None else metrics
    rest = {"candidates": list(candidates), "error": error, "group": group, "metrics": detail}
    return {"score": score, "correct": correct, **rest}
