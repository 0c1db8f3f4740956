import json
import re
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from critic.command.lines import read_line
from critic.command.shell_syntax import Compound, Node, NotUnderstood, SimpleCommand, Word
from tests.support.effort import examples
from tests.support.shell_lines import any_texts, written_words


def commands_of(node: Node) -> Iterator[SimpleCommand]:
    if isinstance(node, Compound):
        for inner in node.nodes:
            yield from commands_of(inner)
        return
    yield node
    for word in words_of(node):
        for piece in word.pieces:
            if piece.node is not None:
                yield from commands_of(piece.node)


def words_of(command: SimpleCommand) -> Iterator[Word]:
    yield from (value for _, value in command.assignments)
    yield from command.words
    yield from (one.target for one in command.redirects if one.kind != "heredoc")


def read(text: str) -> list[list[str | None]]:
    return [
        [word.exact for word in one.words] for one in commands_of(read_line(text, extended=True))
    ]


def unquote(written: str) -> str:
    """Return what a word stands for, by the rules of POSIX, for words without expansions."""
    out, quote, at = [], "", 0
    while at < len(written):
        char, follower = written[at], written[at + 1 : at + 2]
        at += 1
        if char == quote:
            quote = ""
        elif not quote and char in "'\"":
            quote = char
        elif char == "\\" and quote != "'" and (not quote or follower in '$`"\\\n'):
            out.append(follower if follower != "\n" else "")
            at += 1
        else:
            out.append(char)
    return "".join(out)


@settings(max_examples=examples(600))
@given(any_texts)
def test_any_text_is_read_or_not_understood_by_a_name(text: str) -> None:
    try:
        node = read_line(text, extended=True)
    except NotUnderstood as error:
        assert error.construct
        return
    for command in commands_of(node):
        assert command.text in text
        for word in words_of(command):
            written = text[word.start : word.end]
            if word.exact is not None and "{" not in written:
                assert unquote(written) == word.exact


@settings(max_examples=examples(1000))
@given(st.lists(written_words, min_size=1, max_size=5))
def test_a_word_is_what_was_quoted(words: list[tuple[str, str]]) -> None:
    line = " ".join(["echo", *(written for _, written in words)])
    assert read(line) == [["echo", *(text for text, _ in words)]]


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "a\x00b",
        "\ud800",
        "(" * 10_000,
        "$(" * 10_000,
        "{ " * 10_000,
        '"$(' * 5_000,
        "a" * 1_000_000,
        "a;" * 8_000,
        "{" * 16_000,
        "a{b,c}" * 2_000,
        "<<E\n" * 4_000,
        "'" + "a" * 16_000,
        "\\" * 16_001,
        "",
        " ",
        "\n",
        "#",
    ],
)
def test_hostile_texts_are_not_understood(text: str) -> None:
    with pytest.raises(NotUnderstood):
        read_line(text, extended=True)


def test_one_command_of_16_kib_is_read() -> None:
    assert read("echo " + "a" * 16_000) == [["echo", "a" * 16_000]]
    assert read("\\a" * 8_000) == [["a" * 8_000]]


@pytest.mark.parametrize(
    ("line", "construct"),
    [
        ("echo `id`", "a backquote"),
        ('echo "`id`"', "a backquote"),
        ("echo $'x'", "an expansion of this form"),
        ("echo ${X:-y}", "an expansion of this form"),
        ("echo $((1+1))", "arithmetic"),
        ("cat <(id)", "a process substitution"),
        ("ls() { id; }", "a function"),
        ("if true; then id; fi", "the reserved word if"),
        ("for i in 1; do id; done", "the reserved word for"),
        ("[[ -f x ]]", "the reserved word [["),
        ("((x=1))", "two open brackets"),
        ("a=(1 2)", "a function, a pattern or an array"),
        ("a[1]=2", "an array"),
        ("a+=b ls", "an assignment of this form"),
        ("cat <<E\n$(id)\nE", "a heredoc that expands its text"),
        ("cat <<E\nx", "a heredoc without its end"),
        ("echo =ls", "a word that begins with ="),
        ("echo 10>f", "a file descriptor of several digits"),
        ("cat <1-5>x", "a pattern of numbers"),
        ("echo ~root", "a tilde of this form"),
        ("echo {1..9}", "braces of this form"),
        ("echo 'x", "an open quote"),
        ("echo x >!f", "a target that begins with !"),
        ("echo x >>! f", "a target that begins with !"),
        ("echo x &>!f", "a target that begins with !"),
        ("r\\\nm x", "a word over two lines"),
        ("echo x >", "a redirection without a target"),
        ("echo x | | cat", "an unexpected |"),
        ("( ls", "a missing )"),
        ("ls *(e:id:)", "a function, a pattern or an array"),
        ("case x in x) id;; esac", "the reserved word case"),
        ("echo 'a\rb'", "a control character"),
        ("cat <<'E'\n\x1b[31m\nE", "a control character"),
    ],
)
def test_a_construct_is_named(line: str, construct: str) -> None:
    with pytest.raises(NotUnderstood, match=re.escape(construct)):
        read_line(line, extended=True)


@pytest.mark.parametrize("line", ["cat &>x rm y", "cat a&>>x", "(ls) &>x"])
def test_a_redirection_of_both_is_not_of_dash(line: str) -> None:
    assert read_line(line, extended=True)
    with pytest.raises(NotUnderstood, match="&>"):
        read_line(line, extended=False)


def test_braces_are_those_of_the_shell() -> None:
    assert read("echo x{1,2}y {} a{b}") == [["echo", "x1y", "x2y", "{}", "a{b}"]]
    with pytest.raises(NotUnderstood, match="braces"):
        read_line("echo x{1,2}", extended=False)


def test_joined_commands_are_all_found() -> None:
    line = "a && b || c; d | e & (f; { g; }) > x\n! h \"$(i 'j k')\" <<'E' # l\nm $(n)\nE\no"
    assert read(line) == [*([name] for name in "abcdefg"), ["h", None], ["i", "j k"], ["o"]]


def test_a_word_knows_what_of_it_varies() -> None:
    (command,) = (read_line('echo "$X" $Y *.py ~/a', extended=True),)
    (simple,) = commands_of(command)
    _, quoted, bare, pattern, home = simple.words
    assert (quoted.varies, quoted.splits) == (True, False)
    assert (bare.varies, bare.splits) == (True, True)
    assert (pattern.globs, pattern.splits) == (True, True)
    assert home.fill_in("/home/u").exact == "/home/u/a"


SHELLS = [shell for shell in ("bash", "dash", "zsh") if shutil.which(shell)]


@pytest.mark.parametrize("shell", SHELLS)
@settings(max_examples=examples(200))
@given(st.lists(written_words, min_size=1, max_size=8))
def test_a_shell_reads_the_same_words(shell: str, words: list[tuple[str, str]]) -> None:
    line = "printf '%s\\0' " + " ".join(written for _, written in words)
    ran = subprocess.run([shell, "-c", line], capture_output=True, check=True, timeout=60)
    printed = ran.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    (read_words,) = read(line)
    assert json.dumps(printed) == json.dumps(read_words[2:])
