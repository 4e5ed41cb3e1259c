"""The paper grid, every output of it there: what each change reruns, by rule and wildcards, for Table 1 and for all."""

import dataclasses
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest
import yaml
from checkout import Checkout, copy_checkout, planned_within

pytestmark = pytest.mark.slow
ADOPT = Path(__file__).with_name("adopt.py")
SEEDS = (0, 1, 2)
MUSKETEERS = ("arithmetic", "logic", "algorithmic", "gsm8k")
SLICES = ("musique", "gsm_hard", "math", "multipl_e", "conifer")
EXPERTS = (
    *("qwen2.5-math-1.5b-instruct", "qwen2.5-coder-7b-instruct", "llama-3.2-3b-instruct", "phi-3.5-mini-instruct"),
    *("gemma-2-2b-it", "mistral-7b-instruct-v0.3", "gpt2", "gpt-oss-20b"),
)
DEFAULT, ENCODER = EXPERTS[:3], "all-minilm-l6-v2"
SPLITS = ("train", "test")
LEARNED_BY_RL = ("magrpo", "maporl", "at_grpo")
AT_GRPO = ("at_grpo", "at_grpo_more_rounds")  # the second answers with what the first learned
BASELINES = ("mad", "agentverse", "aflow", "gptswarm", *LEARNED_BY_RL, "at_grpo_more_rounds")
REFINED = ("cl", "homo_cl", "se_rl", "cl_no_distillation", "cl_no_step_scores", "cl_constant_reward")
SAMPLED = ("cl", "cl_no_step_scores", "cl_constant_reward", "cl_distilled")
# Teams and methods of every benchmark of musketeers, and the ablations, which arithmetic alone has.
TEAMS = ("default", "generalist", "naive", "llm")
HIDDEN = tuple(f"hidden_state/{team}" for team in TEAMS)
ROWS = (
    *("single/none", "text/default", "routing/default", *HIDDEN),
    *("no_cross_attention/default", "prefix/none", "hidden_state_shuffled/default"),
)
VARIANTS = (
    *("first_token", "sampled_token", "first_layer", "sampled_layer"),
    *("m2", "m4", "m16", "m32", "m64", "m128"),
)
ABLATIONS = tuple(f"hidden_state_{name}/default" for name in VARIANTS)
# Jobs that there is one of.
TABLE1 = {"make_musketeers_table1", "make_table1"}
MUSKETEERS_SHOWN = {"write_claims", "write_resources_table"}
HISTORIES = {"plot_figure4", "plot_figure6a"}
EXPERT_TABLES = {"write_expert_table", "write_probe_table"}
SLICES_TABLE1 = {"make_slices_table1", "make_table1"}
SLICES_SHOWN = {
    *("write_roles_table", "write_retention_table", "write_overlap_table", "write_funnel_table", "write_budgets_table"),
    *("write_slices_claims", "write_resources_table", "plot_slices_figure4"),
}
CL_SHOWN = {*SLICES_SHOWN, "plot_slices_figure3", "plot_slices_figure5"}

Jobs = dict[str, set[str]]  # rule -> the values of its wildcards, one string a job


def names(*parts: str | Iterable) -> set[str]:
    """Return every combination of these parts, as wildcards are written in `Jobs`."""
    lists = [[part] if isinstance(part, str) else part for part in parts]
    return {"/".join(map(str, found)) for found in product(*lists)}


def jobs(once: Iterable[str] = (), **rules: set[str]) -> Jobs:
    return {rule: found for rule, found in rules.items() if found} | {rule: {""} for rule in once}


def trained(runs: set[str]) -> Jobs:
    """Return the jobs of these runs of musketeers as far as Table 1."""
    return jobs(train_grpo=runs, answer_problems=runs, score_answers=runs)


def answered(rule: str, runs: set[str], stage: str = "eval") -> Jobs:
    """Return the jobs of one evaluation of these runs of slices."""
    return jobs(**{rule: names(runs, stage)}, score_team=names(runs, stage))


def together(*parts: Jobs) -> Jobs:
    return {rule: set().union(*(part.get(rule, set()) for part in parts)) for part in parts for rule in part}


