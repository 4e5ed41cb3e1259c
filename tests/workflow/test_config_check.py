"""The config check: what it refuses and in which words, what it reads, and that no config of any shape breaks it."""

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import grid
import pytest
import results_grid
import yaml
from config_check import check, folder_faults, read_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from snakemake.utils import update_config

from slmcollab import choice

REPOSITORY = Path(__file__).parents[2]
SCHEMA = read_schema()
OPERATORS = {"none", "hidden_state", "no_cross_attention", "prefix", "routing", "routing_hidden", "text"}
OF_SLICES = {"musique", "gsm_hard", "math", "multipl_e", "conifer"}
LOADERS = {"reasoning_gym", "gsm8k", "toy_digits", *OF_SLICES, *(f"toy_{name}" for name in OF_SLICES)}
SCORERS = {"reasoning_gym", "number", "exact", "qa", *OF_SLICES - {"musique"}}
TEAMS = choice.teams()


def read(*names: str) -> dict[str, Any]:
    config: dict[str, Any] = {}
    for name in names:
        update_config(config, yaml.safe_load((REPOSITORY / name).read_text()))
    return config


PAPER = read("config.yaml")
TINY = read("config.yaml", "workflow/config/tiny.yaml")
SMALL = read("config.yaml", "workflow/config/small.yaml")
MICRO = read("config.yaml", "workflow/config/tiny.yaml", "tests/workflow/micro.yaml")
DELETED = object()


def checked(config):
    return check(config, operators=OPERATORS, loaders=LOADERS, scorers=SCORERS, teams=TEAMS, schema=SCHEMA)


def edited(config, path, value):
    """Return a copy of `config` with the value at `path` (keys joined by "/") set or, for DELETED, removed."""
    config = copy.deepcopy(config)
    *parents, last = [int(key) if key.isdigit() else key for key in path.split("/")]
    block = config
    for key in parents:
        block = block.setdefault(key, {}) if isinstance(block, dict) else block[key]
    if value is DELETED:
        del block[last]
    else:
        block[last] = value
    return config


@pytest.mark.parametrize("config", [PAPER, TINY, SMALL, MICRO])
def test_the_shipped_configs_pass_and_keep_their_meaning(config):
    before = copy.deepcopy(config)
    normal, faults = checked(config)
    assert faults == []
    assert normal == config == before
    assert checked(normal) == (normal, [])


def test_the_shipped_schema_is_the_default():
    assert check(TINY, operators=OPERATORS, loaders=LOADERS, scorers=SCORERS, teams=TEAMS) == checked(TINY)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("grpo/learning_rate", "1e-5", 1e-5),
        ("grpo/learning_rate", "+1.5E-5", 1.5e-5),
        ("grpo/learning_rate", ".5", 0.5),
        ("grpo/max_steps", "1e3", 1000),
        ("grpo/max_steps", "250", 250),
        ("grpo/max_steps", 250.0, 250),
        ("grpo/beta", 1, 1.0),
        ("grpo/beta", "0", 0.0),
        ("grid/seeds", ["1", 0.0, "7"], [1, 0, 7]),
        ("benchmarks/gsm8k/grpo/max_steps", "1e2", 100),
        ("benchmarks/logic/tasks/aiw/weight", 2, 2.0),
        ("models/toy_math/training/learning_rate", "3e-3", 3e-3),
        ("methods/hidden_state_m32/m", "16", 16),
    ],
)
def test_a_number_is_read_in_whatever_form_it_comes(path, value, expected):
    normal, faults = checked(edited(TINY, path, value))
    assert faults == []
    assert repr(normal) == repr(checked(edited(TINY, path, expected))[0])
    *parents, last = path.split("/")
    for key in parents:
        normal = normal[key]
    assert repr(normal[last]) == repr(expected)


def test_free_settings_of_a_task_are_left_as_they_are():
    settings = {"size": "1e3", "ratio": 1, "names": ["2"], "none": None, "flag": True}
    normal, faults = checked(edited(PAPER, "benchmarks/logic/tasks/aiw/config", settings))
    assert faults == []
    assert repr(normal["benchmarks"]["logic"]["tasks"]["aiw"]["config"]) == repr(settings)


