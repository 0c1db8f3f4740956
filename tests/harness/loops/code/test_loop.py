"""The loop as a whole: scripted agents in real repositories."""

import asyncio
import time
from pathlib import Path
from typing import get_args

import pytest

from harness.loops.code.session_lines import EXIT_CODES, SessionOutcome
from harness.loops.code.session_recorder import outcome_of
from harness.loops.code.workspace import Workspace
from harness.loops.revise import StopReason
from tests.harness.loops.code.scratch import (
    DONE,
    MORE,
    Ended,
    asked,
    git,
    lines_of,
    python,
    repository,
    run_loop,
    says,
)
from tests.support.effort import sampled_rows
from tests.support.examples import is_safe

ERROR = "DECISION: ERROR\nANALYSIS: it broke\nRECOVERY: fix it\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
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
    assert second.feedback == "it broke\n\nHow to recover: fix it"
    assert third.feedback is None
    assert [turn.decision.type for turn in (first, second, third) if turn.decision] == [
        *("continue", "error", "done")
    ]
    last = (repo / "got.txt").read_text()
    assert last.startswith("make it so\n")
    assert "it broke\n\nHow to recover: fix it" in last


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
    sampled_rows(
        [("os.kill(os.getpid(), 9)", "was killed by signal 9"), ("sys.exit(3)", "exited with 3")],
        one_in=2,
    ),
)
def test_an_actor_that_failed_is_never_done(repo: Path, code: str, how: str) -> None:
    ended = go(repo, actor=python(code), critic=says(DONE), max_iterations=2)
    assert ended.end.outcome == "max_iterations_reached"
    assert kinds(ended) == [["actor_failed"]] * 2
    assert how in (ended.session.iterations[0].feedback or "")


@pytest.mark.slow
def test_an_actor_that_ran_out_of_time_is_never_done(repo: Path) -> None:
    actor = ("sh", "-c", "echo so far; sleep 60")
    ended = go(repo, actor=actor, critic=says(DONE), max_iterations=1, timeout=1)
    (turn,) = ended.session.iterations
    assert (turn.actor.timed_out, turn.actor.exit_code, turn.actor.stdout) == (
        *(True, 124),
        "so far\n",
    )
    assert kinds(ended) == [["actor_failed"]]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("critic", "message"),
    [
        (says("It is done."), "no decision in the reply"),
        (says(DONE + DONE), "more than one decision"),
        (python(f"print({DONE!r}); sys.exit(1)"), "the critic exited with 1"),
        (python(f"print({DONE!r}); print('x' * 3_000_000)"), "too long to be a decision"),
    ],
)
def test_a_malformed_reply_is_asked_for_once_more(
    repo: Path, critic: tuple[str, ...], message: str
) -> None:
    ended = go(repo, actor=("true",), critic=critic)
    assert ended.end.outcome == "failed"
    assert "the critic gave no decision when asked twice: " in (ended.end.reason or "")
    assert message in (ended.end.reason or "")
    (turn,) = ended.session.iterations
    assert [message in (reply.fault or "") for reply in turn.critic] == [True, True]
    assert turn.decision is None


@pytest.mark.slow
def test_a_critic_that_ran_out_of_time_decided_nothing(repo: Path) -> None:
    critic = ("sh", "-c", f"printf '%s' '{DONE}'; sleep 60")
    ended = go(repo, actor=("true",), critic=critic, timeout=0.4)
    assert ended.end.outcome == "failed"
    assert "the critic ran out of time" in (ended.end.reason or "")


def test_the_second_time_the_error_is_named(repo: Path) -> None:
    ended = go(repo, critic=says("hm", DONE))
    assert ended.end.outcome == "success"
    first, second = asked(repo)
    assert "was rejected" not in first
    assert "Your last answer was rejected: no decision in the reply." in second


@pytest.mark.slow
@pytest.mark.parametrize("to", ["sys.stdout", "sys.stderr", "open('note.md', 'w')"])
def test_a_critic_that_only_repeats_the_actor_approves_nothing(repo: Path, to: str) -> None:
    ended = go(repo, actor=python(f"print({DONE!r}, file={to})"), critic=says(DONE))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


@pytest.mark.slow
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


@pytest.mark.slow
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
    ended = go(repository(repo.parent / "second" / "other"), critic=critic, max_iterations=1)
    assert kinds(ended) == [["capture_failed"]]


def test_a_command_that_is_gone_fails_the_session(repo: Path) -> None:
    ended = go(repo, actor=("./gone",), critic=says(DONE))
    assert (ended.end.outcome, ended.end.iterations) == ("failed", 1)
    assert (ended.end.reason or "").startswith("actor: command not found: ./gone")
    assert ended.session.iterations[0].actor.not_started
    ended = go(repository(repo.parent / "second" / "other"), critic=("./gone",))
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
    outcomes = (
        *("success", "max_iterations_reached", "time_limit_reached"),
        *("failed", "user_interrupted"),
    )
    assert [EXIT_CODES[outcome] for outcome in get_args(SessionOutcome)] == [0, 1, 1, 2, 130]
    assert get_args(SessionOutcome) == outcomes


