"""The names that the schema allows are those that the code knows."""

from pathlib import Path

import pytest
import yaml

from slmcollab.context.operator import POSITIONS
from slmcollab.context.router import SELECTIONS
from slmcollab.experts.features import OVERFLOWS, POOLINGS, SEQUENCES
from slmcollab.models.hub import DTYPES
from slmcollab.models.toy_corpora import ANSWERS, KINDS

SCHEMA = yaml.safe_load((Path(__file__).parents[2] / "workflow/schemas/config.schema.yaml").read_text())


def allowed(value, key):
    """Return the enums of every property called `key` (or of the definition of that name) in the schema."""
    if isinstance(value, list):
        return [found for inner in value for found in allowed(inner, key)]
    if not isinstance(value, dict):
        return []
    here = [value[key]["enum"]] if isinstance(value.get(key), dict) and "enum" in value[key] else []
    return here + [found for inner in value.values() for found in allowed(inner, key)]


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("context_position", POSITIONS),
        ("pooling", POOLINGS),
        ("sequence", SEQUENCES),
        ("selection", SELECTIONS),
        ("overflow", OVERFLOWS),
        ("dtype", DTYPES),
        ("kind", KINDS),
        ("answers", ANSWERS),
    ],
)
def test_an_enum_of_the_schema_is_what_the_code_allows(key, known):
    found = allowed(SCHEMA, key)
    assert found
    assert all(set(names) == set(known) for names in found), found
