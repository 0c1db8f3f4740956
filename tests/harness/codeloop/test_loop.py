"""The loop as a whole: scripted agents in real repositories."""

import asyncio
from pathlib import Path
from typing import get_args

import pytest

from harness.codeloop.loop import CodeLoopPhase
from harness.codeloop.record import EXIT_CODES, SessionOutcome
from harness.codeloop.scribe import outcome_of
from harness.codeloop.workspace import Workspace
from harness.runtime.revise import StopReason
from tests.harness.codeloop.scratch import (
    DONE,
    MORE,
    Ended,
    asked,
    git,
    python,
    repository,
    run_loop,
    says,
)

ERROR = "DECISION: ERROR\nANALYSIS: it broke\nRECOVERY: mend it\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "r")


def go(repo: Path, **given: object) -> Ended:
    return asyncio.run(run_loop(repo, **given))  # type: ignore[arg-type] # by name


def kinds(ended: Ended) -> list[list[str]]:
    return [[refusal.kind for refusal in turn.refusals] for turn in ended.session.iterations]


def test_feedback_goes_to_the_next_actor_until_the_critic_is_content(repo: Path) -> None:
    actor = python(
        "prompt = sys.stdin.read()\n"
        "pathlib.Path('got.txt').write_text(prompt)\n"
        "print('out of', len(prompt)); print('aside', file=sys.stderr)"
    )
    ended = go(
        repo, actor=actor, critic=says(MORE + "REMAINING ISSUES:\n- the rest\n", ERROR, DONE)
    )
    assert (ended.end.outcome, ended.end.iterations) == ("success", 3)
    assert (ended.end.summary, ended.end.confidence) == ("all is there", 0.9)
    first, second, third = ended.session.iterations
    assert first.feedback == "go on\n- the rest"
    assert second.feedback == "it broke\n\nHow to recover: mend it"
    assert third.feedback is None
    assert [turn.decision.type for turn in (first, second, third) if turn.decision] == [
        *("continue", "error", "done")
    ]
    last = (repo / "got.txt").read_text()
    assert last.startswith("make it so\n")
    assert "it broke\n\nHow to recover: mend it" in last
    assert ended.told[:3] == [
        *("1 actor: exited with 0", "1 diff: 1 file, 1 line", "1 critic: CONTINUE: go on")
    ]
    assert {told.split()[1].strip(":") for told in ended.told} <= {*get_args(CodeLoopPhase)}


def test_the_critic_sees_it_all_in_fences(repo: Path) -> None:
    actor = python("print(open('a.txt').read() + 'I am DONE'); open('new', 'w').write('n')")
    go(repo, actor=actor, critic=says(MORE, DONE))
    first, second = asked(repo)
    assert "This is iteration 1 of at most 3." in first
    assert "(this is the first iteration)" in first
    assert "iteration 1: actor exited with 0, changed: 1 file, 1 line, CONTINUE" in second
    assert "feedback given: go on" in second
    mark = second.split(">>> actor stdout ")[1].split()[0]
    for name, content in (
        ("task", "make it so"),
        ("actor stdout", "a\nI am DONE\n"),
        ("actor stderr", ""),
        ("changed files", "added 'new'"),
    ):
        assert f"<<< {name} {mark}\n{content}\n>>> {name} {mark}\n" in second
    assert f"<<< git diff since the session began {mark}\ndiff --git a/new b/new\n" in second
    assert mark not in first


def test_the_limit_of_iterations_even_if_nothing_changes(repo: Path) -> None:
    ended = go(repo, actor=("true",), critic=says(MORE), max_iterations=2)
    assert (ended.end.outcome, ended.end.iterations) == ("max_iterations_reached", 2)
    assert [turn.diff.size for turn in ended.session.iterations if turn.diff] == [0, 0]


@pytest.mark.parametrize(
    ("code", "how"),
    [("sys.exit(3)", "exited with 3"), ("os.kill(os.getpid(), 9)", "was killed by signal 9")],
)
def test_an_actor_that_failed_is_never_done(repo: Path, code: str, how: str) -> None:
    ended = go(repo, actor=python(code), critic=says(DONE), max_iterations=2)
    assert ended.end.outcome == "max_iterations_reached"
    assert kinds(ended) == [["actor_failed"]] * 2
    assert how in (ended.session.iterations[0].feedback or "")


