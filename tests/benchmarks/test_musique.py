"""MuSiQue from local files and from the hub, and its published split."""

from pathlib import Path

import pytest

from slmcollab.artifacts import ArtifactError, read_json, write_jsonl
from slmcollab.benchmarks import hub, musique
from slmcollab.benchmarks.splits import tasks_of

HUB = {"id": "dgslibisey/MuSiQue", "revision": "1bd32e8b3f4f29a11f8240a9f666ef52e159c24e"}
PUBLISHED = Path(musique.__file__).parents[2] / "splits" / "musique.json"


def row(id_, **changed):
    paragraphs = [
        {"idx": index, "title": f"Title {index}", "paragraph_text": f"Text {index}.", "is_supporting": index < 2}
        for index in range(20)
    ]
    named = {"id": id_, "question": f"Who is {id_}?", "answer": "Ann", "answer_aliases": ["Anna"], "answerable": True}
    return {**named, "paragraphs": paragraphs} | changed


TEST = [row("2hop__1_2"), row("3hop1__3_4_5")]
TRAIN = [row(f"2hop__{index}_{index + 1}") for index in range(10, 30)] + [row("2hop__2_99")]


def local_block(folder, train=TRAIN, test=TEST, **changed):
    write_jsonl(folder / "train.jsonl", train)
    write_jsonl(folder / "validation.jsonl", test)
    sizes = {"num_train": 4, "num_dev": 2, "num_test": len(test)}
    return {"benchmark": "musique", **sizes, "source": {"path": str(folder)}} | changed


def test_validation_is_test_and_train_shares_no_single_hop(tmp_path):
    splits = musique.load(local_block(tmp_path), 42)
    assert [problem.id for problem in splits.test] == ["musique/validation/0", "musique/validation/1"]
    assert tasks_of(splits.test[1]) == {"3", "4", "5"}
    dev = [f"musique/train/{index}" for index in musique.dev_rows(21, 2, 42)]
    assert [problem.id for problem in splits.dev] == dev
    known = set().union(*map(tasks_of, [*splits.dev, *splits.test]))
    assert len(splits.train) == 4
    assert all(known.isdisjoint(tasks_of(problem)) for problem in splits.train)


def test_train_never_takes_what_touches_test(tmp_path):
    # of 21 rows two are dev, and the last one shares hop 2 with test; neighbours share hops too
    with pytest.raises(ArtifactError, match=r"benchmarks\.musique\.num_train: 19 asked for, but 1\d of 21"):
        musique.load(local_block(tmp_path, num_train=19), 42)
    only = local_block(tmp_path, train=[TRAIN[-1]] * 3, num_dev=0, num_train=1)
    with pytest.raises(ArtifactError, match="1 asked for, but 0 of 3"):
        musique.load(only, 42)


def test_the_prompt_holds_all_paragraphs_and_the_metadata_all_answers(tmp_path):
    problem = musique.load(local_block(tmp_path), 42).test[0]
    (message,) = problem.messages
    assert message["role"] == "user"
    assert message["content"].startswith("Paragraph 1: Title 0\nText 0.\n\nParagraph 2: Title 1\n")
    assert "Paragraph 20: Title 19\nText 19.\n\nQuestion: Who is 2hop__1_2?\n\n" in message["content"]
    assert message["content"].endswith(musique.INSTRUCTION)
    assert "Ann" not in message["content"].replace(musique.INSTRUCTION, "")
    assert (problem.answer, problem.question) == ("Ann", "Who is 2hop__1_2?")
    assert problem.metadata == {"source_id": "2hop__1_2", "task": ["1", "2"], "aliases": ["Anna"]}


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"answer": ""}, "answer is missing"),
        ({"question": None}, "question is missing"),
        ({"answer_aliases": "Anna"}, "answer_aliases"),
        ({"answer_aliases": [1]}, "answer_aliases"),
        ({"paragraphs": []}, "paragraphs"),
        ({"paragraphs": [{"title": "x"}]}, "paragraph_text is missing"),
    ],
)
def test_malformed_row_is_named(tmp_path, changed, fault):
    with pytest.raises(ArtifactError, match=f"musique validation row 2: {fault}"):
        musique.load(local_block(tmp_path, test=[*TEST, row("2hop__7_8", **changed)]), 42)


def test_hub_rows_are_asked_for_at_the_pinned_revision_and_counted(tmp_path, monkeypatch):
    asked, short = [], {"train": 0, "validation": 0}

    def stored(source, split, *, name=None):
        asked.append((source["id"], name, split, source["revision"]))
        return [TRAIN[0] if split == "train" else TEST[0]] * (musique.NUM_ROWS[split] - short[split])

    assert musique.NUM_ROWS == {"train": 19938, "validation": 2417}
    monkeypatch.setattr(musique, "NUM_ROWS", {"train": 50, "validation": 40})
    monkeypatch.setattr(hub, "read_hub", stored)
    block = local_block(tmp_path, source=HUB, num_dev=0, num_train=5)
    assert len(musique.load(block, 42).test) == 40
    assert asked == [(HUB["id"], None, split, HUB["revision"]) for split in ("train", "validation")]
    short["validation"] = 1
    with pytest.raises(ArtifactError, match=r"validation: 39 rows, 40 are published"):
        musique.load(block, 42)


def test_published_ids_follow_from_the_rule():
    published = read_json(PUBLISHED)
    assert published["data_seed"] == 42
    rows = musique.dev_rows(musique.NUM_ROWS["train"], 200, 42)
    assert published["ids"]["dev"] == [f"musique/train/{index}" for index in rows]
    assert published["ids"]["test"] == [f"musique/validation/{index}" for index in range(2417)]
