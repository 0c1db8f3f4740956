"""Mistakes that a newcomer makes on the command line: each is told what, where, and what to do."""

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.harness.console import Critic
from tests.support.paths import FIXTURES


class Mistake(NamedTuple):
    """A command with a mistake in it, and what has to be said, in any order."""

    command: str
    said: tuple[str, ...]


def told(command: str, *said: str) -> Mistake:
    return Mistake(command, said)


MISSPELT = (
    told("verfy plan_a.json", "COMMAND", "verfy", "did you mean verify?"),
    told("verify --polcy critic.toml plan_a.json", "--polcy", "did you mean --policy?"),
    told("import --from opnai x", "--from", "opnai", "did you mean openai?"),
    told("schema Plann", "did you mean Plan?"),
    told("serve --port 80000", "--port", "a number from 0 to 65535"),
    told("mcp-proxy --policy x --port http -- y", "--port", "a number from 0 to 65535, not http"),
    told("verify critic.toml", "critic.toml", "this is a policy", "critic policy check"),
    told("score plan_a.json", "plan_a.json", "this is a Proposal", "critic verify"),
    told("policy check tools.toml", "line 16", "[[tools]]", "did you mean [[tool]]?"),
    told("policy check str.toml", "line 52", "/tool/2/bound_args/id/at", 'write ["/payment/id"]'),
    told("init missing/x.toml", "there is no folder missing", "make it"),
)
"""Those that said too little once."""

OTHERS = (
    told("", "required: COMMAND"),
    told("verify", "required: FILE"),
    told("verify nope.json", "nope.json", "no such file"),
    told("verify --policy nope.toml plan_a.json", "nope.toml", "no such file"),
    told(
        "verify --policy plan_a.json plan_a.json",
        "plan_a.json: not a policy",
        "critic policy check",
    ),
    told("verify .", "it is a directory: name a file"),
    told("init critic.toml", "critic.toml is there already", "--force"),
    told(
        "init x.toml --from-python nomod.py", "nomod.py", "write the path of a file that is there"
    ),
    told("init x.toml --from-python nosuchmodule", "nosuchmodule", "run critic in the folder"),
    told("init x.toml --from-python bad.py", "bad.py, line 1", "without an error"),
    told("init x.toml --from-python empty.py", "empty has no public function", "define one"),
    told("init odd.toml --from-python odd.py", "odd.toml: written", "critic policy check odd.toml"),
    told("init x.toml --from-openai e.json", "e.json", "must be an array of tools"),
    told("policy check nope.toml", "nope.toml", "no such file"),
    told("policy check plan_a.json", "line 2", "unknown key ctx", "remove it"),
    told("policy check syn.toml", "line 1", "not valid TOML", "Expected ']'"),
    told("policy check min.toml", "/tool/0/capability_id", "required field is missing: add it"),
    told("policy check case.toml", "line 48", "did you mean destructive?"),
    told("policy check dup.toml", "line 45", "the other in line 16: keep one"),
    told("policy diff critic.toml", "required: NEW"),
    told("policy test critic.toml nocases", "nocases", "no such file or folder"),
    told("replay nope.db", "nope.db", "check the path"),
    told("replay plan_a.json", "plan_a.json", "not a decision log: choose another file"),
    told("log list", "required: LOG"),
    told("log list plan_a.json", "plan_a.json", "not a decision log: choose another file"),
    told("log show audit.db 99", "no such record: 99", "the last one is 2"),
    told("guard --policy critic.toml nope.jsonl", "nope.jsonl", "no such file"),
    told("guard b.jsonl", "required: --policy"),
    told("guard --policy critic.toml b.jsonl", "/session", "required field is missing: add it"),
    told("guard --policy critic.toml b2.jsonl", "not strict JSON", "line 1 column 2"),
    told("serve --policy nope.toml", "nope.toml", "no such file"),
    told("run plan_a.json", "required: --log"),
    told("gate a.db", "required:"),
    told("report critic.toml -o r.html", "critic.toml", "choose another file"),
    told("what-if --policy critic.toml nope.db", "nope.db", "check the path"),
    told("replay postgresql://localhost:1/x", "localhost:1", "that the server runs"),
    told("hook", "required: AGENT"),
    told("loop", "not inside a git work tree", "git init"),
    told("doctor", "ok    Python"),
)

CHANGED = {
    "case": ('approval_mode = "destructive"', 'approval_mode = "Destructive"'),
    "tools": ("[[tool]]", "[[tools]]"),
    "str": (
        'bound_args.id = { from = ["order_record"], at = ["/payment/id"] }',
        'bound_args.id = { from = "order_record", at = "/payment/id" }',
    ),
}
FILES = {
    "bad.py": "def f(x:",
    "empty.py": "x = 1",
    "odd.py": "import os\ndef g(a, *args, **kw): pass\ndef h(db: os.PathLike): pass\n",
    "e.json": "{}",
    "syn.toml": '[guard\nsafety_mode = "x"\n',
    "min.toml": '[[tool]]\nname = "a"\nadapter_id="x"\n',
    "b.jsonl": '{"event":"open"}\n',
    "b2.jsonl": "not json\n",
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a policy, plans, and files with a mistake in them. It is entered."""
    for file in (FIXTURES / "refund").iterdir():
        shutil.copy(file, tmp_path / file.name)
    policy = (tmp_path / "critic.toml").read_text()
    for name, (old, new) in CHANGED.items():
        assert old in policy
        (tmp_path / f"{name}.toml").write_text(policy.replace(old, new))
    twice = policy.replace('capability_id = "issue_refund"', 'capability_id = "lookup"')
    (tmp_path / "dup.toml").write_text(twice.replace("adp_payments", "adp_orders"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def require_told(critic: Critic, mistake: Mistake) -> None:
    said = critic(*mistake.command.split())
    text = f"{said.out}{said.err}"
    assert all(part in text for part in mistake.said), text
    assert "Traceback" not in text


def test_what_is_misspelt_or_put_in_the_wrong_place_is_told_with_what_was_meant(
    critic: Critic, desk: Path
) -> None:
    for mistake in MISSPELT:
        require_told(critic, mistake)


@pytest.mark.slow
def test_every_mistake_is_told_with_what_where_and_what_to_do(critic: Critic, desk: Path) -> None:
    assert len({*MISSPELT, *OTHERS}) == 50
    critic("run", "plan_a.json", "plan_b_run.json", "--log", "audit.db")
    for mistake in (*MISSPELT, *OTHERS):
        require_told(critic, mistake)
