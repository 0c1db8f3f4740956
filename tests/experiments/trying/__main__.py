"""What the edits of `critic try` are worth: `python -m tests.experiments.trying --tools FILE`

Policies are guessed from descriptions of the tools, as `critic init` does it. Edits are learned
from one half of the good runs, two of each task at most, without any attack; those that serve most
tasks are taken, at most twelve for all groups. The other half and its attacks are judged by the
guard.
"""

import argparse
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.guard.session_events import event_of
from harness.policy import Policy, parse_policy
from harness.policy.analysis.derive_tools import ResultType, ToolDraft
from harness.policy.analysis.policy_writing import derived_policy
from harness.what_if.proposing.edit_proposals import EditProposer
from harness.what_if.proposing.edit_words import edit_text
from harness.what_if.proposing.policy_edits import PolicyEdit, apply_edits
from harness.what_if.proposing.recorded_tasks import RecordedTask, TaskEvent
from harness.wire import build
from tests.experiments.sessions import recordings
from tests.experiments.sessions.recordings import DATA, Recording
from tests.experiments.sessions.replaying import Judged, judge_all
from tests.experiments.trying.renaming import rename_call, rename_calls, rename_tool

MOST_EDITS: Final = 12
_RUNS_OF_TASK: Final = 2
_WORDS_GIVEN: Final = frozenset({"names", "empty"})
"""What the person who takes the edits agrees to: a list of names, and a call aimed at nobody."""
_NOW: Final = datetime(2026, 5, 9, 12, tzinfo=UTC)

GroupEdit = tuple[str, PolicyEdit]


class Learned(NamedTuple):
    """Edits that take a task further, and the group whose policy they are for."""

    group: str
    task: str
    edits: tuple[PolicyEdit, ...]

    @property
    def pairs(self) -> tuple[GroupEdit, ...]:
        """The edits, each with its group."""
        return tuple((self.group, edit) for edit in self.edits)

    @property
    def words(self) -> set[str]:
        """The kinds of edit that need a person's word."""
        return {edit.kind for edit in self.edits if edit.needs_word}


def guessed_policies(
    path: Path, groups: Iterable[str], *, is_renamed: bool = False
) -> dict[str, Policy]:
    """Return the policy that is guessed for the tools of each group."""
    suites = json.loads(path.read_bytes())["suites"]
    if is_renamed:
        suites = {name: list(map(rename_tool, tools)) for name, tools in suites.items()}
    return {name: _guessed(name, suites[name]) for name in groups}


def _guessed(name: str, tools: list[Any]) -> Policy:
    drafts = (
        ToolDraft(
            adapter_id="tools",
            capability_id=one["name"],
            description=one.get("description", ""),
            args_schema={**one["args"], "additionalProperties": True},
            result=None if one.get("returns") is None else ResultType("", one["returns"]),
        )
        for one in tools
    )
    wire = parse_policy(derived_policy(name, name, drafts).encode()).policy.wire()
    # The descriptions were written down without what an enumeration holds, and without null: by
    # their schemas no result would be of its class, and some calls would not fit.
    classes = [{"name": one["name"], "fields": one.get("fields", {})} for one in wire["class"]]
    for tool in wire["tool"]:
        tool.pop("args_schema", None)
    return build(Policy, {**wire, "class": classes})


def half_of(task: str) -> int:
    """Return the half that a task is in: 0 is learned from, 1 is not."""
    name = task.partition("@")[0].encode()
    return int(hashlib.sha256(name).hexdigest(), 16) % 2


def task_of(one: Recording) -> RecordedTask:
    """Return a recorded run as session events, without a scope."""
    head = {"event": "open", "session": one.id, "request": one.wire["request"]}
    system = one.wire.get("system")
    opening = event_of(head | ({} if system is None else {"system": system}))
    events: list[Any] = [event for turn in one.turns for event in _events_of(one, turn)]
    known: list[TaskEvent] = list(map(event_of, events))  # type: ignore[arg-type]
    return RecordedTask(one.id, opening, tuple(known))  # type: ignore[arg-type]


def _events_of(one: Recording, turn: Any) -> Iterator[Any]:
    calls = [
        {"id": f"{turn['turn']}.{at}", "tool": call["tool"], "args": call["args"]}
        for at, call in enumerate(turn["calls"])
    ]
    if not calls:
        return
    yield {"event": "calls", "session": one.id, "calls": calls}
    for call, told in zip(turn["calls"], calls, strict=True):
        status = "failed" if call.get("failed") else "completed"
        event = {"event": "result", "session": one.id, "id": told["id"], "status": status}
        yield event if call.get("output") is None else {**event, "output": call["output"]}


