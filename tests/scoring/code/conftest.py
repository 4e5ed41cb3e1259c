"""The sandbox of this machine; what needs it is skipped where there is none."""

import pytest

from slmcollab.scoring.code import languages, run
from slmcollab.scoring.code.sandbox import SandboxError, choose


@pytest.fixture(scope="session")
def sandbox():
    try:
        return choose()
    except SandboxError as error:
        pytest.skip(str(error))


@pytest.fixture
def language(request, sandbox):
    """The language of a test's parameter, with its toolchain."""
    found = languages.get(request.param)
    if fault := run.check(found, sandbox):
        pytest.skip(fault)
    return found