CASES = [
    # misspelt, missing and foreign keys, at every level
    ("grpo/lerning_rate", 1e-5, "grpo.lerning_rate: no such key (did you mean learning_rate?); allowed: prompts_per_s"),
    ("stepz", 9, "stepz: no such key; allowed: papers, data_seed"),
    ("bechmarks", {}, "bechmarks: no such key (did you mean benchmarks?)"),
    ("grid/seed", [1], "grid.seed: no such key (did you mean seeds?); allowed: benchmarks, methods, ablations, teams"),
    ("methods/hidden_state/latentdim", 8, "methods.hidden_state.latentdim: no such key (did you mean latent_dim?)"),
    ("benchmarks/gsm8k/grpo/max_step", 8, "benchmarks.gsm8k.grpo.max_step: no such key (did you mean max_steps?)"),
    ("benchmarks/gsm8k/source/path", "x", "benchmarks.gsm8k.source.id: no such key; allowed: path"),
    ("benchmarks/logic/tasks/aiw/wieght", 1, "benchmarks.logic.tasks.aiw.wieght: no such key (did you mean weight?)"),
    ("models/gpt2/gate", True, "models.gpt2.gate: no such key (did you mean gated?); allowed: source, id, revision, s"),
    ("models/toy_math/architecture/head", 4, "models.toy_math.architecture.head: no such key"),
    ("corpora/sums/tag", True, "corpora.sums.tag: no such key (did you mean tags?)"),
    ("grpo/beta", DELETED, "grpo.beta: missing; allowed: a number, at least 0, at most 10"),
    ("data_seed", DELETED, "data_seed: missing; allowed: a whole number, at least 0, at most 4294967295"),
    ("models/gpt2/revision", DELETED, "models.gpt2.revision: missing; allowed: a commit of the hub repository"),
    ("models/gpt2/source", DELETED, "models.gpt2.source: missing; allowed: hub, path, package, toy"),
    ("benchmarks/logic/tasks", DELETED, "benchmarks.logic.tasks: missing; allowed: a block: task of the loader"),
    ("benchmarks/gsm8k/source", DELETED, "benchmarks.gsm8k.source: missing; allowed: a block"),
    ("benchmarks/toy_sums/num_test", DELETED, "benchmarks.toy_sums.num_test: missing; allowed: a whole number"),
    # types
    ("grpo", 3, "grpo: got 3; allowed: a block"),
    ("grpo/max_steps", True, "grpo.max_steps: got true; allowed: a whole number, at least 1, at most 1000000"),
    ("grpo/max_steps", "many", 'grpo.max_steps: got "many"; allowed: a whole number'),
    ("grpo/max_steps", "1.5", 'grpo.max_steps: got "1.5"; allowed: a whole number'),
    ("grpo/max_steps", 1.5, "grpo.max_steps: got 1.5; allowed: a whole number"),
    ("grpo/max_steps", None, "grpo.max_steps: got null; allowed: a whole number"),
    ("grpo/max_steps", [1], "grpo.max_steps: got [1]; allowed: a whole number"),
    ("grpo/learning_rate", "1e400", 'grpo.learning_rate: got "1e400"; allowed: a number, above 0, at most 1'),
    ("grpo/learning_rate", "0x10", 'grpo.learning_rate: got "0x10"; allowed: a number'),
    ("grpo/gradient_checkpointing", "yes", 'grpo.gradient_checkpointing: got "yes"; allowed: true, false'),
    ("grpo/gradient_checkpointing", 1, "grpo.gradient_checkpointing: got 1; allowed: true, false"),
    ("policy/model", 3, "policy.model: got 3; allowed: a key of models"),
    ("grid/seeds", 3, "grid.seeds: got 3; allowed: a list: one training run for each"),
    # ranges
    ("grpo/learning_rate", 0, "grpo.learning_rate: got 0.0; allowed: a number, above 0, at most 1"),
    ("grpo/learning_rate", -1e-5, "grpo.learning_rate: got -1e-05; allowed: a number, above 0"),
    ("grpo/learning_rate", float("nan"), "grpo.learning_rate: got NaN; allowed: finite numbers"),
    ("grpo/beta", float("inf"), "grpo.beta: got Infinity; allowed: finite numbers"),
    ("grpo/max_steps", 10**30, "grpo.max_steps: got 1000000000000000000000000000000; allowed: finite numbers, at most"),
    ("grpo/max_steps", 10**5000, "grpo.max_steps: got something of type int; allowed: finite numbers"),
    ("grpo/group_size", 1, "grpo.group_size: got 1; allowed: a whole number, at least 2"),
    ("grpo/temperature", 0, "grpo.temperature: got 0.0; allowed: a number, above 0"),
    ("lora/dropout", 1, "lora.dropout: got 1.0; allowed: a number, at least 0, below 1"),
    ("lora/target_modules", ["q_proj", "lm_head"], 'lora.target_modules[1]: got "lm_head"; allowed: the name of a lin'),
    ("adapter/m", 0, "adapter.m: got 0; allowed: a whole number, at least 1"),
    ("numeric_threads", 0, "numeric_threads: got 0; allowed: a whole number, at least 1, at most 64"),
    ("evaluation/time_limit_s", -1, "evaluation.time_limit_s: got -1.0; allowed: a number, above 0"),
    ("probe/ridge", -1, "probe.ridge: got -1.0; allowed: a number, above 0"),
    ("features/pooling", "last", 'features.pooling: got "last"'),
    ("features/pooling", "lasttoken", 'features.pooling: got "lasttoken" (did you mean last_token?); allowed: last_to'),
    ("features/sequence", "answer", 'features.sequence: got "answer"; allowed: prompt, completion'),
    ("policy/dtype", "float8", 'policy.dtype: got "float8" (did you mean float32?); allowed: float32, bfloat16'),
    ("papers", ["slice"], 'papers[0]: got "slice" (did you mean slices?); allowed: musketeers, slices'),
    ("models/gpt2/revision", "main", 'models.gpt2.revision: got "main"; allowed: a commit of the hub repository, 40 h'),
    ("models/gpt2/revision", "a" * 40 + "\n", "models.gpt2.revision: got"),
    ("models/gpt2", {"source": "package", "package": "x", "version": "1", "sha256": "ab"}, "models.gpt2.sha256: got"),
    ("models/gpt2", {"source": "package", "package": "x y", "version": "1"}, "models.gpt2.package: got"),
    ("models/gpt2/id", "gpt2", 'models.gpt2.id: got "gpt2"; allowed: a hub repository, owner/name'),
    ("models/gpt2/source", "hug", 'models.gpt2.source: got "hug" (did you mean hub?); allowed: hub, path, p'),
    ("models/toy_math/architecture/type", "qwen3", "(did you mean qwen2?); allowed: qwen2, llama, gpt2"),
    ("benchmarks/logic/tasks/aiw/weight", 0, "benchmarks.logic.tasks.aiw.weight: got 0.0; allowed: a number, above 0"),
    ("benchmarks/logic/tasks", {}, "benchmarks.logic.tasks: got {}; allowed: a block"),
    ("benchmarks/gsm8k/num_test", -1, "benchmarks.gsm8k.num_test: got -1; allowed: a whole number, at least 0"),
    # seeds
    ("grid/seeds", [0, -3], "grid.seeds[1]: got -3; allowed: a whole number, at least 0, at most 4294967295"),
    ("grid/seeds", [2**32], "grid.seeds[0]: got 4294967296; allowed"),
    ("grid/seeds", [True], "grid.seeds[0]: got true; allowed: a whole number"),
    ("grid/seeds", [1.5], "grid.seeds[0]: got 1.5; allowed: a whole number"),
    ("grid/seeds", [0, 1, 0], "grid.seeds: got 0 twice; allowed: each item once"),
    ("grid/seeds", [1, "1"], "grid.seeds: got 1 twice; allowed: each item once"),
    ("grid/seeds", [], "grid.seeds: got []; allowed: a list: one training run for each; at least one"),
    ("data_seed", -1, "data_seed: got -1; allowed: a whole number, at least 0, at most 4294967295"),
    ("data_seed", False, "data_seed: got false; allowed: a whole number"),
    ("models/toy_math/seed", -1, "models.toy_math.seed: got -1"),
    # names
    ("grid/teams", ["toy", "defualt"], 'grid.teams: got "defualt" (did you mean default?); allowed: default, generali'),
    ("grid/methods", ["singel"], 'grid.methods: got "singel" (did you mean single?)'),
    ("grid/benchmarks", ["toy_sum"], 'grid.benchmarks: got "toy_sum" (did you mean toy_sums?)'),
    ("grid/benchmarks", ["zzz"], 'grid.benchmarks: got "zzz"; allowed: algorithmic, algorithmic_inter, a'),
    ("grid/benchmarks", [], "grid.benchmarks: got []; allowed: a list"),
    ("grid/methods", [], "grid.methods: got []; allowed: a list"),
    ("grid/methods", ["single", "single"], 'grid.methods: got "single" twice'),
    ("grid/teams", ["toy", "toy"], 'grid.teams: got "toy" twice'),
    ("policy/model", "toy_polic", 'policy.model: got "toy_polic" (did you mean toy_policy?)'),
    ("teams/toy", ["toy_maths"], 'teams.toy: got "toy_maths" (did you mean toy_math?)'),
    ("teams/toy", ["toy_math", "toy_math"], 'teams.toy: got "toy_math" twice; allowed: each item once'),
    ("teams/toy", [], "teams.toy: got []; allowed: a list"),
    ("teams/none", ["gpt2"], 'teams: got "none"; allowed: a name'),
    ("teams/Toy", ["gpt2"], 'teams: got "Toy"; allowed: a name of small letters'),
    ("models/..", {}, 'models: got ".."; allowed: a name'),
    ("methods/a b", {"operator": "none"}, 'methods: got "a b"; allowed: a name'),
    ("methods/a\n", {"operator": "none"}, 'methods: for a key got "a\\n"; allowed: printable text'),
    ("methods/hidden_state/operator", "hidden", 'methods.hidden_state.operator: got "hidden"'),
    ("methods/hidden_state/operator", "hiden_state", "(did you mean hidden_state?); allowed: hidden_state, no_cro"),
    ("methods/hidden_state/teams", ["naiv"], 'methods.hidden_state.teams: got "naiv" (did you mean naive?)'),
    ("benchmarks/toy_sums/loader", "toy_digit", "benchmarks.toy_sums.loader: got"),
    ("benchmarks/toy_sums/scorer", "exakt", 'benchmarks.toy_sums.scorer: got "exakt" (did you mean exact?)'),
    ("models/toy_math/corpora", ["summs"], 'models.toy_math.corpora: got "summs" (did you mean sums?)'),
    ("models/toy_math/corpora", [], "models.toy_math.corpora: got []; allowed: a list"),
    # what must fit together
    ("grpo/completions_per_device", 24, "grpo.completions_per_device: got 24; allowed: a divisor of prompts_per_step"),
    ("grpo/completions_per_device", 256, "grpo.completions_per_device: got 256; allowed: a divisor"),
    ("grpo/group_size", 3, "prompts_per_step x group_size = 16 x 3 = 48"),
    ("benchmarks/gsm8k/grpo/prompts_per_step", 15, "benchmarks.gsm8k.grpo.completions_per_device: got 128; allowed: a"),
    ("adapter/num_heads", 7, "adapter.latent_dim: got 128; allowed: a multiple of num_heads = 7"),
    ("methods/hidden_state/num_heads", 7, "methods.hidden_state.latent_dim: got 128; allowed: a multiple of num_heads"),
    ("methods/hidden_state/latent_dim", 12, "methods.hidden_state.latent_dim: got 12; allowed: a multiple of num_head"),
    ("models/toy_naive/architecture/hidden_size", 50, "architecture.hidden_size: got 50; allowed: a multiple of num_h"),
    ("models/toy_math/architecture/hidden_size", 68, "hidden_size: got 68; allowed: a multiple of 2 x num_heads = 2 x"),
    ("benchmarks/toy_sums/num_train", 0, "benchmarks.toy_sums.num_train: got 0; allowed: at least 1 for a benchmark o"),
    ("benchmarks/toy_sums/num_test", 0, "benchmarks.toy_sums.num_test: got 0; allowed: at least 1"),
    ("grid/teams", [], "methods.hidden_state.teams: got []; allowed: at least one of grid.teams"),
    ("grid/teams", ["default"], 'methods.hidden_state_shuffled.teams: got ["toy"]; allowed: at least one of grid.team'),
    ("methods/hidden_state/teams", [], "methods.hidden_state.teams: got []; allowed: a list: those of grid.teams"),
    ("methods/hidden_state/teams", ["naive"], 'methods.hidden_state.teams: got ["naive"]; allowed: at least one of gr'),
    ("methods/single/teams", ["toy"], 'methods.single.teams: got ["toy"]; allowed: no such key where the operator is'),
    ("methods/prefix/teams", ["toy"], 'methods.prefix.teams: got ["toy"]; allowed: no such key where the operator is'),
    ("methods/prefix/pooling", "first_token", "allowed: no such key where the operator is prefix"),
    ("methods/text/m", 4, "methods.text.m: got 4; allowed: no such key where the operator is text"),
    ("methods/text/encoder", "toy_math", 'methods.text.encoder: got "toy_math"; allowed: no such key where the operat'),
    ("methods/routing/encoder", "toy_maths", 'methods.routing.encoder: got "toy_maths" (did you mean toy_math?)'),
    ("methods/routing/selection", "random", 'methods.routing.selection: got "random"; allowed: learned, uniform, best'),
    ("methods/single/shuffled", True, "methods.single.shuffled: got true; allowed: no such key where the operator is "),
    ("methods/text/benchmarks", ["toy_sum"], 'methods.text.benchmarks: got "toy_sum" (did you mean toy_sums?)'),
    ("router/encoder", "minilm", 'router.encoder: got "minilm"; allowed: '),
    ("grid/ablations", ["hidden_state_m3"], 'grid.ablations: got "hidden_state_m3" (did you mean hidden_state_m32?)'),
    ("methods/hidden_state/operator", "text", "methods.hidden_state: got {"),
    ("methods/hidden_state/shuffled", True, 'allowed: {"operator": "hidden_state"}, teams and benchmarks'),
    ("methods/hidden_state/m", 4, 'methods.hidden_state: got {"operator": "hidden_state", "m": 4}; allowed: '),
    ("methods/single", {"operator": "prefix"}, 'methods.single: got {"operator": "prefix"}; allowed: {"operator'),
    ("methods/hidden_state_shuffled/shuffled", False, "methods.hidden_state_shuffled: got"),
    ("grid/ablations", ["text"], 'grid.ablations: got "text"; allowed: methods that differ from hidden_state in'),
    ("grid/ablations", ["hidden_state_completion"], 'grid.ablations: got "hidden_state_completion"; allowed: methods'),
    ("grid/fewer_seeds", [{"methods": ["text"], "seeds": [7]}], "grid.fewer_seeds[0].seeds: got [7]; allowed: [] or"),
    ("grid/fewer_seeds", [{"seeds": []}], 'grid.fewer_seeds: got [{"seeds": []}]; allowed: what leaves at least one'),
    ("grid/fewer_seeds", [{"teams": ["toys"], "seeds": []}], 'grid.fewer_seeds[0].teams: got "toys" (did you mean toy'),
    ("grid/fewer_seeds", [{"teams": ["toy"]}], "grid.fewer_seeds[0].seeds: missing; allowed: a list: those"),
    ("claims/gain", "toy_sum", 'claims.gain: got "toy_sum" (did you mean toy_sums?)'),
    ("claims/gain", 3, "claims.gain: got 3; allowed: benchmark on which experts help"),
    ("claims/saturated", ["gsm"], 'claims.saturated: got "gsm"'),
    ("claims/naive_expert", "gpt3", 'claims.naive_expert: got "gpt3" (did you mean gpt2?)'),
    ("claims/team", "tom", 'claims.team: got "tom" (did you mean toy?)'),
    ("claims/large_expert", DELETED, "claims.large_expert: missing; allowed: the much larger expert"),
    ("policy/model", "toy_naive", 'policy.model: got "toy_naive"; allowed: a model with rotary positions, so not gpt2'),
    ("methods/single/m", 4, "methods.single.m: got 4; allowed: no such key where the operator is none"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "fragment"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)])
