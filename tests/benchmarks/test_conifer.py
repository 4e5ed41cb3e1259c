"""Conifer from a local file and from the hub."""

from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError, read_json, write_jsonl
from slmcollab.benchmarks import conifer, hub

HUB = {"id": "ConiferLM/Conifer", "revision": "6b5e0bf530e2a88fdddb89824de6485913c25c03"}
PUBLISHED = Path(conifer.__file__).parents[2] / "splits" / "conifer.json"


def conversation(seed, turns=2, kind="Easy-to-Hard"):
    messages = []
    for turn in range(turns):
        asked = seed if turn == 0 else f"{seed} Harder {turn}."
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": f"Reply {turn}."}]
    return {"prompt": seed, "messages": messages, "type": kind}


ROWS = [
    conversation("What is fire?", 3),
    conversation("Feedback on water?", 2, "Process Feedback"),
    conversation("What is air?", 1),
    conversation("what is  fire?", 4),  # a repeat of the first, but for spaces and case
    conversation("What is earth?", 5),
]


def local_block(folder, rows=ROWS, **changed):
    write_jsonl(folder / "train_sft.jsonl", rows)
    sizes = {"num_train": 1, "num_dev": 1, "num_test": 1}
    return {"benchmark": "conifer", **sizes, "source": {"path": str(folder)}} | changed


def test_the_hardest_turn_of_each_seed_question_once(tmp_path):
    splits = conifer.load(local_block(tmp_path), 42)
    problems = {problem.metadata["task"]: problem for problem in [*splits.train, *splits.dev, *splits.test]}
    assert set(problems) == {"whatisfire?", "whatisair?", "whatisearth?"}
    earth = problems["whatisearth?"]
    assert (earth.id, earth.question) == ("conifer/4", "What is earth? Harder 4.")
    assert earth.messages == [{"role": "user", "content": "What is earth? Harder 4."}]
    assert earth.metadata["num_turns"] == 5
    assert problems["whatisair?"].question == "What is air?"
    assert problems["whatisfire?"].id in ("conifer/0", "conifer/3")


def test_the_reply_of_the_data_set_is_no_gold_answer(tmp_path):
    splits = conifer.load(local_block(tmp_path), 42)
    problems = [*splits.train, *splits.dev, *splits.test]
    assert not any("Reply" in str(problem) for problem in problems)
    assert {problem.answer for problem in problems} == {None}


def test_more_than_the_seed_questions_are_refused(tmp_path):
    with pytest.raises(ArtifactError, match=r"benchmarks\.conifer: num_test 2, num_dev 1, num_train 1 asked for"):
        conifer.load(local_block(tmp_path, num_test=2), 42)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"messages": []}, "type is missing"),
        ({"type": "Easy-to-Hard"}, "messages is no list of turns"),
        ({"type": "Easy-to-Hard", "messages": [{"role": "user"}]}, "messages is no list of turns"),
        ({"type": "Easy-to-Hard", "messages": [{"role": "assistant", "content": "x"}]}, "messages has no user turn"),
        ({"type": "Easy-to-Hard", "messages": [{"role": "user", "content": " "}]}, "messages has no user turn, or an"),
    ],
)
def test_malformed_row_is_named(tmp_path, row, fault):
    with pytest.raises(ArtifactError, match=f"conifer row 5: {fault}"):
        conifer.load(local_block(tmp_path, [*ROWS, row]), 42)


def test_hub_rows_are_asked_for_at_the_pinned_revision_and_counted(tmp_path, monkeypatch):
    asked, rows = [], [conversation(f"What is {index}?", 2) for index in range(conifer.NUM_ROWS)]

    def stored(source, split, *, name=None):
        asked.append((source["id"], name, split, source["revision"]))
        return rows

    monkeypatch.setattr(hub, "read_hub", stored)
    block = local_block(tmp_path, source=HUB, num_test=1402, num_dev=200, num_train=1000)
    splits = conifer.load(block, 42)
    assert len({problem.id for problem in [*splits.train, *splits.dev, *splits.test]}) == 2602
    assert asked == [(HUB["id"], None, "train_sft", HUB["revision"])]
    rows.pop()
    with pytest.raises(ArtifactError, match="13605 rows, 13606 are published"):
        conifer.load(block, 42)


def test_the_published_rule_is_the_loader_s(tmp_path):
    rule = conifer.load(local_block(tmp_path, num_test=1, num_dev=1, num_train=1), 42).rule
    published = read_json(PUBLISHED)
    assert published["data_seed"] == 42
    ours = rule.replace(str(tmp_path), HUB["id"]).replace("The 4 ", "The ").split(": the first 1 ")[0]
    assert published["rule"].startswith(ours)
