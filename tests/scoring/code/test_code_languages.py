"""Programs of all eight languages really compile and run, and what has not passed its tests does not pass."""

import dataclasses
import shutil

import pytest
from multipl_e_rows import PROMPTS, RIGHT, TESTS, WRONG

from slmcollab.scoring.code import languages, run
from slmcollab.scoring.code.languages import LANGUAGES

every_language = pytest.mark.parametrize("language", list(LANGUAGES), indirect=True)
EXITS = {  # completions that end the program with exit code 0 before a test has failed
    "py": "    __import__('os')._exit(0)\n",
    "cpp": "    std::exit(0);",
    "java": "        System.exit(0); return 0;",
    "php": "    exit(0);\n}\n",
    "ts": "  (globalThis as any).process.exit(0);\n  return 0;\n}\n",
    "js": "  process.exit(0);\n}\n",
    "cs": "        Environment.Exit(0); return 0;",
    "sh": "  :\n}\nexit 0\nunused() {",
}


def judge(language, completion, sandbox, time_limit_s=15):
    program, tests = (text[language.name].replace("NAME", "add_all") for text in (PROMPTS, TESTS))
    return run.judge(program + completion, tests, language, sandbox, time_limit_s)


@every_language
def test_a_right_program_passes(language, sandbox):
    verdict = judge(language, RIGHT[language.name], sandbox)
    assert (verdict.passed, verdict.error, verdict.exit_code) == (True, None, 0), verdict.output
    assert verdict.output == ""  # the token is not part of what is kept


@every_language
def test_a_wrong_program_fails_its_test(language, sandbox):
    verdict = judge(language, WRONG[language.name], sandbox)
    assert (verdict.passed, verdict.error, verdict.stage) == (False, None, "run")


@every_language
def test_a_program_that_ends_before_its_tests_does_not_pass(language, sandbox):
    verdict = judge(language, EXITS[language.name], sandbox)
    assert (verdict.passed, verdict.stage, verdict.exit_code) == (False, "run", 0), verdict.output


READS = {  # completions that print the program's own text, or all that it is made of, and end with exit code 0
    "py": "    print(open(__file__).read(), flush=True); __import__('os')._exit(0)\n",
    "cpp": '    std::cout << std::ifstream("/box/program").rdbuf() << std::endl; std::_Exit(0);',
    "java": '        try { System.out.write(Problem.class.getResourceAsStream("Problem.class").readAllBytes()); }'
    " catch (Exception e) { } System.out.flush(); System.exit(0); return 0;",
    "php": "    echo file_get_contents(__FILE__); exit(0);\n}\n",
    "ts": "  const p = (globalThis as any).process;\n"
    "  console.log(p.getBuiltinModule('fs').readFileSync(p.argv[1], 'utf8')); p.exit(0);\n  return 0;\n}\n",
    "js": "  console.log(require('fs').readFileSync(__filename, 'utf8')); process.exit(0);\n}\n",
    "cs": "        var own = System.IO.File.ReadAllBytes(typeof(Problem).Assembly.Location);\n"
    "        Console.WriteLine(System.Text.Encoding.Unicode.GetString(own));\n"
    "        Console.WriteLine(System.Text.Encoding.Unicode.GetString(own, 1, own.Length - 1));\n"
    "        Environment.Exit(0); return 0;",
    "sh": "  cat $0 >&2\n}\ncat $0; exit 0\nunused() {",
}


@every_language
def test_a_program_that_prints_its_own_text_does_not_pass(language, sandbox):
    verdict = judge(language, READS[language.name], sandbox)
    assert (verdict.passed, verdict.stage) == (False, "run"), verdict.output
    assert verdict.output
    if language.name in ("py", "php", "js", "sh"):  # what is kept is without what differs from run to run
        assert verdict == judge(language, READS[language.name], sandbox)


@pytest.mark.parametrize("name", list(LANGUAGES))
def test_the_token_stands_nowhere_in_one_piece(name):
    token = "0123456789abcdef"
    marked = LANGUAGES[name].with_token(TESTS[name], token)
    assert token not in marked
    assert marked.count("01234567") == marked.count("89abcdef") == 1


@pytest.mark.parametrize("language", ["py", "cs", "java"], indirect=True)
def test_broken_code_fails(language, sandbox):
    verdict = judge(language, "    return )(;", sandbox)
    assert not verdict.passed
    assert verdict.error is None
    assert verdict.stage == ("compile" if language.compile else "run")
    assert verdict.output


@pytest.mark.parametrize("language", ["cs"], indirect=True)
def test_mono_ends_with_0_after_a_failed_assertion(language, sandbox):
    """The trap that the text on standard error is read for."""
    assert judge(language, WRONG["cs"], sandbox).exit_code == 0


@pytest.mark.parametrize("language", ["py", "sh", "js"], indirect=True)
def test_the_time_limit_given_is_the_one_used(language, sandbox):
    loops = {"py": "    while True: pass\n", "sh": "  while :; do :; done", "js": "  for (;;) {}\n}\n"}
    verdict = judge(language, loops[language.name], sandbox, time_limit_s=0.5)
    assert (verdict.passed, verdict.error, verdict.exit_code) == (False, "timed_out", None)


@pytest.mark.parametrize("language", ["cpp"], indirect=True)
def test_a_compiled_program_cannot_read_its_source(language, sandbox):
    body = '    std::ifstream own("/box/program.cpp"); assert(!own.good());\n' + RIGHT["cpp"]
    assert judge(language, body, sandbox).passed


@pytest.mark.parametrize("name", ["javascript", "kotlinn", "python", "C++", ""])
def test_unknown_languages_are_refused_by_name(name):
    with pytest.raises(
        ValueError, match=f"{name!r} is not one of py, cpp, java, php, ts, js, cs, sh".replace("+", r"\+")
    ):
        languages.get(name)


def test_a_missing_tool_is_not_run(sandbox):
    without = dataclasses.replace(LANGUAGES["js"], tools=("nodee",))
    verdict = judge(without, RIGHT["js"], sandbox)
    assert (verdict.passed, verdict.error) == (False, "not_run: nodee is not there")


def test_a_toolchain_that_is_not_whole_is_not_run(sandbox):
    broken = dataclasses.replace(LANGUAGES["py"], run=("python3", "--no-such-option", "{box}/program.py"))
    verdict = judge(broken, RIGHT["py"], sandbox)
    assert not verdict.passed
    assert verdict.error.startswith("not_run: a trivial Python program does not run here (")


def test_versions_name_what_judged(sandbox):
    if not shutil.which("python3", path="/usr/bin:/bin"):
        pytest.skip("python3 is not there")
    about = run.describe(["py", "py"], sandbox)
    assert about["sandbox"] == sandbox.kind
    assert list(about["toolchains"]) == ["py"]
    assert about["toolchains"]["py"]["python3"].startswith("Python 3.")


def test_the_token_stands_in_the_main_function():
    tests = TESTS["java"]
    marked = LANGUAGES["java"].with_token(tests, "tok")
    assert marked == tests.replace("(6l));\n    }", '(6l));\n    System.out.println(String.join("", "t", "ok"));\n}')
    with pytest.raises(ValueError, match="Java: the tests do not end in 2 closing braces"):
        LANGUAGES["java"].with_token("}", "tok")
