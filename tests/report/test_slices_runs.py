"""The level of each step of a baseline, read back from the calls of a graph that was run."""

from dataclasses import replace

import pytest
from graphs import TEAM, play, prompt_of, said

from slmcollab.artifacts import ArtifactError
from slmcollab.generation.calls import SEARCH, write_calls
from slmcollab.graph.records import trajectories
from slmcollab.protocol.trajectory import write_trajectories
from slmcollab.report.slices_runs import RunFiles
from slmcollab.teams import agentverse, gptswarm, mad

DEBATE = mad.build({"rounds": 2, "first_temperature": 0.9, "temperature": 0.3})
SWARM = gptswarm.build({"temperature": 0.7})
RECRUITED = agentverse.build({"iterations": 2, "accept": 8, "first_temperature": 0.9, "temperature": 0.3})
ROLES = said("a1: one\na2: two")
CASES = {
    # Two rounds of three slots; a1 needs a retry in the second, which is no step.
    "mad": (mad, DEBATE, {"a1": [1, "no", 2], "a2": [1, 3], "a3": [2, 3]}, [0, 0, 0, 1, 1, 1]),
    # Three, one, two, and the aggregator.
    "gptswarm": (gptswarm, SWARM, {"a1": [1, 2], "a2": [1, 1, 3], "a3": [3, 4]}, [0, 0, 0, 1, 2, 2, 3]),
    # The recruiter; three at once and the evaluator, twice.
    "agentverse": (
        *(agentverse, RECRUITED, {"a1": [1, 1], "a2": [2, 1], "a3": [ROLES, 3, 0, 3, 9]}),
        [0, 1, 1, 1, 2, 3, 3, 3, 4],
    ),
}


def written(folder, name):
    module, method, texts, levels = CASES[name]
    (episode,), _ = play(method, {"q": texts}, prompt_of(module))
    write_trajectories(folder / "trajectories.jsonl", trajectories(method, TEAM, [episode]))
    calls = [asked.call for asked in episode.asked]
    searched = replace(calls[0], id="searched", phase=SEARCH, round=7)
    write_calls(folder / "calls.parquet", [searched, *calls])
    return calls, levels


@pytest.mark.parametrize("name", list(CASES))
def test_levels_are_those_of_the_graph(tmp_path, name):
    _, levels = written(tmp_path, name)
    assert RunFiles({"baseline": True}, tmp_path).levels() == {"q#0": levels}


def test_calls_of_other_steps_are_refused(tmp_path):
    calls, _ = written(tmp_path, "mad")
    write_calls(tmp_path / "calls.parquet", calls[1:])
    with pytest.raises(ArtifactError, match=r"calls\.parquet: not one level for each of the 6 steps of q#0"):
        RunFiles({"baseline": True}, tmp_path).levels()
