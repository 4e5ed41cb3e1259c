"""From answers as chat models write them to completions; then what the completions do when they run."""

import pytest
from multipl_e_rows import PROMPTS, STOP_TOKENS, TESTS

from slmcollab.scoring.code import run
from slmcollab.scoring.code.completion import extract_completion, function_name
from slmcollab.scoring.code.languages import LANGUAGES


def extract(language, answer, prompt=None):
    prompt = prompt or PROMPTS[language].replace("NAME", "add_all")
    return extract_completion(answer, prompt, LANGUAGES[language], STOP_TOKENS[language])


@pytest.mark.parametrize("language", list(LANGUAGES))
def test_function_name_of_a_prompt(language):
    assert function_name(PROMPTS[language].replace("NAME", "add_all"), LANGUAGES[language]) == "add_all"


def test_the_last_function_of_a_python_prompt_is_the_asked_one():
    prompt = 'def encode(s):\n    return s\n\n\ndef decode(s):\n    """Undo encode(s)."""\n'
    assert function_name(prompt, LANGUAGES["py"]) == "decode"


def test_the_last_fenced_block_counts():
    answer = "First try:\n```python\nreturn 1\n```\nBetter:\n```python\n    return 2\n```\nDone."
    assert extract("py", answer) == "    return 2"


def test_a_block_that_was_cut_counts_to_its_end():
    assert extract("py", "```python\n    return 2") == "    return 2"


def test_python_keeps_helpers_and_imports_and_drops_what_runs():
    answer = """```python
import math

def helper(x):
    return math.floor(x)

@cache
def add_all(xs: list) -> int:
    \"\"\"Sum.\"\"\"
    return helper(sum(xs))

print(add_all([1]))
if __name__ == "__main__":
    add_all([2])
```"""
    assert extract("py", answer) == (
        "    pass\n\nimport math\n\ndef helper(x):\n    return math.floor(x)\n\n"
        '@cache\ndef add_all(xs: \'list\') -> \'int\':\n    """Sum."""\n    return helper(sum(xs))'
    )


@pytest.mark.parametrize(
    ("answer", "completion"),
    [
        ("return sum(xs)", "    return sum(xs)"),
        (
            "s = 0\n    for x in xs:\n        s += x\n    return s",
            "    s = 0\n    for x in xs:\n        s += x\n    return s",
        ),
        ("s = 0\nfor x in xs:\n    s += x\nreturn s", "    s = 0\n    for x in xs:\n        s += x\n    return s"),
        ("    return sum(xs)\n\ndef other():\n    pass", "    return sum(xs)\n"),
        ("    return sum(xs)\nif True:\n    pass", "    return sum(xs)"),
        ("def add_all(xs):\n    return sum(xs", "    return sum(xs"),
        ("I cannot do that.", "I cannot do that."),
    ],
)
def test_python_continuations_get_their_indentation_back_and_end_at_a_stop_token(answer, completion):
    assert extract("py", answer) == completion


def test_python_bodies_take_the_indentation_of_their_prompt():
    prompt = 'def add_all(xs):\n\t"""Sum."""\n'
    own = "    pass\n\ndef add_all(xs):\n    return 0"
    assert extract("py", "def add_all(xs):\n  return 0", prompt) == own.replace("    pass", "\tpass")
    assert extract("py", "def add_all(xs):\n  return 0", prompt.rstrip()) == "\n" + own.replace("    pass", "\tpass")
    assert extract("py", "return 0", prompt) == "\treturn 0"


