"""Find labels that are laxer than the names suggest: tiers, roles, authors, fields."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final, NamedTuple

from critic import MODE_RANK
from evals.escaping import escape_name, pointer
from harness.policy.analysis.lint_effort import TOO_MUCH, LintEffort
from harness.policy.analysis.lint_finding import Findings, LintFinding
from harness.policy.analysis.named_labels import (
    carries_out,
    holds_sentences,
    is_text_field,
    least_tier,
    mean_the_same,
    plain_role,
    reads_web,
    says_more,
    verb_of,
    written_outside,
)
from harness.policy.analysis.policy_facts import AIMED_ROLES, PolicyFacts, ToolFacts
from harness.policy.envelopes import PolicyClass

_NETWORK: Final = MODE_RANK["network"]
_WORTH: Final[Mapping[str, int]] = {
    "content": 0,
    "attribute": 1,
    "time": 1,
    "locator": 1,
    "code": 2,
    "recipient": 3,
    "object": 3,
    "secret": 3,
}
"""How much is asked of the source of a value, by its role."""
_OF_PAIR: Final = 2
"""What it costs to compare two tools, in units of the effort."""
_UNUSED_BY_READS: Final = AIMED_ROLES | {"secret", "content"}


def lint_labels(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield the findings about labels of tools and fields."""
    for one in facts.tools:
        yield from _tier(one)
        yield from _read_roles(one)
        yield from _author(facts, one)
        if one.rank > 0:
            yield from _roles(one)
            yield from _fetch(one)
            yield from _follows(facts, one)
    yield from _echoes(facts)
    yield from _twins(facts, effort)
    yield from _fields(facts)
    yield from _speakers(facts)
    if facts.provenance is not None:
        yield from _lint_unlabelled(facts)


def _tier(one: ToolFacts) -> Findings:
    """Yield each tier below the one that the name suggests."""
    mode = one.tool.approval_mode
    for words in one.names:
        floor = least_tier(words, one.arguments)
        if floor is not None and says_more(floor, mode, words):
            message = (
                f"its name says {floor}, and approval_mode says {mode}, so it is judged as less "
                f"than it does: write {floor}"
            )
            yield one.report_finding("tier_below_name", "/approval_mode", message)
            return


def _read_roles(one: ToolFacts) -> Findings:
    """Yield roles of reading tools, for which only locators count."""
    if one.rank > 0:
        return
    for name, role in (one.tool.arg_roles or {}).items():
        if role in _UNUSED_BY_READS:
            message = (
                f"{escape_name(name)} is {role}, and nothing of a read_only call is judged: raise "
                "approval_mode if it has effects, else write locator"
            )
            yield one.report_finding("read_only_with_target", pointer("arg_roles", name), message)
            return


def _roles(one: ToolFacts) -> Findings:
    """Yield each role that is laxer than the name of its argument suggests."""
    fetches = one.rank == _NETWORK and "locator" in one.roles.values()
    for name, role in one.roles.items():
        meant = plain_role(name)
        if meant == "object" and one.rank < _NETWORK:
            continue  # one's own workspace, which can be put back
        if meant is None or _WORTH[role] >= _WORTH[meant] or (fetches and role == "locator"):
            continue
        types = one.shapes.types_of(name) if name in one.shapes.names else frozenset({"string"})
        if types <= {"boolean", "null"} or _is_one_of_few(one, name):
            continue
        message = (
            f"{escape_name(name)} is {role}, and its name says {meant}, whose source is asked for: "
            f"write {meant}"
        )
        yield one.report_finding("role_below_name", pointer("arg_roles", name), message)


def _is_one_of_few(one: ToolFacts, name: str) -> bool:
    return any("enum" in schema or "const" in schema for schema in one.shapes.schemas_of(name))


def _author(facts: PolicyFacts, one: ToolFacts) -> Findings:
    """Yield each trusted result whose tool has the name of an untrusted source."""
    result = one.tool.result
    if result is None or one.rank not in (0, _NETWORK) or "recipient" in one.roles.values():
        return
    locators = [name for name, role in one.roles.items() if role == "locator"]
    web = one.is_web or any(reads_web(words, locators) for words in one.names)
    if web and one.author != "public":
        message = (
            f"a web page counts as the words of {_WRITER[one.author]}, and anybody writes pages: "
            'write author = "public", web = true'
        )
        yield one.report_finding("web_is_trusted", "/result/author", message)
    elif web and not one.is_web:
        message = "its name says that it reads web pages: add web = true to result"
        yield one.report_finding("web_not_said", "/result", message)
    elif one.rank == 0 and not (web or result.derived or "public" in _writers(facts, one)):
        yield from _above_name(one)


_WRITER: Final = {
    "user": "the user",
    "operator": "the operator",
    "system": "a system of record",
    "member": "somebody of your own organisation",
}


def _above_name(one: ToolFacts) -> Findings:
    said = any(holds_sentences(words) for words in one.names)
    outside = any(written_outside(words) for words in one.names)
    if (one.author == "system" and said) or (one.author == "member" and outside):
        message = (
            f"what others write counts as the words of {_WRITER[one.author]}: write author = "
            '"public", or say which fields of a class a system fills'
        )
        yield one.report_finding("author_above_guess", "/result/author", message)


