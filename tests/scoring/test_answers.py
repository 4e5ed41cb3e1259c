"""Where a completion's answer stands, and where there is none."""

import pytest
from reasoning_gym.utils import SYSTEM_PROMPTS

from slmcollab.scoring.answers import extract_answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>4</answer>", "4"),
        ("<think>2 + 2</think>\n<answer>\n 4 \n</answer>\nDone.", "4"),
        ("<answer>4</answer> wait <answer>5</answer>", "5"),
        ("<answer>a\nb</answer>", "a\nb"),
        ("<answer>x < 5 & y</answer>", "x < 5 & y"),
        # none given, none finished
        ("4", None),
        ("", None),
        ("<answer>4", None),
        ("4</answer>", None),
        ("<answer>1</answer> ... <answer>2", None),
        ("<answer></answer>", None),
        ("<answer> \n</answer>", None),
        ("<answer>5</answer><answer></answer>", None),
        # tags are matched as the prompt writes them
        ("<Answer>4</Answer>", None),
        ("<answer>4</ANSWER>", None),
        ("< answer>4</ answer>", None),
        # a draft inside <think> is no answer
        ("<think>maybe <answer>1</answer></think> no final", None),
        ("<think>maybe <answer>1</answer></think><answer>2</answer>", "2"),
        ("<answer>2</answer><think>or <answer>1</answer>?</think>", "2"),
        ("<think>maybe <answer>1</answer>", None),
        ("<think><think>a</think><answer>1</answer></think>", None),
        ("</think><answer>1</answer>", "1"),
        ("<think>a</think></think><answer>1</answer>", "1"),
        # of nested answers the inner one counts
        ("<answer><answer>7</answer></answer>", "7"),
        ("<answer>6 <answer>7</answer>", "7"),
        # the instruction is no answer
        ("<answer>answer here</answer>", None),
        (SYSTEM_PROMPTS["DeepSeekZero"], None),
        (SYSTEM_PROMPTS["DeepSeekZero"] + "<think>a</think><answer>3</answer>", "3"),
    ],
)
def test_extract_answer(text, answer):
    assert extract_answer(text) == answer
