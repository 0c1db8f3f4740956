"""A slow second statement of what a session makes of its events: standing, made, sent, approved.

Each batch is judged by the second statement of `verify`, on the proposal that a reader of the
design would write for it.
"""

import json
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from tests.support.model.classes import class_of, holds
from tests.support.model.facts import Json, find_tool, pointed, scalars, wrong_places
from tests.support.model.kinds import has_only_words, narrow, text_of, wide_value
from tests.support.model.provenance import asked_values, targets, tool_answer
from tests.support.model.sources import NEAR, Seen, seen_in
from tests.support.model.values import Value, leaves_at, values_of
from tests.support.model.verify import is_approvable, verify_model

POLICY_ONLY = ("name", "yields", "expires_after_s")
QUESTIONS = 3
SHORTEST_NAME = 3


class Session:
    """A session under a policy: hand it the events in order, and read the action of each batch."""

    def __init__(self, policy: Json) -> None:
        self.policy = policy
        self.tools = {one.get("name", one["capability_id"]): one for one in policy["tool"]}
        self.items: list[Json] = [dict(one) for one in policy.get("evidence", [])]
        self.scope: list[Json] | None = None
        self.facts: Json = {"id": "s", "turn": 0, "ran": [], "own": [], "sent": [], "approved": []}
        self.facts["waived"] = []
        self.calls: dict[str, Json] = {}
        self.refused: list[Any] = []
        self.asked: Json | None = None
        self.questions = self.seq = self.texts = self.results = 0
        self.as_of: str | None = None

    def handle(self, event: Json) -> str:
        """Return `allow`, `ask` or `refuse` for a batch or an answer, `error`, or nothing."""
        self.as_of = event.get("as_of", self.as_of)
        self.seq += 1
        handled: str = HANDLERS[event["event"]](self, event)
        return handled

    # --- what the user says -------------------------------------------------------------------

    def open(self, event: Json) -> str:
        self.say("user", event["request"])
        if "system" in event:
            self.say("operator", event["system"])
        if "scope" in event:
            self.scope = [named(self.tools[one]) for one in event["scope"] if one in self.tools]
        return ""

    def said(self, event: Json) -> str:
        self.say("user", event["text"])
        return ""

    def say(self, author: str, text: str) -> None:
        self.texts += 1
        source = {"author": author, "standing": "named"}
        item = {"id": f"{author}/{self.texts}", "classification": "request"}
        self.items.append({**item, "content": text, "source": source})

    def close(self, event: Json) -> str:
        return str(event.get("", ""))

    # --- a batch ------------------------------------------------------------------------------

    def proposal(self, calls: list[Json]) -> Json:
        """Return what is judged: the batch as a plan, on all that was seen before it."""
        tools: list[Json] = []
        for call in calls:
            tool = {**self.tools[call["tool"]]}
            tool = {name: tool[name] for name in tool if name not in POLICY_ONLY}
            tools += [] if tool in tools else [tool]
        steps = [
            {"kind": "tool", **named(self.tools[one["tool"]]), "args": one.get("args", {})}
            for one in calls
        ]
        classes = [
            {
                "class": one["name"],
                **{name: one[name] for name in ("fields", "schema") if name in one},
            }
            for one in self.policy.get("class", [])
        ]
        manifests = {"tool_manifest": tools, "evidence_manifest": list(self.items)}
        manifests["classes"] = classes
        manifests["record_fields"] = self.policy.get("record_fields", [])
        mode = self.policy.get("guard", {}).get("safety_mode", "destructive")
        budget = {"max_steps": 1000, "bucket_tokens": 10**9}
        ctx = {"trace_id": "t", "safety_mode": mode, "run_budget": budget}
        ctx["session"] = json.loads(json.dumps(self.facts))
        ctx |= {} if self.scope is None else {"scope": self.scope}
        ctx |= {} if self.as_of is None else {"as_of": self.as_of}
        spec = {**self.policy["spec"], "required_outputs": []}
        plan = {"steps": steps, "declared_outputs": []}
        return {"ctx": ctx, "compiled": {"manifests": manifests}, "spec": spec, "plan": plan}

    def judge(self, calls: list[Json]) -> str:
        proposal = self.proposal(calls)
        verdict = verify_model(proposal)
        denied = any(
            self.denial(proposal, step) in self.refused for step in proposal["plan"]["steps"]
        )
        self.asked = None
        if verdict["ok"]:
            self.allow(proposal, calls)
            return "allow"
        if denied or not is_approvable(verdict) or self.questions >= QUESTIONS:
            return "refuse"
        self.questions += 1
        self.asked = {"proposal": proposal, "calls": calls}
        return "ask"

    def allow(self, proposal: Json, calls: list[Json]) -> None:
        for call, step in zip(calls, proposal["plan"]["steps"], strict=True):
            self.calls[call["id"]] = {**call, "proposal": proposal, "step": step}
            self.calls[call["id"]]["seq"] = self.seq
            self.send(call["tool"], step["args"], self.seq)

    def send(self, name: str, args: Json, seq: int) -> None:
        """Keep what a call sends, unless its tool only reads."""
        if name in self.tools and self.tools[name]["approval_mode"] == "read_only":
            return
        inside = [one for each in args for one in leaves_at(["x"], args[each])]
        values = [one for _, one, _ in inside if one not in (None, "")]
        self.facts["sent"].append({"seq": seq, "values": values})

    def force(self, calls: list[Json]) -> None:
        """Let a batch run, whatever the verdict: a person said yes to it, or nobody asked."""
        self.allow(self.proposal(calls), calls)

    def denial(self, proposal: Json, step: Json) -> tuple[str, ...]:
        tool = find_tool(proposal, step) or {}
        values = sorted(joined_account(wide_value(one.value)) for one in targets(tool, step))
        return (tool["adapter_id"], tool["capability_id"], *values)

    def answer(self, event: Json) -> str:
        if self.asked is None:
            return "error"
        asked, self.asked = self.asked, None
        steps = asked["proposal"]["plan"]["steps"]
        if not event["yes"]:
            self.refused += [self.denial(asked["proposal"], step) for step in steps]
            return "refuse"
        for step in steps:
            self.keep_yes(asked["proposal"], step)
        self.allow(asked["proposal"], asked["calls"])
        return "allow"

    def keep_yes(self, proposal: Json, step: Json) -> None:
        """Keep each value that was asked about with its role, the tool and the tier."""
        tool = find_tool(proposal, step) or {}
        for value in asked_values(proposal, step):
            yes = {"value": value.value, "role": value.role, "tool": named(tool)}
            self.facts["approved"].append({**yes, "approval_mode": tool["approval_mode"]})
        if tool_answer(proposal, step) == "ask":
            values = [one.value for one in targets(tool, step)]
            self.facts["waived"].append({"tool": named(tool), "targets": values})

    # --- a result -----------------------------------------------------------------------------

    def result(self, event: Json) -> str:
        call = self.calls.pop(event["id"], None)
        if call is None:
            return "error"
        other = event.get("sent", {})
        if other and (other["tool"], other["args"]) != (call["tool"], call["step"]["args"]):
            # Another call was made: what it returned is no result of this one.
            self.send(
                other["tool"] if other["tool"] == call["tool"] else "", other["args"], call["seq"]
            )
            status = "unknown" if event["status"] == "completed" else event["status"]
            told = {one: event[one] for one in event if one not in ("sent", "output", "error")}
            event = {**told, "status": status, "cut": True}
        self.results += 1
        tool, completed = self.tools[call["tool"]], event["status"] == "completed"
        item = self.item_of(tool, event, completed=completed)
        if "source" in item:
            item["source"]["standing"] = self.standing_of(call)
        self.items.append(item)
        if completed:
            self.facts["ran"].append(named(tool))
            promised = item["classification"] != default_class(tool) or "yields" not in tool
            promised &= tool.get("result", {}).get("format") == "json"
            self.make(tool, call["step"]["args"], item["content"] if promised else None)
        return ""

    def item_of(self, tool: Json, event: Json, *, completed: bool) -> Json:
        """Return the item of a result: of its class where the policy promises it, else a text."""
        label, content = tool.get("result", {}), event.get("output")
        default = default_class(tool)
        name = tool.get("yields", default) if completed else default
        table = next((one for one in self.policy.get("class", []) if one["name"] == name), None)
        if label.get("format") == "json" and isinstance(content, str) and completed:
            content = read_json(content)
        records = label.get("format") == "json" and not isinstance(content, str)
        unmet = table is not None and (
            not records or ("schema" in table and wrong_places(table["schema"], content))
        )
        author = label.get("author", "public") if completed else "public"
        source = {"author": author, "seq": self.seq}
        source |= {"web": True} if label.get("web") else {}
        source |= {"cut": True} if event.get("cut") else {}
        item = {"id": f"call/{self.results}", "classification": default if unmet else name}
        lasts = [one for one in (tool.get("expires_after_s"), (table or {}).get("fresh_s")) if one]
        if lasts and self.as_of and not unmet:
            until = datetime.fromisoformat(self.as_of) + timedelta(seconds=min(lasts))
            item["expires_at"] = until.isoformat()
        if completed and label.get("derived"):
            return {**item, "content": content}  # its arguments said it, and nobody else
        return {**item, "content": content, "source": source}

    def standing_of(self, call: Json) -> str:
        """Return the best standing that a locator of the call gives its result."""
        proposal = self.proposal([call])
        tool = proposal["compiled"]["manifests"]["tool_manifest"][0]
        values = [one for one in values_of(tool, call["args"]) if one.role == "locator"][:10_000]
        found = [standing_by(proposal, tool, one) for one in values]
        order = ("named", "reached", "ambient", "led")
        return min(found, key=order.index, default="ambient")

    def make(self, tool: Json, args: Json, content: Any) -> None:
        for name, kind in (tool.get("result", {}).get("makes") or {}).items():
            if name.startswith("/"):
                made = [one for _, one in pointed(content, name, star=True)]
            else:
                made = [args[name]] if name in args else []
            values = [one for leaf in made for one in scalars(leaf) if one not in (None, "")]
            self.facts["own"] += [{"kind": kind, "value": text_of(one)} for one in values]

    def batch(self, event: Json) -> str:
        self.facts["turn"] += 1
        calls = [{"args": {}, **one} for one in event["calls"]]
        if any(one["id"] in self.calls for one in calls):
            return "error"
        return self.judge(calls)


