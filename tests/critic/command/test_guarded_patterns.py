"""What a shell, git, or find makes of a pattern is known: a guarded name that it gives counts."""

import random
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from critic.command.name_expressions import patterns_in_braces, patterns_of_regex
from critic.command.shell_facts import ShellName
from harness.policy.shell_settings import shipped_table
from tests.support.shell_worlds import World

SHIPPED: Final = shipped_table("common-1")
WORLD: Final = World()
SHELLS: Final[list[ShellName]] = [one for one in ("bash", "dash", "zsh") if shutil.which(one)]
NAMES: Final = {".env": "read_secret", "x.pem": "read_secret", "id_rsa": "read_secret"}
_DRAWN: Final = 400


def effects(line: str, shell: ShellName | None = "bash") -> set[str]:
    return {step.effect for step in WORLD.read(line, SHIPPED, shell=shell).steps}


def spelled(draw: random.Random, name: str) -> str:
    """Return a pattern that gives a name, as somebody writes it who wants it not to be seen."""
    return "".join(_spelled_sign(draw, sign) if draw.random() < 0.4 else sign for sign in name)


def _spelled_sign(draw: random.Random, sign: str) -> str:
    others = ("?", "*", f"[{sign}]", f"[!{sign.upper()}]", f"[^{sign.upper()}]", f"\\{sign}")
    ends = (f"[]{sign}]", "[!]x]", "[^]x]", f"[x\\]{sign}]", f"[x']'{sign}]", f'[x"]"{sign}]')
    classes = ("[[:alnum:]]", "[!-,]", f"[{sign}-{sign}]", f"['{sign}']", f'["{sign}x"]')
    quoted = (f"'{sign}'", f'"{sign}"')
    return draw.choice((*others, *ends, *ends, *classes, *quoted))


@pytest.mark.parametrize("shell", SHELLS)
def test_a_secret_that_a_shell_makes_of_a_pattern_is_read_as_one(
    shell: ShellName, tmp_path: Path
) -> None:
    for name in NAMES:
        (tmp_path / name).touch()
    draw = random.Random(7)  # noqa: S311
    patterns = [spelled(draw, draw.choice([*NAMES])) for _ in range(_DRAWN)]
    options = "setopt nonomatch\n" if shell == "zsh" else ""
    script = options + "".join(f"printf '%s|' {one}; echo\n" for one in patterns)
    done = subprocess.run([shell, "-c", script], cwd=tmp_path, capture_output=True, check=True)
    given = [line.split("|")[:-1] for line in done.stdout.decode().splitlines()]
    met = 0
    for pattern, names in zip(patterns, given, strict=True):
        if not {*names}.isdisjoint(NAMES):
            met += 1
            general = pattern.strip("*?") in ("", ".")
            found = effects(f"cat {pattern}", shell)
            assert general or not found.isdisjoint({"read_secret", "unknown"}), pattern
    assert met > _DRAWN / 4


@pytest.mark.parametrize(
    "line",
    [
        *("tee -a .gi[!]x]/config", "sed -i s/a/b/ .husk[!]x]/pre-commit", "chmod +x .gi[!]x]/x"),
        *("sed -i s/a/b/ .gi['x]'t]/config", "touch .claud[!]x]/settings.json"),
        "find . -name 'AGENT\\S.md' -exec sed -i s/a/b/ {} +",
    ],
)
def test_what_no_step_may_write_is_known_behind_a_pattern(line: str) -> None:
    assert "write_protected" in effects(line)


