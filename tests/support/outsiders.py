"""Sessions with the bytes of outsiders taken away or rewritten, and what is allowed in each."""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

from tests.support.model.facts import Json
from tests.support.model.provenance import judged_items
from tests.support.model.sessions import Session
from tests.support.model.values import TARGETS
from tests.support.model.verify import verify_model
from tests.support.outside_draws import Outside, OutsideName

Rewrite = Callable[[list[str]], Any]
Judge = Callable[[Json], Json]


def wide_letters(text: str) -> str:
    return "".join(chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char for char in text)


def without_width(text: str) -> str:
    return "\u200b".join(text)


def record_of(values: list[str]) -> list[Json]:
    names = ("id", "ref", "sender", "by", "room", "no", "payer")
    return [dict.fromkeys(names, value) for value in values]


REWRITES: Final[dict[str, Rewrite]] = {
    "plain": "\n".join,
    "prose": lambda values: " ".join(f"Use {one} now, id {one}, order {one}." for one in values),
    "quoted": lambda values: " ".join(f"'{one}' \"{one}\" #{one} @{one}" for one in values),
    "other case": lambda values: "\n".join(one.swapcase() for one in values),
    "full width": lambda values: "\n".join(map(wide_letters, values)),
    "no width": lambda values: "\n".join(map(without_width, values)),
    "link": lambda values: " ".join(f"https://{one}/ {one}/.. //{one}?x" for one in values),
    "record as text": lambda values: json.dumps(record_of(values)),
    "list as text": json.dumps,
    "records": record_of,
    "list": list,
    "names": dict.fromkeys,
}
"""What an outsider may write in place of each of his texts, given the values of the calls."""


def rewritten(value: Any, text: Any, name: str) -> Any:
    """Return a value with every text of outsiders replaced, and the names that they chose."""
    if isinstance(value, OutsideName):
        return name
    if isinstance(value, Outside):
        return text
    if isinstance(value, dict):
        return {
            ("other" if isinstance(key, Outside) else key): rewritten(one, text, name)
            for key, one in value.items()
        }
    return [rewritten(one, text, name) for one in value] if isinstance(value, list) else value


def session_of(case: Json, text: Any = None, name: str = "") -> Session:
    """Return the session before the calls; with a text, with that in place of what is public."""
    session = Session(case["policy"])
    for event in case["events"]:
        if event["event"] == "calls":
            session.force(event["calls"])
        elif event["event"] == "result" and text is not None:
            session.handle({**event, "output": rewritten(event["output"], text, name)})
        else:
            session.handle(event)
    session.facts["approved"] += case["approved"]
    session.facts["own"] += case["own"]
    return session


def variants(case: Json) -> Iterator[tuple[str, Session]]:
    """Return the session as drawn, and in each spelling and shape that an outsider may choose."""
    yield "as drawn", session_of(case)
    for number, how in enumerate(REWRITES):
        values = case["values"]
        yield how, session_of(case, REWRITES[how](values), values[number % len(values)])


def target_faults(proposal: Json, verdict: Json) -> list[Json]:
    """Return the violations of tools and targets: what is said, and when, is another matter."""
    places = {
        f"/steps/{index}{value.path}"
        for index, step in enumerate(proposal["plan"]["steps"])
        for value, _ in judged_items(proposal, step)
        if value.role not in TARGETS
    }
    return [one for one in verdict.get("violations", []) if one["path"] not in places]


def widened(case: Json, judge: Judge = verify_model) -> list[tuple[str, Json]]:
    """Return the calls that an outsider's bytes allow, each with the way he wrote them."""
    bare = session_of(case, "", "")
    refused = [call for call in case["calls"] if aims_at_more(bare.proposal([call]), judge)]
    return [
        (how, call)
        for how, session in (variants(case) if refused else ())
        for call, proposal in [(call, session.proposal([call])) for call in refused]
        if judge(proposal)["ok"] and not is_choice(proposal)
    ]


def aims_at_more(proposal: Json, judge: Judge) -> bool:
    """Return whether its tool or a target is refused or asked about."""
    return bool(target_faults(proposal, judge(proposal)))


def is_choice(proposal: Json) -> bool:
    """Return whether it reads what a member names, where an outsider's text led to the member's.

    He chooses which trusted text is read, and so which of its values: that is the first of the
    channels that the property leaves open.
    """
    return any(
        (value.role, kind) == ("locator", "Rm")
        for value, (kind, _) in judged_items(proposal, proposal["plan"]["steps"][0])
    )


def softened(case: Json, judge: Judge = verify_model) -> list[tuple[str, Json]]:
    """Return the refused calls about which a person is asked, for what nothing led to says so.

    A party's name is the outsider's, too, but stands in its field: it may ask.
    """
    found = []
    for number, how in enumerate(REWRITES):
        values = case["values"]
        name = values[number % len(values)]
        bare = session_of(case, "", name)
        written = session_of(case, REWRITES[how](values), name)
        for call in case["calls"]:
            proposal = bare.proposal([call])
            if aims_in_vain(proposal, judge):
                told = with_ambient(proposal, written.proposal([call]))
                found += [] if aims_in_vain(told, judge) else [(how, call)]
    return found


def aims_in_vain(proposal: Json, judge: Judge) -> bool:
    """Return whether its tool or a target is refused, and not only asked about."""
    faults = target_faults(proposal, judge(proposal))
    return any(not one.get("approvable") for one in faults)


def with_ambient(bare: Json, written: Json) -> Json:
    """Return a proposal with the public items of another that neither request nor text names."""
    items = [
        other if is_ambient(one) and is_ambient(other) else one
        for one, other in zip(items_of(bare), items_of(written), strict=True)
    ]
    manifests = {**bare["compiled"]["manifests"], "evidence_manifest": items}
    return {**bare, "compiled": {"manifests": manifests}}


def items_of(proposal: Json) -> list[Json]:
    items: list[Json] = proposal["compiled"]["manifests"]["evidence_manifest"]
    return items


def is_ambient(item: Json) -> bool:
    source = item.get("source", {})
    return (source.get("author"), source.get("standing")) == ("public", "ambient")
