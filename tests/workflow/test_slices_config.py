"""What the config check refuses in the blocks of slices: names of the wrong kind, and what cannot be."""

import pytest
import slices_names
from config_rules import TAUGHT
from test_config_check import DELETED, LOADERS, PAPER, SMALL, TINY, checked, edited, read

from slmcollab import choice
from slmcollab.graph.prompt import read_graph_prompt
from slmcollab.protocol.prompt import PLACEHOLDERS, read_prompt
from slmcollab.supervision.evaluator import PLACEHOLDERS as OF_EVALUATOR
from slmcollab.supervision.evaluator import read_evaluator_prompt

ON_TINY = ("config.yaml", "workflow/config/tiny.yaml")
MICRO, EVIDENCE = read(*ON_TINY, "tests/workflow/micro_slices.yaml"), read(*ON_TINY, "workflow/config/evidence.yaml")
GRID, EVALUATOR = "slices/grid", "slices/evaluator"
ENCODER = "all-minilm-l6-v2"


def told(config, *edits):
    for path, value in edits:
        config = edited(config, path, value)
    return checked(config)[1]


@pytest.mark.parametrize("config", [MICRO, EVIDENCE])
def test_configs_of_slices_pass_and_keep_their_meaning(config):
    assert checked(config) == (config, [])


CASES = [
    # the evaluator
    (PAPER, f"{EVALUATOR}/scored_by", "oracle", 'slices.evaluator.scored_by: got "oracle"; allowed: model: the oracle '
     "knows nothing of musique, gsm_hard, math, multipl_e, conifer"),
    (TINY, f"{EVALUATOR}/temperature", 0, "slices.evaluator.temperature: got 0.0; allowed: above 0 where there are r"),
    (PAPER, f"{EVALUATOR}/temperature", 0, "slices.evaluator.temperature: got 0.0; allowed: above 0 where there are"),
    (PAPER, f"{EVALUATOR}/model", ENCODER, f'slices.evaluator.model: got "{ENCODER}"; allowed: '),
    # prompts
    (PAPER, f"{EVALUATOR}/prompt", "collaborate", 'slices.evaluator.prompt: got "collaborate"; allowed: evaluator, t'),
    (PAPER, f"{EVALUATOR}/prompt", "solo", 'slices.evaluator.prompt: got "solo"; allowed: evaluator, toy_evaluator'),
    (PAPER, "slices/protocol/prompt", "evaluator", 'protocol.prompt: got "evaluator"; allowed: collaborate, toy_coll'),
    (PAPER, "slices/protocol/prompt", "solo", 'slices.protocol.prompt: got "solo"; allowed: collaborate, toy_collabor'),
    (PAPER, "slices/protocol/solo_prompt", "collaborate", "protocol.solo_prompt: got"),
    (PAPER, "slices/protocol/solo_prompt", "evaluator", "; allowed: solo, toy_solo"),
    # the grid
    (SMALL, "benchmarks/math/num_train", 0, "benchmarks.math.num_train: got 0; allowed: at least 1 for a benchmark o"),
    (TINY, "benchmarks/toy_math/num_test", 0, "benchmarks.toy_math.num_test: got 0; allowed: at least 1 for a benchma"),
    (TINY, "benchmarks/toy_math/num_dev", 0, "benchmarks.toy_math.num_dev: got 0; allowed: a whole number, at least 1"),
    (TINY, f"{GRID}/fewer_seeds", [{"systems": ["cl"], "seeds": [7]}],
     "slices.grid.fewer_seeds[0].seeds: got [7]; allowed: [] or some of slices.grid.seeds: 0, 1"),
    (TINY, "slices/claims/musique", "toy_sums", 'slices.claims.musique: got "toy_sums"'),
    (TINY, "models/toy_s/lessons/benchmarks", ["toy_sums"], 'models.toy_s.lessons.benchmarks: got "toy_sums"'),
    (TINY, "benchmarks/toy_math/loader", "toy_digits", 'models.toy_s.lessons.benchmarks: got "toy_math"'),
    # systems
    (TINY, "systems/x", {"base": "homo_mas"}, 'systems.x.base: got "homo_mas"; allowed: without a reward of its own,'),
    (TINY, "systems/x", {"base": "cl_no_distillation"}, "a system with a teacher: homo_cl, cl"),
    (TINY, "systems/x", {"base": "qwen3_14b"}, 'systems.x.base: got "qwen3_14b"; allowed: without a reward'),
    (TINY, "systems/x", {"base": "qwen3_14b", "reward": "task"},
     'systems.x.reward: got "task"; allowed: no reward: qwen3_14b has actions: false'),
    (PAPER, "systems/x", {"models": [ENCODER, ENCODER]}, f'systems.x.models: got "{ENCODER}"; allowed: '),
    # systems that tables know by their names
    (TINY, "systems/qwen3_14b/actions", DELETED, "systems.qwen3_14b: got"),
    (TINY, "systems/qwen3_14b/actions", True, 'one model, no teacher, and {"actions": false}: tables know it by this'),
    (TINY, "systems/se_rl", {"models": ["toy_xl"]}, 'systems.se_rl: got {"models": ["toy_xl"]}; allowed: one model,'),
    (TINY, "systems/se_rl/models", ["toy_xl", "toy_xl"], 'allowed: one model, no teacher, and {"reward": "scores"}:'),
    (TINY, "systems/se_rl/reward", "task", "systems.se_rl: got"),
    (TINY, "systems/homo_mas/models", ["toy_s", "toy_m", "toy_l"], "systems.homo_mas: got"),
    (TINY, "systems/homo_cl/models", ["toy_s", "toy_m", "toy_l"], "systems.homo_cl: got"),
    (TINY, "systems/homo_cl/teacher", DELETED, "; allowed: one model several times, a teacher, and"),
    (TINY, "systems/homo_cl/reward", "constant", "systems.homo_cl: got"),
    (TINY, "systems/cl_no_training/teacher", "homo_mas", "systems.cl_no_training: got"),
    (TINY, "systems/cl_no_distillation/models", ["toy_m", "toy_m", "toy_l"], "; allowed: the models of cl, no teache"),
    (TINY, "systems/cl_no_step_scores/reward", "scores", "systems.cl_no_step_scores: got"),
    # clip
    *[(TINY, path, value, "clip: got")
      for path in ("slices/refine/clip", "systems/cl_clipped/clip")
      for value in (0, 1, "1e0", -0.2, True, "null", "nan", [0.2])],
]  # fmt: skip