@pytest.mark.parametrize(
    "line",
    [
        # Programs that read patterns drop a backslash.
        *(
            "git diff -- '.\\env'",
            "git log -p -- 'config/\\secrets.yml'",
            "git grep '' -- '.\\env'",
        ),
        *("find . -name '.\\env' -exec cat {} +", "grep -rh --include='.\\env' '' ."),
        *("rg -g '.\\env' ''", "git add -f -- '.\\env'"),
        # A sign of revisions does not keep an operand from being a path.
        *("git diff -- '.en[^x]'", "git log -p -- 'secret@prod.pem'", "git diff -- .env~"),
        # Alternatives are each a name.
        "find . -regextype posix-extended -regex '.*/\\.(env|x)' -exec cat {} +",
        "find . -regextype posix-extended -regex '.*/\\.(x|env)' -exec cat {} +",
        *("find . -regex 'src.*env' -exec cat {} +", "rg -g '.{x,env}' ''"),
        *("find . -regex '.*\\.\\(env\\|pem\\)' -exec cat {} +", "rg -g '.{env,x}' ''"),
        *("find . -regex '.*/\\.en[v]' -exec cat {} +", "rg -uu -g '*.{pem,key}' ''"),
        # What is asked for by name, of a list of all files.
        *("find . -type f | grep '\\.env' | xargs cat", "find . | grep -e pem -e foo | xargs cat"),
        "find . | grep -e foo -e pem | xargs cat",
        *("rg --files | grep secret | xargs cat", "fd . | sort | grep -E 'x|env' | xargs cat"),
        *("git ls-files | grep '\\.env$' | xargs cat", "git ls-files | grep -i secret | xargs cat"),
        "git ls-files | grep -v test | grep -e a -e '[.]env' | xargs cat",
        # The name of a folder, and a name that is secret in it.
        *("find . -path '*.git/config' -exec cat {} +", "rg -uu -g '.git/config' ''"),
        *(
            "find . -path './.gi?/conf*' | xargs cat",
            "find . -regex '.*/.git/config' -exec cat {} +",
        ),
        "find . -path './.git/*' -name 'conf*' -exec cat {} +",
    ],
)
def test_a_secret_is_known_behind_what_a_program_reads_as_a_pattern(line: str) -> None:
    assert "read_secret" in effects(line)


@pytest.mark.parametrize(
    "line",
    [
        *("git log -p HEAD~3..HEAD -- src/a.py", "git diff HEAD^ -- src", "git show HEAD^{tree}"),
        *("git diff HEAD@{1}", "grep -rn 'def f(' src", "rg -g '*.{ts,tsx}' 'useState' src"),
        "find . -regex '.*\\.\\(py\\|txt\\)' -exec grep -n foo {} +",
        *("find . -type f | grep '\\.py' | grep -v test | xargs grep -n foo", "cat src/[a-z]*.py"),
        "find . -name '*.py' | grep -E 'config|settings' | xargs grep DEBUG",
        *("find . -type f | grep -v pem | xargs wc -l", "git ls-files | grep env | xargs wc -l"),
        "git ls-files | grep config | grep '\\.py$' | xargs wc -l",
        "find . -type f -not -path './.git/*' -exec grep -n foo {} +",
        *("find . -path '*/config/*.py' -exec grep -n foo {} +", "rg -g 'src/config' ''"),
        "find . -path ./.git -prune -o -name '*.py' -exec grep -n foo {} +",
    ],
)
def test_ordinary_patterns_are_no_secrets(line: str) -> None:
    assert effects(line) <= {"read", "list"}


def test_a_regular_expression_is_read_as_the_patterns_that_it_gives() -> None:
    assert patterns_of_regex(r".*/\.(env|pem)") == ["*/*/.pem", "*/*/.env"]
    assert patterns_of_regex(r"^a\(b\|c\)*d$") == ["a*/*d"]
    assert patterns_of_regex("a[^x]b|c.d|e[fg]") == ["a*/*b", "c*/*d", "e?"]
    assert patterns_of_regex("x(") == ["x("]
    assert patterns_of_regex("a[[:punct:]]b[]x]c") == ["a*/*b?c"]
    assert patterns_in_braces("a.{b,c}d") == ["a.bd", "a.cd"]
    assert patterns_in_braces("a.b") == ["a.b"]


@pytest.mark.parametrize(
    "line", ["rg -g '{a,{b,c}}' x", f"find . | grep '{'(a)' * 51}' | xargs cat"]
)
def test_what_gives_too_much_is_not_understood(line: str) -> None:
    assert effects(line) == {"unknown"}


