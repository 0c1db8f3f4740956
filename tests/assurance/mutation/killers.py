"""Checks that may notice a wrong engine, within this process and in seconds.

Each returns what it noticed, or an empty string. Everything is imported at the call, so that an
overlay of the engine counts; any exception on the way counts as noticed too.
"""

import json
import resource
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final

from tests.support.effort import EVERY_TEST
from tests.support.paths import ROOT

Killer = Callable[[], str]

_MODULES: Final = (
    *("harness.cases", "tests.support.large_cases", "harness.testing.strategies"),
    *("tests.critic.test_differential", "tests.support.model.verify", "harness.testing.laws"),
    *("tests.evals.test_differential", "tests.support.model.score", "tests.critic.test_laws"),
)
_SESSIONS: Final = 300
_CALLS: Final = list[tuple[str, Any]]()
_MEMORY: Final = 4 << 30
"""Bytes of address space."""


def load_libraries() -> None:
    """Load what is heavy once, before the children part ways."""
    for name in ("pytest", "hypothesis", "pydantic", "jsonschema_rs", "orjson", "jiter", "rfc8785"):
        import_module(name)


def load_killers() -> None:
    """Load what the killers import, for the children that put their mutant in place."""
    for name in _MODULES:
        import_module(name)


def limit(cpu_seconds: int) -> None:
    """Limit this process from here on: a mutant may ask for any amount of memory, or never end.

    The seconds are those in which it computes, so that a busy machine takes none of them.
    """
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))


def guarded(killer: Killer) -> str:
    """Return what the killer noticed; an exception counts by its name."""
    try:
        return killer()
    except Exception as error:
        return f"raises {type(error).__name__}"


def corpus(*first: str) -> str:
    """Check every case, those in the folders named `first` before the others."""
    problem = import_module("harness.cases").problem
    cases = import_module("tests.support.large_cases").every_case()
    for name in sorted(cases, key=lambda name: name.partition("/")[0] not in first):
        if problem(cases[name]):
            return str(name).removesuffix(".json")
    return ""


def verify_model(count: int) -> str:
    """Engine and model over seeded proposals, and over slices of seeded texts."""
    ours, theirs = (
        import_module("tests.critic.test_differential"),
        import_module("tests.support.model.verify"),
    )
    strategies = import_module("harness.testing.strategies")
    for seed in range(count):
        proposal = strategies.seeded_edge_proposal(seed)
        if ours.engine(proposal) != theirs.verify_model(proposal.wire()):
            return f"proposal of seed {seed}"
    for seed in range(count):
        proposal = _binding(ours, seed)
        if ours.engine(proposal) != theirs.verify_model(proposal.wire()):
            return f"binding of seed {seed}"
    return ""


def _binding(ours: Any, seed: int) -> Any:
    random = import_module("harness.testing._draw.primitives").random_of(seed)
    text = "".join(random.choices(ours.TEXT_ALPHABET, k=random.randint(1, 9)))
    start, end = sorted(random.choices(range(len(text) + 1), k=2))
    return ours.binding(text, text[start:end])


def draw_calls() -> None:
    """Draw sessions with calls, and keep what the second statement answers to each call.

    Before the children part ways: a mutant is in the engine, so no child asks the model again.
    """
    outside, drawn = (
        import_module("tests.support.outsiders"),
        import_module("tests.support.outside_draws"),
    )
    pick = import_module("harness.testing._draw.primitives").seeded_pick
    model = import_module("tests.support.model.verify").verify_model
    for seed in range(_SESSIONS):
        case = drawn.outside_case(pick(seed))
        session = outside.session_of(case)
        for call in case["calls"]:
            proposal = session.proposal([call])
            _CALLS.append((json.dumps(proposal), model(proposal)))


def call_model(part: slice) -> str:
    """Engine and model over a part of the calls in drawn sessions."""
    engine = import_module("tests.critic.provenance.test_outsiders").engine
    for number, (proposal, meant) in enumerate(_CALLS[part]):
        told = {"ok": meant["ok"], "violations": meant.get("violations", [])}
        if engine(json.loads(proposal)) != told:
            return f"call {number} of {part}"
    return ""


def score_model(count: int) -> str:
    """Engine and model over seeded runs."""
    ours, theirs = (
        import_module("tests.evals.test_differential"),
        import_module("tests.support.model.score"),
    )
    strategies = import_module("harness.testing.strategies")
    for seed in range(count):
        run = strategies.seeded_edge_run(seed)
        if theirs.score_model(run.wire()) != ours.engine(run):
            return f"run of seed {seed}"
    return ""


def laws(examples: int) -> str:
    """Check the named laws of `verify`, each over a number of examples, always the same ones."""
    from hypothesis import Phase, settings  # noqa: PLC0415 - heavy, and not every child needs it

    kit, ours = import_module("harness.testing.laws"), import_module("tests.critic.test_laws")
    drawn = import_module("harness.testing.strategies").edge_proposals()
    same = settings(
        ours.LAW,
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate),
    )
    checked = kit.Laws(proposals=drawn, settings=same)
    bodies = {law: partial(checked.check, law) for law in checked.names}
    by_example = {name: body for name, body in vars(ours).items() if name.startswith("test_an_")}
    return next((name for name, body in (by_example | bodies).items() if _broken(body)), "")


def _broken(law: Callable[[], None]) -> bool:
    try:
        law()
    except Exception:
        return True
    return False


class Failures:
    """A plugin of pytest that notes what fails."""

    def __init__(self) -> None:
        self.failed = list[str]()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.failed.extend([report.nodeid] if report.failed else [])

    def pytest_collectreport(self, report: Any) -> None:
        self.failed.extend([report.nodeid] if report.failed else [])


def options(*, draws: int) -> list[str]:
    """Return options of pytest that run every test in this process, with so many examples each.

    Tests that draw always draw the same, and a failing draw is not made smaller.
    """
    from hypothesis import Phase, settings  # noqa: PLC0415 - heavy, and not every child needs it

    drawn, name = (Phase.explicit, Phase.generate), f"same {draws} draws"
    settings.register_profile(
        name, max_examples=draws, derandomize=True, database=None, phases=drawn, deadline=None
    )
    kept = [*EVERY_TEST, "-x", "-n0", "--assert=plain", f"--rootdir={ROOT}"]
    return [*kept, "-p", "no:cacheprovider", f"--hypothesis-profile={name}"]


def failing_here(*arguments: str, draws: int = 100) -> str:
    """Return the first test that fails in this process, if any. `arguments` are pytest's."""
    import pytest  # noqa: PLC0415 - heavy, and not every child needs it

    watch = Failures()
    ended = int(pytest.main([*options(draws=draws), *arguments], plugins=[watch]))
    return watch.failed[0] if watch.failed else f"pytest ended with {ended}" if ended else ""