@pytest.mark.parametrize(
    ("config", "path", "value", "text"), CASES, ids=[f"{n}-{one[1]}" for n, one in enumerate(CASES)]
)
def test_a_bad_edit_is_refused_in_one_line(config, path, value, text):
    faults = told(config, (path, value))
    assert [fault for fault in faults if text in fault], faults
    assert all(len(fault.splitlines()) == 1 and "; allowed: " in fault for fault in faults)
    assert len(set(faults)) == len(faults)


def test_a_system_of_one_model_is_no_team_of_copies():
    alone = {"models": ["toy_m"], "teacher": "one", "reward": "scores"}
    faults = told(TINY, ("systems/one", {"models": ["toy_l"]}), ("systems/homo_cl", alone))
    assert [fault.partition(":")[0] for fault in faults] == ["systems.homo_cl"]


def test_a_bad_clip_is_told_what_is_allowed():
    assert "slices.refine.clip: got 1.5; allowed: a number above 0, below 1, or null" in told(
        TINY, ("slices/refine/clip", 1.5)
    )[0]  # fmt: skip


@pytest.mark.parametrize("path", ["slices/refine/clip", "systems/cl_clipped/clip"])
@pytest.mark.parametrize(("value", "expected"), [("2e-1", 0.2), ("0.2", 0.2), (".2", 0.2), (0.2, 0.2), (None, None)])
def test_a_clip_is_read_in_whatever_form_it_comes(path, value, expected):
    normal, faults = checked(edited(TINY, path, value))
    assert faults == []
    first, second, third = path.split("/")
    assert repr(normal[first][second][third]) == repr(expected)


