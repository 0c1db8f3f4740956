"""verify_many: judge many plans against one context."""

from collections.abc import Iterable, Iterator
from functools import partial

from critic.verify import verify
from evals.context import RunContext
from evals.manifest import CompiledContext
from evals.plan import Plan
from evals.plan_verdicts import Refused, Verified
from evals.spec import DecisionSpec


def verify_many(
    context: CompiledContext, spec: DecisionSpec, ctx: RunContext, plans: Iterable[Plan]
) -> Iterator[Verified | Refused]:
    """Return the verdicts of `verify` on many plans, in the order of the plans.

    A plan is taken and judged when its verdict is asked for, so that plans may come from a stream.
    Plans do not count as steps that were spent: each is judged as if it was the only one.

    Raises:
        TypeError: at once, if an argument is not exactly the envelope it should be; at its turn, if
            an item of `plans` is not exactly a Plan. The verdicts on the plans after it can still
            be asked for.
    """
    for value, model in ((context, CompiledContext), (spec, DecisionSpec), (ctx, RunContext)):
        if type(value) is not model:
            raise TypeError(f"verify_many needs a {model.__name__}, not {type(value).__name__}")
    return map(partial(verify, ctx, context, spec), plans)
