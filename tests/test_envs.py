"""Conda environments pin what requirements.lock pins."""

from pathlib import Path

import pytest
import yaml

REPOSITORY = Path(__file__).parents[1]
LOCK = dict(
    line.split("==") for line in (REPOSITORY / "requirements.lock").read_text().splitlines() if not line.startswith("#")
)


@pytest.mark.parametrize("file", sorted((REPOSITORY / "envs").glob("*.yaml")), ids=lambda file: file.stem)
def test_pins_equal_the_lock(file):
    *_, pip = yaml.safe_load(file.read_text())["dependencies"]
    assert pip["pip"]
    assert all(LOCK[name] == pin for name, pin in (line.split("==") for line in pip["pip"]))


def test_direct_dependencies_are_locked_at_their_pins():
    lines = (REPOSITORY / "requirements.in").read_text().splitlines()
    direct = [line.split("#")[0].strip() for line in lines if not line.startswith("#")]
    pins = (line.split("==") for line in direct)
    assert all(LOCK[name.partition("[")[0]] == pin for name, pin in pins)
