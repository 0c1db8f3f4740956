"""Find labels of origins that have no effect, or that trust text of others.

The policy alone says who writes a result, who fills a field, what a value names and what a call
makes. Nothing at run time can notice that it is wrong or has no effect.
"""

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, Final, NamedTuple

from critic import MODE_RANK, Binding, Demand
from evals.capability import FieldWriter
from evals.escaping import escape_name, pointer
from evals.pointers import segments, values_at
from harness.policy.analysis.class_lint import lint_example
from harness.policy.analysis.guessing.tier_guess import words_of
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort, cost_of_question
from harness.policy.analysis.lint_finding import Findings, LintFinding, guess_name, show_names
from harness.policy.analysis.named_labels import written_outside
from harness.policy.envelopes import Policy, PolicyClass, PolicyTool
from harness.policy.schema_lint import admits, has_place, is_plain, property_names
from harness.policy.schema_parts import SchemaParts

_LOCAL_WRITE: Final = MODE_RANK["local_write"]
_DESTRUCTIVE: Final = MODE_RANK["destructive"]
_TARGETS: Final = frozenset({"recipient", "object", "locator", "secret"})
_GIVEN_TO: Final = frozenset({"recipient", "object"})
_COMPARED: Final = _TARGETS | {"attribute", "code"}
"""The roles whose values are compared as the kind of their argument says."""
_FORMS: Final = ("path", "url", "address", "account", "text")
_SAME: Final = {
    **dict.fromkeys(("email", "e-mail", "mail", "e_mail", "mail_address"), "address"),
    **dict.fromkeys(("uri", "link", "href", "page", "website"), "url"),
    **dict.fromkeys(("iban", "bban", "account_number", "iban_number"), "account"),
    **dict.fromkeys(("filepath", "file_path", "pathname", "filename"), "path"),
    **dict.fromkeys(("string", "str"), "text"),
}
"""Words that mean a form in which values are compared, and are read as a noun."""


def lint_origins(policy: Policy, effort: LintEffort) -> Findings:
    """Yield the findings about results, classes, kinds and what calls make."""
    known = _Policy(policy)
    for index, tool in enumerate(policy.tool):
        placed = _Tool(known, tool, f"/tool/{index}")
        allowed = effort.allows(_cost_of_tool(placed))
        if not allowed:
            yield placed.report_finding("not_linted", "", TOO_MUCH)
        for rule in (*_RULES, *(_DEAR_RULES if allowed else ())):
            yield from rule(placed)
    for index, one in enumerate(policy.class_):
        path = f"/class/{index}"
        yield from _lint_class(known, one, path)
        if effort.allows(_cost_of_fields(one)):
            yield from _fields(one, path)
        else:
            yield LintFinding("not_linted", path, f"class {one.name}: {TOO_MUCH}")
    yield from _lint_parties(known)


def _cost_of_tool(placed: "_Tool") -> int:
    """Estimate the cost of following each binding to each field, and each kind to a role."""
    cost = len(placed.tool.arg_kinds or ()) * len(placed.roles)
    if placed.rank == 0:
        return cost
    for _, _, classes, places in _backings(placed):
        fields = (placed.known.cost_of(name) for name in classes)
        cost += 2 * len(places) * sum(fields)
    return cost


def _cost_of_fields(one: PolicyClass) -> int:
    """Estimate the cost of looking up each field in the schema or example of its class."""
    shape = one.example if one.schema_ is None else one.schema_
    if one.schema_ is not None and is_plain(one.schema_):
        return len(one.fields or ())
    return 2 * len(one.fields or ()) * cost_of_question(shape)