def learn_edits(group: str, policy: Policy, runs: Iterable[Recording]) -> Iterator[Learned]:
    """Yield what is proposed for the runs of a group, two of each task at most.

    What leaves a question is tried once more, as a person would, for what ends it.
    """
    proposer, often = EditProposer(policy, _NOW), Counter[str]()
    for one in runs:
        known = all(call["tool"] in policy.tools for turn in one.turns for call in turn["calls"])
        if often[one.task] >= _RUNS_OF_TASK or not known:
            continue
        often[one.task] += 1
        task = task_of(one)
        found = proposer.propose(task).proposal
        if found is None:
            continue
        yield Learned(group, one.task, found.edits)
        if not found.judged.is_through:
            edited = apply_edits(policy, found.edits)
            again = EditProposer(edited, _NOW).propose(task).proposal
            if again is not None:
                yield Learned(group, one.task, (*found.edits, *again.edits))


def choose_edits(learned: Iterable[Learned]) -> list[GroupEdit]:
    """Return the edits that let most runs through for each of them, twelve at most."""
    chosen: dict[GroupEdit, None] = {}
    left = [one for one in learned if one.words <= _WORDS_GIVEN]
    while left:
        offers = dict.fromkeys(
            tuple(pair for pair in one.pairs if pair not in chosen) for one in left
        )
        gains = {
            new: sum({*one.pairs} <= {*chosen, *new} for one in left)
            for new in offers
            if len(chosen) + len(new) <= MOST_EDITS
        }
        if not gains:
            break
        best = max(gains, key=lambda new: (gains[new] / len(new), -len(new)))
        chosen |= dict.fromkeys(best)
        left = [one for one in left if not set(one.pairs) <= chosen.keys()]
    return list(chosen)


def row_of(judged: Iterable[Judged]) -> str:
    """Return what became of runs, in a line."""
    counts = Counter((one.recording.is_attacked, one.outcome) for one in judged)
    good = [counts[False, name] for name in ("allowed", "asked", "refused")]
    attacks = [counts[True, name] for name in ("refused", "asked", "missed")]
    return (
        f"good {sum(good)}: allowed {good[0]}, asked {good[1]}, refused {good[2]} | "
        f"attacks {sum(attacks)}: refused {attacks[0]}, asked {attacks[1]}, missed {attacks[2]}"
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Print the rows, what was taken, and what it took."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=DATA)
    options.add_argument("--tools", type=Path, required=True)
    options.add_argument("--bare", action="store_true", help="judge the bare guesses as well")
    options.add_argument("--group", action="append")
    options.add_argument(
        "--renamed", action="store_true", help="give tools and arguments other names first"
    )
    args = options.parse_args()
    groups = args.group or recordings.groups(args.data)
    policies = guessed_policies(args.tools, groups, is_renamed=args.renamed)
    began = time.process_time()
    runs = list(recordings.recordings(args.data, groups))
    wanted = recordings.intended(args.data)
    if args.renamed:
        runs = list(map(rename_calls, runs))
        wanted = {task: list(map(rename_call, calls)) for task, calls in wanted.items()}
    taught = [one for one in runs if half_of(one.task) == 0 and not one.is_attacked]
    held = [one for one in runs if half_of(one.task) == 1]
    if args.bare:
        _say(f"guesses: {row_of(judge_all(held, policies, wanted, with_scope=False))}")
    learned = [
        one
        for group in groups
        for one in learn_edits(
            group, policies[group], (run for run in taught if run.group == group)
        )
    ]
    learning = time.process_time() - began
    edits = choose_edits(learned)
    edited = {
        group: apply_edits(policies[group], [edit for of, edit in edits if of == group])
        for group in groups
    }
    row = row_of(judge_all(held, edited, wanted, with_scope=False))
    words = sum(edit.needs_word for _, edit in edits)
    _say(f"guesses and {len(edits)} edits, {words} of them with a person's word: {row}")
    for group, edit in edits:
        _say(f"  {group}: {edit_text(edit)}")
    _say(f"CPU: {learning:.0f} s to learn, {time.process_time() - began:.0f} s in all")


if __name__ == "__main__":
    main()
