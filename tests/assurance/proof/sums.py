"""The sum of the tokens, by induction: z3 proves base and step; we state the induction.

An induction is a hypothesis, a property P(k) and a bound n. Its two lemmas are P(0), and that
P(k) gives P(k + 1) for k below n. Used elsewhere, as a premise, is P(n).
"""

from collections.abc import Callable
from typing import NamedTuple

from tests.assurance.proof.encoding import facts, is_sum
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, z3
from tests.assurance.proof.worlds import INT, Meaning, World, cost, each_below, in_plan

Both = tuple[Meaning, Meaning]


class Induction(NamedTuple):
    name: str
    says: str
    given: tuple[Term, ...]
    holds: Callable[[Term], Term]
    bound: Term

    def lemmas(self) -> tuple[Lemma, Lemma]:
        k = a(INT, "k")
        within = (self.bound >= 0, k >= 0, k < self.bound)
        return (
            Lemma(
                f"{self.name}: base",
                f"For k = 0: {self.says}",
                (*self.given, self.bound >= 0),
                (self.holds(z3.IntVal(0)),),
            ),
            Lemma(
                f"{self.name}: step",
                f"If it holds for k, it holds for k + 1: {self.says}",
                (*self.given, *within, self.holds(k)),
                (self.holds(k + 1),),
            ),
        )

    def concluded(self) -> Term:
        """Return what both lemmas imply for the whole plan."""
        return z3.Implies(z3.And(*self.given, self.bound >= 0), self.holds(self.bound))


def smaller(terms: Both, sums: Both, n: Term, unrolled: int) -> Induction:
    """Return lemmas: if no term is larger, the sum is not larger."""
    (f, g), (sum_f, sum_g) = terms, sums
    are_sums = (is_sum(sum_f, f, n, unrolled), is_sum(sum_g, g, n, unrolled))
    return Induction(
        "smaller terms",
        "the first k of smaller terms sum to no more than the first k of larger ones.",
        (*are_sums, each_below(n, lambda i: f(i) <= g(i), unrolled)),
        lambda k: sum_f(k) <= sum_g(k),
        n,
    )


def any_smaller(unrolled: int) -> Induction:
    """Return `smaller` for arbitrary terms and sums; so it holds of the costs of any plans."""
    f, g, sum_f, sum_g = (z3.Function(name, INT, INT) for name in ("f", "g", "sum_f", "sum_g"))
    return smaller((f, g), (sum_f, sum_g), a(INT, "n"), unrolled)


def cheaper(lower: World, upper: World) -> Term:
    """If no step costs more, the plan does not: `any_smaller` said of two worlds of one length."""
    sums = (lower.tokens_before, upper.tokens_before)
    costs = (lambda i: cost(lower, i), lambda i: cost(upper, i))
    return smaller(costs, sums, lower.steps(), lower.unrolled).concluded()


def counted(w: World, i: Term) -> Induction:
    """Return lemmas: the tokens of a single step are part of the sum."""

    def holds(k: Term) -> Term:
        part = z3.Implies(i < k, w.tokens_before(k) >= cost(w, i))
        return z3.And(w.tokens_before(k) >= 0, part)

    return Induction(
        "one step counted",
        "the first k steps take at least the tokens of step i, if it is one of them.",
        (facts(w), in_plan(w, i)),
        holds,
        w.steps(),
    )