FUNCTION = "def add_all(xs):\n    return sum(xs)"
PYTHON = {  # right answers
    "renamed parameters": "def add_all(numbers):\n    return sum(numbers)",
    "further parameters": "def add_all(xs, start=0, *, scale=1):\n    return scale * sum(xs, start)",
    "a type that is not imported": "def add_all(xs: Optional[Sequence[int]]) -> Any:\n    return sum(xs)",
    "future": "from __future__ import annotations\nclass Node:\n    def next(self) -> Node: ...\n    up: Node\n"
    + FUNCTION,
    "try": "try:\n    import no_such_module\nexcept ImportError:\n    no_such_module = sum\n"
    "def add_all(xs):\n    return no_such_module(xs)",
    "if": "import sys\nif sys.version_info >= (3,):\n    total = sum\ndef add_all(xs):\n    return total(xs)",
    "loop": "T = [0] * 3\nfor i in range(3):\n    T[i] = i\nZ = 1\nZ += 1\n"
    "def add_all(xs):\n    return sum(xs) + T[0] + Z - 2",
    "guard": f"{FUNCTION}\nif __name__ == '__main__':\n    raise SystemExit(1)",
    "reads input": f"{FUNCTION}\nn = int(input())\nprint(add_all([n]))",
    "shows itself": f"{FUNCTION}\nfor x in (1, None):\n    add_all(x)\nadd_all(None)\nassert add_all([1]) == 2",
    "indented fence": "Here:\n  ```python\n  def add_all(xs):\n      return sum(xs)\n  ```\nDone.",
    "fence in a text": "def add_all(xs):\n    s = '''\n```\n'''\n    return sum(xs) + len(s) - 5",
    "inline": "`return sum(xs)`",
    "inline function": "`def add_all(xs): return sum(xs)`",
    "lambda": "add_all = lambda xs: sum(xs)",
    "decorator": "from functools import wraps\ndef same(f):\n    return wraps(f)(lambda xs: f(xs))\n@same\n" + FUNCTION,
    "last of two": f"def add_all(xs):\n    return 0\n\n{FUNCTION}",
    "prose before": f"Sure!\n\n{FUNCTION.replace('xs', 'own')}",
    "prose behind": f"{FUNCTION.replace('xs', 'own')}\n\nThis adds them.",
    "windows": FUNCTION.replace("\n", "\r\n"),
    "whole": f"from typing import List\n\n\n{FUNCTION}".replace(
        "(xs):", '(xs: List[int]) -> int:\n    """Sum the list."""'
    ),
    "body": "    s = 0\n    for x in xs:\n        s += x\n    return s",
    "stripped body": "s = 0\n    for x in xs:\n        s += x\n    return s",
    "body with the function's name": "def add_all(x):\n    return x\nreturn sum(map(add_all, xs))",
}


@pytest.mark.parametrize("language", ["py"], indirect=True)
@pytest.mark.parametrize("kind", list(PYTHON))
def test_right_python_answers_pass(language, sandbox, kind):
    prompt, tests = (text["py"].replace("NAME", "add_all") for text in (PROMPTS, TESTS))
    verdict = run.judge(prompt + extract("py", PYTHON[kind]), tests, language, sandbox, 15)
    assert verdict.passed, verdict.output


def test_a_completion_keeps_its_last_backtick():
    assert extract("sh", "  echo `date`") == "  echo `date`"
    assert extract("py", "    return 1\n```") == "    return 1"


@pytest.mark.parametrize(
    ("answer", "completion"),
    [
        ("    return 0;\n} ?>", "    return 0;\n}"),
        ("return 0; }?>", "return 0; }"),
        ("<?php function add_all($xs) { return 0; } ?>", " return 0;\n}\n"),
        ("    return '?>' . \"\\\"?>\"; /* ?> */ } ?> 'x", '    return \'?>\' . "\\"?>"; /* ?> */ }'),
        ("    return 0; // don't ?> x\n}", "    return 0; // don't\n}"),  # a tag ends PHP in such a comment too
        ("    return <<<'E'\n'?>\nE;\n} ?>", "    return <<<'E'\n'?>\nE;\n}"),
        ("It's this:\n<?php\nfunction add_all($xs) {\n    return 0;\n}\n$x = '?>' ?>", "\n    return 0;\n}\n$x = '?>'"),
    ],
)
def test_php_ends_at_its_closing_tag(answer, completion):
    assert extract("php", answer) == completion


CPP, JAVA = "long add_all(std::vector<long> xs)", "public static long add_all(ArrayList<Long> xs)"
ARROW, TS = "const add_all = (xs) =>", "function add_all(xs: {a: P}[]): number"
TS_FOUND = "\n  return 0;\n}\ntype P = {\n  a: 1;\n};"


