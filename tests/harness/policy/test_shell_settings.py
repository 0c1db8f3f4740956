"""The section `[shell]`: the shipped table, a team's entries, the digest, and what a fault says."""

import copy
import json
import pickle
import subprocess
import sys
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic.command.command_table import ProgramEntry
from harness.policy import InvalidPolicy, Policy, parse_policy
from harness.policy.shell_settings import ShellSettings, shipped_table
from tests.harness.policy.policies import GOOD, good
from tests.support.paths import ROOT

SHELL = '\n[shell]\ntable = "common-1"\n'
DEPLOY = '[[shell.command]]\nnames = "deploy"\nopts = "--to=host"\nargs = "read*"\n'


def policy(text: str) -> Policy:
    return parse_policy((GOOD + text).encode()).policy


def faults(text: str) -> list[tuple[int, str, str]]:
    """Return the faults of the good text with a section: line after it, place, message."""
    with pytest.raises(InvalidPolicy) as caught:
        policy(text)
    before = GOOD.count("\n") + 1
    return [(line - before, path, what) for line, path, what in caught.value.faults]


def test_without_the_section_all_is_as_before() -> None:
    found = policy("")
    assert found.shell is None
    assert "shell" not in found.wire()
    assert found.digest() == "ad1212af0e0708d3eac5546d22ab7691e6828abd891cb415f5fe9e96bb95d8eb"