def _writers(facts: PolicyFacts, one: ToolFacts) -> set[str]:
    """Return who fills the fields of the records that a tool promises."""
    table = facts.classes.get(one.tool.yields or "")
    promised = one.tool.result is not None and one.tool.result.format == "json"
    return {*((table.fields if table and promised else None) or {}).values()}


def _echoes(facts: PolicyFacts) -> Findings:
    """Yield systems of record that return what another tool writes into the same things."""
    if facts.provenance is None:
        return
    writing: dict[tuple[str, str], tuple[ToolFacts, str]] = {}
    for one in facts.effects:
        text = next(filter(None, (_text_of(one, name) for name in one.roles)), "")
        if text and one.rank != _NETWORK:
            changes = any(verb_of(words) in _CHANGES for words in one.names)
            for word in _things_of(one, with_arguments=changes):
                writing.setdefault((one.tool.adapter_id, word), (one, text))
    for one in facts.tools:
        if (
            one.rank > 0
            or one.tool.result is None
            or one.author != "system"
            or _writers(facts, one) - {"system"}
        ):
            continue
        keys = ((one.tool.adapter_id, word) for word in _things_of(one))
        if found := next((writing[key] for key in keys if key in writing), None):
            message = (
                f"what it returns is believed, and {found[0].tool.called} may write "
                f"{escape_name(found[1])} there: promise records of a class "
                '(format = "json", yields), and say which of its fields are public'
            )
            yield one.report_finding("written_then_trusted", "/result/author", message)


def _text_of(one: ToolFacts, name: str) -> str:
    """Return the name of an argument that may hold a sentence, or nothing."""
    if one.roles[name] not in ("content", "attribute"):
        return ""
    if name not in one.shapes.names:
        return name
    closed = any(not _CLOSING.isdisjoint(schema) for schema in one.shapes.schemas_of(name))
    return name if not closed and "string" in one.shapes.types_of(name) else ""


_CLOSING: Final = frozenset({"enum", "const", "pattern", "format"})


_CHANGES: Final = frozenset(
    (
        *("add", "append", "annotate", "change", "comment", "create", "edit", "insert", "log"),
        *("modify", "note", "post", "put", "record", "register", "save", "set", "store"),
        *("submit", "tag", "update", "write"),
    )
)
"""Verbs of what writes into the thing that a call names."""


def _things_of(one: ToolFacts, *, with_arguments: bool = True) -> Iterator[str]:
    """Yield the things that a tool is about, by its arguments and the nouns of its name."""
    for name, role in one.roles.items() if with_arguments else ():
        if role in ("object", "locator"):
            yield f"argument {name}"
    for words in one.names:
        yield from (word.removesuffix("s") for word in words if word != verb_of(words))


def _fetch(one: ToolFacts) -> Findings:
    """Yield each fetch that carries content out: a fetch needs no request."""
    if "locator" not in one.roles.values() or not AIMED_ROLES.isdisjoint(one.roles.values()):
        return
    bodies = [
        name
        for name, role in one.roles.items()
        if role == "content" and carries_out(name) and _may_be_text(one, name)
    ]
    if bodies:
        message = (
            f"it fetches, and {escape_name(bodies[0])} goes out with the fetch: write recipient "
            "for where it goes, or remove the argument"
        )
        yield one.report_finding("fetch_with_body", pointer("arg_roles", bodies[0]), message)


def _may_be_text(one: ToolFacts, name: str) -> bool:
    return name not in one.shapes.names or not one.shapes.types_of(name) <= _NO_TEXT


_NO_TEXT: Final = frozenset({"number", "boolean", "null"})


def _follows(facts: PolicyFacts, one: ToolFacts) -> Findings:
    """Yield each tool that is expected after any reading, so that it needs no request."""
    if one.rank < _NETWORK or "locator" in one.roles.values():
        return
    for index, followed in enumerate(one.tool.follows or ()):
        read = facts.reads.get((followed.adapter_id, followed.capability_id))
        if read is not None:
            message = (
                f"it follows {read.tool.called}, so after any such reading nobody needs to have "
                "asked for it: remove it"
            )
            yield one.report_finding("follows_too_much", f"/follows/{index}", message)


def _twins(facts: PolicyFacts, effort: LintEffort) -> Findings:
    """Yield each tool with the same effect as another, at a lower tier or with fewer demands."""
    alike: dict[object, list[ToolFacts]] = defaultdict(list)
    for one in facts.effects:
        if one.roles and not AIMED_ROLES.isdisjoint(one.roles.values()):
            alike[frozenset(one.roles.items())].append(one)
            for words in one.names[:1]:
                alike[verb_of(words), _targets_of(one)].append(one)
    seen: set[str] = set()
    for group in alike.values():
        strengths = [_Strength(one.rank, frozenset(_needs(one))) for one in group]
        if len({*strengths}) < 2:
            continue
        if not effort.allows(_OF_PAIR * len(group) ** 2):
            yield group[0].report_finding("not_linted", "", TOO_MUCH)
            continue
        sides = list(zip(group, strengths, strict=True))
        for (weak, less), (strong, more) in product(sides, sides):
            if weak.path not in seen and _is_weaker(less, more) and are_twins(weak, strong):
                seen.add(weak.path)
                yield weak.report_finding("weaker_twin", "", _twin_text(weak, strong))