class _Policy:
    """A policy, with the links between its classes and tools."""

    def __init__(self, policy: Policy) -> None:
        self.policy: Final = policy
        self.classes: Final[Mapping[str, PolicyClass]] = {one.name: one for one in policy.class_}
        self.kinds: Final = {kind for one in policy.tool for kind in (one.arg_kinds or {}).values()}
        self.kind_names: Final = sorted(self.kinds)
        self.class_names: Final = sorted(self.classes)
        self.held: Final = {item.classification for item in policy.evidence}
        judged = policy.spec.provenance is not None
        self._sources: Final[dict[str, list[PolicyTool]]] = {}
        for tool in policy.tool:
            if tool.result_class is not None and (tool.result is not None or judged):
                self._sources.setdefault(tool.result_class, []).append(tool)
        self.yielding: Final = {tool.yields: tool.called for tool in reversed(policy.tool)}
        self._filled: Final = {tool.yields for tool in policy.tool if _promises_json(tool)}

    def sources_of(self, names: Iterable[str]) -> Iterator[tuple[str, PolicyTool]]:
        """Yield each class with the tools that yield it, if their authors are known."""
        for name in names:
            yield from ((name, tool) for tool in self._sources.get(name, ()))

    def fills(self, name: str) -> bool:
        """Return whether anything may be a record of a class."""
        return name in self.held or name in self._filled

    def cost_of(self, name: str) -> int:
        """Return how many fields a lookup of one place of a class visits."""
        fields = len(self.classes[name].fields or ()) if name in self.classes else 0
        return len(self._sources.get(name, ())) * (1 + fields)

    def writer_at(self, tool: PolicyTool, name: str, at: str | None) -> FieldWriter | None:
        """Return who fills a place in the results of a tool; None for a system.

        Args:
            at: a JSON pointer into the result, or None for all of it.
        """
        author = tool.result.author if tool.result else "public"
        if tool.result is not None and tool.result.web:
            return "public"  # a page says what it likes, in every field
        fields = dict(self.classes[name].fields or {}) if name in self.classes else {}
        if not _promises_json(tool):
            fields = {}
        found = _field_at(fields, at) if at is not None else None
        if found is None and at is None:
            others = [one for one in fields.values() if one in ("public", "party")]
            found = others[0] if others else None
        if found is not None:
            return found if found in ("public", "party") else None
        return "public" if author == "public" else None


def _promises_json(tool: PolicyTool) -> bool:
    return tool.result is not None and tool.result.format == "json"


def _field_at(fields: Mapping[str, FieldWriter], at: str) -> FieldWriter | None:
    """Return who fills a place of a class, by the nearest field around it."""
    place = segments(at)
    ways = [(segments(one) if one[:1] == "/" else (one,), who) for one, who in fields.items()]
    for end in range(len(place), 0, -1):
        around = place[:end], place[1:end]  # an element of a list has the fields, too
        if found := [who for way, who in ways if any(_leads_to(way, one) for one in around)]:
            return found[0]
    return None


def _leads_to(way: tuple[str, ...], place: tuple[str, ...]) -> bool:
    return len(way) == len(place) and all(
        part == "*" or key in ("*", part) for part, key in zip(way, place, strict=True)
    )


class _Tool(NamedTuple):
    """A tool in its policy."""

    known: _Policy
    tool: PolicyTool
    path: str

    @property
    def rank(self) -> int:
        return MODE_RANK[self.tool.approval_mode]

    @property
    def yields(self) -> str:
        """The class of its results; "" where it names none."""
        return self.tool.yields or ""

    @property
    def roles(self) -> Mapping[str, str]:
        return self.tool.arg_roles or {}

    def report_finding(self, rule: str, path: str, message: str) -> LintFinding:
        return LintFinding(rule, f"{self.path}{path}", f"tool {self.tool.called}: {message}")

    def is_target(self, name: str) -> bool:
        """Return whether an argument is a target; without any roles, it may be."""
        named = {role for one, role in self.roles.items() if one in (name, pointer(name))}
        below = {role for one, role in self.roles.items() if one.startswith(f"{pointer(name)}/")}
        return not self.roles or not _TARGETS.isdisjoint(named | below)


def _edges(placed: _Tool) -> Findings:
    """Yield each target with evidence that somebody other than a system writes."""
    if placed.rank == 0:
        return
    for path, name, classes, places in _backings(placed):
        is_demand = path.startswith("/requires_evidence")
        for class_, source in placed.known.sources_of(classes):
            writers = (placed.known.writer_at(source, class_, at) for at in places)
            who = next(filter(None, writers), None)
            if is_demand and written_outside(tuple(words_of(source.called))):
                who = "public"  # no system fills what a mail says is so
            if who is not None:
                message = (
                    f"{name} is backed by {class_} of {source.called}, and {_WHO[who]}: "
                    "take a class that a system of record fills"
                )
                yield placed.report_finding("evidence_from_untrusted", path, message)


_WHO: Final = {
    "public": "anybody may write what stands there",
    "party": "anyone who opens a record fills it",
}

_Backing = tuple[str, str, tuple[str, ...], tuple[str | None, ...]]


