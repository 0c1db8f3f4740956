"""The effects of a change of the inputs on the verdict: laws over two worlds.

A law is about a world `w` and another that differs from it in one respect and agrees in all else.
"Never accepts" reads: if the changed plan or context passes, so did the first. Such a law and
its mirror image ("raising never un-accepts, lowering never accepts") are one lemma.

Where the plan itself is changed, its digest changes too: the approvals of `w` are then taken to
be given again for the changed plan, which is the case most favourable to it.
"""

from typing import Final

from evals.plan_verdicts import MOST_LISTED
from tests.assurance.proof import encoding as enc
from tests.assurance.proof import worlds as ws
from tests.assurance.proof.encoding import facts
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, a, every, z3
from tests.assurance.proof.sums import cheaper
from tests.assurance.proof.worlds import Meaning, World, rank, symbol

_SAID_BY_CONTENT: Final = ("backs", "stands", "says", "is_about")
_REQUIRED_BY_TOOL: Final = ("requires", "demands", "binds")
_SAID_BY_SPEC: Final = ("needs_output", "needs_class", "confines")


def _never_accepts(
    name: str, says: str, changed: World, w: World, *given: Term, costs: bool = False
) -> Lemma:
    """If the changed world is accepted, so is `w`; with `costs`, which it may have changed."""
    induction = (cheaper(w, changed),) if costs else ()
    premises = (facts(w), facts(changed), *given, *induction)
    return follows(name, says, changed, w, *premises)


def follows(name: str, says: str, one: World, other: World, *premises: Term) -> Lemma:
    """Return a lemma: if `one` is accepted, so is `other`, check by check.

    Goals are about an arbitrary step, and then about the whole. Mostly enough for one is the same
    check in `one`, and that its steps are surfaced.
    """
    step = a(ws.INT, "i")
    there, surfaced = ws.in_plan(one, step), ws.every_step(one, lambda i: enc.step_surfaced(one, i))
    known = [z3.Implies(there, part(one, step)) for part in enc.PARTS]
    whole = [check(one) for check in enc.WHOLE.values()]
    goals = (
        *(z3.Implies(there, part(other, step)) for part in enc.PARTS),
        *(check(other) for check in enc.WHOLE.values()),
    )
    enough = [(*premises, known[0], check) for check in known]
    enough += [(*premises, surfaced, check) for check in whole]
    given = (*premises, enc.accepted(one), *known)
    return Lemma(name, says, given, goals, enough=tuple(enough))