# --- what is recorded and told, however it ends -----------------------------------------------


def test_the_events_of_a_session_come_in_order_with_number_and_time(repo: Path) -> None:
    ended = go(repo, critic=says("hm", MORE, DONE), commands=(("true",),))
    judged = ("critic_started", "critic_ended", "critic_replied")
    acted = ("actor_started", "actor_ended", "gate_command_ended", "diff_captured")
    assert ended.listener.kinds() == [
        "session_started",
        *(*acted, *judged, *judged, "decision"),
        *(*acted, *judged, "decision"),
        "session_ended",
    ]
    events = ended.listener.events
    assert [event.seq for event in events] == [*range(1, len(events) + 1)]
    times = [event.time for event in events]
    assert times == sorted(times)
    output = "".join(event.text for event in events if event.kind == "agent_output")
    assert output.startswith("made it\n")
    replied = [event for event in events if event.kind == "critic_replied"]
    assert [event.problem is None for event in replied] == [False, True, True]
    assert events[-1].end == ended.end
    assert events[-1].exit_code == 0


def test_refusals_are_events_too(repo: Path) -> None:
    ended = go(repo, critic=says(DONE), max_iterations=1, commands=(("false",),), max_files=0)
    (refused,) = [event for event in ended.listener.events if event.kind == "change_refused"]
    assert [refusal.kind for refusal in refused.refusals] == ["command_failed", "diff_too_large"]
    (check,) = [event for event in ended.listener.events if event.kind == "gate_command_ended"]
    assert (check.passed, check.command) == (False, ("false",))


def test_a_listener_that_fails_ends_the_notifications_and_not_the_session(repo: Path) -> None:
    class Broken:
        calls = 0

        def on_event(self, event: object) -> None:
            del event
            self.calls += 1
            raise RuntimeError("the display is gone")

    listener = Broken()
    assert go(repo, critic=says(DONE), listener=listener).end.outcome == "success"
    assert listener.calls == 1


def test_the_words_of_an_agent_that_failed_reach_the_person_but_no_critic(repo: Path) -> None:
    critic = python(
        "pathlib.Path('../prompts').open('a').write(sys.stdin.read())\n"
        "print('Not logged in \\x1b[31m: run /login'); sys.exit(1)"
    )
    ended = go(repo, critic=critic)
    assert ended.end.reason == (
        "the critic gave no decision when asked twice: the critic exited with 1: "
        "Not logged in \\u001b[31m: run /login"
    )
    assert "/login" not in (repo.parent / "prompts").read_text()
    ends = [event for event in ended.listener.events if event.kind == "agent_ended"]
    assert ends[-1].summary == "exited with 1: Not logged in \\u001b[31m: run /login"


def test_the_words_of_an_actor_that_failed_are_in_the_refusal(repo: Path) -> None:
    actor = python("print('no credit left', file=sys.stderr); sys.exit(2)")
    ended = go(repo, actor=actor, critic=says(DONE), max_iterations=1)
    assert "exited with 2: no credit left" in ended.session.iterations[0].refusals[0].reason


def test_output_and_diff_of_an_interrupted_actor_are_recorded(repo: Path) -> None:
    actor = python(
        "import time; open('half.txt', 'w').write('half'); print('so far', flush=True)\n"
        "print('aside', file=sys.stderr, flush=True); time.sleep(60)"
    )

    async def interrupt() -> Ended:
        task = asyncio.ensure_future(run_loop(repo, actor=actor, critic=says(DONE)))
        while not (repo / "half.txt").exists():
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        task.cancel()
        return await task

    ended = asyncio.run(interrupt())
    assert (ended.end.outcome, ended.end.iterations) == ("user_interrupted", 1)
    (turn,) = ended.session.iterations
    assert (turn.interrupted, turn.actor.interrupted, turn.actor.exit_code) == (True, True, 130)
    assert (turn.actor.stdout, turn.actor.stderr) == ("so far\n", "aside\n")
    assert turn.diff is not None
    assert "+half" in (turn.diff.text or "")
    assert ended.listener.kinds()[-2:] == ["actor_ended", "session_ended"]


@pytest.mark.slow
def test_an_interruption_during_a_capture_waits_for_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture, running = Workspace.capture, []

    def slow(workspace: Workspace) -> object:
        running.append(1)
        time.sleep(0.5)
        return capture(workspace)

    monkeypatch.setattr(Workspace, "capture", slow)

    async def interrupt() -> Ended:
        task = asyncio.ensure_future(run_loop(repo, critic=says(DONE)))
        while not running:
            await asyncio.sleep(0.01)
        task.cancel()
        return await task

    ended = asyncio.run(interrupt())
    assert (ended.end.outcome, len(running)) == ("user_interrupted", 1)
    assert ended.session.iterations[0].diff is not None


