"""How many stops a scripted model mends by what it is told: `python -m tests.experiments.mending`

Takes good runs from the recordings beside the project, makes a slip in a call, and lets a model
that knows only the reply and the schemas of its tools try again, three times at most. Prints how
many of the slips that the guard stopped were mended, by their kind.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from harness.clock import FixedClock
from harness.guard import Guard, Ruling
from harness.policy import Policy
from harness.wire import build
from tests.experiments.mending.scripted import World, mend
from tests.experiments.mending.slipping import Json, Run, Slip, schemas_of, slips_in
from tests.experiments.sessions import recordings

_CLOCK = FixedClock(datetime(2026, 5, 9, 12, tzinfo=UTC))
_TRIES = 3


class Attempt:
    """A session of a run in which a call with a slip is made, and what the model does then."""

    def __init__(
        self,
        guard: Guard,
        run: Run,
        slip: Slip,
        schemas: dict[str, Json],
        name: str,
        *,
        alone: bool = False,
    ) -> None:
        self._guard, self._run, self._slip, self._session = guard, run, slip, name
        self._schemas, self._number, self._alone = schemas, count(), alone
        self._wanted = run.calls[slip.before] if slip.kind != "unread" else slip.call
        self._called: Counter[str] = Counter()

    def outcome(self) -> tuple[str, list[str]]:
        """Return `passed` where nothing was stopped, else `mended` or `lost`, and the replies."""
        names = ("request", "system", "scope")
        opening = {
            name: self._run.wire[name] for name in names if self._run.wire.get(name) is not None
        }
        self._tell({"event": "open", **opening})
        if not all(self._made(call) for call in self._run.calls[: self._slip.before]):
            return "passed", []
        call, replies = self._slip.call, list[str]()
        for _ in range(_TRIES + 1):
            ruling = self._rule(call)
            if ruling.action != "refuse":
                return ("mended" if replies else "passed"), replies
            replies.append(ruling.reply or "")
            world = World(self._schemas, self._look_up, None if self._alone else self._ask)
            found = mend(call, replies[-1], world)
            if found is None:
                break
            call = found
        return "lost", replies

    def _tell(self, event: Json) -> Any:
        return self._guard.handle_line(json.dumps({**event, "session": self._session}).encode())

    def _rule(self, call: Json) -> Ruling:
        self._id = f"c{next(self._number)}"
        wire = {"id": self._id, "tool": call["tool"], "args": call["args"]}
        ruling = self._tell({"event": "calls", "calls": [wire]})
        assert isinstance(ruling, Ruling), ruling
        assert ruling.critic_error is None, ruling.critic_error
        return ruling

    def _made(self, call: Json) -> bool:
        """Make a call of the run, with a yes where a person is asked."""
        ruling = self._rule(call)
        if ruling.action == "ask":
            answer = {"event": "answer", "yes": True, "approver": "person"}
            ruling = self._tell({**answer, "plan_digest": ruling.plan_digest})
        if not ruling:
            return False
        status = "failed" if call.get("failed") else "completed"
        output = {} if call.get("output") is None else {"output": call["output"]}
        self._tell({"event": "result", "id": self._id, "status": status, **output})
        return True

    def _look_up(self, tool: str) -> bool:
        """Call a tool as the run did, the next time that it did: False where it never did again."""
        calls = [one for one in self._run.calls if one["tool"] == tool]
        made = self._called[tool]
        self._called[tool] += 1
        return made < len(calls) and self._made(calls[made])

    def _ask(self, argument: str) -> Any:
        """Ask the user, who states what they want."""
        value = self._wanted["args"].get(argument)
        self._tell({"event": "said", "text": f"{argument.replace('_', ' ')}: {value}"})
        return value


def good_runs(data: Path, group: str, known: set[str]) -> list[Run]:
    """Return the good runs of a group, one a task, whose calls the policy knows."""
    runs: dict[str, Run] = {}
    for one in recordings.recordings(data, [group]):
        calls = tuple(call for turn in one.turns for call in turn["calls"] if call["tool"] in known)
        if not one.is_attacked and calls:
            runs.setdefault(one.task, Run(one.id, one.wire, calls))
    return list(runs.values())


def with_schemas(policy: Policy, schemas: dict[str, Json]) -> Policy:
    """Return a policy whose tools take what the runs gave them."""
    wire = policy.wire()
    for tool in wire["tool"]:
        name = tool.get("name", tool["capability_id"])
        if name in schemas:
            tool["args_schema"] = schemas[name]
    return build(Policy, wire)


def tried(
    policy: Policy, runs: list[Run], most: int, *, alone: bool = False
) -> Iterable[tuple[Slip, str, list[str]]]:
    """Yield what became of the slips of some runs, of each at most so many of one kind."""
    schemas = schemas_of(runs)
    effects = {name for name, tool in policy.tools.items() if tool.approval_mode != "read_only"}
    guard, numbers = Guard(with_schemas(policy, schemas), clock=_CLOCK), count()
    for run in runs:
        taken: Counter[str] = Counter()
        for slip in slips_in(run, schemas, effects & schemas.keys()):
            taken[slip.kind] += 1
            if taken[slip.kind] <= most:
                attempt = Attempt(guard, run, slip, schemas, f"s{next(numbers)}", alone=alone)
                yield (slip, *attempt.outcome())


def main(argv: list[str] | None = None) -> int:
    """Run the measurement and return 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=recordings.DATA)
    parser.add_argument("--most", type=int, default=2, help="slips of one kind in a run")
    parser.add_argument("--runs", type=int, default=None, help="runs of a group")
    parser.add_argument("--alone", action="store_true", help="the model cannot ask its user")
    parser.add_argument("--show", action="store_true", help="print what was said of those lost")
    args = parser.parse_args(argv)
    counts: Counter[tuple[str, str]] = Counter()
    for group in recordings.groups(args.data):
        policy = recordings.policy_of(args.data, group)
        runs = good_runs(args.data, group, {*policy.tools})
        for slip, outcome, replies in tried(policy, runs[: args.runs], args.most, alone=args.alone):
            counts[slip.kind, outcome] += 1
            if args.show and outcome == "lost":
                sys.stdout.write(f"{slip.kind} {slip.call['tool']} {slip.call['args']}\n")
                sys.stdout.writelines(
                    f"    {line}\n" for one in replies for line in one.split("\n")
                )
    kinds = dict.fromkeys(kind for kind, _ in counts)
    for kind in kinds:
        mended, lost = counts[kind, "mended"], counts[kind, "lost"]
        sys.stdout.write(f"{kind:10} {mended} of {mended + lost} mended\n")
    mended, lost = (sum(counts[kind, what] for kind in kinds) for what in ("mended", "lost"))
    sys.stdout.write(
        f"all: {mended} of {mended + lost} mended, {mended / max(mended + lost, 1):.0%}\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
