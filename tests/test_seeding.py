"""One run seed gives many independent, named streams, the same everywhere."""

import subprocess
import sys
from pathlib import Path

import pytest

from slmcollab import seeding

WORKFLOW = Path(seeding.__file__).parents[1]


def test_derived_seed_is_the_head_of_a_hash():
    # printf '0\0data' | sha256sum: cd47c592...; printf '7\0a\0001' | sha256sum: 7632f82d...
    assert seeding.derive(0, "data") == 0xCD47C592
    assert seeding.derive(7, "a", 1) == 0x7632F82D


def test_names_and_seeds_separate_streams():
    streams = [(0,), (1,), (0, "a"), (0, "b"), (0, "a", "b"), (0, "ab"), (0, "a", 1), (1, "a"), (10, "a"), (-1, "a")]
    derived = [seeding.derive(*stream) for stream in streams]
    assert len(set(derived)) == len(streams)
    assert all(0 <= seed < 2**32 for seed in derived)


@pytest.mark.parametrize(
    "draw",
    [
        lambda *stream: seeding.python_generator(*stream).random(),
        lambda *stream: seeding.torch_generator(*stream).initial_seed(),
    ],
)
def test_generators_repeat_for_equal_names_and_differ_for_others(draw):
    assert draw(3, "rows") == draw(3, "rows")
    assert draw(3, "rows") != draw(3, "noise")
    assert draw(3, "rows") != draw(4, "rows")


def test_threads_are_what_the_config_says():
    code = (
        "from slmcollab.seeding import fix_threads; import torch;"
        " print([(fix_threads(count), torch.get_num_threads())[1] for count in (3, 2)])"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=WORKFLOW, capture_output=True, text=True, check=True)
    assert result.stdout == "[3, 2]\n"
