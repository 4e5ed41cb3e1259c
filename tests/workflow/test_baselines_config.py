"""What the config check refuses in blocks of baselines, and what their jobs are told."""

import baselines_cells
import pytest
import slices_grid
from config_check import check
from test_config_check import DELETED, LOADERS, OPERATORS, PAPER, SCORERS, TEAMS, TINY, checked, edited, read

ON_TINY = ("config.yaml", "workflow/config/tiny.yaml")
MARL = read(*ON_TINY, "workflow/config/marl.yaml")
OTHERS = read(*ON_TINY, "workflow/config/musketeers.yaml")
MODULES = {"operators": OPERATORS, "loaders": LOADERS, "scorers": SCORERS}
MAD, MAGRPO, AFLOW = "systems/mad", "systems/magrpo", "systems/aflow"


@pytest.mark.parametrize("config", [MARL, OTHERS])
def test_configs_on_top_of_tiny_pass_and_keep_their_meaning(config):
    assert checked(config) == (config, [])


CASES = [
    (f"{MAD}/method", "madd", 'systems.mad.method: got "madd" (did you mean mad?); allowed: aflow, agentverse, '),
    (f"{MAD}/prompt", "marl", 'mad.prompt: got "marl", which lacks [answer], [debate]; allowed: a prompt with '),
    (f"{MAD}/prompt", "solos", 'systems.mad.prompt: got "solos" (did you mean solo?); allowed: mad, toy_mad'),
    (f"{MAD}/prompt", DELETED, "systems.mad.prompt: missing; allowed: a baseline has prompt"),
    (f"{MAD}/settings", DELETED, "systems.mad.settings: missing; allowed: a baseline has settings"),
    (f"{MAD}/models", DELETED, "systems.mad.models: missing; allowed: a baseline has models"),
    (f"{MAD}/models", ["toy_s", "toy_m"], "allowed: method: mad, and the models of cl: tables know it by this name"),
    (f"{MAD}/method", "gptswarm", 'systems.mad.prompt: got "toy_mad", which lacks [aggregate], [cot], [io]; allowed'),
    ("systems/magrpo/method", "maporl", "systems.magrpo.learning.discount: missing; allowed: maporl has bonus, clip, "),
    ("systems/maporl/method", "magrpo", "allowed: method: maporl, and the models of cl: tables know it by this name"),
    (f"{MAD}/settings/rounds", DELETED, "systems.mad.settings.rounds: missing; allowed: mad has "),
    (f"{MAD}/settings/rounds", 0, "systems.mad.settings.rounds: got 0; allowed: a whole number, at least 1"),
    (f"{MAD}/settings/round", 3, "systems.mad.settings.round: no such key (did you mean rounds?)"),
    (f"{MAD}/settings/accept", 3.0, "systems.mad.settings.accept: no such key; allowed: first_temperature"),
    (f"{MAD}/search", {"iterations": 2}, 'systems.mad.search: got {"iterations": 2}; allowed: search where the method'),
    (f"{AFLOW}/search", DELETED, "systems.aflow.search: missing; allowed: search where the method's file has SEARCH"),
    (f"{AFLOW}/search/patience", DELETED, "systems.aflow.search.patience: missing; allowed: aflow has dev_questions, "),
    (f"{AFLOW}/search/dev_questions", 61, "search.dev_questions: got 61; allowed: at most 60, benchmarks.toy_m"),
    (f"{AFLOW}/per_benchmark", {"toy_math": {"search": {"optimiser": "toy_nope"}}},
     'systems.aflow.per_benchmark.toy_math.search.optimiser: got "toy_nope"'),
    (f"{MAGRPO}/per_benchmark", {"toy_math": {"learning": {"learning_rates": [1e-3]}}},
     "systems.magrpo.per_benchmark.toy_math.learning.learning_rates: got [0.001]; allowed: one for each of 3 slots"),
    ("slices/marl/lora/dropout", 0.1, "slices.marl.lora.dropout: got 0.1; allowed: 0: likelihood ratios have to start"),
    ("systems/gptswarm/models", ["toy_s", "toy_m"], "systems.gptswarm.models: got"),
    (f"{MAD}/teacher", "homo_mas", 'systems.mad.teacher: got "homo_mas"; allowed: no such key beside method'),
    (f"{MAD}/reward", "task", 'systems.mad.reward: got "task"; allowed: no such key beside method'),
    (f"{MAD}/learning", {"episodes": 2}, 'systems.mad.learning: got {"episodes": 2}; allowed: learning where'),
    (f"{MAGRPO}/learning", DELETED, "systems.magrpo.learning: missing; allowed: learning where the method's"),
    (f"{MAGRPO}/learning/episodes", DELETED, "systems.magrpo.learning.episodes: missing; allowed: magrpo has "),
    (f"{MAGRPO}/learning/branches", 2, "systems.magrpo.learning.branches: no such key; allowed: "),
    (f"{MAGRPO}/learning/learning_rates", [1e-3], "systems.magrpo.learning.learning_rates: got [0.001]; allowed: one "),
    (f"{MAGRPO}/per_benchmark", {"toy_matth": {}}, 'systems.magrpo.per_benchmark: got "toy_matth" (did you mean toy_'),
    (f"{MAGRPO}/per_benchmark", {"toy_math": {"settings": {"accept": 1.0}}},
     "systems.magrpo.per_benchmark.toy_math.settings.accept: no such key; allowed: rounds"),
    (f"{AFLOW}/search/optimiser", "toy_xxl", 'systems.aflow.search.optimiser: got "toy_xxl" (did you mean toy_xl?)'),
    ("systems/cl/settings", {"rounds": 2}, 'systems.cl.settings: got {"rounds": 2}; allowed: only beside method'),
    ("systems/x", {"base": "mad", "reward": "task"}, 'systems.x.reward: got "task"; allowed: with a base of method'),
    ("systems/x", {"base": "mad", "prompt": "mad"}, 'systems.x.prompt: got "mad"; allowed: with a base of method mad'),
    ("systems/x", {"base": "at_grpo", "settings": {"round": 2}}, "systems.x.settings.round: no such key (did you mean"),
    ("systems/x", {"base": "at_grpo", "per_benchmark": {"toy_math": {"learning": {"branches": 2}}}},
     "systems.x.per_benchmark.toy_math.learning: got"),
    ("systems/x", {"base": "at_grpo", "per_benchmark": {"toy_maths": {}}}, 'systems.x.per_benchmark: got "toy_maths"'),
    ("systems/at_grpo_more_rounds", {"base": "maporl"}, "allowed: base: at_grpo: tables know it by this name"),
    ("systems/x", {"base": "cl", "method": "at_grpo"}, 'systems.x.method: got "at_grpo"; allowed: no such key beside'),
    ("systems/x", {"base": "at_grpo", "method": "mad"}, 'systems.x.method: got "mad"; allowed: with a base of method'),
    ("systems/x", {"base": "at_grpo_more_rounds", "method": "at_grpo"}, "systems.x.method: got"),
    ("systems/x", {"base": "at_grpo_more_rounds"}, "allowed: a system with models: qwen3_14b, "),
    ("systems/homo_cl/teacher", "mad", 'systems.homo_cl.teacher: got "mad"; allowed: a system of 3 models that does'),
    ("slices/grid/sampled", ["mad"], 'slices.grid.sampled: got "mad"; allowed: systems without a method'),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "text"), CASES, ids=[f"{n}-{one[0]}" for n, one in enumerate(CASES)])