def _changes_nothing(
    name: str, says: str, w: World, other: World, *premises: Term
) -> tuple[Lemma, Lemma]:
    """Return two lemmas: what passes still does, and nothing else does."""
    both = (facts(w), facts(other), *premises)
    return (
        follows(f"{name}: still accepted", says, w, other, *both),
        follows(f"{name}: still refused", says, other, w, *both),
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
        return every(ws.CAPABILITY, lambda c: rank(riskier.mode(m, c)) >= rank(w.mode(m, c)))

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
            *(riskier, w, every(ws.ADAPTER, no_safer)),
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
    without = w.changed(known=_of(w.known, "known"))

    insisting = w.changed(
        insists=lambda *args: z3.Or(w.insists(*args), w.spares(*args)),
        spares=lambda *_: z3.BoolVal(False),
    )

    def stays_confined(r: Term) -> Term:
        return z3.Implies(z3.And(w.known(r), w.confines(w.class_of(r))), without.known(r))

    return (
        _never_accepts(
            "evidence removed",
            "Taking items that are not confined out of the evidence manifest never accepts a "
            "refused plan.",
            *(without, w, every(ws.REF, stays_confined)),
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
            every(ws.REF, lambda r: sooner.expiry(r) <= w.expiry(r)),
        ),
        _never_accepts(
            "less backed",
            "If contents back fewer values, anywhere or at a pointer, satisfy fewer schemas or are "
            "about fewer arguments, a refused plan is never accepted.",
            w.changed(**{name: _of(getattr(w, name), name) for name in _SAID_BY_CONTENT}),
            w,
        ),
        _never_accepts(
            "tool requires more",
            "If tools require more classes, demand more, or bind more arguments, no refused plan "
            "is accepted.",
            w.changed(**{name: _also(getattr(w, name), name) for name in _REQUIRED_BY_TOOL}),
            w,
        ),
        _never_accepts(
            "demand asks for more",
            "If demands are about more arguments, no refused plan is accepted.",
            *(w.changed(asks_about=_also(w.asks_about, "asks_about")), w),
        ),
        _never_accepts(
            "fewer pointers",
            "If bindings name fewer classes, or fewer pointers, no refused plan is accepted.",
            *(w.changed(allows=_of(w.allows, "allows"), at=_of(w.at, "at")), w),
        ),
        _never_accepts(
            "no longer optional",
            "If arguments that may be left out must be there, no refused plan is accepted.",
            *(insisting, w),
        ),
        _never_accepts(
            "more bound together",
            "If there are more groups, or more arguments in them, no refused plan is accepted.",
            *(w.changed(groups=_also(w.groups, "groups"), member=_also(w.member, "member")), w),
        ),
        _never_accepts(
            "spec requires more",
            "If the spec requires more outputs or classes, or confines more, no refused plan is "
            "accepted.",
            w.changed(**{name: _also(getattr(w, name), name) for name in _SAID_BY_SPEC}),
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

    def still_listed(output: Term) -> Term:
        needed = z3.And(w.needs_output(output), ws.listed(w, output))
        return z3.Implies(needed, ws.listed(fewer, output))

    def no_cheaper(m: Term) -> Term:
        return every(ws.CAPABILITY, lambda c: dearer.least(m, c) >= w.least(m, c))

    return (
        _never_accepts(
            "capability removed",
            "Taking tools that list no required output out of the manifest never accepts a "
            "refused plan.",
            *(fewer, w, every(ws.OUTPUT, still_listed)),
            costs=True,
        ),
        _never_accepts(
            "tools cost more",
            "Raising min_tokens never accepts a refused plan.",
            *(dearer, w, every(ws.ADAPTER, no_cheaper)),
            costs=True,
        ),
        *_unrelated_tool(w),
        *_unrelated_evidence(w),
    )


def _unrelated_tool(w: World) -> tuple[Lemma, Lemma]:
    """Return lemmas: a pair that no step calls may gain, change or lose its entry."""
    m, c = a(ws.ADAPTER, "unrelated_adapter"), a(ws.CAPABILITY, "unrelated_capability")
    facets = (
        *("surfaced", "mode", "least", "requires", "binds", "allows", "lists", "produces"),
        *("insists", "spares", "placed", "at", "groups", "demands"),
    )

    def altered(name: str) -> Meaning:
        old, new = getattr(w, name), symbol(name, "_new")
        return lambda x, y, *rest: z3.If(z3.And(x == m, y == c), new(x, y, *rest), old(x, y, *rest))

    names = (*facets, "schemed", "satisfies")
    other = w.changed(
        **{name: altered(name) for name in names}, tokens_before=symbol("tokens_before", "_new")
    )

    def elsewhere(i: Term) -> Term:
        return z3.Not(z3.And(w.calls(i), w.adapter(i) == m, w.capability(i) == c))

    def lists_nothing_needed(output: Term) -> Term:
        both = (ws.lists_output(one, (m, c), output) for one in (w, other))
        return z3.Implies(w.needs_output(output), z3.Not(z3.Or(*both)))

    return _changes_nothing(
        "unrelated tool",
        "Adding, changing or removing a tool that no step calls, and that lists no required "
        "output, changes no verdict.",
        *(w, other, ws.every_step(w, elsewhere), every(ws.OUTPUT, lists_nothing_needed)),
        *(cheaper(w, other), cheaper(other, w)),
    )


def _unrelated_evidence(w: World) -> tuple[Lemma, Lemma]:
    """Return lemmas: an item that no step pins may gain, change or lose its entry."""
    item = a(ws.REF, "unrelated")

    def altered(name: str) -> Meaning:
        old, new = getattr(w, name), symbol(name, "_new")
        return lambda ref, *rest: z3.If(ref == item, new(ref, *rest), old(ref, *rest))

    names = ("known", "class_of", "expires", "expiry", "leaks", *_SAID_BY_CONTENT)
    other = w.changed(**{name: altered(name) for name in names})
    unpinned = ws.every_step(w, lambda i: z3.Not(w.pins(i, item)))
    return _changes_nothing(
        "unrelated evidence",
        "Adding, changing or removing an item that no step pins, and that is not confined, "
        "changes no verdict.",
        *(w, other, unpinned, *(z3.Not(one.confines(one.class_of(item))) for one in (w, other))),
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
        _never_accepts(
            "more calls made",
            "Having made more destructive calls in earlier turns never accepts a refused plan.",
            *(w.changed(made_before=_also(w.made_before, "made_before")), w),
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
            *(costlier, w, ws.every_step(w, no_less)),
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
    return follows(
        "declarations never authorise",
        "What a plan says of itself (own requirements, estimates, ids, dependencies, trace, "
        "outputs) never makes it pass: it passes only if the same calls and pins do without.",
        *(w, bare, facts(w), facts(bare), cheaper(bare, w)),
    )


def approval_laws(w: World) -> tuple[Lemma, ...]:
    """Return laws about a person's approval of this very plan, and what it can clear."""
    approved, step, twin = enc.cleared(w), a(ws.INT, "i"), a(ws.INT, "j")
    twins = (ws.in_plan(w, twin), twin < step, enc.same_call(w, twin, step), w.calls(twin))
    mine = rank(ws.step_mode(w, step))
    ceiling = z3.Implies(w.has_ceiling(), mine <= rank(w.ceiling()))
    barred = z3.Or(w.doubted_twice(step), w.tool_refused(step), w.value_refused(step))

    def never_asks(name: str, says: str, goal: Term, *given: Term) -> Lemma:
        checks = [part(approved, step) for part in enc.PARTS]
        premises = (facts(w), enc.accepted(approved), ws.in_plan(w, step), *given)
        enough = (*checks, ws.in_plan(w, step), *given)
        return Lemma(f"{name} never asks", says, premises, (goal,), enough=(enough,))

    return (
        _never_accepts("approval given", "An approval of a plan never refuses it.", w, approved),
        follows(
            "an approval clears",
            "A plan with nothing against it but what asks passes once all of it is approved.",
            *(approved, w, facts(w), ws.every_step(w, lambda i: ws.approved(w, i))),
        ),
        never_asks(
            "a mode too high",
            "No approval clears a mode above the safety mode or the ceiling.",
            *(z3.And(mine <= rank(w.safety_mode()), ceiling), w.calls(step)),
        ),
        never_asks(
            "a repeat within the plan",
            "No approval clears one destructive call twice in a plan.",
            *(ws.step_mode(w, step) != ws.DESTRUCTIVE, *twins, w.calls(step)),
        ),
        never_asks(
            "missing evidence",
            "No approval clears evidence that is missing, or that does not say so.",
            enc.step_evidenced(w, step),
        ),
        never_asks(
            "what must not leave",
            "No approval clears confined content in a call.",
            z3.Not(enc.sends_confined(w, step)),
        ),
        never_asks(
            "what provenance refuses",
            "No approval clears two doubts of one step, or a refused tool or value.",
            z3.Not(barred),
        ),
    )


def capping_laws() -> tuple[Lemma, ...]:
    """Return what a capped refusal says of all violations, of which it lists the first 1,000."""
    count, at = a(ws.INT, "violations"), a(ws.INT, "at")
    asks = z3.Function("violation_asks", ws.INT, ws.BOOL)
    rest_asks = every(ws.INT, lambda k: z3.Implies(z3.And(k >= MOST_LISTED, k < count), asks(k)))
    entries = z3.If(count > MOST_LISTED, z3.IntVal(MOST_LISTED + 1), count)

    def entry_asks(k: Term) -> Term:
        return z3.If(k == MOST_LISTED, rest_asks, asks(k))

    every_entry = every(ws.INT, lambda k: z3.Implies(z3.And(k >= 0, k < entries), entry_asks(k)))
    every_one = every(ws.INT, lambda k: z3.Implies(z3.And(k >= 0, k < count), asks(k)))
    return (
        Lemma(
            "capped: the first",
            "Of any refusal the first violation is the first that is listed.",
            (count > 0, at == 0),
            (z3.And(at < entries, at < MOST_LISTED, entry_asks(at) == asks(at)),),
        ),
        Lemma(
            "capped: the size",
            "No refusal lists more than 1,001 entries, and one with no more than 1,000 violations "
            "lists each of them.",
            (count > 0,),
            (entries <= MOST_LISTED + 1, z3.Implies(count <= MOST_LISTED, entries == count)),
        ),
        Lemma(
            "capped: whom to ask",
            "A refusal asks a person by what it lists exactly if all its violations do.",
            (count > 0,),
            (z3.Implies(every_entry, every_one), z3.Implies(every_one, every_entry)),
        ),
    )


def laws(w: World) -> tuple[Lemma, ...]:
    """Return every law of this file."""
    return (
        *mode_laws(w),
        *evidence_laws(w),
        *manifest_laws(w),
        *budget_laws(w),
        *declaration_laws(w),
        *approval_laws(w),
        *capping_laws(),
    )
