"""Scores of MultiPL-E answers, and the three means over them."""

import pytest
from multipl_e_rows import RIGHT, WRONG, row

from slmcollab.artifacts import Problem
from slmcollab.scoring import multipl_e
from slmcollab.scoring.code.sandbox import SandboxError, choose
from slmcollab.scoring.score import Score


def problem(language="py", source="humaneval", name="HumanEval_0_add_all"):
    return Problem(name, "", [], None, {"source": source, **row(language, name)})


@pytest.fixture(autouse=True)
def _sandbox():
    try:
        choose()
    except SandboxError as error:
        pytest.skip(str(error))


def test_a_right_answer_and_a_wrong_one():
    right, wrong = multipl_e.score(RIGHT["py"], problem()), multipl_e.score(WRONG["py"], problem())
    assert (right.score, right.correct, right.error, right.detail["weighted"]) == (1.0, True, None, 1.0)
    assert (wrong.score, wrong.correct, wrong.error, wrong.detail["weighted"]) == (0.0, False, None, 0.0)
    assert right.extracted == "    return sum(xs)"
    assert wrong.detail["program"]["stage"] == "run"
    assert wrong.detail["program"]["exit_code"] == 1
    assert "AssertionError" in wrong.detail["program"]["output"]
    assert wrong.detail["program"]["sandbox"] == choose().kind


def test_a_score_is_the_same_again():
    assert multipl_e.score(WRONG["py"], problem()) == multipl_e.score(WRONG["py"], problem())


def test_an_empty_answer_fails():
    assert not multipl_e.score("", problem()).correct


@pytest.mark.parametrize(
    "answer", ["    return 0;\n} ?>", "return 0; }?>", "    return 0;\n}\n ?>", "```php\nreturn 0;\n}  ?>\n```"]
)
def test_a_closing_tag_of_php_does_not_print_the_tests(answer):
    verdict = multipl_e.score(answer, problem("php"))
    if (verdict.error or "").startswith("not_run"):
        pytest.skip(verdict.error)
    assert (verdict.score, verdict.correct, verdict.error) == (0.0, False, None)
    assert "Test failed!" in verdict.detail["program"]["output"]
    assert multipl_e.score(answer.replace("0", "array_sum($xs)"), problem("php")).correct


def test_a_time_out_is_said_and_counts_as_wrong():
    late = multipl_e.score("    while True: pass", problem(), time_limit_s=0.5)
    assert (late.score, late.correct, late.error) == (0.0, False, "timed_out")
    assert multipl_e.summarise([problem()], [late])["weighted"] == 0


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="'javascript' is not one of py, cpp"):
        multipl_e.score("", Problem("x", "", [], None, problem().metadata | {"language": "javascript"}))


def test_preparing_refuses_before_the_first_program(tmp_path):
    with pytest.raises(SandboxError, match=r"toolchains: .* is no folder"):
        multipl_e.prepare(toolchains=str(tmp_path / "nowhere"))
    multipl_e.prepare(time_limit_s=1)


def test_environment_names_sandbox_and_versions():
    about = multipl_e.environment([problem("py"), problem("sh")])
    assert about["sandbox"] == choose().kind
    assert list(about["toolchains"]) == ["py", "sh"]
    assert "version" in about["toolchains"]["sh"]["bash"]


def verdicts(*cells):
    """Return problems and scores; a cell is (language, source, passes and failures as a text such as "110")."""
    pairs = [
        (problem(language, source), Score(float(mark), mark == "1", "", None if mark in "01" else "not_run: no mono"))
        for language, source, marks in cells
        for mark in marks.replace("-", "9")
    ]
    return [p for p, _ in pairs], [Score(0.0, False, "", s.error) if s.error else s for _, s in pairs]


def test_means_by_hand():
    """py 1/2, 1/4; cpp 1/1, 0/1: items 3/8, cells (1/2 + 1/4 + 1 + 0) / 4 = 7/16, languages (2/6 + 1/2) / 2 = 5/12."""
    found = multipl_e.summarise(
        *verdicts(("py", "humaneval", "10"), ("py", "mbpp", "1000"), ("cpp", "humaneval", "1"), ("cpp", "mbpp", "0"))
    )
    assert found == pytest.approx({"weighted": 37.5, "macro": 43.75, "macro_language": 500 / 12})


def test_published_weighted_and_macro_are_of_this_kind():
    """Qwen3-14B: 245 of 392 HumanEval and 501 of 960 MBPP programs give the paper's 55.18 and 57.34 percent."""
    order = ["py", "cpp", "java", "php", "ts", "js", "cs", "sh"]
    cells = []
    for source, size, solved in (("humaneval", 49, 245), ("mbpp", 120, 501)):
        for index, language in enumerate(order):
            passes = solved // 8 + (index < solved % 8)
            cells.append((language, source, "1" * passes + "0" * (size - passes)))
    found = multipl_e.summarise(*verdicts(*cells))
    assert round(found["weighted"], 2) == 55.18
    assert round(found["macro"], 2) == 57.34
    assert found["macro_language"] == pytest.approx(found["weighted"])  # languages are of one size


def test_what_was_not_run_is_left_out_and_said():
    problems, scores = verdicts(("py", "humaneval", "10"), ("cs", "humaneval", "---"), ("sh", "mbpp", "1-"))
    found = multipl_e.summarise(problems, scores)
    assert found == pytest.approx({"weighted": 200 / 3, "macro": 75.0, "macro_language": 75.0})
    assert multipl_e.not_run(problems, scores) == {"humaneval-cs": "not_run: no mono", "mbpp-sh": "not_run: no mono"}


def test_without_any_run_there_is_no_number():
    found = multipl_e.summarise(*verdicts(("cs", "mbpp", "--")))
    assert found == {"weighted": None, "macro": None, "macro_language": None}


@pytest.mark.parametrize(("marks", "percent"), [("11000", 40.0), ("1", 100.0), ("0", 0.0)])
def test_pass_at_1_is_the_share_that_passes(marks, percent):
    """n samples, c of them right, k = 1: c / n; (5, 2, 1) is 0.4."""
    assert multipl_e.summarise(*verdicts(("py", "mbpp", marks)))["weighted"] == pytest.approx(percent)