def test_a_bad_edit_is_refused_in_one_line_that_names_key_value_and_choice(path, value, fragment):
    _, faults = checked(edited(TINY, path, value))
    assert [fault for fault in faults if fragment in fault], faults
    assert all(len(fault.splitlines()) == 1 and "; allowed: " in fault for fault in faults)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (
            "methods/hidden_state_m16",
            {"operator": "hidden_state", "m": 16, "num_heads": 4, "teams": ["toy", "default"]},
        ),
        ("methods/end_first", {"operator": "hidden_state", "context_position": "end", "pooling": "first_token"}),
        ("methods/hidden_state/teams", ["default", "toy"]),
        ("methods/elsewhere", {"operator": "hidden_state", "teams": ["naive"]}),  # not chosen, so no team is missing
        ("teams/pair", ["toy_math", "toy_generalist"]),
        ("grid", {"benchmarks": ["toy_sums"], "methods": ["single", "prefix"], "teams": [], "seeds": [0, 2**32 - 1]}),
        ("grid/fewer_seeds", [{"teams": ["none"], "seeds": []}, {"methods": ["text"], "seeds": [1]}]),
        ("methods/routing", {"operator": "routing_hidden", "m": 4, "pooling": "first_token", "encoder": "gpt2"}),
        ("methods/rows", {"operator": "prefix", "m": 3, "context_position": "end", "benchmarks": ["toy_firsts"]}),
        ("claims/math_expert", None),
        ("grpo/completions_per_device", 1),
        ("grpo/group_size", 64),
        ("benchmarks/gsm8k/grpo", {"group_size": 16, "completions_per_device": 256}),
        ("benchmarks/gsm8k/source", {"path": "my data/gsm8k"}),
        ("models/gpt2", {"source": "path", "path": "/models/gpt2"}),
        ("models/gpt2/gated", False),
        ("models/gpt2", {"source": "package", "package": "gpt2-gguf", "version": "1.0.0", "sha256": "0" * 64}),
        ("extraction/overflow", "truncate"),
        ("corpora", TINY["corpora"] | {"more": {"kind": "sums", "answers": "right", "tags": True, "num_rows": 1}}),
        ("models/toy_naive/architecture/hidden_size", 4),
        ("benchmarks/logic/tasks/aiw/config", {"any": [{"thing": None}]}),
    ],
)
def test_what_is_meant_to_work_passes(path, value):
    assert checked(edited(TINY, path, value))[1] == []


