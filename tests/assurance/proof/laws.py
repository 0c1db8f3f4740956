"""The effects of a change of the inputs on the verdict: laws over two worlds.

A law is about a world `w` and another that differs from it in one respect and agrees in all else.
"Never accepts" reads: if the changed plan or context passes, so did the first. Such a law and
its mirror image ("raising never un-accepts, lowering never accepts") are one lemma.

Where the plan itself is changed, its digest changes too: the approvals of `w` are then taken to
be given again for the changed plan, which is the case most favourable to it.
"""

from tests.assurance.proof import encoding as enc
from tests.assurance.proof.encoding import Meaning, World, accepted, facts, rank, symbol
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, z3
from tests.assurance.proof.sums import cheaper


def _never_accepts(
    name: str, says: str, changed: World, w: World, *given: Term, costs: bool = False
) -> Lemma:
    """If the changed world is accepted, so is `w`; with `costs`, which it may have changed."""
    induction = (cheaper(w, changed),) if costs else ()
    premises = (facts(w), facts(changed), *given, *induction)
    return Lemma(name, says, *follows(changed, w, *premises))


def follows(one: World, other: World, *premises: Term) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Return premises and goals: if `one` is accepted, so is `other`, check by check.

    Goals are about an arbitrary step. The premises repeat the checks of that step in `one`, which
    `accepted(one)` implies, to help the solver.
    """
    step = a(enc.INT, "i")
    there = enc.in_plan(one, step)
    known = [z3.Implies(there, says(one, step)) for says in enc.PER_STEP.values()]
    at_step = [z3.Implies(there, says(other, step)) for says in enc.PER_STEP.values()]
    whole = [says(other) for says in enc.WHOLE.values()]
    return (*premises, accepted(one), *known), (*at_step, *whole)


def _changes_nothing(
    name: str, says: str, w: World, other: World, *premises: Term
) -> tuple[Lemma, Lemma]:
    """Return two lemmas: what passes still does, and nothing else does."""
    both = (facts(w), facts(other), *premises)
    return (
        Lemma(f"{name}: still accepted", says, *follows(w, other, *both)),
        Lemma(f"{name}: still refused", says, *follows(other, w, *both)),
    )


def _also(old: Meaning, name: str) -> Meaning:
    """Return a set that holds at least what the old one holds."""
    more = symbol(name, "_more")
    return lambda *args: z3.Or(old(*args), more(*args))


def _of(old: Meaning, name: str) -> Meaning:
    """Return a set that holds at most what the old one holds."""
    kept = symbol(name, "_kept")
    return lambda *args: z3.And(old(*args), kept(*args))


def mode_laws(w: World) -> tuple[Lemma, ...]:
    lower = w.changed(safety_mode=symbol("safety_mode", "_lower"))
    ceiling = w.changed(ceiling=symbol("ceiling", "_lower"))
    capped = w.changed(has_ceiling=lambda: z3.BoolVal(True))
    tier = w.changed(tier=symbol("tier", "_lower"))
    tiered = w.changed(has_tier=lambda: z3.BoolVal(True))
    riskier = w.changed(mode=symbol("mode", "_higher"))

    def no_safer(m: Term) -> Term:
        return every(enc.CAPABILITY, lambda c: rank(riskier.mode(m, c)) >= rank(w.mode(m, c)))

    return (
        _never_accepts(
            "safety mode",
            "Raising the safety mode never un-accepts a plan; lowering it never accepts one.",
            *(lower, w, rank(lower.safety_mode()) <= rank(w.safety_mode())),
        ),
        _never_accepts(
            "ceiling",
            "Raising the spec's ceiling never un-accepts a plan; lowering it never accepts one.",
            *(ceiling, w, rank(ceiling.ceiling()) <= rank(w.ceiling())),
        ),
        _never_accepts(
            "ceiling set",
            "Setting a ceiling where there was none never accepts a refused plan.",
            *(capped, w, z3.Not(w.has_ceiling())),
        ),
        _never_accepts(
            "tier",
            "Lowering the tier from which approval is required never accepts a refused plan.",
            *(tier, w, rank(tier.tier()) <= rank(w.tier())),
        ),
        _never_accepts(
            "tier set",
            "Requiring approval where none was required never accepts a refused plan.",
            *(tiered, w, z3.Not(w.has_tier())),
        ),
        _never_accepts(
            "riskier tools",
            "Declaring tools at higher modes never accepts a refused plan.",
            *(riskier, w, every(enc.ADAPTER, no_safer)),
        ),
        _never_accepts(
            "approvals removed",
            "Taking approvals away never accepts a refused plan.",
            *(w.changed(given=_of(w.given, "given")), w),
        ),
    )


def evidence_laws(w: World) -> tuple[Lemma, ...]:
    timeless = w.changed(has_now=lambda: z3.BoolVal(False))
    later = w.changed(now=symbol("now", "_later"))
    sooner = w.changed(expiry=symbol("expiry", "_sooner"))
    return (
        _never_accepts(
            "evidence removed",
            "Taking items out of the evidence manifest never accepts a refused plan.",
            *(w.changed(known=_of(w.known, "known")), w),
        ),
        _never_accepts(
            "no as_of",
            "A missing as_of never accepts what a present one, whatever it is, refuses.",
            *(timeless, w),
        ),
        _never_accepts(
            "later",
            "As time passes, a refused plan is never accepted.",
            *(later, w, later.now() >= w.now()),
        ),
        _never_accepts(
            "expires sooner",
            "Letting evidence expire sooner, or at all, never accepts a refused plan.",
            sooner.changed(expires=_also(w.expires, "expires")),
            w,
            every(enc.REF, lambda r: sooner.expiry(r) <= w.expiry(r)),
        ),
        _never_accepts(
            "less backed",
            "If contents back fewer values, a refused plan is never accepted.",
            *(w.changed(backs=_of(w.backs, "backs")), w),
        ),
        _never_accepts(
            "tool requires more",
            "If tools require more classes, or bind more arguments, no refused plan is accepted.",
            w.changed(requires=_also(w.requires, "requires"), binds=_also(w.binds, "binds")),
            w,
        ),
        _never_accepts(
            "spec requires more",
            "If the spec requires more outputs or classes, no refused plan is accepted.",
            w.changed(
                needs_output=_also(w.needs_output, "needs_output"),
                needs_class=_also(w.needs_class, "needs_class"),
            ),
            w,
        ),
    )


def manifest_laws(w: World) -> tuple[Lemma, ...]:
    fewer = w.changed(
        surfaced=_of(w.surfaced, "surfaced"), tokens_before=symbol("tokens_before", "_fewer")
    )
    dearer = w.changed(
        least=symbol("least", "_more"), tokens_before=symbol("tokens_before", "_dearer")
    )

    def no_cheaper(m: Term) -> Term:
        return every(enc.CAPABILITY, lambda c: dearer.least(m, c) >= w.least(m, c))

    return (
        _never_accepts(
            "capability removed",
            "Taking tools out of the manifest never accepts a refused plan.",
            *(fewer, w),
            costs=True,
        ),
        _never_accepts(
            "tools cost more",
            "Raising min_tokens never accepts a refused plan.",
            *(dearer, w, every(enc.ADAPTER, no_cheaper)),
            costs=True,
        ),
        *_unrelated_tool(w),
        *_unrelated_evidence(w),
    )


def _unrelated_tool(w: World) -> tuple[Lemma, Lemma]:
    """Return lemmas: a pair that no step calls may gain, change or lose its entry."""
    m, c = a(enc.ADAPTER, "unrelated_adapter"), a(enc.CAPABILITY, "unrelated_capability")
    facets = ("surfaced", "mode", "least", "requires", "binds", "allows", "lists", "produces")

    def altered(name: str) -> Meaning:
        old, new = getattr(w, name), symbol(name, "_new")
        return lambda x, y, *rest: z3.If(z3.And(x == m, y == c), new(x, y, *rest), old(x, y, *rest))

    names = (*facets, "schemed", "satisfies")
    other = w.changed(
        **{name: altered(name) for name in names}, tokens_before=symbol("tokens_before", "_new")
    )

    def elsewhere(i: Term) -> Term:
        return z3.Not(z3.And(w.calls(i), w.adapter(i) == m, w.capability(i) == c))

    return _changes_nothing(
        "unrelated tool",
        "Adding, changing or removing a tool that no step calls changes no verdict.",
        *(w, other, enc.every_step(w, elsewhere), cheaper(w, other), cheaper(other, w)),
    )


def _unrelated_evidence(w: World) -> tuple[Lemma, Lemma]:
    """Return lemmas: an item that no step pins may gain, change or lose its entry."""
    item = a(enc.REF, "unrelated")

    def altered(name: str) -> Meaning:
        old, new = getattr(w, name), symbol(name, "_new")
        return lambda ref, *rest: z3.If(ref == item, new(ref, *rest), old(ref, *rest))

    names = ("known", "class_of", "expires", "expiry", "backs")
    other = w.changed(**{name: altered(name) for name in names})
    unpinned = enc.every_step(w, lambda i: z3.Not(w.pins(i, item)))
    return _changes_nothing(
        "unrelated evidence",
        "Adding, changing or removing an item that no step pins changes no verdict.",
        *(w, other, unpinned),
    )


def budget_laws(w: World) -> tuple[Lemma, ...]:
    less = w.changed(
        budget_steps=symbol("budget_steps", "_less"), budget_tokens=symbol("budget_tokens", "_less")
    )
    more = w.changed(
        spent_steps=symbol("spent_steps", "_more"), spent_tokens=symbol("spent_tokens", "_more")
    )
    return (
        _never_accepts(
            "budget lowered",
            "Lowering max_steps or bucket_tokens never accepts a refused plan.",
            less,
            w,
            less.budget_steps() <= w.budget_steps(),
            less.budget_tokens() <= w.budget_tokens(),
        ),
        _never_accepts(
            "more spent",
            "Having spent more never accepts a refused plan; so leaving `spent` out is only safe "
            "when nothing was spent.",
            *(more, w),
            more.spent_steps() >= w.spent_steps(),
            more.spent_tokens() >= w.spent_tokens(),
        ),
    )


def declaration_laws(w: World) -> tuple[Lemma, ...]:
    costlier = w.changed(
        has_estimate=_also(w.has_estimate, "has_estimate"),
        estimate=symbol("estimate", "_more"),
        tokens_before=symbol("tokens_before", "_costlier"),
    )

    def no_less(i: Term) -> Term:
        return z3.Implies(w.has_estimate(i), costlier.estimate(i) >= w.estimate(i))

    return (
        _never_accepts(
            "step asks for more",
            "What steps ask for in their own requires_evidence only refuses more.",
            *(w.changed(asks=_also(w.asks, "asks")), w),
        ),
        _never_accepts(
            "larger estimates",
            "Larger estimates, and estimates where there were none, only refuse more.",
            *(costlier, w, enc.every_step(w, no_less)),
            costs=True,
        ),
        _never_accepts(
            "more dependencies",
            "Naming more dependencies only refuses more.",
            *(w.changed(depends=_also(w.depends, "depends")), w),
        ),
        _declares_nothing(w),
    )


def _declares_nothing(w: World) -> Lemma:
    """Return that `bare` is `w` without the claims of the plan, and with every output declared."""
    no, yes = (lambda *_: z3.BoolVal(False)), (lambda *_: z3.BoolVal(True))
    said = ("asks", "has_estimate", "has_id", "depends", "has_trace")
    bare = w.changed(
        **dict.fromkeys(said, no),
        declares=yes,
        tokens_before=symbol("tokens_before", "_bare"),
    )
    return Lemma(
        "declarations never authorise",
        "What a plan says of itself (own requirements, estimates, ids, dependencies, trace, "
        "outputs) never makes it pass: it passes only if the same calls and pins do without.",
        *follows(w, bare, facts(w), facts(bare), cheaper(bare, w)),
    )


def laws(w: World) -> tuple[Lemma, ...]:
    """Return every law of this file."""
    return (
        *mode_laws(w),
        *evidence_laws(w),
        *manifest_laws(w),
        *budget_laws(w),
        *declaration_laws(w),
    )
