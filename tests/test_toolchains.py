"""The script that installs toolchains names every package that a language needs."""

import subprocess
from pathlib import Path

import pytest

from slmcollab.scoring.code.languages import ALL

SCRIPT = Path(__file__).parents[1] / "envs" / "install-toolchains.sh"


@pytest.mark.parametrize("language", ALL, ids=lambda language: language.name)
def test_every_package_is_installed(language):
    text = SCRIPT.read_text()
    for package in language.packages:
        assert f" {package.removeprefix('npm ')}\n" in text or f"npm: {package.removeprefix('npm ')}@" in text


def test_check_names_what_is_missing(tmp_path):
    (tmp_path / "bash").symlink_to("/usr/bin/bash")
    done = subprocess.run(
        ["/usr/bin/bash", str(SCRIPT), "--check"], env={"PATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "missing: bwrap (bubblewrap)" in done.stdout
    assert "missing: tsc (npm: typescript@5.9.3)" in done.stdout
    assert "missing: bash" not in done.stdout