def test_a_benchmark_without_any_problem_is_refused_outside_the_grid_too():
    block = {"loader": "toy_digits", "scorer": "exact", "num_train": 0, "num_test": 0}
    assert checked(edited(TINY, "benchmarks/empty", block))[1] == [
        "benchmarks.empty.num_train: got 0; allowed: num_train + num_test above 0"
    ]
    assert checked(edited(TINY, "benchmarks/only_test", {**block, "num_test": 1}))[1] == []


def test_each_fault_is_told_once_and_all_are_told():
    config = edited(edited(edited(TINY, "grpo/beta", -1), "grpo/m", 1), "grid/seeds", [1, 1])
    keys = [fault.partition(":")[0] for fault in checked(config)[1]]
    assert sorted(keys) == ["grid.seeds", "grpo.beta", "grpo.m"]


@pytest.mark.parametrize(
    "config",
    [None, 3, "text", [], [TINY], {}, {1: 2}, {None: {}}, {"grid": None}, {"a": {(1, 2): 3}}, True, math.nan, object()],
)  # fmt: skip
def test_a_config_of_any_other_shape_is_refused(config):
    normal, faults = checked(config)
    assert isinstance(normal, dict)
    assert faults
    assert all(len(fault.splitlines()) == 1 for fault in faults)