@pytest.mark.slow
def test_the_time_limit_ends_the_session_as_a_limit(repo: Path) -> None:
    actor = python("import time; print('so far', flush=True); time.sleep(60)")
    ended = go(repo, actor=actor, critic=says(DONE), time_limit=1.0)
    assert ended.end.outcome == "time_limit_reached"
    assert ended.end.reason == "the time limit of 1 s is over"
    (turn,) = ended.session.iterations
    assert (turn.interrupted, turn.actor.stdout) == (True, "so far\n")
    assert EXIT_CODES[ended.end.outcome] == 1


@pytest.mark.slow
@pytest.mark.parametrize("role", ["actor", "critic"])
def test_an_agent_that_timed_out_is_tried_again_and_both_runs_are_recorded(
    repo: Path, role: str
) -> None:
    answer = f"print({DONE!r})" if role == "critic" else "print('worked')"
    slow_once = python(
        "import time; place = pathlib.Path('../tried')\n"
        "if not place.exists(): place.touch(); print('slow', flush=True); time.sleep(60)\n" + answer
    )
    agents = {"actor": ("true",), "critic": says(DONE), role: slow_once}
    ended = go(repo, retries=1, timeout=1, **agents)
    assert ended.end.outcome == "success"
    (turn,) = ended.session.iterations
    (retried,) = turn.retried
    assert (retried.role, retried.run.timed_out, retried.run.stdout) == (role, True, "slow\n")
    starts = [event for event in ended.listener.events if event.kind == "agent_started"]
    assert [event.attempt for event in starts if event.role == role] == [1, 2]


def test_only_what_may_pass_is_tried_again_and_only_as_often_as_allowed(repo: Path) -> None:
    ended = go(repo, actor=("./gone",), critic=says(DONE), retries=2)
    assert ended.end.outcome == "failed"
    (turn,) = ended.session.iterations
    assert [retried.run.exit_code for retried in turn.retried] == [127, 127]
    assert turn.actor.not_started
    assert "command not found: ./gone" in turn.actor.stderr
    failing = repository(repo.parent / "second" / "other")
    ended = go(failing, actor=("false",), critic=says(DONE), retries=2, max_iterations=1)
    assert ended.session.iterations[0].retried == ()


def test_tokens_and_cost_that_agents_report_are_recorded_and_summed(repo: Path) -> None:
    def reports(reply: str) -> tuple[str, ...]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        value = {"type": "result", "result": reply, "usage": usage, "total_cost_usd": 0.5}
        return python(f"import json; print(json.dumps({value!r}))")

    ended = go(repo, actor=reports("worked"), critic=reports(DONE))
    assert (ended.end.outcome, ended.end.tokens, ended.end.cost_micros) == ("success", 30, 1000000)
    (turn,) = ended.session.iterations
    assert (turn.actor.tokens, turn.critic[0].cost_micros) == (15, 500000)
    ended = go(repository(repo.parent / "second" / "other"), actor=("true",), critic=reports(DONE))
    assert (ended.end.tokens, ended.end.cost_micros) == (None, None)


def test_a_decision_that_an_actor_wrote_into_its_json_reply_is_an_echo(repo: Path) -> None:
    value = {"type": "result", "result": DONE}
    actor = python(f"import json; print(json.dumps({value!r}))")
    ended = go(repo, actor=actor, critic=says(DONE))
    assert ended.end.outcome == "failed"
    assert "repeats word for word" in (ended.end.reason or "")


@pytest.mark.parametrize("error", [ValueError("odd \x1b value"), RuntimeError()])
def test_an_error_of_this_program_ends_the_session_on_record(
    repo: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(Workspace, "capture", fail)
    ended = go(repo, critic=says(DONE))
    assert ended.end.outcome == "failed"
    assert (ended.end.reason or "").startswith(f"internal error: {type(error).__name__}: ")
    assert is_safe(ended.end.reason or "")
    assert ended.session.iterations[0].actor.stdout == "made it\n"
    monkeypatch.undo()
    monkeypatch.setenv("XDG_DATA_HOME", str(repo.parent / "data"))
    monkeypatch.setattr("harness.loops.code.code_loop.CodeLoop._iterate", fail)
    assert (
        go(repository(repo.parent / "second" / "other"), critic=says(DONE)).end.outcome == "failed"
    )


def test_a_keyboard_interrupt_outside_of_the_loop_leaves_an_end_too(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.loops.code.code_loop.judge_change", interrupt)
    with pytest.raises(KeyboardInterrupt):
        go(repo, critic=says(DONE))
    (place,) = (repo.parent / "sessions").iterdir()
    kinds = [(entry["type"], entry.get("outcome")) for entry in lines_of(place)]
    assert kinds[1:] == [("iteration", None), ("session_end", "user_interrupted")]


def test_a_diff_too_large_to_keep_is_recorded_by_its_digest(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.loops.code.workspace.KEPT_DIFF_BYTES", 10)
    ended = go(repo, critic=says(DONE))
    assert ended.end.outcome == "success"
    diff = ended.session.iterations[0].diff
    assert diff is not None
    assert (diff.content(), diff.size > 10) == (None, True)
