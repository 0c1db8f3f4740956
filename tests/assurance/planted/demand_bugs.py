"""Bugs in what evidence must say: demands, bindings at pointers, and groups of arguments."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_CHECK: Final = "critic/checks/evidence_check.py"
_EVIDENCE: Final = "evals/evidence.py"
_BINDING: Final = "evals/binding.py"
_NEEDS: Final = "evals/needs.py"
_POINTERS: Final = "evals/pointers.py"

_DEMANDS: Final[tuple[Bug, ...]] = (
    slip(
        "content-schema-ignored",
        _EVIDENCE,
        "evidence that says the opposite of what is demanded meets the demand",
        "    if need.schema is not None and not index.satisfies(need.schema):\n"
        "        return False\n",
        "",
    ),
    slip(
        "no-content-satisfies",
        _BINDING,
        "an item without content satisfies any content_schema",
        "content is not None and schema.is_valid(content)",
        "content is None or schema.is_valid(content)",
    ),
    slip(
        "about-ignored",
        _EVIDENCE,
        "evidence of another order meets a demand",
        "return all(index.is_about(subject, pointer) for subject, pointer in about)",
        "return True",
    ),
    slip(
        "about-one-argument",
        _EVIDENCE,
        "evidence about one of the arguments is about all of them",
        "return all(index.is_about(subject, pointer) for subject, pointer in about)",
        "return not about or any(index.is_about(one, place) for one, place in about)",
    ),
    slip(
        "about-one-element",
        _BINDING,
        "evidence about one element of an array is about the array",
        "and subject.keys <= keys",
        "and not subject.keys.isdisjoint(keys)",
    ),
    slip(
        "about-nothing",
        _EVIDENCE,
        "a demand about an argument that is not there is met",
        "            yield UnmetDemand(need, without)\n            return\n",
        "            return\n",
    ),
    slip(
        "star-in-about",
        _POINTERS,
        "in `about`, the member named * is any member",
        "return list(values_at(value, pointer, wildcard=False))",
        "return list(values_at(value, pointer, wildcard=True))",
    ),
    slip(
        "demand-met-by-two",
        _EVIDENCE,
        "one item has the content that is demanded, and another is about the argument",
        "        if not any(meets(index, need, about) for index in map(self.index_of, items)):\n",
        "        indexes, bare = [*map(self.index_of, items)], need._replace(schema=None)\n"
        "        if not (\n"
        "            any(meets(index, need, ()) for index in indexes)\n"
        "            and any(meets(index, bare, about) for index in indexes)\n"
        "        ):\n",
    ),
    slip(
        "class-demanded-once",
        _NEEDS,
        "of several demands of one class only the last counts",
        "demands=tuple(dict.fromkeys(map(need_of, required))),",
        "demands=tuple({one.classification: one for one in map(need_of, required)}.values()),",
    ),
    slip(
        "demands-if-unsound",
        _CHECK,
        "content is looked at only where a class is missing or something is bound",
        "or tool.bound_args or tool.traits & DEMANDS_CONTENT:",
        "or tool.bound_args:",
    ),
)

_BINDINGS: Final[tuple[Bug, ...]] = (
    slip(
        "at-ignored",
        _NEEDS,
        "a value anywhere in the content backs an argument that is bound at a pointer",
        "tuple(dict.fromkeys(binding.from_)), binding.at, empty)",
        "tuple(dict.fromkeys(binding.from_)), None, empty)",
    ),
    slip(
        "at-what-it-holds",
        _BINDING,
        "a pointer to an object stands for all that is in it",
        "leaves = (value for value in values if type(value) not in (dict, list))",
        "leaves = (leaf for value in values for leaf in scalars(value))",
    ),
    slip(
        "star-is-a-name",
        _POINTERS,
        "in `at`, the segment * matches nothing but a member of that name",
        "(_step(value, segment, wildcard=True) for value in self.values)",
        "(_step(value, segment, wildcard=False) for value in self.values)",
    ),
    slip(
        "star-goes-down",
        _POINTERS,
        "the segment * stands for two levels as well as for one",
        "            yield from value.values()\n",
        "            yield from value.values()\n"
        "            inner = (one for one in value.values() if type(one) is dict)\n"
        "            yield from chain.from_iterable(one.values() for one in inner)\n",
    ),
    slip(
        "index-with-zeros",
        _POINTERS,
        "00 is the first element",
        'r"0|[1-9][0-9]*"',
        'r"[0-9]+"',
    ),
    slip(
        "text-at-its-root",
        _BINDING,
        "the empty pointer leads to the whole of a text",
        "Places(() if is_text or content is None else (content,))",
        "Places(() if content is None else (content,))",
    ),
    slip(
        "bindings-all-optional",
        _NEEDS,
        "a binding without `optional` lets its argument be left out",
        '= "left out" if binding.optional else "refused"',
        '= "left out"',
    ),
    slip(
        "optional-is-required",
        _NEEDS,
        "an optional argument that is left out is refused",
        '"left out" if binding.optional else "refused"',
        '"left out" if binding.optional and binding.at else "refused"',
    ),
    slip(
        "full-of-nothing",
        _BINDING,
        "an array of empty arrays is a value, which nothing has to back",
        "        return not any(True for _ in scalars(value))\n    return value is None",
        "        return not value\n    return value is None",
    ),
    slip(
        "array-form-left-out",
        _NEEDS,
        "null needs no evidence in an argument that is bound by the array form",
        'return Bound(tuple(dict.fromkeys(binding)), None, "judged")',
        'return Bound(tuple(dict.fromkeys(binding)), None, "left out")',
    ),
    slip(
        "array-form-required",
        _NEEDS,
        "an argument that is bound by the array form must be there",
        'return Bound(tuple(dict.fromkeys(binding)), None, "judged")',
        'return Bound(tuple(dict.fromkeys(binding)), None, "refused")',
    ),
    slip(
        "group-by-two-items",
        _EVIDENCE,
        "the amount of one order and the payment of another make a group",
        "        return any(\n"
        "            all(index.backs_all(given[name]) for name in names)\n"
        "            for kind in allowed\n"
        "            for index in map(self.index_of, by_class[kind])\n"
        "        )\n",
        "        items = [item for kind in allowed for item in by_class[kind]]\n"
        "        found = [*map(self.index_of, items)]\n"
        "        return all(any(one.backs_all(given[name]) for one in found) for name in names)\n",
    ),
    slip(
        "group-by-any-class",
        _EVIDENCE,
        "an item of a class that only one argument allows backs a group",
        "set(by_class).intersection(*(needs.bound[name].classes for name in names))",
        "set(by_class).intersection(needs.bound[names[-1]].classes)",
    ),
    slip(
        "group-by-one-value",
        _BINDING,
        "an item that backs one value of an argument at a pointer backs all of them in a group",
        "            return bound.keys <= held[0]\n",
        "            return not bound.keys.isdisjoint(held[0])\n",
    ),
    slip(
        "one-group-is-enough",
        _NEEDS,
        "only the first group of arguments is looked at",
        "groups=tuple(dict.fromkeys(tool.bound_together or ())),",
        "groups=(tool.bound_together or ())[:1],",
    ),
    slip(
        "group-with-a-gap",
        _EVIDENCE,
        "a group with an optional argument that is left out is not looked at",
        "if names and not self.backs_together(",
        "if names == group and not self.backs_together(",
    ),
)

DEMAND_BUGS: Final[tuple[Bug, ...]] = (*_DEMANDS, *_BINDINGS)
