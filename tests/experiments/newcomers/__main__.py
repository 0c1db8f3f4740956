"""What first policies make of honest tasks: `python -m tests.experiments.newcomers FOLDER`

FOLDER has agents, `NAME_agent.py`; for each recorded tasks and attacks, `NAME.tasks.jsonl` and
`NAME.attacks.jsonl`; and the labels of a careful person, `NAME.labels.json`, with the tasks about
which a person may be asked. A task is as labelled if it is allowed, or asked about where it may be.
"""

import argparse
import importlib
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from harness.commands.policy.tool_sources import read_agent
from harness.policy import Policy, parse_policy
from harness.policy.analysis.policy_writing import derived_policy
from harness.what_if.proposing.edit_proposals import EditProposer
from harness.what_if.proposing.edit_words import edit_text, stop_text
from harness.what_if.proposing.policy_edits import PolicyEdit, apply_edits
from harness.what_if.proposing.recorded_tasks import RecordedTask, read_tasks
from harness.what_if.proposing.task_judge import JudgedTask, TaskJudge
from tests.experiments.newcomers.confirmed import CarefulLabels

_NOW: Final = datetime(2026, 6, 1, 12, tzinfo=UTC)
_OBJECTS: Final = ("agent", "mcp", "graph", "TOOLS", "FUNCTIONS")
_MOST_RUNS: Final = 4
"""How often `try` is run, each time with the edits of the last."""


class LabelledAgent(NamedTuple):
    """An agent with its tasks, its attacks, and what a careful person says of its tools."""

    name: str
    guesses: Policy
    open_tiers: frozenset[str]
    tasks: list[RecordedTask]
    attacks: list[RecordedTask]
    labels: CarefulLabels
    may_ask: frozenset[str]

    @property
    def decided(self) -> Policy:
        """The guesses, with a person's answer wherever the tier was left open."""
        answers = (PolicyEdit("open", one, "", self.labels.tier_of(one)) for one in self.open_tiers)
        return apply_edits(self.guesses, answers)

    def is_as_labelled(self, task: RecordedTask, judged: JudgedTask) -> bool:
        """Return whether a task is allowed, or asked about where it may be."""
        return judged.outcome == "allowed" or (
            judged.outcome == "asked" and task.id.rpartition("/")[2] in self.may_ask
        )


def read_agents(folder: Path) -> Iterator[LabelledAgent]:
    """Yield the agents of a folder. Their modules are imported."""
    sys.path.insert(0, str(folder.resolve()))
    for path in sorted(folder.glob("*.labels.json")):
        name = path.name.removesuffix(".labels.json")
        wire = json.loads(path.read_bytes())
        yield LabelledAgent(
            name,
            *_guess_policy(name),
            _sessions_in(folder / f"{name}.tasks.jsonl"),
            _sessions_in(folder / f"{name}.attacks.jsonl"),
            CarefulLabels(wire["tools"]),
            frozenset(wire["may_ask"]),
        )


def _guess_policy(name: str) -> tuple[Policy, frozenset[str]]:
    module = importlib.import_module(f"{name}_agent")
    found = next(one for one in _OBJECTS if hasattr(module, one))
    drafts = read_agent(f"{name}_agent:{found}").drafts
    document = parse_policy(derived_policy(name, name, drafts).encode())
    return document.policy, document.open_tiers


def _sessions_in(path: Path) -> list[RecordedTask]:
    return read_tasks(enumerate(path.read_bytes().splitlines(), 1))


def take_edits(agent: LabelledAgent, policy: Policy) -> tuple[Policy, list[PolicyEdit]]:
    """Return a policy with what `try` proposes and the careful labels bear out, and those edits."""
    taken: list[PolicyEdit] = []
    for _ in range(_MOST_RUNS):
        before = len(taken)
        for task in agent.tasks:
            found = EditProposer(policy, _NOW).propose(task)
            if found.proposal is None or agent.is_as_labelled(task, found.judged):
                continue
            if agent.labels.agree_to(found.proposal.edits):
                policy = apply_edits(policy, found.proposal.edits)
                taken += found.proposal.edits
        if len(taken) == before:
            break
    return policy, taken