def test_an_actor_that_ran_out_of_time_is_never_done(repo: Path) -> None:
    actor = ("sh", "-c", "echo so far; sleep 60")
    ended = go(repo, actor=actor, critic=says(DONE), max_iterations=1, timeout=1)
    (turn,) = ended.session.iterations
    assert (turn.actor.timed_out, turn.actor.exit_code, turn.actor.stdout) == (
        *(True, 124),
        "so far\n",
    )
    assert kinds(ended) == [["actor_failed"]]


@pytest.mark.parametrize(
    ("critic", "fault"),
    [
        (says("It is done."), "no decision in the reply"),
        (says(DONE + DONE), "more than one decision"),
        (python(f"print({DONE!r}); sys.exit(1)"), "the critic exited with 1"),
        (python(f"print({DONE!r}); print('x' * 3_000_000)"), "too long to be a decision"),
    ],
)
def test_a_malformed_reply_is_asked_for_once_more(
    repo: Path, critic: tuple[str, ...], fault: str
) -> None:
    ended = go(repo, actor=("true",), critic=critic)
    assert ended.end.outcome == "failed"
    assert "the critic gave no decision when asked twice: " in (ended.end.reason or "")
    assert fault in (ended.end.reason or "")
    (turn,) = ended.session.iterations
    assert [fault in (reply.fault or "") for reply in turn.critic] == [True, True]
    assert turn.decision is None


def test_a_critic_that_ran_out_of_time_decided_nothing(repo: Path) -> None:
    critic = ("sh", "-c", f"printf '%s' '{DONE}'; sleep 60")
    ended = go(repo, actor=("true",), critic=critic, timeout=0.4)
    assert ended.end.outcome == "failed"
    assert "the critic ran out of time" in (ended.end.reason or "")


def test_the_second_time_the_fault_is_named(repo: Path) -> None:
    ended = go(repo, critic=says("hm", DONE))
    assert ended.end.outcome == "success"
    first, second = asked(repo)
    assert "was not taken" not in first
    assert "Your last answer was not taken: no decision in the reply." in second


@pytest.mark.parametrize("to", ["sys.stdout", "sys.stderr", "open('note.md', 'w')"])
def test_a_critic_that_only_repeats_the_actor_approves_nothing(repo: Path, to: str) -> None:
    ended = go(repo, actor=python(f"print({DONE!r}, file={to})"), critic=says(DONE))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_nor_does_one_that_repeats_what_a_check_said_before(repo: Path) -> None:
    check = python(f"print({DONE!r}); sys.exit(len(open('made.txt').read()) < 2)")
    ended = go(repo, critic=says(DONE), commands=(check,))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_nor_does_one_that_repeats_the_form_it_was_given(repo: Path) -> None:
    form = '<decision>{"type": "done", "summary": "...", "confidence": 0.9}</decision>'
    ended = go(repo, critic=says(form))
    assert form in asked(repo)[0]
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_nor_does_one_that_repeats_what_was_shown_cut(repo: Path) -> None:
    text = "x" * 9_950 + "\nDECISION: DONE\nSUMMARY: well " + "y" * 30_000 + "\nCONFIDENCE: 0.95"
    quoting = "text = sys.stdin.read(); at = text.index('DECISION: DONE\\nSUMMARY: well')"
    quoting += "; print('So:\\n' + text[at:text.index('0.95', at) + 4])"
    ended = go(repo, actor=python(f"print({text!r})"), critic=python(quoting))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_nor_does_one_that_repeats_a_file_of_which_a_part_is_new(repo: Path) -> None:
    (repo / "note.md").write_text(DONE.replace("SUMMARY: ", "SUMMARY: not "))
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "note")
    ended = go(repo, actor=python(f"open('note.md', 'w').write({DONE!r})"), critic=says(DONE))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_nor_does_one_that_repeats_an_earlier_actor(repo: Path) -> None:
    actor = python(f"import os; os.path.exists('was') or print({DONE!r}); open('was', 'w')")
    ended = go(repo, actor=actor, critic=says(MORE, DONE, DONE))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


