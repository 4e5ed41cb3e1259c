"""Two tiny random models on disk, which a team of three shares."""

import pytest
from learners import make_members


@pytest.fixture(scope="session")
def members(tmp_path_factory):
    return make_members(tmp_path_factory.mktemp("learners"))
