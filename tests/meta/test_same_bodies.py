"""What several modules do has one function, in the module where it belongs."""

import ast
from collections import defaultdict
from typing import Final

from tests.meta.test_names_of_modules import modules, parsed

OF_EACH: Final = {
    "ignore": {"executors", "recorder", "opening_desk"},
    "proposal": {"recorded_change", "plan_judging"},
    "show_path": {"install", "options_file", "session_folder"},
    "words": {"named_labels", "guess_tables"},
}
"""Functions of one name and body in several modules: what has no body, and what is shown whole."""
FRONTS: Final = "__dir__"


def test_no_function_is_written_twice_under_one_name() -> None:
    named: dict[str, list[tuple[str, list[ast.stmt]]]] = defaultdict(list)
    for path in modules("harness", "critic", "evals"):
        for one in parsed(path).body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name != FRONTS:
                body = one.body[ast.get_docstring(one) is not None :]
                named[one.name.lstrip("_")].append((path.stem, body))
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, bodies in named.items():
        for stem, body in bodies if len(bodies) > 1 else ():
            found[name, "\n".join(map(ast.dump, body))].add(stem)
    twice = [(name, places) for (name, _), places in found.items() if len(places) > 1]
    assert [one for one in twice if not one[1] <= OF_EACH.get(one[0], set())] == []
