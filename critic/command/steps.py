"""Read a command line into steps: one for each thing that it does, with its effect and its tier.

Rule 1: the effects are closed. One command gives one step for each of its effects.
Rule 2: what is not understood is one step for the whole line, `unknown`, of the tier `destructive`.
Rule 3: a step that reaches the network names each step whose confidential data may get there. So
        does one of a line that is not understood because its words may split: whatever they become.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from critic.command.command_table import CommandTable
from critic.command.data_edges import DataEdges
from critic.command.deeds import Deed
from critic.command.line_walk import walk_line
from critic.command.path_effects import TIERS, PathEffects, ShellEffect
from critic.command.place_names import GuardedNames
from critic.command.shell_facts import FactNeeds, KnownFacts, ShellFacts, is_below
from critic.command.shell_syntax import MaySplit, NotUnderstood
from evals.capability import Role
from evals.escaping import escape_line
from evals.kinds import ApprovalMode

_PATH_ROLES: Final[Mapping[ShellEffect, Role]] = MappingProxyType(
    {"read": "locator", "list": "locator", "write": "locator"}
)
RUN_KINDS: Final = ("test", "build", "lint", "format", "start")
"""What code of the repository is run for; any other is the script of its name."""

_SETS: Final = ("export", "set")
_BY_LINE: Final = ("run", "install", "fetch", "send")
"""The effects that depend on more than their own words."""

_CONFIDENTIAL: Final = ("read_secret", "read_outside")
_LONGEST_TEXT: Final = 200
_OUTSIDE: Final = ", outside the project"


class StepArgument(NamedTuple):
    """An argument of a step, with the role that the ordinary checks judge it by."""

    name: Literal["path", "host", "script", "package", "command", "folder"]
    role: Role
    values: tuple[str, ...]


class ShellStep(NamedTuple):
    """One thing that a command does.

    `text` is the command as written; `words` are its words as its program gets them, none where
    some are not known. `why` says in words what the step does. `kinds`: for `run`, its name and the
    words of a request that ask for it. `carries`: the numbers, from 0, of the steps whose
    confidential data may reach the network with this one. `folders`: where it may run. `line`: the
    whole line, where others of its commands decide what the step does: by what they feed it, write
    for it, or set.
    """

    effect: ShellEffect
    tier: ApprovalMode
    program: str
    text: str
    why: str
    args: tuple[StepArgument, ...] = ()
    kinds: tuple[str, ...] = ()
    carries: tuple[int, ...] = ()
    folders: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    line: str = ""

    @property
    def name(self) -> str:
        """The name of the step's tool: `run.test`, `read`."""
        if self.effect != "run":
            return self.effect
        return f"run.{next((kind for kind in self.kinds if kind in RUN_KINDS), 'script')}"

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of an argument, none if it has no such argument."""
        return tuple(value for arg in self.args if arg.name == name for value in arg.values)


@dataclass(frozen=True, slots=True)
class CommandSteps:
    """The steps of a line, and the facts to ask for before it can be understood."""

    steps: tuple[ShellStep, ...]
    needs: FactNeeds

    @property
    def is_understood(self) -> bool:
        """Whether each part of the line was understood."""
        return self.steps[0].effect != "unknown"


def read_steps(text: str, facts: ShellFacts, table: CommandTable) -> CommandSteps:
    """Return the steps of a command line, at least one; never raises, whatever the text is.

    The line is understood only once no fact is missing: ask for `needs`, and read it again.
    """
    known = KnownFacts(facts)
    try:
        deeds = walk_line(text, known, table)
    except NotUnderstood as fault:
        leaking = _read_leak(text, known, table) if isinstance(fault, MaySplit) else ()
        return CommandSteps(leaking or (_unknown_step(text, fault.construct),), known.needs)
    if known.needs:
        return CommandSteps((_unknown_step(text, f"not known: {known.needs}"),), known.needs)
    return CommandSteps(tuple(_Steps(text, facts, table.names).read(deeds)), known.needs)


def _read_leak(text: str, known: KnownFacts, table: CommandTable) -> tuple[ShellStep, ...]:
    """Return the steps of a line as if none of its words split, if one of them leaks a secret."""
    try:
        deeds = walk_line(text, known, table, splits=False)
    except NotUnderstood:
        return ()
    steps = () if known.needs else tuple(_Steps(text, known.given, table.names).read(deeds))
    return steps if any(step.carries for step in steps) else ()


def unknown_steps(text: str, construct: str) -> CommandSteps:
    """Return the one step of a line that is not understood."""
    return CommandSteps((_unknown_step(text, construct),), FactNeeds())


def read_deeds(text: str, facts: ShellFacts, table: CommandTable) -> tuple[Deed, ...]:
    """Return what each command of a line does, for those who compare it with what happens.

    Raises:
        NotUnderstood: the line is not understood.
    """
    return tuple(walk_line(text, KnownFacts(facts), table))


def _unknown_step(text: str, construct: str) -> ShellStep:
    command = StepArgument("command", "content", (text,))
    return ShellStep(
        effect="unknown",
        tier=TIERS["unknown"],
        program="",
        text=text,
        why=f"not understood: {escape_line(construct[:_LONGEST_TEXT])}",
        args=(command,),
    )


class _Steps:
    """What turns deeds into steps."""

    def __init__(self, line: str, facts: ShellFacts, names: GuardedNames) -> None:
        self._line: Final = line
        self._effects: Final = PathEffects(facts, names)
        self._root: Final = facts.root

    def read(self, deeds: list[Deed]) -> Iterator[ShellStep]:
        """Yield the steps of the deeds, in order."""
        by_deed = [list(self._steps_of(deed)) for deed in deeds]
        confidential, first = list[list[int]](), 0
        for steps in by_deed:
            places = (place for place, step in enumerate(steps, first) if _is_confidential(step))
            confidential.append(list(places))
            first += len(steps)
        edges, is_set = DataEdges(deeds), False
        for number, steps in enumerate(by_deed):
            deed = deeds[number]
            is_set = is_set or deed.program in _SETS or (deed.assigns and not deed.program)
            for step in steps:
                if step.effect not in _BY_LINE:
                    yield step
                    continue
                reached = edges.reach(number)
                fed = any(_decides(deeds[one]) for one in reached - {number})
                line = self._line if fed or is_set or deed.assigns else ""
                carried = sorted(place for one in reached for place in confidential[one])
                sends = step.effect in ("fetch", "send")
                yield step._replace(line=line, carries=tuple(carried) if sends else ())

    def _steps_of(self, deed: Deed) -> Iterator[ShellStep]:
        by_effect: dict[ShellEffect, list[str]] = {}
        for effect, path in self._effects.of_deed(deed):
            by_effect.setdefault(effect, []).append(path)
        for effect, paths in by_effect.items():
            shown = tuple(dict.fromkeys(paths))
            argument = StepArgument("path", _PATH_ROLES.get(effect, "object"), shown)
            inside = effect != "delete" or all(is_below(path, self._root) for path in shown)
            yield self._step(deed, effect, (argument,), where="" if inside else _OUTSIDE)
        yield from self._own_steps(deed)
        if not by_effect and not deed.does and not deed.wraps:
            yield self._step(deed, "list", (), why="changes nothing")

    def _own_steps(self, deed: Deed) -> Iterator[ShellStep]:
        for effect, why in deed.does.items():
            if effect == "run":
                paths = tuple(dict.fromkeys(path.shown for path in deed.scripts))
                args = (StepArgument("script", "object", paths),)
                for kinds in deed.run_kinds or [("run",)]:
                    yield self._step(deed, "run", args, why=why, kinds=kinds)
            else:
                yield self._step(deed, effect, _own_arguments(deed, effect), why=why)

    def _step(
        self,
        deed: Deed,
        effect: ShellEffect,
        args: tuple[StepArgument, ...],
        *,
        why: str = "",
        where: str = "",
        kinds: tuple[str, ...] = (),
    ) -> ShellStep:
        said = (why or deed.note) if effect in deed.does or not args else ""
        return ShellStep(
            effect=effect,
            tier=TIERS[effect],
            program=deed.program,
            text=deed.text,
            folders=deed.folders,
            words=_exact_words(deed),
            why=escape_line((said or _words(effect, args))[:_LONGEST_TEXT]) + where,
            args=args,
            kinds=kinds,
        )


def _decides(deed: Deed) -> bool:
    """Return whether what a deed hands on is more than the output of others that is redirected."""
    return bool(deed.program or deed.reads or deed.feeds)


def _exact_words(deed: Deed) -> tuple[str, ...]:
    words = tuple(None if word is None else word.exact for word in deed.argv)
    known = tuple(word for word in words if word is not None)
    return known if len(known) == len(words) else ()


def _own_arguments(deed: Deed, effect: ShellEffect) -> tuple[StepArgument, ...]:
    hosts = tuple(dict.fromkeys(deed.hosts))
    match effect:
        case "fetch":
            return (StepArgument("host", "locator", hosts),)
        case "send":
            content = StepArgument("command", "content", (deed.text,))
            return StepArgument("host", "recipient", hosts), content
        case "install":
            return (StepArgument("package", "object", tuple(deed.packages)),)
        case _:
            return (StepArgument("command", "content", (deed.text,)),)


def _words(effect: ShellEffect, args: tuple[StepArgument, ...]) -> str:
    values = ", ".join(value for arg in args for value in arg.values if arg.name != "command")
    return f"{_VERBS[effect]} {values}" if values else _VERBS[effect].rstrip(":")


_VERBS: Final[Mapping[ShellEffect, str]] = MappingProxyType(
    {
        "read": "reads",
        "list": "lists",
        "read_outside": "reads outside the project:",
        "read_secret": "reads what has the name of a secret:",
        "write": "writes",
        "write_outside": "writes outside the project, or under names that are not known:",
        "write_protected": "writes what no step may write:",
        "commit": "changes the repository, and can be undone",
        "delete": "deletes",
        "delete_made": "deletes what is made again:",
        "discard": "throws work away",
        "fetch": "reads from",
        "send": "sends to",
        "run": "runs code of the project:",
        "install": "installs",
        "system": "changes the system",
        "unknown": "does what is not understood",
    }
)


def _is_confidential(step: ShellStep) -> bool:
    return step.effect in _CONFIDENTIAL