def joined_account(text: str) -> str:
    """Return a text; what reads as an account number, without what parts its groups."""
    joined = re.sub("[ ./-]", "", text)
    return joined if re.fullmatch("[a-z]{2}[0-9]{2}[a-z0-9]{8,30}", joined) else text


def default_class(tool: Json) -> str:
    return f"result:{tool['adapter_id']}.{tool['capability_id']}"


def read_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def class_on_the_wire(table: Json) -> Json:
    kept: Json = {name: table[name] for name in ("fields", "schema") if name in table}
    return {"class": table["name"], **kept}


def named(tool: Json) -> Json:
    return {name: tool[name] for name in ("adapter_id", "capability_id")}


def standing_by(p: Json, tool: Json, value: Value) -> str:
    """Return what one locator makes of the source that it leads to."""
    seen = [one for one in seen_in(p) if one.fresh]
    kind = class_of(p, tool, value, seen)
    phrase = has_only_words(value.kind, value.value) and " " in narrow("text", value.value)
    long = len(text_of(value.value)) >= SHORTEST_NAME
    if long and (kind == "U" or (kind == "W" and phrase)):
        return "named"
    if kind in ("H", "O", "A") or any(
        holds(value, leaf) for one in seen if is_near(one) for leaf in one.leaves
    ):
        return "reached"
    return "led" if kind == "X" else "ambient"


def is_near(one: Seen) -> bool:
    return one.author not in ("user", "operator") and one.standing in NEAR


HANDLERS: dict[str, Callable[[Session, Json], str]] = {
    "open": Session.open,
    "said": Session.said,
    "calls": Session.batch,
    "result": Session.result,
    "answer": Session.answer,
    "close": Session.close,
}