@pytest.mark.parametrize(
    "edits",
    [
        [(f"{EVALUATOR}/temperature", 0), (f"{EVALUATOR}/retries", 0)],
        [(f"{EVALUATOR}/temperature", 0), (f"{EVALUATOR}/share", 0)],  # the oracle scores all: nobody is asked
        [("systems/x", {"base": "homo_mas", "reward": "task"})],
        [("systems/x", {"base": "homo_cl"})],
        [(f"{GRID}/fewer_seeds", [{"systems": ["cl"], "seeds": [7, 1]}, {"systems": ["homo_cl"], "seeds": []}])],
        [("slices/claims/musique", None)],
        [("slices/claims/musique", "math")],  # not in the grid: the claim is not run
        [("benchmarks/math/num_train", 0)],
        [("systems/se_rl", DELETED), (f"{GRID}/systems", ["qwen3_14b", "homo_mas", "homo_cl", "cl"])],
        [("slices/protocol/prompt", "collaborate"), (f"{EVALUATOR}/prompt", "evaluator")],
        [("systems/x", {"models": ["toy_generalist"]})],  # the router's encoder, but not from the hub
    ],
)
def test_what_is_meant_to_work_passes(edits):
    assert told(TINY, *edits) == []


def test_every_shipped_prompt_is_of_one_kind_and_can_be_read_as_that():
    read_as = {
        ("protocol", "prompt"): read_prompt,
        ("protocol", "solo_prompt"): lambda path: read_prompt(path, actions=False),
        ("evaluator", "prompt"): read_evaluator_prompt,
    }
    found = [(name, kind) for kind in slices_names.PROMPT_KINDS for name in slices_names.prompts(*kind)]
    of_methods = {
        block["prompt"] for config in (PAPER, TINY) for block in config["systems"].values() if "prompt" in block
    }
    others = {file.stem for file in slices_names.PROMPTS.glob("*.txt")} - of_methods
    assert sorted(name for name, _ in found) == sorted(others)
    for config in (PAPER, TINY):
        for block in [block for block in config["systems"].values() if "method" in block]:
            kinds = choice.get(choice.TEAM, block["method"]).KINDS
            assert read_graph_prompt(slices_names.PROMPTS / f"{block['prompt']}.txt", kinds).sections
    for name, kind in found:
        assert read_as[kind](slices_names.PROMPTS / f"{name}.txt").sections


def test_the_sections_of_a_kind_are_those_that_its_reader_knows():
    for (block, key), (needed, foreign) in slices_names.PROMPT_KINDS.items():
        known = OF_EVALUATOR if block == "evaluator" else PLACEHOLDERS
        assert needed <= set(known), key
        assert foreign <= {*OF_EVALUATOR, *PLACEHOLDERS}
    assert slices_names.PROMPT_KINDS["evaluator", "prompt"][0] == set(OF_EVALUATOR) - {"system"}


def test_a_prompt_without_a_section_that_it_needs_is_of_no_kind(tmp_path):
    (tmp_path / "team.txt").write_text("[user]\n$question\n[history]\n$steps\n[step]\n$response\n[handoff]\nto\n")
    (tmp_path / "both.txt").write_text("[user]\n$question\n[complaint]\nagain\n[gold]\n$answer\n")
    assert [slices_names.prompts(*kind, tmp_path) for kind in slices_names.PROMPT_KINDS] == [[], [], []]


def test_what_toy_members_learn_is_a_toy_version_of_a_benchmark():
    assert sorted(TAUGHT) == sorted(name for name in LOADERS if name.removeprefix("toy_") in LOADERS - {name})