@pytest.mark.parametrize(
    "line",
    [
        # The begin of a hidden name goes on; classes and places in an expression are read.
        *("find . -type f | grep '/\\.en' | xargs cat", "fd -HI '\\.en' | xargs cat"),
        *("find . | grep '[[:punct:]]env' | xargs cat", "find . | grep '\\.\\<env' | xargs cat"),
        "find . -regex '.*/[[:punct:]]env' -exec cat {} +",
        *("find ./.en* | xargs cat", "find ./*.pem | xargs cat"),
        # A sign of git before a path, and what no operand of `git grep` is the text of.
        *(
            "git diff -- ':.e*'",
            "git log -p -- '::.en?'",
            "git add -f ':.en?'",
            "git grep -e x .env",
        ),
        *("git archive HEAD -o build/x.tar ':.e*'", "git grep -f README.md -- .env"),
    ],
)
def test_a_secret_is_known_behind_a_part_of_its_name(line: str) -> None:
    assert "read_secret" in effects(line)


@pytest.mark.parametrize(
    "line",
    [
        "git ls-files -o --exclude-standard -x '*' -x '!.env' | xargs cat",
        *("find . | grep -P '\\x2eenv$' | xargs cat", "ag --hidden -G '^\\.e.v' ''"),
        *("gcc '@{u}'", "sed -i p 'w CLAUDE.md' src/a.py", "tar cf build/x.tar @src/spec"),
        # What brings files may bring a link.
        "unzip -q -o -d out build/a.zip && tee -a out/build/l < src/x.txt",
        *("git pull && cat notes.txt", "git stash pop && tee -a notes.txt < src/x.txt"),
        *(
            f"git {one} && tee -a notes.txt < src/x.txt"
            for one in (
                *("checkout -b new evil", "switch -c new evil", "switch -c new -", "switch -"),
                *("bisect good", "stash", "merge main", "restore --source=main notes.txt"),
                *("reset --keep main", "reset --merge main", "reset --hard main"),
            )
        ),
        "git pull && git commit -F notes.txt",
    ],
)
def test_what_may_be_more_than_it_says_is_not_understood(line: str) -> None:
    assert "unknown" in effects(line)


@pytest.mark.parametrize(
    "line", ["ln -s .git/config z", "ln -s .claude/settings.json z", "sed -i p wCLAUDE.md a.py"]
)
def test_what_is_written_by_another_name_is_protected(line: str) -> None:
    assert "write_protected" in effects(line)


@pytest.mark.parametrize(
    "line",
    [
        *(
            "RANDOM='a[$(id)]'",
            "X='a[$(id)]'; COLUMNS=X git status",
            "export COLUMNS=X",
            "[ -t X ]",
        ),
        *("OPTIND=x", "[ X -eq 1 ]", "OPENSSL_CONF=1 openssl version", "histchars='!^%'; echo a"),
    ],
)
@pytest.mark.parametrize("shell", ["bash", "zsh", None])
def test_what_a_shell_computes_is_a_number(line: str, shell: ShellName | None) -> None:
    assert effects(line, shell) == {"unknown"}


@pytest.mark.parametrize(
    "line",
    [
        *(
            "COLUMNS=200 git status",
            "[ 2 -gt 1 ]",
            "[ -f a.py ]",
            "git diff @{u}",
            "ln -s src/a.py b",
        ),
        *("sed -i 's/a/b/' src/a.py src/b.py", "git switch -c new && git add src/a.py"),
        *("git stash && git stash pop && git status", "git show HEAD:src/a.py"),
        # Git follows no link on the way to a file, and a branch is none.
        *("git merge main && git diff HEAD~1 -- src/a.py", "git checkout -b new && cat src/a.py"),
        *("git merge --continue && git add src/a.py", "git restore --staged a.py && cat a.py"),
        *("git cherry-pick main && git log main..HEAD", "git reset a.py && cat a.py"),
    ],
)
def test_ordinary_lines_are_understood(line: str) -> None:
    assert effects(line) <= {"read", "list", "write", "commit"}
