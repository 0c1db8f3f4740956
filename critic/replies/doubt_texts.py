"""What a model is told where provenance doubts a value or a tool."""

from collections.abc import Mapping
from typing import Final

from critic.provenance.origins import Origin
from critic.provenance.tool_words import words_of_name
from critic.replies.doubted import DoubtedValue
from critic.replies.plan_facts import Asking, CalledStep, PlanFacts, Stop
from critic.replies.quoting import Pen, name_place
from evals.manifest import EvidenceItem

_NOBODY: Final = ", and nobody can be asked now: tell the user what you wanted to do."
_ALSO: Final = "also needs a person to confirm it, once the rest is right."
_KNOWN_WELL: Final = frozenset({"id", "ids", "no", "number", "code", "key"})
_PLAINLY: Final = "Write it in full, without dots, doubled slashes or escapes."


def word_doubt(pen: Pen, facts: PlanFacts, step: CalledStep, stop: Stop, asking: Asking) -> str:
    """Return the text of a doubt, without the name of the tool before it."""
    value, approvable = stop.value, bool(stop.violation.approvable)
    refuses = stop.violation.check != "approval"
    if value is None:
        first = None if approvable else facts.doubted.first_of(step.number)
        asked = " A person is asked." if asking == "now" else ""
        plain = f"the user did not ask for this: ask them.{asked}"
        return plain if first is None else _neither(pen, facts, first)
    if not value.path:
        return _word_arguments(refuses=refuses, asking=asking)
    if refuses and value.taken is not None:
        ask = f"Ask the user for {name_place(pen, value.path)}."
        return f"{_name_value(pen, facts, value)} was not named by the user. {ask}"
    if refuses:
        return _word_refused(pen, facts, step, value)
    if not approvable:  # its tool is doubted, too
        return _neither(pen, facts, value)
    return _word_asked(pen, facts, value, asking)


def _neither(pen: Pen, facts: PlanFacts, value: DoubtedValue) -> str:
    return (
        f"neither this nor {_name_value(pen, facts, value)} was requested:"
        " tell the user what you wanted to do."
    )


def _word_arguments(*, refuses: bool, asking: Asking) -> str:
    """Return the text of a doubt about all arguments: too many, or none that the call is for."""
    if refuses:
        return "it has too many values to be judged. Split the call."
    return f"it names nobody and nothing that it is for. Name it, {_or_wait(asking)}"


def _or_wait(asking: Asking) -> str:
    return "or wait: a person is asked." if asking == "now" else "or ask the user."


def _word_refused(pen: Pen, facts: PlanFacts, step: CalledStep, value: DoubtedValue) -> str:
    named = _name_value(pen, facts, value)
    if value.stale is not None:
        tool = facts.catalogue.tool_of(value.stale)
        again = f"Call {pen.name(tool.name)} again" if tool else "Read it again"
        source = facts.source_of(pen, value.stale)
        return f"{named} comes from {source}, which {facts.age_of(value.stale)}. {again}."
    if value.is_short:
        wanted = f"{_noun(value)} {value.value}"
        asks = f"ask the user for {pen.quote(wanted)}."
        return f"{pen.quote(value.value)} is too short to be sure of: {asks}"
    if value.origin == "unreadable" and value.kind == "address":
        return f"{named} is no e-mail address. Write the address alone."
    if value.origin is not None and value.origin in _ELSEWHERE:
        return f"{named} {_ELSEWHERE[value.origin]}"
    if value.origin == "unseen":
        return f"{named} {_word_unseen(pen, facts, step, value)}"
    source = facts.source_of(pen, value.item)
    ask = f"Ask the user for {name_place(pen, value.path)}."
    return f"{named} comes only from {source}{_written_by(value.item)}. {ask}"


_ELSEWHERE: Final[Mapping[Origin, str]] = {
    "unreadable": f"can be read in two ways. {_PLAINLY}",
    "own": "is known only from what you did here yourself. Ask the user for it.",
    "words": "is only a word in the user's message. Ask the user whether they mean it.",
    "host": "is another page than the one that the user gave. Use that one, or ask the user.",
    "new_link": "is a link that nobody gave you. Use a link as it was given, or ask the user.",
}


def _word_unseen(pen: Pen, facts: PlanFacts, step: CalledStep, value: DoubtedValue) -> str:
    if value.is_spoken:
        return "is written otherwise in the user's message. Copy it as it stands there."
    where = "is in neither the user's message nor any result."
    argument = next((part for part in reversed(value.path) if type(part) is str), "")
    tools = facts.catalogue.readers_of(argument, value.kind, step.pair)
    if not tools:
        return f"{where} Ask the user to state it."
    names = pen.names([tool.name for tool in tools], last="or")
    return f"{where} Use a value from {names}, or ask the user to state it."


def _word_asked(pen: Pen, facts: PlanFacts, value: DoubtedValue, asking: Asking) -> str:
    named = _name_value(pen, facts, value)
    source = "" if value.item is None else f" (from {facts.source_of(pen, value.item)})"
    if asking == "now":
        return f"waiting for a person to confirm {named}{source}."
    if asking == "later":
        return f"{named}{source} {_ALSO}"
    return f"{named}{source} needs a person to confirm it{_NOBODY}"


def _name_value(pen: Pen, facts: PlanFacts, value: DoubtedValue) -> str:
    named = name_place(pen, value.path)
    if value.taken is None:
        return f"{named} {pen.quote(value.value)}"
    take, tool = value.taken.take, facts.step(value.taken.source).tool
    at = f" at {pen.quote(take.at)}" if take.at else ""
    return f"{named} (what {pen.name(tool)} returns{at}, call {pen.name(facts.call_id(take.step))})"


def _written_by(item: EvidenceItem | None) -> str:
    """Return who can have written an item, as far as that is why it is not believed."""
    source = None if item is None else item.source
    if source is None or source.author in ("system", "user", "operator"):
        return ", which the user did not name"
    return ", which anybody can write" if source.author == "public" else ", which others write"


def _noun(value: DoubtedValue) -> str:
    """Return what a short number is called by: `order id`, of the argument `order_id`."""
    argument = next((part for part in reversed(value.path) if type(part) is str), "")
    words = [word for word in words_of_name(argument) if word] or ["id"]
    if value.kind and value.kind not in words and {*words} <= _KNOWN_WELL:
        words = [value.kind, *words]
    return " ".join(words)