def test_an_endless_config_is_refused():
    endless = copy.deepcopy(TINY)
    endless["grid"]["seeds"].append(endless["grid"]["seeds"])
    assert "nested too deep" in checked(endless)[1][0]
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]
    assert "nested too deep" in checked({**TINY, "grpo": deep})[1][0]


def test_the_schema_is_valid_describes_every_key_and_closes_every_block():
    Draft202012Validator.check_schema(SCHEMA)

    def described(schema):
        if "description" in schema or "const" in schema:
            return True
        return "$ref" in schema and described(target(schema["$ref"]))

    def target(reference):
        found = SCHEMA
        for key in reference.removeprefix("#/").split("/"):
            found = found[key]
        return found

    def walk(schema, path):
        for key, inner in schema.get("properties", {}).items():
            assert described(inner), f"{path}.{key} has no description"
            walk(inner, f"{path}.{key}")
        for key in ("items", "additionalProperties", "then", "else"):
            if isinstance(schema.get(key), dict):
                walk(schema[key], f"{path}[{key}]")
        for inner in schema.get("allOf", []):
            walk(inner["then"], path)

    walk(SCHEMA, "config")
    for name, schema in SCHEMA["$defs"].items():
        walk(schema, name)


@pytest.mark.parametrize("config", [PAPER, TINY])
def test_an_unknown_key_is_refused_in_every_block(config):
    named = {"teams", "methods", "systems", "benchmarks", "corpora", "models"}

    def blocks(value, path):
        if isinstance(value, dict):
            if (
                path[-1:] != ("config",)
                and path not in {(name,) for name in named}
                and path[-1:] not in (("tasks",), ("per_benchmark",))
            ):
                yield path
            if path[-1:] != ("config",):
                for key, inner in value.items():
                    yield from blocks(inner, (*path, key))

    places = list(blocks(config, ()))
    assert len(places) > 30
    for path in places:
        faults = checked(edited(config, "/".join([*path, "zz_unknown"]), 1))[1]
        assert [fault for fault in faults if fault.startswith(f"{'.'.join([*path, 'zz_unknown'])}: no such key")], path


