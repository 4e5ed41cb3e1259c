"""A program of each language that must pass: a toolchain that is not whole shows before it fails every answer."""

_SCRIPT_TESTS = "const assert = require('node:assert');\nassert.deepEqual(one(), 1);"

PROGRAMS = {  # language -> (prompt with solution, tests); they load what MultiPL-E's prompts load
    "py": ("def one():\n    return 1", "assert one() == 1"),
    "cpp": (
        "#include<assert.h>\n#include<bits/stdc++.h>\nlong one() {\n    return 1;",
        "}\nint main() {\n    assert(one() == 1);\n}\n",
    ),
    "java": (
        "import java.util.*;\nimport org.javatuples.*;\nclass Problem {\n    public static long one() {\n"
        "        return Unit.with(1L).getValue0();",
        "    }\n    public static void main(String[] args) {\n    assert(one() == 1);\n    }\n\n}\n",
    ),
    "php": (
        "<?php\nfunction one() {\n    return 1;\n}",
        'if (one() !== 1) { throw new Exception("Test failed!"); }',
    ),
    "ts": ("function one(): number {\n  return 1;\n}", f"declare var require: any;\n{_SCRIPT_TESTS}"),
    "js": ("function one() {\n  return 1;\n}", _SCRIPT_TESTS),
    "cs": (
        "using System;\nusing System.Numerics;\nusing System.Diagnostics;\nusing System.Linq;\nclass Problem {\n"
        "    public static long One() {\n        return (long)new BigInteger(new[] {1}.Sum());",
        "    }\n    public static void Main(string[] args) {\n    Debug.Assert(One() == 1);\n    }\n\n}\n",
    ),
    "sh": ("#!/bin/bash\none() {\n    echo 1", '}\nset -e\n[[ $(one) = "1" ]]'),
}