def test_a_policy_without_the_section_loads_nothing_of_it() -> None:
    statement = (
        "import sys\n"
        "from harness.policy import parse_policy\n"
        "from harness.policy.policy_rules import rules_of\n"
        "from tests.harness.policy.policies import GOOD\n"
        "rules_of(parse_policy(GOOD.encode()).policy)\n"
        "of_shell = ('critic.command', 'harness.policy.shell_')\n"
        "print([name for name in sys.modules if name.startswith(of_shell)])"
    )
    done = subprocess.run(
        [sys.executable, "-c", statement], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_team_adds_programs_and_subcommands() -> None:
    more = '[[shell.command]]\nnames = "cargo"\nsub = "xtask"\neffect = "run"\nrun = "xtask"\n'
    shell = policy(SHELL + DEPLOY + more).shell
    assert shell is not None
    known = shell.programs.entries
    assert known["deploy"][""].options["--to"].kind == "host"
    assert {"xtask", "test"} <= known["cargo"].keys()
    assert shell.programs.places == shipped_table("common-1").places
    plain = policy(SHELL).shell
    assert plain is not None
    assert plain.programs == shipped_table("common-1")


def test_a_policy_with_the_section_is_a_value() -> None:
    found = policy(SHELL + DEPLOY)
    assert copy.deepcopy(found) == found == pickle.loads(pickle.dumps(found))  # noqa: S301 - its own bytes
    assert Policy.model_validate(found.wire()) == found
    assert found.model_copy(update={"shell": None}) == policy("")


def test_the_digest_pins_the_entries_and_the_content_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = policy(SHELL)
    known = {policy(text).digest() for text in ("", SHELL, SHELL + DEPLOY)}
    assert len(known) == 3
    assert found.digest() == policy(SHELL).digest()
    monkeypatch.setattr("harness.policy.shell_settings._shipped_digest", lambda _: "0" * 64)
    assert found.digest() not in known


ENTRY = "[[shell.command]]\n"


@pytest.mark.parametrize(
    ("section", "line", "path", "said"),
    [
        ("[shell]\n", 0, "/shell/table", "required field is missing"),
        ('[shell]\ntable = "common-9"\n', 1, "/shell/table", "common-9 is unknown"),
        ('[shell]\ntable = "common-1"\ntabel = "x"\n', 2, "/shell/tabel", "did you mean table?"),
        ('[shel]\ntable = "common-1"\n', 0, "/shel", "did you mean shell?"),
        (
            f'{SHELL}[shell.command]\nnames = "a"\n',
            3,
            "/shell/command",
            "write [[shell.command]], not [shell.command]",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\nopt = "-n"\n',
            5,
            "/shell/command/0/opt",
            "did you mean opts?",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\nopts = "-o=writ"\n',
            5,
            "/shell/command/0/opts",
            "-o=writ: no kind is called writ: did you mean write?",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\nargs = "read* text"\n',
            5,
            "/shell/command/0/args",
            "the last one with * or +",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\nopts = "-n -no"\n',
            3,
            "/shell/command/0",
            "-no hides -n",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\nopts = "-n=text -n"\n',
            5,
            "/shell/command/0/opts",
            "lists -n twice",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\n{ENTRY}names = "b a"\n',
            5,
            "/shell/command/1",
            "two entries for a, the other in line",
        ),
        (
            f'{SHELL}{ENTRY}names = "mygrep grep"\n',
            4,
            "/shell/command/0/names",
            "grep is in the table common-1: remove it here",
        ),
        (
            f'{SHELL}{ENTRY}names = "git"\nsub = "frob push"\n',
            4,
            "/shell/command/0/names",
            "git push is in the table common-1",
        ),
        (
            f'{SHELL}{ENTRY}names = "a"\neffect = "delete"\n',
            5,
            "/shell/command/0/effect",
            "delete is unknown",
        ),
    ],
)
def test_a_fault_names_its_line_its_place_and_the_way_out(
    section: str, line: int, path: str, said: str
) -> None:
    (found,) = faults(section)
    assert found[:2] == (line, path)
    assert said in found[2]
    assert "\n" not in found[2]


def test_the_wire_refuses_what_the_explanation_does_not_see() -> None:
    entry = ProgramEntry(names="a b")
    for twice in ([entry, entry], [ProgramEntry(names="cat")]):
        with pytest.raises(ValueError, match="keep one"):
            ShellSettings(table="common-1", command=twice)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(("grep", "")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(("table", "command", "names", "sub", "opts", "args", "free")),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_other_section_is_refused_with_lines(section: object) -> None:
    data = json.dumps({**good(), "shell": section}).encode()
    try:
        parse_policy(data, syntax="json")
    except InvalidPolicy as error:
        assert all("\n" not in what for _, _, what in error.faults)
        assert error.faults
    else:
        assert isinstance(section, dict)
        assert section["table"] == "common-1"


def test_a_table_is_that_whose_digest_a_source_names() -> None:
    source = ShellSettings(table="common-1").source
    assert ShellSettings.table_from(source) == shipped_table("common-1")
    own = source["table_digest"]
    for other in (None, "", "f" * 64, own.upper(), own[:-1], f"sha256:{own}", 0):
        assert ShellSettings.table_from({**source, "table_digest": other}) is None
    assert ShellSettings.table_from({"table": "common-1"}) is None


ROWS: list[dict[str, str]] = [
    {"names": "deploy"},
    {"names": "deploy", "args": "read*"},
    {"names": "roll deploy"},
    {"names": "roll back", "opts": "--to=host"},
    {"names": "roll", "sub": "back out"},
    {"names": "roll", "sub": "out"},
    {"names": "git", "sub": "frob"},
]


def test_entries_of_a_team_share_no_name_first_or_last() -> None:
    for one, other in product(map(ProgramEntry.model_validate, ROWS), repeat=2):
        if {*one.keys} & {*other.keys}:
            with pytest.raises(ValueError, match="keep one"):
                ShellSettings(table="common-1", command=[one, other])
        else:
            known = ShellSettings(table="common-1", command=[one, other]).programs.entries
            assert all(sub in known[name] for name, sub in (*one.keys, *other.keys))


def test_the_source_of_a_table_tells_it_from_every_other() -> None:
    listed = [ShellSettings(table="common-1")] + [
        ShellSettings(table="common-1", command=[ProgramEntry.model_validate(row)]) for row in ROWS
    ]
    for one, other in product(listed, repeat=2):
        told = json.loads(json.dumps(other.source))
        assert ShellSettings.table_from(told) == other.programs
        assert (told == one.source) == (one == other) == (one.programs == other.programs)
