"""Gated models are refused before any job; nothing here needs a network or a token."""

import subprocess
import sys
from pathlib import Path

import huggingface_hub
import pytest

from slmcollab import snapshots
from slmcollab.models import gated

MODELS = {
    "llama": {"source": "hub", "id": "meta-llama/Llama-3.2-3B-Instruct", "revision": "a", "gated": True},
    "open": {"source": "hub", "id": "Qwen/Qwen2.5-3B-Instruct"},
    "said_open": {"source": "hub", "id": "Qwen/Qwen2.5-3B-Instruct", "gated": False},
    "gemma": {"source": "hub", "id": "google/gemma-2-2b-it", "revision": "b", "gated": True},
    "local": {"source": "path", "path": "weights"},
    "toy": {"source": "toy"},
}


def test_without_a_token_each_gated_model_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    monkeypatch.setattr(snapshots, "cached", lambda *_, **__: None)
    lines = gated.refusals(MODELS)
    assert [line.partition(":")[0] for line in lines] == ["models.llama", "models.gemma"]
    for line, model_id in zip(lines, ("meta-llama/Llama-3.2-3B-Instruct", "google/gemma-2-2b-it"), strict=True):
        assert f"{model_id} is gated: accept its terms" in line
        assert "`hf auth login`" in line
        assert "HF_TOKEN" in line
        assert "\n" not in line


def test_a_gated_model_that_is_cached_needs_no_token(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: None)
    monkeypatch.setattr(snapshots, "cached", lambda name, *_, **__: Path("there") if "Llama" in name else None)
    assert [line.partition(":")[0] for line in gated.refusals(MODELS)] == ["models.gemma"]


def test_with_a_token_nothing_is_refused(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: "hf_x")
    assert gated.refusals(MODELS) == []


def test_where_no_model_is_gated_nobody_asks_for_a_token(monkeypatch):
    monkeypatch.setattr(huggingface_hub, "get_token", lambda: pytest.fail("was asked"))
    assert gated.refusals({name: block for name, block in MODELS.items() if not block.get("gated")}) == []


def test_a_driver_without_the_hubs_client_leaves_it_to_the_job(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert gated.refusals(MODELS) == []


def test_the_workflow_can_import_it_in_no_time():
    code = "import sys; from slmcollab.models import gated; gated.refusals({}); print('huggingface_hub' in sys.modules)"
    workflow = Path(gated.__file__).parents[2]
    result = subprocess.run([sys.executable, "-c", code], cwd=workflow, capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