def _backings(placed: _Tool) -> Iterator[_Backing]:
    """Yield the evidence behind a call: its place in the policy, the argument, classes, places."""
    for name, binding in (placed.tool.bound_args or {}).items():
        if not placed.is_target(name):
            continue
        given = binding if isinstance(binding, Binding) else Binding(from_=binding)
        places: tuple[str | None, ...] = (None,) if given.at is None else given.at
        yield pointer("bound_args", name), escape_name(name), given.from_, places
    for index, wanted in enumerate(placed.tool.requires_evidence or ()):
        demand = wanted if isinstance(wanted, Demand) else Demand(class_=wanted)
        path = pointer("requires_evidence", index)
        for name, at in (demand.about or {}).items():
            if placed.is_target(name):
                yield f"{path}{pointer('about', name)}", escape_name(name), (demand.class_,), (at,)
        schema = demand.content_schema
        names = property_names(schema) if schema is not None else ()
        if not (names or demand.about):
            yield path, "the call", (demand.class_,), (None,)
        for name in names:
            where = f"{path}/content_schema"
            yield (
                where,
                f"the demand at {escape_name(pointer(name))}",
                (demand.class_,),
                (pointer(name),),
            )


def _makes(placed: _Tool) -> Findings:
    """Yield made things that no argument names, that are not found, existed, or others choose."""
    makes = (placed.tool.result.makes if placed.tool.result else None) or {}
    for name, kind in makes.items():
        path = pointer("result", "makes", name)
        shown = escape_name(kind)
        if kind not in placed.known.kinds and kind not in _FORMS:
            hint = guess_name(kind, placed.known.kind_names)
            message = (
                f"makes a thing of the kind {shown}, and no argument has this kind, so it is "
                f"never its own: {hint}write arg_kinds where it is named"
            )
            yield placed.report_finding("makes_without_kind", path, message)
        if placed.rank == 0:
            message = (
                f"a read_only call makes no {shown}; what it returns would count as made by the "
                "session: remove it, or raise approval_mode"
            )
            yield placed.report_finding("makes_on_a_read", path, message)
        if name[:1] == "/" and not _promises_json(placed.tool):
            message = (
                f"{escape_name(name)} is a place in a record, and the tool promises none: "
                'write format = "json"'
            )
            yield placed.report_finding("makes_without_format", path, message)
        elif name[:1] == "/" and (who := placed.known.writer_at(placed.tool, placed.yields, name)):
            message = (
                f"{escape_name(name)} of its result names the {shown} that was made, and "
                f"{_WHO[who]}: take a place that a system fills"
            )
            yield placed.report_finding("makes_what_others_write", path, message)


def _formats(placed: _Tool) -> Findings:
    """Yield promises of records that no class describes."""
    tool, known = placed.tool, placed.known
    if not _promises_json(tool) or any(
        name[:1] == "/" for name in (tool.result.makes if tool.result else None) or ()
    ):
        return
    if tool.yields in known.classes or known.policy.record_fields:
        return
    what = (
        f"the class {tool.yields} has no [[class]]"
        if tool.yields
        else "yields names no class of them"
    )
    hint = guess_name(tool.yields, known.class_names) if tool.yields else ""
    message = (
        f"promises records, and {what}, so nothing says who fills their fields: {hint}add it, "
        "or remove format"
    )
    yield placed.report_finding("format_without_class", "/result/format", message)


def _empty(placed: _Tool) -> Findings:
    """Yield entries of `may_be_empty` without an effect, and those that go too far."""
    allowed, roles = placed.tool.may_be_empty or (), placed.roles
    given_to = {name for name, role in roles.items() if role in _GIVEN_TO}
    missing = sorted(given_to - {*allowed})
    for index, name in enumerate(allowed):
        path, shown = pointer("may_be_empty", index), escape_name(name)
        if name not in given_to:
            message = f"{shown} is neither recipient nor object, so it has no effect: remove it"
        elif placed.rank <= _LOCAL_WRITE:
            message = f"a {placed.tool.approval_mode} call is not asked for {shown}: remove it"
        elif missing:
            message = (
                f"has no effect without {escape_name(missing[0])}: a call is asked about that "
                "leaves out all recipients and objects; name all of them, or none"
            )
        elif placed.rank >= _DESTRUCTIVE:
            message = "a destructive call that is aimed at nothing runs unasked: remove it"
            yield placed.report_finding("target_may_be_empty", path, message)
            continue
        else:
            continue
        yield placed.report_finding("idle_may_be_empty", path, message)


def _kinds(placed: _Tool) -> Findings:
    """Yield kinds that are probably misspelt forms, and kinds of arguments without a role."""
    for name, kind in (placed.tool.arg_kinds or {}).items():
        path = pointer("arg_kinds", name)
        if meant := _form_meant(kind):
            message = (
                f"{escape_name(kind)} is a noun like any other, whose values are compared as "
                f"text: did you mean {meant}? Known forms are {', '.join(_FORMS)}"
            )
            yield placed.report_finding("unknown_kind", path, message)
        if not _has_compared_role(placed.roles, name):
            message = (
                f"{escape_name(name)} has a kind and no role in which values are compared: "
                "give it a role, or remove the kind"
            )
            yield placed.report_finding("kind_without_role", path, message)


