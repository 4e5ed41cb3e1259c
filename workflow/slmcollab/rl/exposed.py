"""What the experts expose of one split, as files and as read: hidden states, answers, embeddings for a router."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from slmcollab.artifacts import ArtifactError, Problem, read_json
from slmcollab.experts.answers import read_answers
from slmcollab.experts.features import read_embedding, read_features, read_header


@dataclass(frozen=True)
class ExpertFiles:
    """manifests: of every expert, in the team's order; features, answers, expert_scores: one file per expert, none
    where the operator reads none of them; embedding: that of the router's encoder, at most one."""

    manifests: list[Path]
    features: list[Path]
    answers: list[Path]
    embedding: list[Path]
    expert_scores: list[Path]

    def labelled(self, experts: Sequence[str]) -> dict[str, Path]:
        """Return every file by a name: manifest/{expert}, features/{expert}, answers/{expert}, ..., embedding."""
        kinds = {
            "manifest": self.manifests,
            "features": self.features,
            "answers": self.answers,
            "scores": self.expert_scores,
        }
        by_expert = {
            f"{kind}/{expert}": path
            for kind, paths in kinds.items()
            if paths
            for expert, path in zip(experts, paths, strict=True)
        }
        return by_expert | dict(zip(["embedding"], self.embedding, strict=False))


def load_features(
    paths: Sequence[Path],
    experts: Sequence[str],
    pooling: str | None,
    problems: Sequence[Problem],
    shuffle: random.Random | None,
) -> list[Float[Tensor, "problem _"]]:
    """Return one tensor (problem, expert width) per file; with `shuffle`, each problem has the features of another one.

    Raises ArtifactError where a file is of another expert, has another number of rows than there are problems, or
    values that no operator can scale: not finite, or a row of zeros.
    """
    order = shuffled_rows([problem.question for problem in problems], shuffle) if shuffle else range(len(problems))
    features = []
    for path, expert in zip(paths, experts, strict=False):
        check_expert(path, read_header(path), expert)
        rows = read_features(path, pooling)
        _check_rows(path, rows, len(problems))
        if not torch.isfinite(rows).all() or not rows.any(dim=1).all():
            raise ArtifactError(f"{path}: {pooling}: a row is zero or holds something else than finite numbers")
        features.append(rows[list(order)])
    return features


def shuffled_rows(questions: Sequence[str], generator: random.Random) -> list[int]:
    """Return, for each problem, the row of a problem with ANOTHER question; equal questions get the same row.

    The distinct questions are put in random order, and each reads the next one's first row, the last the first one's.
    Raises ValueError where there is one question only.
    """
    first = {question: row for row, question in reversed(list(enumerate(questions)))}
    distinct = sorted(first, key=first.__getitem__)
    if len(distinct) < 2:
        raise ValueError(f"features can only be shuffled among different questions, got {len(distinct)}")
    generator.shuffle(distinct)
    following = dict(zip(distinct, [*distinct[1:], distinct[0]], strict=True))
    return [first[following[question]] for question in questions]


def load_answers(
    paths: Sequence[Path], problems: Sequence[Problem], tokenizer: PreTrainedTokenizerBase, answer_tokens: int
) -> list[list[str]]:
    """Return each expert's answers in the order of the problems, cut to `answer_tokens` of the policy's tokens.

    What the policy's tokenizer would read as one of its special tokens is taken out: an answer cannot end the turn.
    """
    return [
        [_quotable(row["completion"], tokenizer, answer_tokens) for row in read_answers(path, problems)]
        for path in paths
    ]


def _quotable(text: str, tokenizer: PreTrainedTokenizerBase, answer_tokens: int) -> str:
    added = [token.content for token in tokenizer.added_tokens_decoder.values() if token.special]
    special = re.compile("|".join(map(re.escape, {*tokenizer.all_special_tokens, *added})) or r"(?!)")
    while special.search(text):  # what is left may join to another one
        text = special.sub("", text)
    ids = tokenizer(text, add_special_tokens=False).input_ids
    return text if len(ids) <= answer_tokens else tokenizer.decode(ids[:answer_tokens])


def load_embedding(
    paths: Sequence[Path], encoder: str | None, problems: Sequence[Problem]
) -> Float[Tensor, "problem width"] | None:
    """Return the sentence embedding of each question, None where no router asks for it."""
    if not paths:
        return None
    check_expert(paths[0], read_header(paths[0]), encoder)
    rows = read_embedding(paths[0])
    _check_rows(paths[0], rows, len(problems))
    return rows


def best_expert(paths: Sequence[Path], experts: Sequence[str]) -> int | None:
    """Return which expert answers most train problems right by itself, the first of equals; None without scores."""
    accuracies = []
    for path, expert in zip(paths, experts, strict=False):
        scores = read_json(path, "metrics")
        check_expert(path, scores, expert)
        if scores.get("split") != "train" or "accuracy_bare" not in scores.get("metrics", {}):
            raise ArtifactError(f"{path}: not the scores of an expert on train")
        accuracies.append(scores["metrics"]["accuracy_bare"])
    return accuracies.index(max(accuracies)) if accuracies else None


def check_expert(path: Path, header: Mapping[str, Any], expert: str | None) -> None:
    """Raise ArtifactError where a file says that it is of another expert than the team has in its place."""
    if header.get("expert") != expert:
        raise ArtifactError(f"{path}: of expert {header.get('expert')!r}, where {expert!r} is asked for")


def _check_rows(path: Path, rows: Tensor, num_problems: int) -> None:
    if len(rows) != num_problems:
        raise ArtifactError(f"{path}: {len(rows)} rows of features for {num_problems} problems")
