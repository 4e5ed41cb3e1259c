"""Self-made rows of MultiPL-E's schema in eight languages: the sum of a list, with a right and a wrong answer."""

PROMPTS = {
    "py": 'from typing import List\n\n\ndef NAME(xs: List[int]) -> int:\n    """Sum the list."""\n',
    "cpp": "#include<assert.h>\n#include<bits/stdc++.h>\n// Sum the list.\nlong NAME(std::vector<long> xs) {\n",
    "java": "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n    // Sum the list.\n"
    "    public static long NAME(ArrayList<Long> xs) {\n",
    "php": "<?php\n// Sum the list.\nfunction NAME($xs) {\n",
    "ts": "//Sum the list.\nfunction NAME(xs: number[]): number {\n",
    "js": "//Sum the list.\nfunction NAME(xs){\n",
    "cs": "using System;\nusing System.Numerics;\nusing System.Diagnostics;\nusing System.Collections.Generic;\n"
    "using System.Linq;\nclass Problem {\n    // Sum the list.\n    public static long NAME(List<long> xs) {\n",
    "sh": "#!/bin/bash\n# Sum the list.\n#\n# $1 is a space-separated list\nNAME() {\n",
}
RIGHT = {  # completions
    "py": "    return sum(xs)\n",
    "cpp": "    return std::accumulate(xs.begin(), xs.end(), 0L);",
    "java": "        long s = 0;\n        for (long x : xs) { s += x; }\n        return s;",
    "php": "    return array_sum($xs);\n}\n",
    "ts": "  return xs.reduce((a, b) => a + b, 0);\n}\n",
    "js": "  return xs.reduce((a, b) => a + b, 0);\n}\n",
    "cs": "        return xs.Sum();",
    "sh": "  local s=0\n  for x in $1; do s=$((s+x)); done\n  echo $s",
}
WRONG = {
    "py": "    return 0\n",
    "cpp": "    return 0;",
    "java": "        return 0;",
    "php": "    return 0;\n}\n",
    "ts": "  return 0;\n}\n",
    "js": "  return 0;\n}\n",
    "cs": "        return 0;",
    "sh": "  echo 0",
}
_SCRIPT = "const assert = require('node:assert');\n\n\nfunction test() {\n  let candidate = NAME;\n"
_SCRIPT += "  assert.deepEqual(candidate([1, 2, 3]),6);\n}\n\ntest();"
TESTS = {
    "py": "def check(candidate):\n    assert candidate([1, 2, 3]) == 6\n\n"
    "def test_check():\n    check(NAME)\n\ntest_check()\n",
    "cpp": "}\nint main() {\n    auto candidate = NAME;\n"
    "    assert(candidate((std::vector<long>({(long)1, (long)2, (long)3}))) == (6));\n}\n",
    "java": "    }\n    public static void main(String[] args) {\n"
    "    assert(NAME((new ArrayList<Long>(Arrays.asList((long)1l, (long)2l, (long)3l)))) == (6l));\n    }\n\n}\n",
    "php": "function candidate(...$args) {\n    return NAME(...$args);\n}\n\nfunction test(): void {\n"
    '    if (candidate(array(1, 2, 3)) !== 6) { throw new Exception("Test failed!"); }\n}\n\ntest();',
    "ts": f"declare var require: any;\n{_SCRIPT}",
    "js": _SCRIPT,
    "cs": "    }\n    public static void Main(string[] args) {\n"
    "    Debug.Assert(NAME((new List<long>(new long[]{(long)1L, (long)2L, (long)3L}))) == (6L));\n    }\n\n}\n",
    "sh": '}\n\ncandidate() {\n    NAME "$@"\n}\n\n'
    'set -e\nrun_test() {\n    [[ $(candidate "1 2 3") = "6" ]]\n}\n\nrun_test',
}
STOP_TOKENS = {
    **{"py": ["\ndef", "\n#", "\nif", "\nclass"], "cpp": ["\n}"], "java": ["\n    }\n"], "cs": ["\n    }\n"]},
    **{"php": ["\nfunction", "\n?>", "\n//", "\n#"], "ts": ["\nfunction ", "\n/*", "\n//", "\nclass"]},
    **{"js": ["\nfunction ", "\n/*", "\n//", "\nconsole.log"], "sh": ["\n}"]},
}


def row(language: str, name: str) -> dict:
    """Return the row; name: HumanEval_0_add_all or mbpp_3_add_all, whose last part is the function's."""
    function = name.split("_", 2)[2]
    return {
        **{"name": name, "language": language, "stop_tokens": STOP_TOKENS[language]},
        "prompt": PROMPTS[language].replace("NAME", function),
        "tests": TESTS[language].replace("NAME", function),
    }