def test_a_block_that_cannot_be_is_refused_with_its_key(path, value, text):
    faults = checked(edited(TINY, path, value))[1]
    assert any(text in fault for fault in faults), faults


def test_a_benchmark_may_be_set_apart():
    cells = [baselines_cells.train_baseline_cell(PAPER, name, "at_grpo") for name in ("math", "multipl_e")]
    assert [(cell["learning"]["prompts"], cell["learning"]["kl"]) for cell in cells] == [(24, 0.02), (16, 0.0)]
    assert [cell["graph"]["max_new_tokens"] for cell in cells] == [512, 1536]
    assert cells[0]["lora"]["target_modules"] == ["q_proj", "k_proj", "v_proj", "o_proj"]
    assert "save_every" not in cells[0]["learning"]


def test_at_grpo_answers_in_the_turns_that_it_learned_in():
    """One round of three slots, and three turns of training; in more rounds it answers with the same adapters."""
    answers = {
        (name, system): baselines_cells.answer_baseline_cell(PAPER, name, system)["settings"]
        for name in ("math", "multipl_e")
        for system in ("at_grpo", "at_grpo_more_rounds")
    }
    assert [found["rounds"] for found in answers.values()] == [1, 4, 1, 3]
    block = PAPER["systems"]["at_grpo"]
    assert len(block["models"]) * block["settings"]["rounds"] == block["learning"]["train_turns"]
    assert slices_grid.before(PAPER, "at_grpo_more_rounds", "eval") == slices_grid.Stage("at_grpo", "trained")


def test_other_rounds_train_at_grpo_no_second_time():
    """Of MAGRPO they do, which learns in its rounds."""
    trained = baselines_cells.train_baseline_cell
    for system, same in (("at_grpo", True), ("magrpo", False)):
        longer = edited(PAPER, f"systems/{system}/settings/rounds", 5)
        assert (trained(longer, "math", system) == trained(PAPER, "math", system)) is same
        answer = baselines_cells.answer_baseline_cell(longer, "math", system)
        assert answer["settings"]["rounds"] == 5


def test_a_system_with_a_baseline_as_base_differs_in_its_settings_alone():
    first, second = (
        baselines_cells.answer_baseline_cell(PAPER, "math", name) for name in ("at_grpo", "at_grpo_more_rounds")
    )
    assert {key for key in first if first[key] != second[key]} == {"settings", "system"}
    assert checked(edited(TINY, "systems/x", {"base": "mad"}))[1] == []


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


def test_what_is_set_apart_reaches_the_job_and_its_inputs():
    apart = edited(TINY, f"{AFLOW}/per_benchmark", {"toy_math": {"search": {"optimiser": "toy_l"}}})
    assert checked(apart)[1] == []
    found = {
        name: baselines_cells.search_cell(apart, name, "aflow")["optimiser"] for name in ("toy_math", "toy_musique")
    }
    assert found == {"toy_math": "toy_l", "toy_musique": "toy_xl"}
    assert baselines_cells.of_baseline(apart, "toy_math", "aflow", "search")["optimiser"] == "toy_l"


def test_a_method_of_ones_own_has_the_settings_that_its_file_names():
    teams = {**TEAMS, "poll": {"KINDS": {"answer": set()}, "SETTINGS": ("width", "name")}}
    poll = {"models": ["toy_s", "toy_m"], "method": "poll", "prompt": "toy_mad", "settings": {"width": 3, "name": "x"}}
    assert check(edited(TINY, "systems/poll", poll), **MODULES, teams=teams)[1] == []
    faults = check(edited(TINY, "systems/poll", poll | {"settings": {"width": 3}}), **MODULES, teams=teams)[1]
    assert faults == ["systems.poll.settings.name: missing; allowed: poll has name, width"]
