"""The eight languages of MultiPL-E: how a program is compiled and run, when it has passed, and what it needs.

Commands are MultiPL-E's own, but for C#, which Mono compiles, and for options that bound threads and memory.
"""

from dataclasses import dataclass

GIB = 2**30
JAR = "{jar}"  # javatuples, which the Java prompts import


@dataclass(frozen=True)
class Language:
    """One language; {box} is the program's folder, {jar} the path of javatuples.

    compile: empty for interpreted languages. memory_bytes: of address space, for each of the two commands. tools: the
    programs that the commands need; each prints its version for --version. failures: what on standard error is a
    failed test though the exit code is 0. closing: how many closing braces end the tests' main function (0: the tests
    are statements). token: the statement that joins {first} and {second} and
    prints them: what prints or reads the source finds no token. stop_tokens: of completions, where a data set has none.
    braces: where the closing brace of the function stands: in the "completion", in the "tests" or nowhere ("").
    helpers: whether functions beside the asked one can be part of a completion. packages: of Debian, or "npm
    typescript".
    """

    name: str
    title: str
    file: str
    run: tuple[str, ...]
    tools: tuple[str, ...]
    memory_bytes: int
    token: str
    stop_tokens: tuple[str, ...]
    braces: str
    packages: tuple[str, ...]
    compile: tuple[str, ...] = ()
    failures: tuple[bytes, ...] = ()
    closing: int = 0
    helpers: bool = False

    def with_token(self, tests: str, token: str) -> str:
        """Return the tests with a last statement that prints `token`; ValueError if the tests have no main function."""
        first, second = halves(token)
        statement = self.token.replace("{first}", first).replace("{second}", second)
        if not self.closing:
            return f"{tests.rstrip()}\n{statement}\n"
        at = len(tests)
        for _ in range(self.closing):
            at = tests.rfind("}", 0, at)
            if at < 0:
                raise ValueError(f"{self.title}: the tests do not end in {self.closing} closing braces")
        return f"{tests[:at]}{statement}\n{tests[at:]}"


def halves(token: str) -> tuple[str, str]:
    """Return the two texts of which a token is made when a program runs; the source has it nowhere in one piece."""
    return token[: len(token) // 2], token[len(token) // 2 :]


ALL = (
    Language(
        name="py",
        title="Python",
        file="program.py",
        run=("python3", "{box}/program.py"),
        tools=("python3",),
        memory_bytes=2 * GIB,
        token='__import__("os").write(1, b"".join([b"{first}", b"{second}\\n"]))',
        stop_tokens=("\ndef", "\n#", "\nif", "\nclass"),
        braces="",
        packages=("python3",),
        helpers=True,
    ),
    Language(
        name="cpp",
        title="C++",
        file="program.cpp",
        compile=("g++", "{box}/program.cpp", "-o", "{box}/program", "-std=c++17"),
        run=("{box}/program",),
        tools=("g++",),
        memory_bytes=2 * GIB,
        token='std::cout << "{first}" << "{second}" << std::endl;',
        stop_tokens=("\n}",),
        braces="tests",
        packages=("g++",),
        closing=1,
    ),
    Language(
        name="java",
        title="Java",
        file="Problem.java",
        compile=(
            *("javac", "-J-Xmx1g", "-J-XX:+UseSerialGC", "-J-XX:ActiveProcessorCount=2"),
            *("-encoding", "UTF8", "-proc:none", "-cp", JAR, "-d", "{box}", "{box}/Problem.java"),
        ),
        run=(
            *("java", "-Xmx1g", "-XX:+UseSerialGC", "-XX:ActiveProcessorCount=2", "-XX:-UsePerfData"),
            *("-ea", "-cp", f"{{box}}:{JAR}", "Problem"),
        ),
        tools=("javac", "java"),
        memory_bytes=6 * GIB,
        token='System.out.println(String.join("", "{first}", "{second}"));',
        stop_tokens=("\n    }\n",),
        braces="tests",
        packages=("openjdk-17-jdk-headless", "libjavatuples-java"),
        closing=2,
    ),
    Language(
        name="php",
        title="PHP",
        file="program.php",
        run=("php", "{box}/program.php"),
        tools=("php",),
        memory_bytes=2 * GIB,
        token='fwrite(STDOUT, implode("", ["{first}", "{second}\\n"]));',
        stop_tokens=("\nfunction", "\n?>", "\n//", "\n#"),
        braces="completion",
        packages=("php-cli",),
        helpers=True,
    ),
    Language(
        name="ts",
        title="TypeScript",
        file="program.ts",
        # --skipLibCheck is ours: the language's own declarations need no check, which takes half of the time
        compile=("tsc", "--target", "esnext", "--skipLibCheck", "{box}/program.ts"),
        run=("node", "{box}/program.js"),
        tools=("tsc", "node"),
        memory_bytes=6 * GIB,
        token='console.log(["{first}", "{second}"].join(""));',
        stop_tokens=("\nfunction ", "\n/*", "\n//", "\nclass"),
        braces="completion",
        packages=("nodejs", "npm typescript"),
        helpers=True,
    ),
    Language(
        name="js",
        title="JavaScript",
        file="program.js",
        run=("node", "{box}/program.js"),
        tools=("node",),
        memory_bytes=6 * GIB,
        token='console.log(["{first}", "{second}"].join(""));',
        stop_tokens=("\nfunction ", "\n/*", "\n//", "\nconsole.log"),
        braces="completion",
        packages=("nodejs",),
        helpers=True,
    ),
    Language(
        name="cs",
        title="C#",
        file="program.cs",
        compile=("mcs", "-d:DEBUG", "-r:System.Numerics.dll", "{box}/program.cs", "-out:{box}/program.exe"),
        run=("mono", "{box}/program.exe"),
        tools=("mcs", "mono"),
        memory_bytes=2 * GIB,
        token='Console.WriteLine(string.Join("", "{first}", "{second}"));',
        stop_tokens=("\n    }\n",),
        braces="tests",
        # Mono goes on after a failed Debug.Assert, and ends with 0
        failures=(b"DefaultTraceListener.Fail", b"Unhandled Exception"),
        packages=("mono-mcs", "mono-runtime", "libmono-system-core4.0-cil", "libmono-system-numerics4.0-cil"),
        closing=2,
    ),
    Language(
        name="sh",
        title="Bash",
        file="program.sh",
        run=("bash", "{box}/program.sh"),
        tools=("bash",),
        memory_bytes=2 * GIB,
        token="printf '%s%s\\n' {first} {second}",
        stop_tokens=("\n}",),
        braces="tests",
        packages=("bash",),
        helpers=True,
    ),
)
LANGUAGES = {language.name: language for language in ALL}


def get(name: str) -> Language:
    """Return the language; raises ValueError naming those there are: no alias ("javascript" for js) is known."""
    if name not in LANGUAGES:
        raise ValueError(f"language {name!r} is not one of {', '.join(LANGUAGES)}")
    return LANGUAGES[name]