@dataclasses.dataclass(frozen=True)
class PaperGrid(Checkout):
    """The paper grid under the profile slurm; config files come on top of config.yaml."""

    configs: tuple[Path, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        extra = ["--configfile", *map(str, self.configs)] if self.configs else []
        return [sys.executable, "-m", "snakemake", *arguments, "--profile", "slurm", "--sdm", "env-modules", *extra]

    def jobs(self, target: str, *arguments: str) -> Jobs:
        """Return what a dry run lists, but for the rules that only collect."""
        output = self.snakemake(target, *arguments, "--dry-run")
        found: Jobs = {}
        _, *blocks = re.split(r"^ *(?:local)?rule (\w+):\n", output, flags=re.MULTILINE)
        for rule, block in zip(blocks[::2], blocks[1::2], strict=True):
            wildcards = re.search(r"^ +wildcards: (.*)$", block, re.MULTILINE)
            values = [pair.partition("=")[2] for pair in wildcards[1].split(", ")] if wildcards else []
            found.setdefault(rule, set()).add("/".join(values))
        found.pop("all", None)
        assert bool(found) != ("Nothing to be done" in output), output[-3000:]
        return found

    def both(self, *arguments: str) -> tuple[Jobs, Jobs]:
        """Return what a change makes Snakemake plan for Table 1, and for all but the record of the run."""
        with ThreadPoolExecutor() as pool:
            targets = ("results/table1.csv", "all")
            table1, everything = pool.map(lambda target: self.jobs(target, *arguments), targets)
        assert everything.pop("write_run_record") == {""}  # it follows whatever is made
        return table1, everything


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> PaperGrid:
    """A checkout with every output of target `all` and what Snakemake knows of it; do not edit it."""
    paper = PaperGrid(copy_checkout(tmp_path_factory.mktemp("paper") / "slmcollab"))
    command = [sys.executable, str(ADOPT), *paper.command("all")[3:], "--scheduler", "greedy", "--cores", "2"]
    environment = paper.environment() | {"HF_TOKEN": "none"}  # asked for where a gated model would be fetched
    done = subprocess.run(command, cwd=paper.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return paper


@pytest.fixture
def edited(paper, tmp_path) -> PaperGrid:
    """Another checkout with the same outputs, whose code a test may edit."""
    outputs = shutil.ignore_patterns("results", ".snakemake")
    folder = shutil.copytree(paper.folder, tmp_path / "edited", symlinks=True, ignore=outputs)
    for name in ("results", ".snakemake"):
        (folder / name).symlink_to(paper.folder / name)
    return PaperGrid(folder)


@pytest.fixture
def changed(tmp_path):
    """Return a function: a checkout with these config blocks on top."""

    def change(checkout: PaperGrid, **blocks) -> PaperGrid:
        extra = tmp_path / "extra.yaml"
        extra.write_text(yaml.safe_dump(blocks))
        return dataclasses.replace(checkout, configs=(extra,))

    return change


def edit(checkout: PaperGrid, module: str, old: str, new: str) -> None:
    file = checkout.folder / "workflow/slmcollab" / module
    text = file.read_text()
    assert old in text, f"{module} no longer holds {old!r}"
    file.write_text(text.replace(old, new, 1))


@pytest.mark.alone
def test_nothing_is_left_to_do_and_that_is_seen_within_8_seconds(paper):
    with planned_within(8):
        assert paper.jobs("all") == {}


@pytest.mark.alone
def test_everything_again_is_planned_within_8_seconds(paper):
    with planned_within(8):
        planned = paper.jobs("all", "--forceall")
    assert planned["train_grpo"] == names(MUSKETEERS, ROWS, SEEDS) | names("arithmetic", ABLATIONS, SEEDS)
    assert planned["train_baseline"] == names(SLICES, LEARNED_BY_RL, SEEDS)
    assert planned["score_team"] >= names(SLICES, REFINED, SEEDS, "eval") | names(
        SLICES, SAMPLED, SEEDS, "eval_sampled"
    )


def test_one_seed_of_musketeers_forced(paper):
    run = "arithmetic/hidden_state/default/2"
    table1, everything = paper.both("--forcerun", "results/musketeers/arithmetic/hidden_state/default/seed2/adapter")
    assert table1 == together(trained({run}), jobs(TABLE1))
    shown = {*MUSKETEERS_SHOWN, *HISTORIES, "plot_figure6b", "make_table2"}
    assert everything == together(table1, jobs(shown, analyse_attention={run}))


def test_one_seed_of_slices_forced(paper):
    table1, everything = paper.both("--forcerun", "results/slices/math/cl/seed2/round1/adapters")
    evaluated = answered("answer_with_team", {"math/cl/2"})
    assert table1 == together(evaluated, jobs(SLICES_TABLE1, refine_team={"math/cl/2/1"}))
    assert everything == together(table1, answered("answer_with_team", {"math/cl/2"}, "eval_sampled"), jobs(CL_SHOWN))


def test_a_new_seed_of_both_papers(paper, changed):
    seeds = [*SEEDS, 3]
    table1, everything = changed(paper, grid={"seeds": seeds}, slices={"grid": {"seeds": seeds}}).both()
    sampled = [*("cl", "homo_cl", "se_rl", "cl_no_distillation")]
    learned = ("homo_cl", "cl")
    assert table1 == together(
        trained(names(MUSKETEERS, ROWS, "3")),
        jobs(
            TABLE1 | SLICES_TABLE1,
            sample_trajectories=names(SLICES, "homo_mas", "3", "teacher") | names(SLICES, sampled, "3", "round1"),
            qualify_trajectories=names(SLICES, "homo_mas", "3"),
            distill_team=names(SLICES, learned, "3"),
            score_steps=names(SLICES, sampled, "3", "1"),
            reward_steps=names(SLICES, REFINED, "3", "1"),
            refine_team=names(SLICES, REFINED, "3", "1"),
            search_workflow=names(SLICES, "aflow", "3"),
            train_baseline=names(SLICES, LEARNED_BY_RL, "3"),
        ),
        answered("answer_with_team", names(SLICES, [*REFINED, "cl_distilled"], "3")),
        answered("answer_with_baseline", names(SLICES, BASELINES, "3")),
    )
    assert everything == together(
        table1,
        trained(names("arithmetic", ABLATIONS, "3")),
        answered("answer_with_team", names(SLICES, SAMPLED, "3"), "eval_sampled"),
        jobs(
            MUSKETEERS_SHOWN | HISTORIES | CL_SHOWN | {"plot_figure6b", "make_table2"},
            analyse_attention=names(MUSKETEERS, HIDDEN, "3"),
        ),
    )


def test_a_setting_of_a_method_that_one_benchmark_has(paper, changed):
    table1, everything = changed(paper, methods={"hidden_state_m4": {"m": 5}}).both()
    assert table1 == {}
    runs = names("arithmetic/hidden_state_m4/default", SEEDS)
    assert everything == together(trained(runs), jobs(MUSKETEERS_SHOWN | {"plot_figure6b"}))


def test_training_settings_of_a_benchmark_of_musketeers(paper, changed):
    table1, everything = changed(paper, benchmarks={"gsm8k": {"grpo": {"max_steps": 200}}}).both()
    assert table1 == together(trained(names("gsm8k", ROWS, SEEDS)), jobs(TABLE1))
    attention = names("gsm8k", HIDDEN, SEEDS)
    assert everything == together(table1, jobs(MUSKETEERS_SHOWN | HISTORIES, analyse_attention=attention))


def test_the_problems_of_a_benchmark_of_musketeers(paper, changed):
    table1, everything = changed(paper, benchmarks={"logic": {"num_test": 2000}}).both()
    assert table1 == together(
        jobs(
            TABLE1,
            generate_problems={"logic"},
            extract_features=names(EXPERTS, "logic", SPLITS, "prompt"),
            generate_expert_answers=names(DEFAULT, "logic", SPLITS),
            embed_questions=names(ENCODER, "logic", SPLITS),
        ),
        trained(names("logic", ROWS, SEEDS)),
    )
    assert everything == together(
        table1,
        jobs(
            MUSKETEERS_SHOWN | HISTORIES | EXPERT_TABLES,
            generate_expert_answers=names(EXPERTS, "logic", "test"),
            score_expert_answers=names(EXPERTS, "logic", "test"),
            probe_experts=names(EXPERTS, "logic"),
            analyse_attention=names("logic", HIDDEN, SEEDS),
        ),
    )


def test_the_weight_of_rewards_of_a_benchmark_of_slices(paper, changed):
    table1, everything = changed(paper, benchmarks={"math": {"slices": {"alpha": 0.4}}}).both()
    weighed = ("cl", "homo_cl", "se_rl", "cl_no_distillation")  # by eq. 12; the others' rewards have no such weight
    rounds = names("math", weighed, SEEDS, "1")
    assert table1 == together(
        jobs(SLICES_TABLE1, reward_steps=rounds, refine_team=rounds),
        answered("answer_with_team", names("math", weighed, SEEDS)),
    )
    again = answered("answer_with_team", names("math/cl", SEEDS), "eval_sampled")
    assert everything == together(table1, again, jobs(CL_SHOWN))


def test_a_setting_of_a_baseline(paper, changed):
    table1, everything = changed(paper, systems={"mad": {"settings": {"rounds": 2}}}).both()
    runs = names(SLICES, "mad", SEEDS)
    assert table1 == together(answered("answer_with_baseline", runs), jobs(SLICES_TABLE1))
    assert everything == together(table1, jobs(SLICES_SHOWN))


def test_a_setting_of_a_baseline_on_one_benchmark(paper, changed):
    settings = {"multipl_e": {"learning": {"prompts": 8}}}
    table1, everything = changed(paper, systems={"at_grpo": {"per_benchmark": settings}}).both()
    runs = names("multipl_e/at_grpo", SEEDS)
    learned = jobs(SLICES_TABLE1, train_baseline=runs)
    assert table1 == together(learned, answered("answer_with_baseline", names("multipl_e", AT_GRPO, SEEDS)))
    assert everything == together(table1, jobs(SLICES_SHOWN))


def with_expert(expert, runs):
    """Return the jobs, for Table 1 and for all, of an expert that is new or another one, and of its runs."""
    features = names(expert, MUSKETEERS, SPLITS, "prompt")
    fetched = jobs(TABLE1, download_model={expert}, extract_features=features)
    table1 = together(fetched, trained(runs))
    alone = jobs(
        MUSKETEERS_SHOWN | HISTORIES | EXPERT_TABLES,
        generate_expert_answers=names(expert, MUSKETEERS, "test"),
        score_expert_answers=names(expert, MUSKETEERS, "test"),
        probe_experts=names(expert, MUSKETEERS),
        analyse_attention=runs,
    )
    return table1, together(table1, alone)


def test_another_revision_of_an_expert(paper, changed):
    table1, everything = changed(paper, models={"gpt2": {"revision": 40 * "0"}}).both()
    assert (table1, everything) == with_expert("gpt2", names(MUSKETEERS, "hidden_state/naive", SEEDS))


def test_another_revision_of_the_evaluator(paper, changed):
    table1, everything = changed(paper, models={"qwen3-14b": {"revision": 40 * "0"}}).both()
    scored = ("cl", "homo_cl", "se_rl", "cl_no_distillation")
    runs = names(SLICES, scored, SEEDS) | names(SLICES, "qwen3_14b", "0")
    searches = names(SLICES, "aflow", SEEDS)
    assert table1 == together(
        jobs(
            SLICES_TABLE1,
            download_model={"qwen3-14b"},
            sample_trajectories=names(SLICES, "se_rl", SEEDS, "round1"),
            score_steps=names(SLICES, scored, SEEDS, "1"),
            reward_steps=names(SLICES, scored, SEEDS, "1"),
            refine_team=names(SLICES, scored, SEEDS, "1"),
            search_workflow=searches,
        ),
        answered("answer_with_team", runs),
        answered("answer_with_baseline", searches),
    )
    again = answered("answer_with_team", names(SLICES, "cl", SEEDS), "eval_sampled")
    assert everything == together(table1, again, jobs(CL_SHOWN))


def test_a_new_team_with_a_new_expert(paper, changed):
    teams, block = [*TEAMS, "pair"], {"source": "hub", "id": "lab/model", "revision": 40 * "0"}
    extra = {"grid": {"teams": teams}, "teams": {"pair": ["gpt2", "new"]}, "models": {"new": block}}
    table1, everything = changed(paper, **extra).both()
    assert (table1, everything) == with_expert("new", names(MUSKETEERS, "hidden_state/pair", SEEDS))


def test_new_systems_with_and_without_a_base(paper, changed):
    baselines = [name for name in BASELINES if name != "at_grpo_more_rounds"]  # which is among the controls
    rows = ["qwen3_14b", "se_rl", "homo_mas", "homo_cl", *baselines, "cl", "cl_clipped", "small"]
    small = {"models": 3 * ["qwen3-1.7b"], "teacher": "homo_mas", "reward": "scores"}
    new = changed(paper, systems={"small": small}, slices={"grid": {"systems": rows}})
    table1, everything = new.both()
    runs, rounds = names(SLICES, ["cl_clipped", "small"], SEEDS), names(SLICES, ["cl_clipped", "small"], SEEDS, "1")
    assert table1 == together(
        jobs(
            SLICES_TABLE1,
            distill_team=names(SLICES, "small", SEEDS),
            sample_trajectories=names(SLICES, "small", SEEDS, "round1"),
            score_steps=names(SLICES, "small", SEEDS, "1"),
            reward_steps=rounds,
            refine_team=rounds,
        ),
        answered("answer_with_team", runs),
    )
    assert everything == together(table1, jobs(SLICES_SHOWN))


LOADER = '''"""A benchmark of the test."""

from slmcollab.benchmarks.splits import Splits


def load(block, data_seed):
    return Splits(train=[], test=[], rule="none")
'''


def test_a_new_file_of_a_benchmark_named_in_both_grids(edited, changed):
    (edited.folder / "workflow/slmcollab/benchmarks/sums.py").write_text(LOADER)
    block = {"loader": "sums", "scorer": "number", "num_train": 100, "num_test": 50}
    team_block = block | {"num_dev": 20, "slices": {"alpha": 0.5, "threshold": 1.0, "max_new_tokens": 64}}
    new = changed(
        edited,
        benchmarks={"sums": block, "team_sums": team_block},
        grid={"benchmarks": [*MUSKETEERS, "sums"]},
        slices={"grid": {"benchmarks": [*SLICES, "team_sums"]}},
    )
    table1, everything = new.both()
    scored = ("cl", "homo_cl", "se_rl", "cl_no_distillation")
    untrained = names("team_sums", ["qwen3_14b", "homo_mas", "cl_no_training"], "0")
    trained_teams = names("team_sums", [*REFINED, "cl_distilled"], SEEDS)
    assert table1 == together(
        jobs(
            TABLE1 | SLICES_TABLE1,
            generate_problems={"sums"},
            extract_features=names(EXPERTS, "sums", SPLITS, "prompt"),
            generate_expert_answers=names(DEFAULT, "sums", SPLITS),
            embed_questions=names(ENCODER, "sums", SPLITS),
            generate_team_problems={"team_sums"},
            sample_trajectories=names("team_sums/homo_mas", SEEDS, "teacher")
            | names("team_sums", scored, SEEDS, "round1"),
            qualify_trajectories=names("team_sums/homo_mas", SEEDS),
            distill_team=names("team_sums", ["cl", "homo_cl"], SEEDS),
            score_steps=names("team_sums", scored, SEEDS, "1"),
            reward_steps=names("team_sums", REFINED, SEEDS, "1"),
            refine_team=names("team_sums", REFINED, SEEDS, "1"),
            search_workflow=names("team_sums/aflow", SEEDS),
            train_baseline=names("team_sums", LEARNED_BY_RL, SEEDS),
        ),
        trained(names("sums", ROWS, SEEDS)),
        answered("answer_with_team", untrained | trained_teams),
        answered("answer_with_baseline", names("team_sums", BASELINES, SEEDS)),
    )
    assert everything == together(
        table1,
        answered("answer_with_team", names("team_sums", SAMPLED, SEEDS), "eval_sampled"),
        jobs(
            MUSKETEERS_SHOWN | HISTORIES | EXPERT_TABLES | CL_SHOWN,
            generate_expert_answers=names(EXPERTS, "sums", "test"),
            score_expert_answers=names(EXPERTS, "sums", "test"),
            probe_experts=names(EXPERTS, "sums"),
            analyse_attention=names("sums", HIDDEN, SEEDS),
        ),
    )


def test_new_files_of_a_method_and_of_a_baseline(edited, changed):
    for folder, old, new in (
        ("slmcollab/context", "prefix.py", "rows.py"),
        ("slmcollab/teams", "mad.py", "quarrel.py"),
    ):
        (edited.folder / "workflow" / folder / new).write_text((edited.folder / "workflow" / folder / old).read_text())
    config = yaml.safe_load((edited.folder / "config.yaml").read_text())
    rows, systems = config["grid"]["methods"], config["slices"]["grid"]["systems"]
    new = changed(
        edited,
        methods={"rows": {"operator": "rows"}},
        systems={"quarrel": config["systems"]["mad"] | {"method": "quarrel"}},
        grid={"methods": [*rows, "rows"]},
        slices={"grid": {"systems": [*systems, "quarrel"]}},
    )
    table1, everything = new.both()
    assert table1 == together(
        trained(names(MUSKETEERS, "rows/none", SEEDS)),
        answered("answer_with_baseline", names(SLICES, "quarrel", SEEDS)),
        jobs(TABLE1 | SLICES_TABLE1),
    )
    assert everything == together(table1, jobs(MUSKETEERS_SHOWN | SLICES_SHOWN))


def test_an_edit_of_the_loss_of_reinforcement_learning(edited):
    edit(edited, "marl/losses.py", "0.5 * torch.maximum", "0.25 * torch.maximum")
    table1, everything = edited.both()
    learned, answers = (names(SLICES, systems, SEEDS) for systems in (LEARNED_BY_RL, {*LEARNED_BY_RL, *AT_GRPO}))
    assert table1 == together(jobs(SLICES_TABLE1, train_baseline=learned), answered("answer_with_baseline", answers))
    assert everything == together(table1, jobs(SLICES_SHOWN))


def test_an_edit_of_the_loss_of_musketeers(edited):
    edit(edited, "rl/routing.py", "\ndef router_loss", "\nUNUSED = 1\n\n\ndef router_loss")
    table1, everything = edited.both()
    assert table1 == together(trained(names(MUSKETEERS, ROWS, SEEDS)), jobs(TABLE1))
    assert everything == together(
        table1,
        trained(names("arithmetic", ABLATIONS, SEEDS)),
        jobs(
            MUSKETEERS_SHOWN | HISTORIES | {"plot_figure6b", "make_table2"},
            analyse_attention=names(MUSKETEERS, HIDDEN, SEEDS),
        ),
    )


def test_an_edit_of_the_loss_of_slices(edited):
    edit(edited, "supervision/losses.py", "return -(rewards", "return -1.0 * (rewards")
    table1, everything = edited.both()
    again = ("cl", "homo_cl")
    learned = names(SLICES, [*REFINED, "cl_distilled"], SEEDS)
    assert table1 == together(
        jobs(
            SLICES_TABLE1,
            distill_team=names(SLICES, again, SEEDS),
            sample_trajectories=names(SLICES, again, SEEDS, "round1"),
            score_steps=names(SLICES, again, SEEDS, "1"),
            # What starts from CL's distilled team shares its trajectories.
            reward_steps=names(SLICES, [*again, "cl_no_step_scores", "cl_constant_reward"], SEEDS, "1"),
            refine_team=names(SLICES, REFINED, SEEDS, "1"),
        ),
        answered("answer_with_team", learned),
    )
    sampled = answered("answer_with_team", names(SLICES, SAMPLED, SEEDS), "eval_sampled")
    assert everything == together(table1, sampled, jobs(CL_SHOWN))
