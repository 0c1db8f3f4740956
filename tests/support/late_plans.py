"""Random late plans: small worlds in which takes, promises and schemas meet, fit and misfit."""

from copy import deepcopy
from random import Random
from typing import Any, Final

from tests.support.model.facts import Json

_NAMES: Final = ("a", "b", "to", "memo")
_CLASSES: Final = ("order", "win")
_ATS: Final = ("", "/a", "/b", "/0", "/*", "/*/a", "/a/b", "/to/0")
_PLACES: Final = ("/a", "/b", "/to", "/to/0", "/to/1", "/a/b", "/memo", "/*")
_SCHEMAS: Final[tuple[Any, ...]] = (
    {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
    {"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": False},
    {"type": "array", "items": {"properties": {"a": {"enum": ["x", 1]}}}},
    {"properties": {"a": {"const": 1.5}, "to": {"type": "array"}}, "required": ["a"]},
    {"anyOf": [{"required": ["a"]}]},
    {"additionalProperties": {"type": ["string", "null"]}, "maxProperties": 2},
    {"type": "string"},
    {"properties": {"a": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"type": "string"}}},
    True,
    False,
)
_ROLES: Final = ("recipient", "object", "attribute", "content", "time", "secret", "code", "locator")
_MODES: Final = ("read_only", "local_write", "network", "delegated", "destructive")
_VALUES: Final[tuple[Any, ...]] = ("x", "ord 1", 1, 5, "", None, [], ["x"], {}, {"k": "x"})


def late_proposal(seed: int) -> Json:
    """Return a proposal as JSON, the same for the same seed. Most of its plans are late."""
    return _World(Random(seed)).proposal()  # noqa: S311 - to draw tests, not secrets


class _World:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._load = random.choice((0.15, 0.5, 1.0))
        """How much of what can refuse a plan there is."""

    def proposal(self) -> Json:
        spec: Json = {"id": "s", "required_outputs": []}
        spec |= self._maybe(0.9, late=self._one(("sources", "values")))
        spec |= self._demanding(0.3, approval_required_from=self._one(_MODES[2:]))
        spec |= self._demanding(0.2, required_evidence=[self._one(_CLASSES)])
        spec |= self._maybe(0.2, confined_evidence=[self._one(_CLASSES)])
        spec |= self._maybe(0.5, provenance=self._one(("closed", "open")))
        tools = [self._tool(f"t{number}") for number in range(3)]
        manifests: Json = {"tool_manifest": tools, "evidence_manifest": self._items()}
        manifests |= self._maybe(0.3, classes=[self._class()])
        ctx: Json = {"trace_id": "t", "safety_mode": "destructive"}
        ctx |= self._maybe(0.7, scope=[{"adapter_id": "shop", "capability_id": "t2"}])
        ctx |= self._maybe(0.2, spent={"calls": [self._spent()]})
        steps = [self._step(at) for at in range(self._random.randint(1, 4))]
        plan = {"steps": steps, "declared_outputs": []}
        return {"ctx": ctx, "compiled": {"manifests": manifests}, "spec": spec, "plan": plan}

    def _one(self, values: Any) -> Any:
        return self._random.choice(values)

    def _maybe(self, chance: float, **field: Any) -> Json:
        return field if self._random.random() < chance else {}

    def _demanding(self, chance: float, **field: Any) -> Json:
        return self._maybe(chance * self._load, **field)

    def _spent(self) -> Json:
        return {"adapter_id": "shop", "capability_id": "t2", "args_digest": "0" * 64}

    def _class(self) -> Json:
        table = {"class": "order", "fields": {"a": self._one(("system", "party", "public"))}}
        return table | self._maybe(0.3, schema=self._one(_SCHEMAS))

    def _items(self) -> list[Json]:
        user = {"author": "user", "standing": "named"}
        said = {"id": "user/1", "classification": "request", "content": "Pay ord 1 by x.txt"}
        items: list[Json] = [{**said, "source": user}]
        for number in range(self._random.randint(0, 2)):
            content = self._one(({"a": "x", "b": 5}, {"a": "ord 1"}, "ord 1", {"a": ["x"]}))
            source = {"author": self._one(("system", "public")), "standing": "ambient"}
            item = {"id": f"e{number}", "classification": self._one(_CLASSES), "content": content}
            items.append(item | self._maybe(0.5, source=source))
        return items

    def _tool(self, name: str) -> Json:
        tool: Json = {"adapter_id": "shop", "capability_id": name}
        tool["approval_mode"] = self._one(_MODES) if name != "t0" else "read_only"
        tool |= self._demanding(0.4, args_schema=self._one(_SCHEMAS))
        tool |= self._demanding(0.4, output_schema=self._one(_SCHEMAS))
        tool |= self._maybe(0.5, yields=self._one(_CLASSES))
        tool |= self._demanding(0.4, requires_evidence=[self._demand()])
        bound = {name: self._bound() for name in self._random.sample(_NAMES, 2)}
        tool |= self._demanding(0.3, bound_args=bound, bound_together=[list(bound)])
        roles = {name: self._one(_ROLES) for name in self._random.sample(_NAMES, 3)}
        tool |= self._maybe(0.8, arg_roles=roles)
        result = {"author": self._one(("system", "member", "public"))}
        result |= self._maybe(0.2, derived=True) | self._maybe(0.2, web=True)
        return tool | self._maybe(0.8, result=result | self._maybe(0.4, format="json"))

    def _demand(self) -> Any:
        name = self._one(_CLASSES)
        about = self._maybe(0.5, about={self._one(_NAMES): "/a"})
        says = self._maybe(0.3, content_schema={"required": ["b"]})
        return name if self._random.random() < 0.4 else {"class": name, **about, **says}

    def _bound(self) -> Any:
        allowed = [self._one(_CLASSES)]
        return allowed if self._random.random() < 0.5 else {"from": allowed, "at": ["/a"]}

    def _step(self, at: int) -> Json:
        if self._random.random() < 0.05 * self._load:
            return {"kind": "reason", "id": f"s{at}"}
        step: Json = {"kind": "tool", "adapter_id": "shop", "id": f"s{at}"}
        step["capability_id"] = self._one(("t0", "t1", "t2", "t2")) if at else "t0"
        if self._random.random() < 0.05 * self._load:
            step["capability_id"] = "gone"
        names = self._random.sample(_NAMES, 2)
        args = {name: deepcopy(self._one(_VALUES)) for name in names}  # no two steps share one
        step["args"] = {
            name: args[name] for name in args if self._random.random() < 0.5 * self._load
        }
        if at and self._random.random() < 0.8:
            step["takes"] = [self._take(at) for _ in range(self._random.choice((1, 1, 2)))]
        step |= self._maybe(0.5, evidence_steps=[self._source(at)]) if at else {}
        step |= self._demanding(0.4, evidence_refs=["e0"])
        return step | self._demanding(0.2, requires_evidence=[self._one(_CLASSES)])

    def _take(self, at: int) -> Json:
        places = _PLACES if self._random.random() < self._load else ("/a", "/b", "/memo", "/to")
        return {"arg": self._one(places), "step": self._source(at), "at": self._one(_ATS)}

    def _source(self, at: int) -> str:
        itself = self._random.random() < 0.1 * self._load
        return f"s{self._random.randint(0, at if itself else at - 1)}"
