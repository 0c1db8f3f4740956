"""Laws to run against one's own manifest, spec and context, and against one's own evaluators.

    from harness.testing.laws import check_laws

    def test_my_manifest() -> None:
        check_laws(compiled, spec, ctx)

or one test for each law, with the pytest plugin:

    @pytest.mark.critic_laws(compiled, spec, ctx)
    def test_my_manifest(critic_law) -> None:
        critic_law()

A law that does not hold raises `LawBroken` with the smallest proposal that shows it.
"""

from typing import Final

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from critic import CompiledContext, DecisionSpec, Proposal, RunContext, verify
from harness.testing._draw.bounds import bounds_of
from harness.testing._draw.plans import Args
from harness.testing._laws.evaluators import check_evaluator
from harness.testing._laws.trial import LawBroken, NoVerdict, Trial, Verify
from harness.testing._laws.verify import (
    ANY,
    OF_PASSING,
    Body,
    near_misses_are_refused,
    valid_plans_pass,
)
from harness.testing.strategies import (
    NearMiss,
    labelled_near_misses,
    proposals,
    valid_proposals,
)

__all__ = ["LAWS", "LawBroken", "Laws", "check_evaluator", "check_laws", "promise"]

_BODIES: Final[dict[str, Body]] = {law.__name__: law for law in (*ANY, *OF_PASSING)}

LAWS: Final = tuple(_BODIES)
"""The names of all laws, in the order in which they are checked."""


def promise(name: str) -> str:
    """What the law of that name says, in a sentence."""
    return (_BODIES[name].__doc__ or "").partition("\n")[0]


class Laws:
    """The laws of one manifest, spec and context; what is None is drawn.

    Args:
        verify: the judge on trial, if not the engine's own.
        args: strategies for the args of tools whose `args_schema` is too much for the generator.
        settings: Hypothesis settings; the current profile without a deadline, unless given.
    """

    def __init__(
        self,
        compiled: CompiledContext | None = None,
        spec: DecisionSpec | None = None,
        ctx: RunContext | None = None,
        *,
        verify: Verify = verify,
        args: Args | None = None,
        settings: hypothesis_settings | None = None,
    ) -> None:
        self._given = (compiled, spec, ctx)
        self._args: Args = args or {}
        self._verify = verify
        self._settings = settings or hypothesis_settings(deadline=None)
        self.names = LAWS if self._plannable() else tuple(law.__name__ for law in ANY)
        """The laws that say something here: where no plan can pass, none is said to."""

    def _plannable(self) -> bool:
        compiled, spec, ctx = self._given
        if compiled is None or spec is None or ctx is None:
            return True
        return bounds_of(compiled, spec, ctx).obstacle() is None

    def check(self, name: str) -> None:
        """Check one law.

        Raises:
            LawBroken: it does not hold.
            KeyError: there is no law of that name.
        """
        body = _BODIES[name]
        judge = self._verify

        def law(found: Proposal | NearMiss, data: st.DataObject) -> None:
            miss = found if isinstance(found, NearMiss) else None
            proposal = found.proposal if isinstance(found, NearMiss) else found
            try:
                body(Trial(proposal, data, judge, miss))
            except NoVerdict:
                return
            except LawBroken as broken:
                raise LawBroken(f"law {name} is broken: {promise(name)}\n{broken}") from None

        # Hypothesis keeps failures by the name of the test, and each law has its own.
        law.__name__ = law.__qualname__ = name
        self._settings(given(self._source(body), st.data())(law))()

    def _source(self, body: Body) -> st.SearchStrategy[Proposal | NearMiss]:
        if body is valid_plans_pass:
            return valid_proposals(*self._given, args=self._args)
        if body is near_misses_are_refused:
            return labelled_near_misses(*self._given, args=self._args)
        return proposals(*self._given, args=self._args)

    def check_all(self) -> None:
        """Check every law.

        Raises:
            LawBroken: one does not hold.
        """
        for name in self.names:
            self.check(name)


def check_laws(
    compiled: CompiledContext | None = None,
    spec: DecisionSpec | None = None,
    ctx: RunContext | None = None,
    *,
    verify: Verify = verify,
    args: Args | None = None,
    settings: hypothesis_settings | None = None,
) -> None:
    """Check every law against a manifest, a spec and a context: see `Laws`.

    Raises:
        LawBroken: a law does not hold.
    """
    Laws(compiled, spec, ctx, verify=verify, args=args, settings=settings).check_all()
