"""Other names for tools and arguments: each word of a name gives way to a synonym, if it has one.

Guesses go by names, so other names for the same tools show what the guesses owe to the words.
"""

from typing import Any, Final

from tests.experiments.sessions.recordings import Json, Recording

_NOUNS: Final = """
address:place agenda:calendar amount:sum arrival:inbound attachment:enclosure balance:holdings
body:text calendar:agenda car:vehicle channel:room city:town company:firm contact:acquaintance
content:text cuisine:cooking current:present date:day day:date departure:outbound
description:details dietary:nutrition direct:private draft:unsent email:mail end:finish
event:appointment file:document filename:document_name first:given flight:plane fuel:petrol
hotel:lodging hour:time iban:account_number id:identifier inbox:mailbox info:details
information:details last:family location:venue message:letter money:funds new:latest
option:choice participant:attendee password:passphrase path:place permission:right price:cost
query:term rating:score received:incoming recent:latest recipient:receiver recurring:repeating
rental:hire restaurant:diner restriction:limit review:opinion scheduled:planned sender:author
sent:outgoing start:begin street:road subject:topic time:hour title:heading transaction:payment
type:kind unread:unseen url:link user:member webpage:site
"""
_VERBS: Final = """
add:insert append:attach cancel:revoke check:verify create:make delete:erase get:fetch invite:enlist
list:enumerate post:publish read:view remove:expel reschedule:rebook reserve:book schedule:plan
search:find send:transmit share:distribute update:modify
"""
_SYNONYMS: Final[dict[str, str]] = dict(pair.split(":", 1) for pair in f"{_NOUNS} {_VERBS}".split())


def rename(name: str) -> str:
    """Return a name in snake case with a synonym for each word that has one."""
    return "_".join(map(_replace_word, name.split("_")))


def _replace_word(word: str) -> str:
    if word in _SYNONYMS or not word.endswith("s"):
        return _SYNONYMS.get(word, word)
    plural = {"companies": "company"}.get(word, word[:-1])
    return f"{_SYNONYMS[plural]}s" if plural in _SYNONYMS else word


def rename_tool(tool: Json) -> Json:
    """Return the description of a tool under another name, with other names for its arguments."""
    args = tool["args"]
    properties = rename_keys(args.get("properties", {}))
    renamed = {**args, "properties": properties}
    if "required" in args:
        renamed["required"] = list(map(rename, args["required"]))
    return {**tool, "name": rename(tool["name"]), "args": renamed}


def rename_call(call: Json) -> Json:
    """Return a call of a tool by the other names."""
    return {**call, "tool": rename(call["tool"]), "args": rename_keys(call.get("args") or {})}


def rename_calls(one: Recording) -> Recording:
    """Return a recording whose calls have the other names. All texts and results stay."""
    turns = [{**turn, "calls": list(map(rename_call, turn["calls"]))} for turn in one.turns]
    return one._replace(wire={**one.wire, "turns": turns})


def rename_keys(args: Json) -> Json:
    """Return an object with other names of its members.

    Raises:
        ValueError: two of them would have one name.
    """
    renamed: dict[str, Any] = {rename(name): value for name, value in args.items()}
    if len(renamed) != len(args):
        raise ValueError(f"two arguments would have one name: {', '.join(args)}")
    return renamed