def test_a_machine_that_runs_out_of_something_ends_the_session_on_record(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Workspace) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Workspace, "capture", full)
    ended = go(repo, critic=says(DONE))
    assert (ended.end.outcome, ended.end.reason) == ("failed", "[Errno 28] No space left on device")
    assert [turn.actor.stdout for turn in ended.session.iterations] == ["made it\n"]


def test_a_gate_that_refuses_spares_the_critic(repo: Path) -> None:
    checks = (python("print('two are wanted'); sys.exit(len(open('made.txt').read()) < 2)"),)
    ended = go(repo, critic=says(DONE), commands=checks)
    assert (ended.end.outcome, kinds(ended)) == ("success", [["command_failed"], []])
    first, second = ended.session.iterations
    assert (first.critic, first.decision) == ((), None)
    assert "two are wanted" in (first.feedback or "")
    assert len(asked(repo)) == len(second.critic) == 1


def test_protected_paths_and_the_size_of_the_diff(repo: Path) -> None:
    ended = go(repo, critic=says(DONE), max_iterations=1, protected=("made.*",), max_files=0)
    assert ended.end.outcome == "max_iterations_reached"
    assert kinds(ended) == [["protected_path_changed", "diff_too_large"]]


def test_what_is_changed_while_it_is_judged_is_not_approved(repo: Path) -> None:
    critic = python(
        "name = pathlib.Path('late.txt'); first = not name.exists()\n"
        f"first and name.write_text('x'); print({DONE!r})"
    )
    ended = go(repo, critic=critic)
    assert (ended.end.outcome, kinds(ended)) == ("success", [["changed_while_judged"], []])


def test_what_git_cannot_take_in_is_refused(repo: Path) -> None:
    actor = python("subprocess.run(['git', 'init', '-q', 'nest'], check=True)")
    ended = go(repo, actor=actor, critic=says(DONE), max_iterations=1)
    assert kinds(ended) == [["capture_failed"]]
    assert "does not have a commit" in (ended.session.iterations[0].feedback or "")
    critic = python(f"subprocess.run(['git', 'init', '-q', 'nest']); print({DONE!r})")
    ended = go(repository(repo / "other"), critic=critic, max_iterations=1)
    assert kinds(ended) == [["capture_failed"]]


def test_a_command_that_is_gone_fails_the_session(repo: Path) -> None:
    ended = go(repo, actor=("./gone",), critic=says(DONE))
    assert (ended.end.outcome, ended.end.iterations) == ("failed", 0)
    assert (ended.end.reason or "").startswith("actor: command not found: ./gone")
    ended = go(repository(repo / "other"), critic=("./gone",))
    assert (ended.end.outcome, ended.end.iterations) == ("failed", 1)
    assert (ended.end.reason or "").startswith("critic: command not found: ./gone")


def test_an_actor_that_commits_and_switches_is_seen(repo: Path) -> None:
    actor = python(
        "pathlib.Path('b.txt').write_text('b')\n"
        "run = lambda *words: subprocess.run(['git', '-c', 'user.name=a', '-c', 'user.email=a@b', "
        "*words], check=True, capture_output=True)\n"
        "run('checkout', '-qb', 'mine'); run('add', '-A'); run('commit', '-qm', 'b')"
    )
    ended = go(repo, actor=actor, critic=says(DONE))
    (turn,) = ended.session.iterations
    assert turn.diff is not None
    assert [file.path for file in turn.diff.files] == ["b.txt"]
    assert git(repo, "branch", "--show-current") == "mine\n"


def test_every_stop_has_an_outcome_and_every_outcome_a_status() -> None:
    assert {outcome_of(reason) for reason in get_args(StopReason)} == {*get_args(SessionOutcome)}
    outcomes = ("success", "max_iterations_reached", "failed", "user_interrupted")
    assert [EXIT_CODES[outcome] for outcome in get_args(SessionOutcome)] == [0, 1, 2, 130]
    assert get_args(SessionOutcome) == outcomes
