"""A planner that errs, and fixes its plan by the advice. A model, not a measurement of one.

It has a passing plan in mind. Whenever it writes it down, it gets from none to four things wrong,
each number as likely, spread over the five refusal kinds (`tests.experiments.slips`). Half of what
it gets wrong in its steps are slips of the pen, which it sees when it looks there again; half are
mistakes: it believes what it wrote, so that looking again only makes it try something else. What it
gets wrong of the plan as a whole (its outputs, its trace) it always sees. Where a world gives no
occasion for a kind of error, it is one of another kind: few worlds have a tool above their mode.

What it is told decides where it looks, and what it tries:

    nothing     it writes the whole plan anew.
    kind        it looks again at three of the parts that such a refusal can be about, at random.
    violations  it looks again at every place that a violation names. Where a place leaves open
                which part is wrong (the evidence or the argument it backs?), it picks one; where
                only the plan is named (too long, too dear), it looks at three steps at random.
    repairs     it does what the repairs say. What only it can know (args to correct, a name that
                it misspelt) it writes as it was meant, and drops the step if it is mistaken there.

A mistake that it looks at again, it replaces by something that the manifest offers for that part:
any evidence, any tool. One in seven fixes fails and leaves things as they are; one in twenty
brings a new error in. If nothing has changed in the end, it writes the whole plan anew.
"""

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from random import Random
from typing import Any, Final, Literal, NamedTuple

from critic import Plan, RefusalKind, Repair, Violation
from harness.loops.plan_types import RevisionRequest
from harness.wire import build
from tests.experiments.slips import Draft, Line, World, differs, restore, slip
from tests.support.model.facts import Json

Level = Literal["nothing", "kind", "violations", "repairs"]
LEVELS: Final[tuple[Level, ...]] = ("nothing", "kind", "violations", "repairs")

MOST_SLIPS: Final = 4
LOOKS: Final = 3


class Nature(NamedTuple):
    """The chances in the model."""

    mistaken: float = 0.5
    fails: float = 1 / 7
    brings_a_fault: float = 1 / 20


PARTS_OF: Final[dict[RefusalKind, tuple[str, ...]]] = {
    "violates_decision_spec": ("tool", "args"),
    "approval_mode_mismatch": ("step",),
    "missing_evidence": ("evidence_refs", "args", "requires_evidence"),
    "loop_guard": ("depends_on", "id", "step"),
    "budget_exceeded": ("estimated_tokens",),
}
"""What a refusal can be about in a step; the first kind can be about the plan as well."""


