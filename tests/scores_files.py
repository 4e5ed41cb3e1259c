"""Small scores files whose metrics follow from their questions."""


def scores_file(key, seed, points, seen=()):
    """Return a parsed scores.json: points are the scores of questions q0, q1, ..., 0 to 1; seen holds indices."""

    def percent(values):
        return 100 * sum(values) / len(values) if values else None

    problems = {f"q{i}": {"score": float(score), "seen": i in seen} for i, score in enumerate(points)}
    right = {part: [row["score"] == 1 for row in problems.values() if row["seen"] is part] for part in (True, False)}
    metrics = {
        "accuracy": percent(right[True] + right[False]),
        "accuracy_seen": percent(right[True]),
        "accuracy_unseen": percent(right[False]),
        "score_mean": percent([row["score"] for row in problems.values()]),
    }
    names = dict(zip(("benchmark", "method", "team"), key, strict=True))
    return {**names, "seed": seed, "metrics": metrics, "problems": problems}
