"""Jobs as Snakemake's graph has them, and profiles as Snakemake reads them, of a workflow made up here."""

import base64
import os
import textwrap
from pathlib import Path

import pytest
from checkout import REPOSITORY
from snakemake.settings.types import DeploymentMethod

from dag.jobs import REFUSALS, Asked, Job, planned
from dag.profiles import ProfileError, read, run_folder

SNAKEFILE = """
configfile: f"{workflow.basedir}/config.yaml"

rule all:
    input: expand("scores/{name}", name=config["names"])

rule fetch:
    output: "data"
    localrule: True
    shell: "touch {output}"

rule train:
    input: "data"
    output: "runs/{name}"
    log: "logs/{name}"
    benchmark: "times/{name}.tsv"
    threads: 16
    resources:
        gpu=1,
        mem_mb=lambda wildcards, attempt: 1000 * attempt,
        runtime=lambda wildcards, attempt: 60 * attempt,
    shell: "touch {output}"

rule score:
    input: "runs/{name}"
    output: "scores/{name}"
    shell: "touch {output}"
"""
SHIPPED = """
__use_yte__: true
__definitions__:
  - import os
  - os.environ["PATH"] = "/wrapped" + os.pathsep + os.environ["PATH"]
executor: slurm
jobs: 10
cores: 8
retries: 2
software-deployment-method: conda
configfile: [more.yaml]
default-resources:
  mem_mb: 500
  runtime: 30
  ?if "TEST_PARTITION" in os.environ:
    slurm_partition: ?repr(os.environ["TEST_PARTITION"])
groups: {train: runs, score: runs}
group-components: {runs: 3}
resources: {gpu: 2}
rerun-incomplete: true
rerun-triggers: [mtime]
"""
SITE = """
directory: elsewhere
software-deployment-method: env-modules
default-resources: {mem_mb: 700, slurm_partition: long, slurm_account: lab}
set-resources: {train: {gpu_model: h100, runtime: 90}}
set-threads: {score: 3}
"""


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "checkout"
    for name, text in {
        "Snakefile": SNAKEFILE,
        "workflow/profiles/ours/profile.yaml": SHIPPED,
        "config.yaml": "names: [a]\nblock: {kept: 1, changed: 1}\n",
        "more.yaml": "names: [b]\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text), "utf-8")
    return folder


def site(folder: Path, text: str = SITE) -> str:
    (folder / "mine").mkdir(parents=True)
    (folder / "mine/profile.yaml").write_text(f"__use_yte__: true\n{text}", "utf-8")
    return str(folder / "mine")


def test_a_profile_is_read_with_what_the_environment_says(root, monkeypatch):
    path, here = os.environ["PATH"], Path.cwd()
    profile = read(root, "ours")
    assert (profile["cores"], profile["jobs"], profile["retries"]) == (8, 10, 2)
    assert profile["groups"] == {"train": "runs", "score": "runs"}
    assert profile["group-components"] == {"runs": 3}
    assert profile["software-deployment-method"] == {DeploymentMethod.CONDA}
    assert run_folder(root, profile) == root
    assert "slurm_partition" not in profile["default-resources"]
    monkeypatch.setenv("TEST_PARTITION", "short")
    assert "slurm_partition" in read(root, "ours")["default-resources"]
    assert (os.environ["PATH"], Path.cwd()) == (path, here)


def test_a_further_profile_replaces_whole_keys(root, monkeypatch, tmp_path):
    monkeypatch.setenv("TEST_PARTITION", "short")
    site(tmp_path / "site")
    monkeypatch.chdir(tmp_path)  # its path is as seen from where one is
    profile = read(root, "ours", ["site/mine"])
    assert {"mem_mb", "slurm_partition", "slurm_account"} <= set(profile["default-resources"])
    assert "runtime" not in profile["default-resources"]
    assert profile["software-deployment-method"] == {DeploymentMethod.ENV_MODULES}
    assert (profile["cores"], profile["groups"]["train"]) == (8, "runs")
    assert run_folder(root, profile) == root / "elsewhere"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("jobs: many\n", "jobs"),
        ("no-such-option: 1\n", "no-such-option"),
        ("- a\n- b\n", "mine/profile.yaml"),
        ("version: true\n", "mine: Snakemake ends without a word"),
        ("help: true\n", "help"),
        ("jobs: 3\ncores: [1\n", "expected ',' or ']'.*mine/profile.yaml"),
        ("jobs: ?1/0\n", "mine: .*/jobs: ZeroDivisionError"),
    ],
)
def test_a_profile_that_snakemake_does_not_understand_is_an_error_of_one_line(root, tmp_path, capfd, text, words):
    with pytest.raises(ProfileError, match=words) as error:
        read(root, "ours", [site(tmp_path / "site", text)])
    assert "\n" not in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_a_profile_that_is_not_there_is_named(root):
    with pytest.raises(ProfileError, match="nowhere"):
        read(root, "ours", ["nowhere"])


def test_jobs_by_hand(root):
    (root / "data").touch()
    grid = planned(root, read(root, "ours"), attempts=(1, 3))
    # the profile's config file replaces the list; 8 cores at most; 30 minutes and 500 MB where a rule names none
    train = (Asked(8, 1000, 60, 1), Asked(8, 3000, 180, 1))
    plain = (Asked(1, 500, 30),) * 2
    jobs = {job.rule: job for job in grid.jobs}
    place = {job.rule: index for index, job in enumerate(grid.jobs)}

    def after(rule: str) -> frozenset[int]:
        return frozenset({place[rule]})

    assert len(grid.jobs) == 4
    assert jobs["all"] == Job("all", {}, False, False, after("score"), (), None, None, plain)
    assert jobs["fetch"] == Job("fetch", {}, True, False, frozenset(), ("data",), None, None, plain)
    assert jobs["train"] == Job(
        "train", {"name": "b"}, False, True, after("fetch"), ("runs/b",), "times/b.tsv", "logs/b", train
    )
    assert jobs["score"] == Job("score", {"name": "b"}, False, True, after("train"), ("scores/b",), None, None, plain)
    assert grid.config == {"names": ["b"], "block": {"kept": 1, "changed": 1}}


