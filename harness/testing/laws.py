"""Laws to check on your own manifest, spec and context, and on your own evaluators.

    from harness.testing.laws import check_laws

    def test_my_manifest() -> None:
        check_laws(compiled, spec, ctx)

or with a policy file, `check_laws(policy="critic.toml")`, or one test for each law, with the pytest
plugin:

    @pytest.mark.critic_laws(compiled, spec, ctx)
    def test_my_manifest(critic_law) -> None:
        critic_law()

A law that does not hold raises `LawBroken` with the smallest proposal that shows it, as JSON.

Whatever takes the events of sessions, such as a guard behind a server of yours, is checked so:

    @pytest.mark.parametrize("law", GUARD_LAWS)
    def test_my_guard(law: str) -> None:
        check_guard(policy, law, open_guard=mine)
"""

from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from critic import CompiledContext, DecisionSpec, Proposal, RunContext, verify
from evals.escaping import escape_name
from harness.policy import InvalidPolicy, Policy, read_policy
from harness.policy.analysis.reach import unreached_tools
from harness.testing._draw.bounds import bounds_of
from harness.testing._draw.drawn_plans import Args
from harness.testing._draw.policies import context_of, with_results
from harness.testing._laws.evaluator_laws import check_evaluator
from harness.testing._laws.law_context import LawBroken, LawContext, NoVerdict, Verify
from harness.testing._laws.law_settings import quiet_settings
from harness.testing._laws.plan_laws import near_misses_are_refused, valid_plans_pass
from harness.testing._laws.verify_laws import OF_ANY, OF_PASSING, OF_SOURCED, Law
from harness.testing._streams.guard_laws import GUARD_LAWS, check_guard, describe_guard_law
from harness.testing._streams.guard_trial import GuardOnTrial, OpenGuard, TrialLog, plain_guard
from harness.testing._streams.source_laws import OF_SOURCES, public_texts_raise_no_ruling
from harness.testing.strategies import (
    NearMiss,
    labelled_near_misses,
    proposals,
    sourced_proposals,
    valid_proposals,
)

PolicyLike = Policy | Path | str
"""A policy, or the path of its file."""

__all__ = [
    "GUARD_LAWS",
    "LAWS",
    "GuardOnTrial",
    "LawBroken",
    "Laws",
    "OpenGuard",
    "TrialLog",
    "check_evaluator",
    "check_guard",
    "check_laws",
    "describe_guard_law",
    "describe_law",
    "plain_guard",
]

_LAWS: Final[dict[str, Law]] = {law.__name__: law for law in (*OF_ANY, *OF_SOURCED, *OF_PASSING)}

LAWS: Final = tuple(_LAWS)
"""The names of all laws, in the order in which they are checked."""


def describe_law(name: str) -> str:
    """Return the law of that name as a sentence.

    Raises:
        KeyError: the name is not the name of a law.
    """
    return (_LAWS[name].__doc__ or "").partition("\n")[0]