class NoisyPlanner:
    """The planner of one trial. `first` draws its first draft, `then` all that follows."""

    def __init__(
        self, world: World, level: Level, nature: Nature, first: Random, then: Random
    ) -> None:
        self.world, self.level, self.nature = world, level, nature
        self.random = then
        self.slips: list[RefusalKind] = []
        self.draft = self._written(first)

    def plan(
        self, _ctx: Any, _compiled: Any, _spec: Any, request: RevisionRequest | None = None, /
    ) -> Plan:
        """Return the plan as written; fix it if it was refused."""
        if request is not None:
            before = self.draft.wire()
            self._revise(request)
            if self.draft.wire() == before:
                self.draft = self._written(self.random)
        return build(Plan, self.draft.wire())

    def kept(self) -> float:
        """Return how many of the intended steps are still there unchanged."""
        meant = [step for step in self.world.plan["steps"] if step["kind"] == "tool"]
        there = [
            line
            for line in self.draft.lines
            if line.meant is not None
            and line.meant["kind"] == "tool"
            and not differs(line, "tool")
            and not differs(line, "args")
        ]
        return len(there) / len(meant)

    def _written(self, random: Random) -> Draft:
        draft = self.world.clean()
        for _ in range(random.randint(0, MOST_SLIPS)):
            kind = slip(draft, self.world, random, self.nature.mistaken)
            self.slips += [kind] if kind is not None else []
        return draft

    def _revise(self, request: RevisionRequest) -> None:
        match self.level:
            case "nothing":
                self.draft = self._written(self.random)
            case "kind":
                self._look_somewhere(request.violations[0].kind)
            case "violations":
                self._look_there(request.violations)
            case "repairs":
                self._obey(request.advice.repairs if request.advice is not None else ())
        gone = [line for line in self.draft.lines if not line.step]
        names = {line.meant["id"] for line in gone if line.meant and "id" in line.meant}
        self.draft.lines = [line for line in self.draft.lines if line.step]
        for line in self.draft.lines:
            _untie(line, names)

    # Where to look.

    def _look_somewhere(self, kind: RefusalKind) -> None:
        looks: list[Callable[[], None]] = [
            partial(self._look, line, part) for line in self.draft.lines for part in PARTS_OF[kind]
        ]
        if kind == "violates_decision_spec":
            looks += [self._look_at_outputs, self._look_at_trace]
        self._some(looks)

    def _look_there(self, violations: Iterable[Violation]) -> None:
        for violation in {(one.kind, one.path): one for one in violations}.values():
            first, *rest = (violation.path or "").split("/")[1:]
            if first == "trace_id":
                self._look_at_trace()
            elif first == "declared_outputs":
                self._look_at_outputs()
                self._look_anywhere("tool")
            elif not rest:
                self._look_anywhere(_size_part(violation.kind))
            else:
                line = self.draft.lines[int(rest[0])]
                self._look(line, self.random.choice(_parts_at(violation, rest[1:2])))

    def _look_anywhere(self, part: str) -> None:
        self._some([partial(self._look, line, part) for line in self.draft.lines])

    def _some(self, looks: Sequence[Callable[[], None]]) -> None:
        for look in self.random.sample(looks, min(LOOKS, len(looks))):
            look()

    # What to do there.

    def _look(self, line: Line, part: str) -> None:
        """Look at a part again; if it is not as intended, fix it or try something else."""
        if not line.step:
            return
        wrong = differs(line, "step") or differs(line, part)
        if not wrong or not self._succeeds():
            return
        if line.meant is None:
            if "step" not in line.mistaken or self.random.random() < 1 / 2:
                line.step = {}
        elif part in line.mistaken:
            self._try_another(line, part)
        else:
            restore(line, part)

    def _try_another(self, line: Line, part: str) -> None:
        world, step = self.world, line.step
        if part == "evidence_refs" and world.refs:
            refs = [ref for ref in step.get(part, ()) if ref in world.refs]
            step[part] = list(dict.fromkeys([*refs, self.random.choice(world.refs)]))
        elif part == "tool":
            tool = self.random.choice(world.tools)
            step.update(adapter_id=tool.adapter_id, capability_id=tool.capability_id)
        elif part == "estimated_tokens":
            step[part] //= 2
        elif self.random.random() < 1 / 2:
            restore(line, part)

    def _look_at_outputs(self) -> None:
        declared = self.draft.others["declared_outputs"]
        missing = {*self.world.proposal.spec.required_outputs} - {*declared}
        if missing and self._succeeds():
            self.draft.others["declared_outputs"] = [*declared, *sorted(missing)]

    def _look_at_trace(self) -> None:
        if "trace_id" in self.draft.others and self._succeeds():
            self.draft.others["trace_id"] = self.world.proposal.ctx.trace_id

    def _succeeds(self) -> bool:
        """Return whether a fix succeeds; it may bring a new error."""
        if self.random.random() < self.nature.brings_a_fault:
            slip(self.draft, self.world, self.random, self.nature.mistaken)
        return self.random.random() >= self.nature.fails

    # What it is told to do.

    def _obey(self, repairs: Iterable[Repair]) -> None:
        lines = list(self.draft.lines)
        # Args that are wrong in several places are written anew once.
        once = {one.step if one.kind == "correct_args" else one: one for one in repairs}
        for repair in once.values():
            step = getattr(repair, "step", None)
            self._follow(repair, lines[-1 if step is None else step] if lines else None)

    def _follow(self, repair: Repair, line: Line | None) -> None:
        others = self.draft.others
        match repair.kind:
            case "drop_step" | "correct_args" if line is not None:
                self._rewrite(line, *(["args"] if repair.kind == "correct_args" else []), "tool")
            case "declare_output" if self._succeeds():
                others["declared_outputs"] = [*others["declared_outputs"], repair.output]
            case "set_trace" if self._succeeds():
                others["trace_id"] = repair.trace_id
            case "produce_output" if self._succeeds():
                self._reason()
            case "shorten" if self._succeeds():
                self._shorten(repair.steps)
            case "save_tokens":
                for at in repair.steps:
                    self._rewrite(self.draft.lines[at], "estimated_tokens")
            case _ if line is not None and line.step and self._succeeds():
                _edit(line.step, repair, self.random)
            case _:
                pass

    def _rewrite(self, line: Line, *parts: str) -> None:
        """Write what is wrong as it was meant; where nothing is, or by mistake, drop the step."""
        if not self._succeeds():
            return
        wrong = [part for part in parts if differs(line, part) and part not in line.mistaken]
        for part in wrong:
            restore(line, part)
        if not wrong or line.meant is None:
            line.step = {}

    def _reason(self) -> None:
        step = {"kind": "reason", "summary": "conclude"}
        if not any(line.step == step for line in self.draft.lines):
            self.draft.lines.append(Line(step, deepcopy(step)))

    def _shorten(self, count: int) -> None:
        spare = [line for line in self.draft.lines if line.step and line.meant is None]
        needed = [line for line in self.draft.lines if line.step and line.meant is not None]
        for line in [*reversed(needed), *reversed(spare)][-count:]:
            line.step = {}


def _size_part(kind: RefusalKind) -> str:
    """Return what to look at in a step when the plan as a whole is refused."""
    sizes = {"loop_guard": "step", "budget_exceeded": "estimated_tokens"}
    return sizes.get(kind, "evidence_refs")


def _parts_at(violation: Violation, named: list[str]) -> list[str]:
    """Return the parts of a step that a violation can be about."""
    if violation.check == "evidence":
        if named == ["args"]:
            return ["args", "evidence_refs"]
        return ["evidence_refs"] if named else ["evidence_refs", "requires_evidence"]
    if named:
        return named
    return ["tool"] if violation.check == "surface" else ["step", "tool"]


def _edit(step: Json, repair: Repair, random: Random) -> None:
    """Make the edit that a repair asks for, word for word."""
    match repair.kind:
        case "pin_evidence" | "back_argument":
            pins = [*step.get("evidence_refs", ()), random.choice(repair.candidates)]
            step["evidence_refs"] = list(dict.fromkeys(pins))
        case "unpin_evidence":
            _remove(step, "evidence_refs", repair.ref)
        case "drop_claim":
            _remove(step, "requires_evidence", repair.classification)
        case "drop_dependency":
            _remove(step, "depends_on", repair.dependency)
        case "drop_id":
            step.pop("id", None)
        case _:
            pass


def _remove(step: Json, name: str, unwanted: str) -> None:
    step[name] = [one for one in step.get(name, ()) if one != unwanted]


def _untie(line: Line, names: set[str]) -> None:
    needed = line.step.get("depends_on")
    if needed is not None:
        line.step["depends_on"] = [name for name in needed if name not in names]