@pytest.mark.parametrize(
    ("language", "answer", "completion"),
    [
        ("cpp", "    return 0;\n}", "    return 0;"),  # the tests bring the brace
        ("cpp", f"#include <map>\n{CPP} {{\n    return 0;\n}}\n\nint main() {{\n}}", "\n    return 0;"),
        ("cpp", f"{CPP} {{ return 0; }}", " return 0;"),
        ("cpp", f"{CPP}\n{{\n    if (add_all(xs)) {{\n    }}\n}}", "\n    if (add_all(xs)) {\n    }"),
        ("java", "        return 0;\n    }", "        return 0;"),
        ("java", "        return 0;\n    }\n\n    static int other() {\n        return 1;\n    }", "        return 0;"),
        ("java", f"class Problem {{\n    {JAVA} {{\n        return 0;\n    }}\n}}", "\n        return 0;"),
        ("cs", "public static long add_all(List<long> xs)\n{\n    return 0;\n}", "\n    return 0;"),
        ("php", "    return 0;", "    return 0;\n}"),  # the tests bring none
        ("php", "    return 0;\n}\n\nfunction other() {\n}", "    return 0;\n}\n"),
        ("js", "  return 0;\n}\nconsole.log(1)", "  return 0;\n}"),
        (
            "js",
            f"const h = 1;\n{ARROW} {{\n  return h;\n}};\nmodule.exports = add_all;",
            "\n  return h;\n}\nconst h = 1;",
        ),
        ("ts", f"type P = {{\n  a: 1;\n}};\nexport {TS} {{\n  return 0;\n}}\nexport {{ add_all }};", TS_FOUND),
        ("ts", f"const assert = require('assert');\n{TS} {{\n  return 0;\n}}", "\n  return 0;\n}\n"),
        ("sh", "  echo 0\n}\nadd_all", "  echo 0"),
        ("sh", "one() {\n  echo 1\n}\nadd_all() {\n  one\n}\nadd_all", "one() {\n  echo 1\n}\n\n  one"),
    ],
)
def test_braces_and_helpers(language, answer, completion):
    assert extract(language, answer) == completion


WHOLE = {  # whole functions, with a helper where the language allows one
    "py": """
def twice(x):
    return 2 * x

def add_all(xs):
    return twice(sum(xs)) // 2""",
    "cpp": """
#include <vector>

long add_all(std::vector<long> xs) {
    long s = 0;
    for (long x : xs) {
        s += x;
    }
    return s;
}

int main() {
    return 0;
}""",
    "java": """
import java.util.*;

class Problem {
    public static long add_all(ArrayList<Long> xs) {
        long s = 0;
        for (long x : xs) {
            s += x;
        }
        return s;
    }

    public static void main(String[] args) {
        System.out.println(1);
    }
}""",
    "php": """
<?php
function twice($x) {
    return 2 * $x;
}

function add_all($xs) {
    return intdiv(twice(array_sum($xs)), 2);
}

echo add_all([1]);
?>""",
    "ts": """
const twice = (x: number): number => 2 * x;

export function add_all(xs: number[]): number {
  return twice(xs.reduce((a, b) => a + b, 0)) / 2;
}

export default add_all;""",
    "js": """
const assert = require('assert');
function twice(x) {
  return 2 * x;
}
function add_all(xs) {
  return twice(xs.reduce((a, b) => a + b, 0)) / 2;
}

module.exports = { add_all };""",
    "cs": """
using System.Linq;

public class Problem
{
    public static long add_all(List<long> xs)
    {
        if (xs.Count == 0)
        {
            return 0;
        }
        return xs.Sum();
    }
}""",
    "sh": """
#!/bin/bash
plus() {
  echo $(($1 + $2))
}

add_all() {
  local s=0
  for x in $1; do
    s=$(plus $s $x)
  done
  echo "$s"
}

add_all "1 2"
""",
}


@pytest.mark.parametrize("language", list(LANGUAGES), indirect=True)
def test_whole_functions_as_chat_models_write_them_pass(language, sandbox):
    prompt, tests = (text[language.name].replace("NAME", "add_all") for text in (PROMPTS, TESTS))
    answer = f"Here is the function:\n\n```{language.name}\n{WHOLE[language.name]}\n```\n\nIt adds them all."
    verdict = run.judge(prompt + extract(language.name, answer), tests, language, sandbox, 15)
    assert verdict.passed, verdict.output


@pytest.mark.parametrize("language", list(LANGUAGES))
@pytest.mark.parametrize(
    "text",
    [
        " " * 20000,
        "{" * 20000,
        "(" * 9000,
        "1+" * 9000 + "1",
        "long add_all(" * 2000,
        "```\n" * 5000,
        "'/*<<<x\n" * 5000,
        "# " * 9000,
    ],
)
def test_any_text_gives_a_completion(language, text):
    assert isinstance(extract(language, text), str)
