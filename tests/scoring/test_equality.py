"""When two answers are one."""

import pytest

from slmcollab.scoring.equality import EQUALITIES


def test_equalities():
    assert EQUALITIES["text"]("  The Big\nApple ") == "the big apple"
    assert EQUALITIES["words"]("The Big-Apple, an  island!") == "bigapple island"
    code = EQUALITIES["code"]
    assert code("\n  return A  \n\n") == code("  return A") != code("return A")
    assert code("return A") != code("return a")
    number = EQUALITIES["number"]
    assert number("x = 1,200.50 dollars") == number("1200.5") != number("1200.51")
    assert number("One or two") == "one or two"
    latex = EQUALITIES["latex"]
    assert latex(r"\boxed{\dfrac{1}{2}}") == latex(r"$\frac12$") != latex(r"\frac{2}{1}")


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("0", "-0.0", True),
        ("5", "-5", False),
        ("5", "\u22125", False),
        ("1,200", "$1200.00", True),
        ("1e3", "1000", True),
        ("nan", "inf", False),
        ("0.0000000001", "-0.0000000001", True),  # both are 0 to nine digits
        ("0.00000001", "0.00000002", False),
    ],
)
def test_numbers_are_one_to_nine_digits(left, right, same):
    assert (EQUALITIES["number"](left) == EQUALITIES["number"](right)) == same