class _Strength(NamedTuple):
    """The strictness of a tool: its tier, and the evidence behind its calls."""

    rank: int
    needs: frozenset[str]


def _targets_of(one: ToolFacts) -> frozenset[tuple[str, str]]:
    return frozenset((name, role) for name, role in one.roles.items() if role in AIMED_ROLES)


def _is_weaker(one: _Strength, other: _Strength) -> bool:
    if one.rank == other.rank:
        return one.needs < other.needs
    return one.rank < other.rank


def _needs(one: ToolFacts) -> Iterator[str]:
    yield from (f"demand {demand.class_}" for _, demand in one.demands())
    yield from (f"bound {name}" for name, _ in one.bindings())


def are_twins(one: ToolFacts, other: ToolFacts) -> bool:
    """Return whether two tools do the same: the name of one has all words of the other.

    Tools with the same or synonymous verbs and the same arguments in the same roles count too.
    """
    words, others = {*one.names[0]}, {*other.names[0]}
    if words <= others or others <= words:
        return True
    same_verb = verb_of(one.names[0]) == verb_of(other.names[0])
    same_verb = same_verb or mean_the_same(one.names[0], other.names[0])
    return same_verb and one.roles == other.roles and len(_targets_of(one)) > 1


def _twin_text(weak: ToolFacts, strong: ToolFacts) -> str:
    what = (
        f"as {weak.tool.approval_mode}, not {strong.tool.approval_mode}"
        if weak.rank < strong.rank
        else "with fewer demands"
    )
    return (
        f"it does what {strong.tool.called} does, {what}, so it is the way around it: give both "
        "the same tier and demands, or remove one"
    )


def _fields(facts: PolicyFacts) -> Findings:
    """Yield fields that hold sentences but count as names or facts."""
    records = any(one.tool.result and one.tool.result.format == "json" for one in facts.tools)
    for index, name in enumerate(facts.policy.record_fields or ()):
        if is_text_field(name):
            message = (
                f"{escape_name(name)} holds sentences, and would count as a field in every "
                "record, from any author: remove it"
            )
            path = pointer("record_fields", index)
            yield LintFinding("free_text_as_field", path, message, is_latent=not records)
    for index, one in enumerate(facts.policy.class_):
        for name, who in (one.fields or {}).items():
            if who != "public" and _is_free(facts, one, name):
                message = (
                    f"class {one.name}: {escape_name(name)} holds sentences, and their author "
                    f"is trusted as a {who}: write public, or remove it"
                )
                yield LintFinding(
                    "free_text_as_field", f"/class/{index}{pointer('fields', name)}", message
                )


def _is_free(facts: PolicyFacts, one: PolicyClass, name: str) -> bool:
    """Return whether a field holds free text, which no author makes trustworthy."""
    sources = facts.yielding.get(one.name, ())
    of_others = all(source.author == "system" and not source.is_web for source in sources)
    if _is_closed(one.schema_, name):
        return False
    return is_text_field(name, of_others=of_others) or _is_long(one.schema_, name)


_SENTENCES: Final = 500
"""A member that may have so many characters is meant for sentences, unless it is a link."""
_LINKS: Final = ("url", "uri", "link", "href", "path")


def _is_long(schema: object, name: str) -> bool:
    """Return whether the schema of a class demands a long text in a member."""
    most = _part_of(schema, name).get("maxLength", 0)
    return most >= _SENTENCES and not name.lower().endswith(_LINKS)


def _part_of(schema: object, name: str) -> Mapping[str, Any]:
    parts = schema.get("properties") if isinstance(schema, dict) else None
    part = parts.get(name.strip("/")) if isinstance(parts, dict) else None
    return part if isinstance(part, dict) else {}


def _is_closed(schema: object, name: str) -> bool:
    """Return whether the schema of a class excludes sentences from a member."""
    part = _part_of(schema, name)
    if not part:
        return False
    if not part.keys().isdisjoint({"enum", "const", "pattern"}) or part.get("maxLength", 99) < 20:
        return True
    return part.get("type", "string") in ("integer", "number", "boolean") or "format" in part


def _speakers(facts: PolicyFacts) -> Findings:
    """Yield evidence of the policy that counts as the user's words in every session."""
    for index, item in enumerate(facts.policy.evidence):
        if item.source is not None and item.source.author == "user":
            message = (
                f"evidence {escape_name(item.id)} counts as words of the user in every session: "
                "write operator, or what wrote it"
            )
            yield LintFinding(
                "evidence_speaks_for_user", f"/evidence/{index}/source/author", message
            )


def _lint_unlabelled(facts: PolicyFacts) -> Findings:
    for one in facts.tools:
        if one.rank == 0 and one.tool.result is None:
            message = "nobody is said to write what it returns, so it counts as public: add result"
            yield one.report_finding("result_not_labelled", "", message)
