"""Prompt files, split at their section names and checked."""

import pytest

from slmcollab.artifacts import ArtifactError
from slmcollab.protocol.sections import read_sections

KNOWN = {"first": {"name"}, "second": set()}


def read(tmp_path, text):
    (tmp_path / "prompt.txt").write_text(text, encoding="utf-8")
    return read_sections(tmp_path / "prompt.txt", KNOWN)


def test_sections_are_the_texts_below_their_names(tmp_path):
    text = "\n[first]\nDear $name,\n\n[that] costs $$5\n \n[second] \n"
    assert read(tmp_path, text) == {"first": "Dear $name,\n\n[that] costs $$5", "second": ""}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello\n[first]\nx", "before the first section"),
        ("[first]\nx\n[third]\ny", r"\[third\] is there twice, or is not one of first, second"),
        ("[first]\nx\n[first]\ny", r"\[first\] is there twice"),
        ("[second]\n$name", r"\[second\] holds \$name; allowed are"),
        ("[first]\ncosts $5", r"\[first\] holds a \$ that starts no placeholder"),
    ],
)
def test_a_file_that_is_not_so_is_refused_with_its_name(tmp_path, text, message):
    with pytest.raises(ArtifactError, match=rf"prompt\.txt: .*{message}"):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ArtifactError, match="no such file"):
        read_sections(tmp_path / "none.txt", KNOWN)
