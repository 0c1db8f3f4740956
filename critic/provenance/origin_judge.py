"""Where the values of a plan come from, and what that is worth in their roles.

Rule 1: the authority of a call is that of its tool and that of each target value. What a text says
        is not judged, only who wrote it and how the session came to read it.
Rule 2: a value without authority refuses the step or asks a person, by its role. A tool that the
        request is not for asks; in `closed` it refuses where no value ties it to the request.
Rule 3: evidence that has expired gives no authority but still contests: each value is judged with
        it and without it, and the worse counts.
Rule 4: what asks is cleared by an approval of this plan that covers the step. In `closed`, two
        doubts about one step, one of its tool and one of a value, are not.
Rule 5: of one plan so many values are judged. A step that goes beyond is refused, and so is each
        step with a value after it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from critic.doubts import NO_DOUBTS, Doubt, Doubts
from critic.prepared import PreparedPlan
from critic.provenance.argument_nouns import meaning_stems
from critic.provenance.call_values import CallValues, JudgedValue, target_keys
from critic.provenance.content_values import MOST_VALUES
from critic.provenance.day_forms import days_in
from critic.provenance.folding import narrow, wide, write_scalar
from critic.provenance.reasons import (
    NEEDS_APPROVAL,
    TWO_DOUBTS,
    day_reason,
    empty_reason,
    many_reason,
    title_reason,
    tool_reason,
    unread_day_reason,
    value_reason,
)
from critic.provenance.roles import AIMED_AT, placed_values, tool_roles
from critic.provenance.tool_words import stems_of_name
from critic.provenance.value_facts import KnownValues, ValueFacts, narrow_forms, values_known
from critic.provenance.value_kinds import wide_form
from critic.provenance.worth import ALLOW, ASK, REFUSE
from critic.surface import ToolEntry
from evals.capability import ToolCapability, ToolName
from evals.escaping import pointer
from evals.kinds import MODE_RANK
from evals.manifest import EvidenceItem
from evals.timestamps import is_unexpired

if TYPE_CHECKING:
    from critic.late.late_steps import LatePlan
    from critic.provenance.late_words import KnownWith, LateArgs, LateWords

_READ_ONLY: Final = MODE_RANK["read_only"]
_LOCAL_WRITE: Final = MODE_RANK["local_write"]
_NETWORK: Final = MODE_RANK["network"]
_EFFECTS: Final = sum(1 << rank for rank in MODE_RANK.values() if rank > _READ_ONLY)
"""The traits of tools that do more than read."""
_ACTED_ON: Final = frozenset({"recipient", "object", "attribute", "secret"})
_ASKED_FOR: Final = frozenset({"approved", "request", "own"})
"""The origins that tie a call to the request by themselves."""
_GIVEN_TO: Final = frozenset({"recipient", "object"})
_SHORTEST_TITLE, _LONGEST_TITLE = 3, 60


def needs_judging(case: PreparedPlan) -> bool:
    """Return whether the evidence is looked at: the spec has provenance, and a step has effects."""
    return case.spec.provenance is not None and bool(case.traits & _EFFECTS)


def doubts_of(
    case: PreparedPlan,
    known: KnownValues | None = None,
    known_with: "KnownWith | None" = None,
) -> Doubts:
    """Return what provenance finds in the plan, judged once.

    Args:
        known: what is known of values, if it is at hand. It is what the context says.
        known_with: the same for a late plan, whose words to come are evidence, too.
    """
    if not needs_judging(case):
        return NO_DOUBTS
    if case.doubts is None and case.late is not None:
        case.doubts = _doubts_of_late(case, case.late, known_with)
    elif case.doubts is None:
        with nullcontext(known) if known else values_known(case) as given:
            case.doubts = _Judge(case, given).doubts()
    return case.doubts


def _doubts_of_late(case: PreparedPlan, late: "LatePlan", known_with: "KnownWith | None") -> Doubts:
    """Return what provenance finds before the late values are there: each is a word until then."""
    from critic.provenance import late_words  # noqa: PLC0415 - for late plans only

    known_with = known_with or late_words.known_by_context(case)
    words = late_words.find_late_words(case, late, known_with)
    with known_with(words.items, words.classes) as known:
        return _Judge(case, known, words).doubts()


class _Finding(NamedTuple):
    """A reason to ask or refuse: its place in the step, and its words, given what would help."""

    level: int
    path: tuple[str | int, ...]
    reason: Callable[[str | None], str]
    stale: EvidenceItem | None = None
    take: int | None = None
    """The position of the late value that it is about."""


class _Judge:
    """Judges the steps of one plan, and collects the doubts."""

    def __init__(
        self, case: PreparedPlan, known: KnownValues, words: "LateWords | None" = None
    ) -> None:
        session = case.ctx.session
        self._late, self._words = case.late, words
        self._case, self._facts = case, ValueFacts(case.spec, known)
        self._closed = case.spec.provenance == "closed"
        waived, as_of = (session.waived if session else None) or (), case.ctx.as_of
        self._waived = [one for one in waived if is_unexpired(one.expires_at, as_of)]
        self._scope = _pairs(case.ctx.scope)
        self._ran = _pairs(session.ran if session else None)
        self._values = CallValues(case.surface.manifests.tools)
        self._expected: dict[tuple[str, str], bool] = {}
        self._refused_tools: list[Doubt] = []
        self._asks: list[Doubt] = []
        self._refused_values: list[Doubt] = []
        self._values_left = MOST_VALUES
        if case.earlier is not None:
            self._values_left = max(0, MOST_VALUES - case.earlier.values)
        self._step: LateArgs | None = None

    def doubts(self) -> Doubts:
        """Judge every step that calls a tool of the surface above `read_only`."""
        for index, entry, fields in self._case.steps:
            if entry.rank > _READ_ONLY and entry.capability is not None:
                if self._late is None or index not in self._late.steps:
                    self._judge_step(index, entry, entry.capability, fields["args"])
                else:
                    self._judge_late_step(index, entry, entry.capability)
        return Doubts(tuple(self._refused_tools), tuple(self._asks), tuple(self._refused_values))

    def _judge_late_step(self, index: int, entry: ToolEntry, tool: ToolCapability) -> None:
        """Judge a step with words in the places of its late values."""
        late = self._words.args.get(index) if self._words is not None else None
        if late is None:
            self._refuse_rest(index)
            return
        ran, self._step, self._ran = self._ran, late, self._ran | late.ran
        self._judge_step(index, entry, tool, late.args)
        self._step, self._ran = None, ran

    def _refuse_rest(self, index: int) -> None:
        """Refuse a step with a value beyond those that are judged."""
        over = _Finding(REFUSE, ("args",), partial(many_reason, MOST_VALUES))
        self._report_finding(self._refused_values, index, over, approvable=False)

    def _judge_step(
        self, index: int, entry: ToolEntry, tool: ToolCapability, args: Mapping[str, Any]
    ) -> None:
        pair = tool.adapter_id, tool.capability_id
        values = list(islice(self._values.values_of(pair, args), self._values_left + 1))
        if len(values) > self._values_left:
            self._values_left = 0
            self._refuse_rest(index)
            return
        self._values_left -= len(values)
        findings = [found for value in values for found in self._findings_about(value)]
        if entry.rank > _LOCAL_WRITE:
            findings += self._doubts_of_targets(tool, values, args)
        targets = [one for one in values if one.asked.role not in ("content", "time")]
        level = self._tool_level(entry, tool, targets)
        approvable = not (self._closed and level and findings)
        if level:
            of_tool = _Finding(level, (), partial(tool_reason, entry.name))
            self._report_finding(self._refused_tools, index, of_tool, approvable=approvable)
        for finding in findings:
            if finding.take is None or finding.level == REFUSE or not approvable:
                self._report_finding(self._refused_values, index, finding, approvable=approvable)
            elif self._late is not None:
                self._late.asking.add((index, finding.take))

    def _findings_about(self, value: JudgedValue) -> Iterator[_Finding]:
        """Yield what is doubted about a value; of a text with days, one for each."""
        asked, path = value.asked, ("args", *value.path)
        late = self._step.take_at(value.path, value.written) if self._step is not None else None
        if late is not None:
            yield from self._findings_about_late(value, *late)
            return
        if asked.role == "time":
            yield from self._findings_about_days(value)
            return
        if value.content is None:
            level, seen = self._facts.judge_value(asked, value.sought)
        else:
            level, seen = self._facts.judge_content(asked, value.content)
        if level:
            if seen.origin == "unseen":
                seen = seen._replace(rival=self._facts.fresh.request_mentions(value.sought))
            as_of = self._case.ctx.as_of
            reason = partial(value_reason, asked.role, value.written, seen, as_of)
            yield _Finding(level, path, reason, seen.stale)

    def _findings_about_late(self, value: JudgedValue, take: int, shown: str) -> Iterator[_Finding]:
        """Yield what is doubted about a late value by its place. What is sent, and days, wait."""
        asked = value.asked
        if asked.role in ("content", "time"):
            return
        level, seen = self._facts.judge_value(asked, value.sought)
        if level:
            reason = partial(value_reason, asked.role, shown, seen, self._case.ctx.as_of)
            yield _Finding(level, ("takes", take), reason, seen.stale, take)

    def _findings_about_days(self, value: JudgedValue) -> Iterator[_Finding]:
        """Yield what is doubted about the days in a text, or that it names none."""
        asked, path = value.asked, ("args", *value.path)
        days = dict.fromkeys(days_in(wide(write_scalar(value.written))))
        if not days and not self._facts.is_approved(asked, value.sought):
            yield _Finding(ASK, path, partial(unread_day_reason, value.written))
        for day in days:
            level, seen = self._facts.judge_day(asked, day, value.sought)
            if level:
                yield _Finding(level, path, partial(day_reason, day, seen))

    def _doubts_of_targets(
        self, tool: ToolCapability, values: list[JudgedValue], args: Mapping[str, Any]
    ) -> Iterator[_Finding]:
        """Yield what is doubted about an effect without a target."""
        if not any(one.asked.role in _GIVEN_TO for one in values):
            roles = tool.arg_roles or {}
            given_to = {name for name, role in roles.items() if role in _GIVEN_TO}
            if not given_to <= {*(tool.may_be_empty or ())}:
                yield _Finding(ASK, ("args",), empty_reason)
        if not any(map(self._is_target, values)):
            yield from self._doubted_titles(tool, args)

    def _is_target(self, value: JudgedValue) -> bool:
        """Return whether a call is aimed at a value: the user's own addresses are none."""
        is_address = value.sought.form in ("address", "account")
        return value.asked.role in AIMED_AT and not (
            is_address and self._facts.origin(value.asked, value.sought).origin == "operator"
        )

    def _doubted_titles(self, tool: ToolCapability, args: Mapping[str, Any]) -> Iterator[_Finding]:
        for place in placed_values(tool_roles(tool), args):
            text = place.value
            if "content" not in place.roles or place.is_name or type(text) is not str:
                continue
            if self._step is not None and self._step.take_at(place.path, text) is not None:
                continue
            if not _SHORTEST_TITLE <= len(text.strip()) <= _LONGEST_TITLE:
                continue
            item = self._facts.every.in_ambient_text(wide_form(text))
            asked_for = self._facts.fresh.request_words.stems
            if item is not None and asked_for.isdisjoint(meaning_stems(narrow(text))):
                reason = partial(title_reason, text, item)
                yield _Finding(ASK, ("args", *place.path), reason)

    def _is_expected(self, name: tuple[str, str], tool: ToolCapability) -> bool:
        """Return whether the request or the session is for a tool, with any arguments."""
        if self._step is not None:  # what ran before is another for each step
            return self._is_asked_by_name(name, tool)
        found = self._expected.get(name)
        if found is None:
            found = self._expected[name] = self._is_asked_by_name(name, tool)
        return found

    def _is_asked_by_name(self, name: tuple[str, str], tool: ToolCapability) -> bool:
        roles = {*(tool.arg_roles or {}).values()}
        if "locator" in roles and not roles & _ACTED_ON:
            return True
        if name in self._scope or not _pairs(tool.follows).isdisjoint(self._ran):
            return True
        stems = stems_of_name(tool.capability_id)
        return bool(stems) and stems <= self._facts.fresh.request_words.stems

    def _tool_level(
        self, entry: ToolEntry, tool: ToolCapability, targets: list[JudgedValue]
    ) -> int:
        pair = tool.adapter_id, tool.capability_id
        if entry.rank < _NETWORK or self._is_expected(pair, tool):
            return ALLOW
        recipients = [one for one in targets if one.asked.role == "recipient"]
        if entry.rank == _NETWORK and recipients and all(map(self._is_asked_for, recipients)):
            return ALLOW
        if self._is_waived(pair, target_keys(targets)):
            return ALLOW
        if not self._closed or self._waived or any(map(self._is_tied, targets)):
            return ASK
        return REFUSE

    def _is_waived(self, pair: tuple[str, str], keys: frozenset[tuple[str, str]]) -> bool:
        """Return whether a person approved a call of the tool with just these targets."""
        return bool(keys) and any(
            (one.tool.adapter_id, one.tool.capability_id) == pair and _covers(one.targets, keys)
            for one in self._waived
        )

    def _is_asked_for(self, target: JudgedValue) -> bool:
        return self._facts.origin(target.asked, target.sought).origin in _ASKED_FOR

    def _is_tied(self, target: JudgedValue) -> bool:
        """Return whether a target value connects its call to the request."""
        return self._is_asked_for(target) or self._facts.fresh.is_linked(target.sought)

    def _report_finding(
        self, refused: list[Doubt], index: int, finding: _Finding, *, approvable: bool
    ) -> None:
        """Note the doubt, unless it asks and an approval clears it."""
        path = pointer("steps", index, *finding.path)
        stale = None if finding.stale is None else finding.stale.id
        if finding.level == REFUSE:
            reason = f"step {index} {finding.reason(None)}"
            refused.append(Doubt(index, path, reason, stale=stale))
        elif not (approvable and self._case.is_approved(index)):
            help_ = NEEDS_APPROVAL if approvable else TWO_DOUBTS
            reason = f"step {index} {finding.reason(help_)}"
            self._asks.append(Doubt(index, path, reason, approvable, stale))


def _covers(targets: Iterable[Any], keys: frozenset[tuple[str, str]]) -> bool:
    """Return whether each of some targets is among the keys, and each key is of one of them."""
    forms = [frozenset(narrow_forms(target)) for target in targets]
    return keys <= frozenset().union(*forms) and all(keys & form for form in forms)


def _pairs(names: Iterable[ToolName] | None) -> frozenset[tuple[str, str]]:
    return frozenset((name.adapter_id, name.capability_id) for name in names or ())
