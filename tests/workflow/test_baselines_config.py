"""What the config check refuses in blocks of baselines, and what their jobs are told."""

import baselines_cells
import pytest
import slices_grid
from test_config_check import DELETED, PAPER, TINY, checked, edited, read

ON_TINY = ("config.yaml", "workflow/config/tiny.yaml")
MARL = read(*ON_TINY, "workflow/config/marl.yaml")
OTHERS = read(*ON_TINY, "workflow/config/musketeers.yaml")
MAD, MAGRPO, AFLOW = "systems/mad", "systems/magrpo", "systems/aflow"


@pytest.mark.parametrize("config", [MARL, OTHERS])
def test_configs_on_top_of_tiny_pass_and_keep_their_meaning(config):
    assert checked(config) == (config, [])


CASES = [
    (f"{MAD}/method", "madd", 'systems.mad.method: got "madd" (did you mean mad?); allowed: aflow, agentverse, '),
    (f"{MAD}/prompt", "marl", 'systems.mad.prompt: got "marl"; allowed: '),
    (f"{MAD}/prompt", "solo", 'systems.mad.prompt: got "solo"; allowed: '),
    (f"{MAD}/prompt", DELETED, "systems.mad.prompt: missing; allowed: a baseline has prompt"),
    (f"{MAD}/settings", DELETED, "systems.mad.settings: missing; allowed: a baseline has settings"),
    (f"{MAD}/models", DELETED, "systems.mad.models: missing; allowed: a baseline has models"),
    (f"{MAD}/models", ["toy_s", "toy_m"], "allowed: method: mad, and the models of cl: tables know it by this name"),
    (f"{MAD}/method", "gptswarm", 'systems.mad.prompt: got "toy_mad"; allowed: gptswarm, toy_gptswarm'),
    ("systems/magrpo/method", "maporl", "systems.magrpo.learning.discount: missing; allowed: maporl has bonus, clip, "),
    ("systems/maporl/method", "magrpo", "allowed: method: maporl, and the models of cl: tables know it by this name"),
    (f"{MAD}/settings/rounds", DELETED, "systems.mad.settings.rounds: missing; allowed: mad has "),
    (f"{MAD}/settings/rounds", 0, "systems.mad.settings.rounds: got 0; allowed: a whole number, at least 1"),
    (f"{MAD}/settings/round", 3, "systems.mad.settings.round: no such key (did you mean rounds?)"),
    (f"{MAD}/settings/accept", 3.0, "systems.mad.settings.accept: got 3.0; allowed: "),
    (f"{MAD}/teacher", "homo_mas", 'systems.mad.teacher: got "homo_mas"; allowed: no such key beside method'),
    (f"{MAD}/reward", "task", 'systems.mad.reward: got "task"; allowed: no such key beside method'),
    (f"{MAD}/learning", {"episodes": 2}, "systems.mad.learning: there; allowed: only for a method that learns"),
    (f"{MAGRPO}/learning", DELETED, "systems.magrpo.learning: missing; allowed: only for a method that learns"),
    (f"{MAGRPO}/learning/episodes", DELETED, "systems.magrpo.learning.episodes: missing; allowed: magrpo has "),
    (f"{MAGRPO}/learning/branches", 2, "systems.magrpo.learning.branches: got 2; allowed: "),
    (f"{MAGRPO}/learning/learning_rates", [1e-3], "systems.magrpo.learning.learning_rates: got [0.001]; allowed: one "),
    (f"{MAGRPO}/per_benchmark", {"toy_matth": {}}, 'systems.magrpo.per_benchmark: got "toy_matth" (did you mean toy_'),
    (f"{MAGRPO}/per_benchmark", {"toy_math": {"settings": {"accept": 1.0}}},
     "systems.magrpo.per_benchmark.toy_math.settings.accept: got 1.0; allowed: rounds"),
    (f"{AFLOW}/search/optimiser", "toy_xxl", 'systems.aflow.search.optimiser: got "toy_xxl" (did you mean toy_xl?)'),
    ("systems/cl/settings", {"rounds": 2}, 'systems.cl.settings: got {"rounds": 2}; allowed: only beside method'),
    ("systems/x", {"base": "mad", "reward": "task"}, "allowed: a system with models and no method: "),
    ("systems/homo_cl/teacher", "mad", 'systems.homo_cl.teacher: got "mad"; allowed: a system of 3 models that does'),
    ("slices/grid/sampled", ["mad"], 'slices.grid.sampled: got "mad"; allowed: systems without a method'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "text"), CASES, ids=[f"{n}-{one[0]}" for n, one in enumerate(CASES)])
def test_a_block_that_cannot_be_is_refused_with_its_key(path, value, text):
    faults = checked(edited(TINY, path, value))[1]
    assert any(text in fault for fault in faults), faults


def test_a_benchmark_may_be_set_apart():
    cells = [baselines_cells.train_baseline_cell(PAPER, name, "at_grpo") for name in ("math", "multipl_e")]
    assert [cell["settings"]["rounds"] for cell in cells] == [4, 3]
    assert [(cell["learning"]["prompts"], cell["learning"]["kl"]) for cell in cells] == [(24, 0.02), (16, 0.0)]
    assert [cell["graph"]["max_new_tokens"] for cell in cells] == [512, 1536]
    assert cells[0]["lora"]["target_modules"] == ["q_proj", "k_proj", "v_proj", "o_proj"]
    assert "save_every" not in cells[0]["learning"]


def test_answers_are_compared_as_their_benchmark_asks():
    found = {name: slices_grid.equality(PAPER, name) for name in PAPER["slices"]["grid"]["benchmarks"]}
    assert found == {
        "musique": "words", "gsm_hard": "number", "math": "latex", "multipl_e": "code", "conifer": None,
    }  # fmt: skip


def test_the_optimiser_is_told_apart_from_the_team():
    cell = baselines_cells.search_cell(PAPER, "math", "aflow")
    assert (cell["optimiser"], cell["optimiser_size"]) == ("qwen3-14b", 14.0)
    assert "optimiser" not in cell["search"]
    assert cell["models"] == ["qwen3-1.7b", "qwen3-4b", "qwen3-8b"]


def test_rows_that_learn_get_prompts_and_responses_alike():
    """8 episodes x 6 calls, 5 x 9, and 8 candidates in each of 3 turns, continued to the end: 8 x (3 + 2 + 1)."""
    learning = {name: PAPER["systems"][name]["learning"] for name in ("magrpo", "maporl", "at_grpo")}
    turns = learning["at_grpo"]["train_turns"]
    calls = [
        learning["magrpo"]["episodes"] * 3 * PAPER["systems"]["magrpo"]["settings"]["rounds"],
        learning["maporl"]["episodes"] * 3 * PAPER["systems"]["maporl"]["settings"]["rounds"],
        learning["at_grpo"]["branches"] * turns * (turns + 1) // 2,
    ]
    assert calls == [48, 45, 48]
    prompts = {baselines_cells.train_baseline_cell(PAPER, "math", name)["learning"]["prompts"] for name in learning}
    assert prompts == {24}


@pytest.mark.parametrize(("system", "stage"), [("mad", None), ("magrpo", slices_grid.Stage("magrpo", "trained"))])
def test_only_baselines_that_learn_speak_with_adapters(system, stage):
    assert slices_grid.before(PAPER, system, "eval") == stage