def test_what_a_site_sets_reaches_the_jobs(root, tmp_path, monkeypatch):
    (tmp_path / "own.yaml").write_text("names: [c, d]\nblock: {changed: 2}\n")
    monkeypatch.chdir(tmp_path)
    grid = planned(root, read(root, "ours", [site(tmp_path / "site")]), [Path("own.yaml")], attempts=(2,))
    asked = {(job.rule, job.wildcards.get("name")): job.asked for job in grid.jobs}
    assert asked["train", "c"] == asked["train", "d"] == (Asked(8, 2000, 90, 1, "h100", "long", "lab"),)
    assert asked["score", "c"] == (Asked(3, 700, 0, 0, "", "long", "lab"),)
    assert grid.config == {"names": ["c", "d"], "block": {"kept": 1, "changed": 2}}
    assert Path.cwd() == tmp_path


def test_what_only_its_input_will_tell_of_a_job_is_unknown(root, tmp_path):
    sized = """
        default-resources: {mem_mb: "2*input.size_mb", runtime: 30}
        set-resources: {train: {runtime: "60*input.size_mb", slurm_partition: "'p' + str(input.size_mb)", turn: 1}}
    """
    profile = read(root, "ours", [site(tmp_path / "site", textwrap.dedent(sized))])
    asked = {job.rule: job.asked for job in planned(root, profile, attempts=(1, 2)).jobs}
    assert asked["score"] == (Asked(1, 0, 30, unknown=frozenset({"mem_mb"})),) * 2
    unknown = frozenset({"runtime", "slurm_partition"})
    assert asked["train"] == tuple(Asked(8, 1000 * attempt, 0, 1, turns=1, unknown=unknown) for attempt in (1, 2))


def test_what_a_profile_has_less_of_than_a_rule_names_is_cut(root, tmp_path):
    (tmp_path / "few").mkdir()
    (tmp_path / "few/profile.yaml").write_text("resources: {gpu: 0, mem_mb: 1500}\n")
    asked = {job.rule: job.asked for job in planned(root, read(root, "ours"), attempts=(1, 2)).jobs}
    assert asked["train"] == (Asked(8, 1000, 60, 1), Asked(8, 2000, 120, 1))
    few = read(root, "ours", [str(tmp_path / "few")])
    asked = {job.rule: job.asked for job in planned(root, few, attempts=(1, 2)).jobs}
    first, second = Asked(8, 1000, 60, cut=frozenset({"gpu"})), Asked(8, 1500, 120, cut=frozenset({"gpu", "mem_mb"}))
    assert asked["train"] == (first, second)
    assert asked["score"] == (Asked(1, 500, 30),) * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"# Gr\xf6\xdfe\nnames: [c]\n", "byte 0xf6.*UTF-8"),
        (b"names: [c\n", "expected ',' or ']'.*line 2"),
        (b"", "keys at top level"),
        (b"- names\n", "keys at top level"),
    ],
)
@pytest.mark.parametrize("name", ["own.yaml", "checkout/config.yaml"])
def test_a_config_that_cannot_be_read_is_named_in_one_line(root, tmp_path, text, words, name):
    (tmp_path / name).write_bytes(text)
    with pytest.raises(REFUSALS, match=f"^{tmp_path / name}: .*{words}") as error:
        planned(root, read(root, "ours"), [tmp_path / "own.yaml"] if name == "own.yaml" else [])
    assert "\n" not in str(error.value)


def test_a_resource_that_snakemake_cannot_tell_is_one_line_with_its_rule(root, tmp_path):
    profile = read(root, "ours", [site(tmp_path / "site", "set-resources: {train: {runtime: abc}}\n")])
    with pytest.raises(REFUSALS, match=r"^rule train: .*'runtime' with value 'abc'.* name=b$"):
        planned(root, profile)


def test_what_a_killed_job_left_is_still_to_be_done(root):
    (root / "data").touch()
    mark = root / ".snakemake/incomplete" / base64.b64encode(b"data").decode()
    mark.parent.mkdir(parents=True)
    mark.write_text('{"external_jobid": null}')
    assert not any(job.done for job in planned(root, read(root, "ours")).jobs)
    mark.unlink()
    assert [job.rule for job in planned(root, read(root, "ours")).jobs if job.done] == ["fetch"]


def test_what_snakemake_refuses_is_its_own_error(root):
    with pytest.raises(REFUSALS, match="no_such_rule"):
        planned(root, read(root, "ours"), target="no_such_rule")


def test_the_shipped_profiles_are_read():
    slurm, tiny = (read(REPOSITORY, name) for name in ("slurm", "tiny"))
    assert slurm["slurm-status-command"] == "squeue"
    assert (slurm["slurm-init-seconds-before-status-checks"], slurm["retries"]) == (60, 2)
    assert run_folder(REPOSITORY, slurm) == REPOSITORY
    assert run_folder(REPOSITORY, tiny) == REPOSITORY / "runs/tiny"
    assert [str(path) for path in tiny["configfile"]] == ["workflow/config/tiny.yaml"]
    assert (tiny["groups"], tiny["group-components"]) == ({}, {})