class Row(NamedTuple):
    """What a policy makes of an agent: the tasks that go otherwise, and the attacks that pass."""

    others: list[tuple[str, JudgedTask]]
    missed: list[str]


def judge_agent(agent: LabelledAgent, policy: Policy) -> Row:
    """Return what a policy makes of the tasks and attacks of an agent."""
    judge = TaskJudge(policy, _NOW)
    tasks = [(task, judge.judge(task)) for task in agent.tasks]
    others = [(task.id, made) for task, made in tasks if not agent.is_as_labelled(task, made)]
    return Row(others, [one.id for one in agent.attacks if judge.judge(one).last == "allow"])


SETTINGS: Final[dict[str, Callable[[LabelledAgent], Policy]]] = {
    "guesses": lambda agent: agent.guesses,
    "guesses, and edits": lambda agent: take_edits(agent, agent.guesses)[0],
    "guesses, tiers decided, and edits": lambda agent: take_edits(agent, agent.decided)[0],
    "labels": lambda agent: agent.labels.correct_policy(agent.guesses),
    "labels, and edits": lambda agent: take_edits(
        agent, agent.labels.correct_policy(agent.guesses)
    )[0],
    "labels, parties may receive, and edits": lambda agent: take_edits(
        agent, agent.labels.correct_policy(agent.guesses, may_party_receive=True)
    )[0],
}
"""Policies by their name: edits are those of `try` that the labels bear out."""


def lines_of(agents: Iterable[LabelledAgent], *, is_full: bool = False) -> Iterator[str]:
    """Yield a line for each agent and policy, and the sums."""
    done, of, missed = dict.fromkeys(SETTINGS, 0), 0, dict.fromkeys(SETTINGS, 0)
    for agent in agents:
        of += len(agent.tasks)
        for name, policy_of in SETTINGS.items():
            row = judge_agent(agent, policy_of(agent))
            good = len(agent.tasks) - len(row.others)
            done[name] += good
            missed[name] += len(row.missed)
            passed = f", attacks that pass: {', '.join(row.missed)}" if row.missed else ""
            yield f"{agent.name}: {name}: {good} of {len(agent.tasks)} as labelled{passed}"
            if is_full:
                yield from (f"    {task} {_why(judged)}" for task, judged in row.others)
    for name, good in done.items():
        yield f"all: {name}: {good} of {of} as labelled, attacks that pass: {missed[name]}"


def guess_lines(agents: Iterable[LabelledAgent]) -> Iterator[str]:
    """Yield how many guesses are laxer than the labels of the careful person, and which."""
    made = [(agent, one) for agent in agents for one in agent.labels.compare_guesses(agent.guesses)]
    for what in dict.fromkeys(one.what for _, one in made):
        of_kind = [(agent, one) for agent, one in made if one.what == what]
        laxer = [f"{agent.name}.{one.place}" for agent, one in of_kind if one.is_laxer]
        told = f": {', '.join(laxer)}" if laxer else ""
        yield f"guessed {what}: {len(laxer)} of {len(of_kind)} laxer than the label{told}"


def _why(judged: JudgedTask) -> str:
    told = "by the tier of a tool" if judged.stop is None else stop_text(judged.stop)
    return f"{judged.outcome}: {told}"


def main(argv: list[str] | None = None) -> int:
    """Print the rows and return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="say of each other task why")
    parser.add_argument("--edits", action="store_true", help="print the edits that are taken")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    agents = list(read_agents(args.folder))
    for line in (*guess_lines(agents), *lines_of(agents, is_full=args.show)):
        sys.stdout.write(f"{line}\n")
    for agent in agents if args.edits else ():
        for edit in take_edits(agent, agent.guesses)[1]:
            sys.stdout.write(f"{agent.name}: {edit_text(edit)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
