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
"""

from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from critic import CompiledContext, DecisionSpec, Proposal, RunContext, verify
from harness.policy import Policy, read_policy
from harness.testing._draw.bounds import bounds_of
from harness.testing._draw.plans import Args
from harness.testing._laws.context import LawBroken, LawContext, NoVerdict, Verify
from harness.testing._laws.evaluators import check_evaluator
from harness.testing._laws.plans import near_misses_are_refused, valid_plans_pass
from harness.testing._laws.settings import quiet_settings
from harness.testing._laws.verify import OF_ANY, OF_PASSING, Law
from harness.testing.strategies import (
    NearMiss,
    labelled_near_misses,
    proposals,
    valid_proposals,
)

PolicyLike = Policy | Path | str
"""A policy, or the path of its file."""

__all__ = [
    "LAWS",
    "LawBroken",
    "Laws",
    "check_evaluator",
    "check_laws",
    "describe_law",
]

_LAWS: Final[dict[str, Law]] = {law.__name__: law for law in (*OF_ANY, *OF_PASSING)}

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
        policy: a policy, or the path of one, in place of `compiled` and `spec`.
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
        if policy is not None:
            compiled, spec = _parts_of(policy, compiled, spec)
        self._inputs = (compiled, spec, ctx)
        self._proposals = proposals
        self._args: Args = args or {}
        self._verify = verify
        self._settings = quiet_settings(settings)
        self.names: tuple[str, ...] = (
            tuple(law.__name__ for law in OF_ANY) if self._only_any() else LAWS
        )
        """The laws that can be checked: those of passing plans only where a plan can pass."""

    def _only_any(self) -> bool:
        compiled, spec, ctx = self._inputs
        if self._proposals is not None:
            return True
        if compiled is None or spec is None or ctx is None:
            return False
        return bounds_of(compiled, spec, ctx).obstacle() is not None

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
        return proposals(*self._inputs, args=self._args)

    def check_all(self) -> None:
        """Check every law.

        Raises:
            LawBroken: a law does not hold.
        """
        __tracebackhide__ = True
        for name in self.names:
            self.check(name)


def _parts_of(
    policy: PolicyLike, compiled: CompiledContext | None, spec: DecisionSpec | None
) -> tuple[CompiledContext, DecisionSpec]:
    if compiled is not None or spec is not None:
        raise TypeError("a policy says what compiled and spec are: give one or the other")
    read = policy if isinstance(policy, Policy) else read_policy(policy)
    return read.compiled(), read.spec


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
        InvalidPolicy: the file of the policy does not hold one.
    """
    __tracebackhide__ = True
    Laws(
        compiled, spec, ctx, policy=policy, verify=verify, args=args, settings=settings
    ).check_all()
