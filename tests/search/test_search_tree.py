"""Which workflow is changed next, which is the best, and when a search ends."""

import pytest

from slmcollab.search.tree import Measured, Trial, best, choose_parent, is_over, read_trial, rows, visits
from slmcollab.search.workflow import Operation, Workflow


def trial(iteration, parent, accuracy=None, score=None):
    """Return a trial; without accuracy it was rejected."""
    if accuracy is None:
        return Trial(iteration, parent, rejected="not JSON")
    score = accuracy if score is None else score
    workflow = Workflow((Operation("solve", slot=f"a{iteration}"),))
    return Trial(iteration, parent, workflow, measured=Measured(accuracy, score, (accuracy, score), 20, (("q", "x"),)))


TREE = [trial(0, None, 0.5), trial(1, 0, 0.7), trial(2, 0, 0.6), trial(3, 1), trial(4, 1, 0.2)]


def test_visits_are_a_trial_and_the_proposals_made_from_it():
    assert visits(TREE) == {0: 3, 1: 3, 2: 1, 4: 1}


@pytest.mark.parametrize(
    ("exploration", "parent"),
    [
        # N = 3 + 3 + 1 + 1 = 8, ln 9 = 2.1972; sqrt(ln 9 / 3) = 0.8558, sqrt(ln 9 / 1) = 1.4823.
        (0.0, 1),  # 0.5, 0.7, 0.6, 0.2
        (0.1, 1),  # 0.5856, 0.7856, 0.7482, 0.3482
        (0.15, 1),  # 0.6284, 0.8284, 0.8223, 0.4223
        (0.17, 2),  # 0.6455, 0.8455, 0.8520, 0.4520
        (1.4, 2),  # 1.6981, 1.8981, 2.6752, 2.2752
        (1000.0, 2),  # of the two with one visit the better one
    ],
)
def test_the_parent_is_chosen_by_ucb(exploration, parent):
    assert choose_parent(TREE, exploration).iteration == parent


def test_after_the_start_alone_it_is_the_parent():
    assert choose_parent(TREE[:1], 1.4).iteration == 0


def test_a_workflow_that_is_often_changed_gives_way():
    tree = [trial(0, None, 0.5), trial(1, 0, 0.1)]
    # N = 3, ln 4 = 1.3863; 0.5 + 1.4 * 0.8326 = 1.6656, 0.1 + 1.4 * 1.1774 = 1.7484.
    assert choose_parent(tree, 1.4).iteration == 1
    # 0.5 + 0.5 * 0.8326 = 0.9163, 0.1 + 0.5 * 1.1774 = 0.6887.
    assert choose_parent(tree, 0.5).iteration == 0
    # N = 4, ln 5 = 1.6094; 0.5 + 0.7 * 0.7325 = 1.0127, 0.1 + 0.7 * 1.2686 = 0.9880. Then N = 5, ln 6 = 1.7918;
    # 0.5 + 0.7 * 0.6693 = 0.9685, 0.1 + 0.7 * 1.3386 = 1.0370.
    assert choose_parent([*tree, trial(2, 0)], 0.7).iteration == 0
    assert choose_parent([*tree, trial(2, 0), trial(3, 0)], 0.7).iteration == 1


def test_all_visits_are_counted_and_one_more():
    # n: 2 and 1, N = 3. ln 4 = 1.3863: 0.5 + 0.8326 = 1.3326, 0.175 + 1.1774 = 1.3524. With ln 3 = 1.0986 it would be
    # the start: 0.5 + 0.7412 = 1.2412, 0.175 + 1.0481 = 1.2231.
    assert choose_parent([trial(0, None, 0.5), trial(1, 0, 0.175)], 1.0).iteration == 1


def test_equal_parents_go_to_the_earliest():
    assert choose_parent([trial(0, None, 0.5), trial(1, 0, 0.5), trial(2, 0, 0.5)], 0.0).iteration == 0
    assert choose_parent([trial(0, None, 0.5), trial(1, 0, 0.5), trial(2, 0, 0.5)], 1.4).iteration == 1


def test_the_best_has_the_highest_accuracy_then_score_and_is_the_earliest():
    tree = [trial(0, None, 0.5, 0.9), trial(1, 0, 0.6, 0.6), trial(2, 0, 0.6, 0.7), trial(3, 0, 0.6, 0.7), trial(4, 2)]
    assert best(tree).iteration == 2
    assert [row["best"] for row in rows(tree)] == [0, 1, 2, 2, 2]
    assert [row["best_score"] for row in rows(tree)] == [0.9, 0.6, 0.7, 0.7, 0.7]


def test_a_search_ends_after_its_iterations_or_without_improvement():
    assert not is_over(TREE, iterations=5, patience=4)
    assert is_over(TREE, iterations=4, patience=4)
    # The best is 1; 2, 3 (rejected) and 4 are not better.
    assert is_over(TREE, iterations=5, patience=3)
    assert not is_over(TREE[:4], iterations=5, patience=3)
    assert is_over(TREE[:1], iterations=0, patience=1)
    assert not is_over(TREE[:1], iterations=1, patience=1)


def test_an_equal_workflow_is_no_improvement():
    assert is_over([trial(0, None, 0.5), trial(1, 0, 0.5)], iterations=9, patience=1)
    assert not is_over([trial(0, None, 0.5), trial(1, 0, 0.5, 0.6)], iterations=9, patience=1)


def test_trials_are_read_as_they_were_described():
    assert [read_trial(one.described()) for one in TREE] == TREE