class Laws:
    """The laws of one manifest, spec and context; an input that is None is drawn.

    Args:
        policy: a policy, or the path of one, in place of `compiled` and `spec`. Evidence that its
            tools need of results is made up, and so is a context within the settings of its guard.
        verify: the judge to check, if not the one of the engine.
        proposals: the proposals to judge, if they should not be drawn from the manifest.
        args: strategies for the args of tools whose `args_schema` the generator cannot satisfy.
        settings: Hypothesis settings; the current profile without a deadline, unless given.
    """

    def __init__(
        self,
        compiled: CompiledContext | None = None,
        spec: DecisionSpec | None = None,
        ctx: RunContext | None = None,
        *,
        policy: PolicyLike | None = None,
        verify: Verify = verify,
        proposals: st.SearchStrategy[Proposal] | None = None,
        args: Args | None = None,
        settings: hypothesis_settings | None = None,
    ) -> None:
        self._policy: Policy | None = None
        if policy is not None:
            self._policy = policy if isinstance(policy, Policy) else _read(policy)
            compiled, spec, ctx = _parts_of(self._policy, compiled, spec, ctx)
        self._inputs = (compiled, spec, ctx)
        self._proposals = proposals
        self._args: Args = args or {}
        self._verify = verify
        self._settings = quiet_settings(settings)
        skipped = {*(OF_PASSING if self._only_any() else ()), *self._unsourced_laws()}
        self.names: tuple[str, ...] = tuple(
            name for name, law in _LAWS.items() if law not in skipped
        )
        """The laws that can be checked: those of passing plans only where a plan can pass, those of
        provenance only where the spec judges it."""

    def _only_any(self) -> bool:
        compiled, spec, ctx = self._inputs
        if self._proposals is not None:
            return True
        if compiled is None or spec is None or ctx is None:
            return False
        return bounds_of(compiled, spec, ctx).obstacle() is not None

    def _unsourced_laws(self) -> tuple[Law, ...]:
        spec = self._inputs[1]
        return OF_SOURCED if spec is not None and spec.provenance is None else ()

    def check(self, name: str) -> None:
        """Check one law.

        Raises:
            LawBroken: it does not hold.
            KeyError: the name is not the name of a law.
        """
        __tracebackhide__ = True  # a failure is about the proposal, not about lines of the kit
        body = _LAWS[name]
        judge = self._verify

        def law(drawn: Proposal | NearMiss, data: st.DataObject) -> None:
            __tracebackhide__ = True
            near_miss = drawn if isinstance(drawn, NearMiss) else None
            proposal = drawn.proposal if isinstance(drawn, NearMiss) else drawn
            try:
                body(LawContext(proposal, data, judge, near_miss))
            except NoVerdict:
                return
            except LawBroken as broken:
                raise LawBroken(f"law {name} is broken: {describe_law(name)}\n{broken}") from None

        # Hypothesis keeps failures by the name of the test, and each law has its own.
        law.__name__ = law.__qualname__ = name
        self._settings(given(self._source(body), st.data())(law))()

    def _source(self, body: Law) -> st.SearchStrategy[Proposal | NearMiss]:
        if body is valid_plans_pass:
            return valid_proposals(*self._inputs, args=self._args)
        if body is near_misses_are_refused:
            return labelled_near_misses(*self._inputs, args=self._args)
        if self._proposals is not None:
            return self._proposals
        if body in OF_SOURCED:
            return sourced_proposals(*self._inputs, args=self._args)
        return proposals(*self._inputs, args=self._args)

    def check_all(self) -> None:
        """Check every law; of a policy also that a call of each tool can pass, and its sources.

        In no session that is drawn for it may what outsiders write raise a ruling.

        Raises:
            LawBroken: a law does not hold.
        """
        __tracebackhide__ = True
        for name in self.names:
            self.check(name)
        if self._policy is not None:
            _require_reached(self._policy, self._args)
            law = public_texts_raise_no_ruling.__name__
            check_guard(self._policy, law, cannot=OF_SOURCES, settings=self._settings)


def _require_reached(policy: Policy, args: Args) -> None:
    """Require that of each tool some call passes that is asked for and approved.

    Tools whose arguments have strategies of their own are left to the law of valid plans.
    """
    __tracebackhide__ = True
    for tool, why in unreached_tools(policy):
        if tool.pair not in args:
            raise LawBroken(
                f"no passing session could be drawn for {tool.called}: {why}; if that is meant, "
                "write must_reach = false for the tool"
            )


def _parts_of(
    policy: Policy,
    compiled: CompiledContext | None,
    spec: DecisionSpec | None,
    ctx: RunContext | None,
) -> tuple[CompiledContext, DecisionSpec, RunContext]:
    if compiled is not None or spec is not None:
        raise TypeError("a policy says what compiled and spec are: give one or the other")
    return with_results(policy), policy.spec, context_of(policy) if ctx is None else ctx


def _read(path: Path | str) -> Policy:
    """Read the file of a policy; an error says which file, and every fault in it."""
    try:
        return read_policy(path)
    except OSError as error:
        shown = escape_name(str(path))
        raise type(error)(f"cannot read the policy {shown}: {error.strerror or error}") from None
    except InvalidPolicy as error:
        for fault in error.faults:
            error.add_note(f"{escape_name(str(path))}:{fault.line}: {fault.path}: {fault.message}")
        raise


def check_laws(
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    policy: PolicyLike | None = None,
    verify: Verify = verify,
    args: Args | None = None,
    settings: hypothesis_settings | None = None,
) -> None:
    """Check every law on a manifest, a spec and a context, or on a policy: see `Laws`.

    Raises:
        LawBroken: a law does not hold.
        InvalidPolicy: the file of the policy does not hold one; its notes are all faults.
        OSError: the file of the policy cannot be read.
    """
    __tracebackhide__ = True
    Laws(
        compiled, spec, ctx, policy=policy, verify=verify, args=args, settings=settings
    ).check_all()