def _form_meant(kind: str) -> str:
    """Return the form that a kind probably misspells, or nothing."""
    small = kind.strip().casefold()
    if kind in _FORMS:
        return ""
    if small in _FORMS:
        return small
    return _SAME.get(small) or next(iter(get_close_matches(small, _FORMS, 1, 0.8)), "")


def _has_compared_role(roles: Mapping[str, str], name: str) -> bool:
    if not roles:
        return True  # all values are recipients
    place = segments(name) if name[:1] == "/" else (name,)
    for one, role in roles.items():
        other = segments(one) if one[:1] == "/" else (one,)
        both = min(len(place), len(other))
        if role in _COMPARED and _leads_to(other[:both], place[:both]):
            return True
    return False


_RULES: Final = (_makes, _formats, _empty)
_DEAR_RULES: Final = (_edges, _kinds)
"""Those that follow each name to each other."""


def _lint_class(known: _Policy, one: PolicyClass, path: str) -> Findings:
    """Yield fields that no record has, and invalid examples."""
    if (one.fields or one.schema_ is not None) and not known.fills(one.name):
        yielding = known.yielding.get(one.name)
        what = (
            f'{yielding} yields it as text: write format = "json" in its result'
            if yielding
            else "no tool yields it and no evidence has it: name it in yields"
        )
        message = f"class {one.name}: nothing is of it, because {what}"
        place = f"{path}/fields" if one.fields else f"{path}/schema"
        yield LintFinding("unfilled_class", place, message)
    yield from lint_example(one, path)


def _fields(one: PolicyClass, path: str) -> Findings:
    """Yield fields that no record has, by the schema or the example of their class."""
    known_names: list[str] | None = None
    for name in one.fields or {}:
        if not _has_field(one, name):
            known_names = sorted(_names_of(one)) if known_names is None else known_names
            hint = guess_name(name, known_names)
            message = (
                f"class {one.name}: nobody fills {escape_name(name)}: {hint}its members are "
                f"{show_names(known_names)}"
            )
            yield LintFinding("pointer_leads_nowhere", f"{path}{pointer('fields', name)}", message)


def _has_field(one: PolicyClass, name: str) -> bool:
    """Return whether a record may have a field, by the schema or the example of its class."""
    place = segments(name) if name[:1] == "/" else (name,)
    if one.schema_ is not None:
        return any(has_place(part, place) for part in _record_schemas(one.schema_, name))
    if type(one.example) not in (dict, list) or not one.example:
        return True
    at = [pointer(*place)] if name[:1] == "/" else [pointer(*place), pointer("*", *place)]
    return any(True for way in at for _ in values_at(one.example, way, wildcard=True))


def _record_schemas(schema: Any, name: str) -> Iterable[Any]:
    """Return the schemas of a record; of a list, those of its elements."""
    if name[:1] == "/" or admits(schema, {"type": "object"}):
        return [schema]
    return SchemaParts(schema).schemas_below([schema], "0") or [True]


def _names_of(one: PolicyClass) -> set[str]:
    if one.schema_ is not None:
        return {name for part in _record_schemas(one.schema_, "") for name in property_names(part)}
    records = one.example if isinstance(one.example, list) else [one.example]
    return {name for record in records if isinstance(record, dict) for name in record}


def _lint_parties(known: _Policy) -> Findings:
    """Yield trust in parties that reaches a recipient, and trust that has no effect."""
    spec, path = known.policy.spec, "/spec/party_recipients"
    if spec.party_recipients != "allow":
        return
    parties = [
        (one.name, name)
        for one in known.policy.class_
        if known.fills(one.name)
        for name, who in (one.fields or {}).items()
        if who == "party"
    ]
    parties += [("every record", name) for name in known.policy.record_fields or ()]
    senders = [
        tool.called
        for tool in known.policy.tool
        if MODE_RANK[tool.approval_mode] > 0
        and ("recipient" in (tool.arg_roles or {}).values() or not tool.arg_roles)
    ]
    if not parties or not senders or spec.provenance is None:
        message = (
            "no field of a party reaches a recipient, so allow has no effect: remove it"
            if spec.provenance is not None
            else "it is judged only with provenance: add it, or remove this"
        )
        yield LintFinding("idle_party_recipients", path, message)
        return
    (name, field), tool = parties[0], senders[0]
    message = (
        f"anyone who opens a record fills {escape_name(field)} of {name}, and {tool} sends there "
        "unasked: remove it, and a person is asked"
    )
    yield LintFinding("party_is_trusted", path, message)