ODD = [
    None, True, False, 0, 1, -1, 2, 3, 7, 16, 0.5, -0.0, 1e-300, 1e300, 2**31, 2**32, 2**64, -(10**400), math.nan,
    -math.inf, "", " ", "none", "true", "1", "1e3", "-1", "1e-5", "nan", "inf", "1_0", "\u0663", "toy_math", "default",
    "a/b", "..", "x\ny", "\u2028", "\ud800", "0" * 5000, [], [[]], [None], ["toy"], [0, 0], {}, {"": 0}, {1: 2},
    {"a": {"b": [1, {"c": math.nan}]}}, b"x", (1,), {1}, object,
]  # fmt: skip


def places(value, path=()):
    """Return the path of everything in the config, blocks and items alike."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, inner in items for place in ((*path, key), *places(inner, (*path, key)))]


def at(config, path):
    for key in path:
        config = config[key]
    return config


def renamed(key, how):
    return [f"{key}x", key[1:], key.upper(), key[::-1], key.replace("_", "-"), f" {key}", 0][how]


@st.composite
def mutations(draw, config):
    """Draw a config with one to three things deleted, renamed, replaced, doubled or swapped."""
    config = copy.deepcopy(config)
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        paths = places(config)
        path = draw(st.sampled_from(paths))
        block, last = at(config, path[:-1]), path[-1]
        match draw(st.sampled_from(["delete", "rename", "replace", "replace", "text", "scale", "double", "swap"])):
            case "delete":
                del block[last]
            case "rename" if isinstance(last, str):
                block[renamed(last, draw(st.integers(0, 6)))] = block.pop(last)
            case "text" if isinstance(block[last], int | float) and abs(block[last]) < 1e300:
                block[last] = f"{float(block[last]):e}"
            case "scale" if isinstance(block[last], int | float):
                block[last] *= draw(st.sampled_from([-1, 0, 0.5, 2, 3, 10**9]))
            case "double" if isinstance(block, list):
                block.insert(0, block[last])
            case "swap":
                block[last] = copy.deepcopy(at(config, draw(st.sampled_from(paths))))
            case _:
                block[last] = copy.deepcopy(draw(st.sampled_from(ODD)))
    return config


def is_count(value, low=1):
    return type(value) is int and low <= value < 2**53


def is_number(value):
    return type(value) is float and math.isfinite(value) and value >= 0


def assert_runnable(config):
    """Fail where a job of the plan would meet a name or a number that it cannot use."""
    assert json.loads(json.dumps(config, allow_nan=False)) == config
    assert set(config) <= set(TINY)
    runs = grid.runs(config)
    assert runs
    assert len(set(runs)) == len(runs)
    for benchmark, method, team, seed in runs:
        assert is_count(seed, 0)
        assert seed < 2**32
        assert_trainable(json.loads(grid.as_json(grid.train_cell(config, benchmark, method, team))))
        assert is_count(grid.grpo_of(config, benchmark)["save_every"])
        problems = grid.problems_cell(config, benchmark)
        assert problems["loader"] in LOADERS
        assert is_count(problems["num_train"])
        assert is_count(problems["num_test"])
        assert ("tasks" in problems) >= (problems["loader"] == "reasoning_gym")
        assert all(is_number(task["weight"]) and task["weight"] for task in problems.get("tasks", {}).values())
        for model in {config["policy"]["model"], *grid.experts_of(config, team)}:
            assert_loadable(grid.model_cell(config, model), config)
    for benchmark, expert in results_grid.experts_shown(config):
        assert is_number(grid.probe_cell(config, benchmark, expert)["ridge"])
        assert is_count(grid.features_cell(config, expert, "prompt")["extraction"]["max_tokens"])


def assert_trainable(cell):
    grpo, team = cell["grpo"], cell["team"]
    assert set(grpo) == set(PAPER["grpo"]) - {"save_every"}
    assert type(grpo.pop("gradient_checkpointing")) is bool
    assert all(is_number(grpo.pop(key)) for key in ("beta", "learning_rate", "temperature"))
    assert all(is_count(value) for value in grpo.values())
    assert grpo["group_size"] > 1
    assert grpo["prompts_per_step"] * grpo["group_size"] % grpo["completions_per_device"] == 0
    assert set(cell["lora"]) == set(PAPER["lora"])
    assert is_number(cell["lora"]["dropout"])
    assert cell["scorer"] in SCORERS
    assert cell["operator"] in OPERATORS
    assert (team == "none") == (not grid.reads_experts(cell["operator"])) == (cell["experts"] == [])
    assert len(set(cell["experts"])) == len(cell["experts"])
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9_.-]*", cell[key]) for key in ("benchmark", "method", "team", "policy"))
    uses = grid.uses(cell["operator"])
    if "adapter" in uses:
        assert cell["adapter"]["latent_dim"] % cell["adapter"]["num_heads"] == 0
        assert all(is_count(cell["adapter"][key]) for key in ("latent_dim", "num_heads", "m"))
    if "features" in uses:
        assert set(cell["features"]) == {"pooling", "sequence", "shuffled"}
    if "text" in uses:
        assert is_count(cell["text"]["answer_tokens"])
    if "router" in uses:
        assert cell["router"]["selection"] in ("learned", "uniform", "best")
        assert is_count(cell["router"]["router_width"])


def assert_loadable(cell, config):
    if cell["source"] == "toy":
        size, heads = (cell["architecture"][key] for key in ("hidden_size", "num_heads"))
        assert size % heads == 0
        assert size // heads % 2 == 0 or cell["architecture"]["type"] == "gpt2"
        assert set(cell["training"]) == {"steps", "batch_size", "learning_rate", "noise_rows"}
        assert all(is_count(grid.corpus_cell(config, corpus)["num_rows"]) for corpus in cell["corpora"])
    elif cell["source"] == "toy_member":
        size, heads = (cell["architecture"][key] for key in ("hidden_size", "num_heads"))
        assert size % heads == 0
        assert size // heads % 2 == 0 or cell["architecture"]["type"] == "gpt2"
        assert set(cell["training"]) == {"batch_size", "phases"}
    elif cell["source"] == "hub":
        assert re.fullmatch(r"[0-9a-f]{40}", cell["revision"])
        assert re.fullmatch(r"[^/\s]+/[^/\s]+", cell["id"])
    elif cell["source"] == "package":
        assert all(cell[key] for key in ("package", "version", "sha256"))
    else:
        assert cell["path"]


def assert_refused_or_runnable(config):
    normal, faults = checked(config)
    assert all(isinstance(fault, str) and len(fault.splitlines()) == 1 and len(fault) < 2000 for fault in faults)
    if not faults:
        assert_runnable(normal)


MUTATED = settings(max_examples=1000, deadline=None, derandomize=True, database=None)


@MUTATED
@given(mutations(checked(TINY)[0]))
def test_a_mutated_tiny_config_is_refused_or_runs(config):
    assert_refused_or_runnable(config)


@MUTATED
@given(mutations(checked(PAPER)[0]))
def test_a_mutated_paper_config_is_refused_or_runs(config):
    assert_refused_or_runnable(config)


def test_a_folder_of_one_grid_may_lie_elsewhere(tmp_path):
    for name in ("workflow/config/tiny.yaml", "workflow/profiles/tiny/profile.yaml"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/tiny").symlink_to("../scratch")
    folder, checkout = (tmp_path / "scratch").resolve(), tmp_path.resolve()  # where Snakemake is, inside of runs/tiny
    assert len(folder_faults(folder, checkout, [checkout / "mine.yaml"])) == 1
    assert folder_faults(folder, checkout, [checkout / "workflow/config/tiny.yaml"]) == []


@pytest.mark.parametrize(
    ("folder", "given", "told"),
    [
        ("runs/tiny", ["workflow/config/tiny.yaml"], []),
        ("runs/tiny", ["workflow/config/../config/tiny.yaml", "mine.yaml"], []),
        ("runs/mine", ["mine.yaml"], []),
        (".", [], []),
        ("elsewhere/tiny", ["mine.yaml"], []),
        ("runs/tiny", ["mine.yaml"], ["workflow/config/tiny.yaml"]),
        ("runs/small", ["workflow/config/tiny.yaml"], ["workflow/config/small.yaml"]),
        ("runs/tiny", [], ["workflow/config/tiny.yaml"]),
        ("runs/marl", ["workflow/config/marl.yaml"], ["workflow/config/tiny.yaml workflow/config/marl.yaml"]),
        ("runs/marl", ["workflow/config/tiny.yaml", "workflow/config/marl.yaml"], []),
    ],
)
def test_a_folder_of_one_grid_is_not_planned_for_another(folder, given, told):
    faults = folder_faults(REPOSITORY / folder, REPOSITORY, [REPOSITORY / name for name in given])
    assert len(faults) == len(told)
    for fault, config in zip(faults, told, strict=True):
        assert fault.startswith(f"{folder} is for {config}: begin with that, --configfile {config}, and")
