"""What holds of an arbitrary value in a role: its origin, and what that is worth.

The worth of an origin is read from the engine, for each role and mode. The origin of a value is the
first in the order of `Origin` whose fact holds; the facts may be anything. So these lemmas hold of
every value, however the texts are read. That texts are read so is tested, not proven.
"""

from functools import reduce
from typing import Final, get_args

from critic.provenance.origins import Origin
from critic.provenance.roles import AIMED_AT
from critic.provenance.worth import ALLOW, ASK, worth_of
from evals.spec import DecisionSpec
from tests.assurance.proof.lemma import Lemma
from tests.assurance.proof.solver import Term, z3

ORIGINS: Final[tuple[Origin, ...]] = get_args(Origin)
CONTESTED: Final[dict[Origin, Origin]] = {"contested": "field", "contested_party": "party"}
"""What a field is where other text mentions its value."""
OUTSIDE: Final = frozenset(
    (
        *("party", "named_public", "named_web", "reached_public", "reached_web"),
        *("untrusted", "led_field", "rival"),
    )
)
"""The facts that an outsider can bring about, as the labels say."""
OF_EXPIRED: Final = frozenset({"untrusted", "led_field", "rival"})
"""The facts that an item still brings about after it has expired."""

Facts = dict[str, Term]


def facts(prefix: str) -> Facts:
    """Return what may be the case of a value, each of which may be true or not."""
    names = (*(one for one in ORIGINS if one not in CONTESTED and one != "unseen"), "rival")
    return {name: z3.Bool(f"{prefix} {name}") for name in names}


def origin_holds(said: Facts, origin: Origin) -> Term:
    if origin in CONTESTED:
        return z3.And(said[CONTESTED[origin]], said["rival"])
    if origin in CONTESTED.values():
        return z3.And(said[origin], z3.Not(said["rival"]))
    return z3.BoolVal(True) if origin == "unseen" else said[origin]


def level(said: Facts, role: str, mode: str) -> Term:
    """Return the worth of the first origin that holds."""
    spec = DecisionSpec(id="d", required_outputs=(), provenance=mode)  # type: ignore[arg-type]
    worth = {one: z3.IntVal(worth_of(role, one, spec)) for one in ORIGINS}  # type: ignore[arg-type]
    rest = worth["unseen"]
    return reduce(
        lambda other, one: z3.If(origin_holds(said, one), worth[one], other),
        reversed(ORIGINS[:-1]),
        rest,
    )


def worth_lemmas() -> tuple[Lemma, ...]:
    """Return the lemmas of origins, for all roles and both modes at once."""
    return (
        _outsiders(),
        _open(),
        _contest(),
        _expired(),
        _mentions(),
        _yes_elsewhere(),
        _yes_below(),
        *_writers(),
        _standing(),
    )


def worth_falsehoods() -> tuple[Lemma, ...]:
    """Return what looks true of origins, and is not."""
    some, bare = facts("some"), facts("bare")
    more = {name: z3.Implies(bare[name], some[name]) for name in some}
    pinned, asked = z3.Ints("yes_rank asked_rank")
    return (
        Lemma(
            "more facts never refuse",
            "Of more that was seen no target is worth less. (A mention contests a field.)",
            tuple(more.values()),
            (level(some, "object", "closed") <= level(bare, "object", "closed"),),
        ),
        Lemma(
            "outsiders never ask",
            "An outsider's bytes never turn refuse into ask. (Named text asks.)",
            _same(some, bare, OUTSIDE),
            (level(some, "recipient", "closed") >= level(bare, "recipient", "closed"),),
        ),
        Lemma(
            "a yes at any tier",
            "A yes holds whatever the tier of the tool is now. (It may have been raised.)",
            (),
            (_yes_holds(pinned, asked),),
        ),
    )


def _same(some: Facts, bare: Facts, but: frozenset[str]) -> tuple[Term, ...]:
    """Return that two values differ in some facts alone, of which the second has none."""
    kept = (some[name] == bare[name] for name in some if name not in but)
    return (*kept, *(z3.Not(bare[name]) for name in but))


def _each(says: str) -> list[tuple[str, str]]:
    roles = sorted(AIMED_AT) if says == "targets" else [*sorted(AIMED_AT), "attribute", "content"]
    return [(role, mode) for role in roles for mode in ("closed", "open")]


def _outsiders() -> Lemma:
    some, bare = facts("some"), facts("bare")
    return Lemma(
        "outsiders allow no target",
        "A target that is allowed is allowed without all that an outsider can bring about.",
        _same(some, bare, OUTSIDE),
        tuple(
            z3.Implies(level(some, *one) == ALLOW, level(bare, *one) == ALLOW)
            for one in _each("targets")
        ),
    )


def _open() -> Lemma:
    said = facts("said")
    goals = (
        z3.Implies(level(said, role, "open") == ALLOW, level(said, role, "closed") == ALLOW)
        for role, mode in _each("all")
        if mode == "open"
    )
    return Lemma(
        "open allows nothing more",
        "What `open` allows, `closed` allows.",
        (z3.Not(said["unreadable"]),),
        (*goals,),
    )


def _contest() -> Lemma:
    some, bare = facts("some"), facts("bare")
    goals = (level(some, *one) >= level(bare, *one) for one in _each("all"))
    return Lemma(
        "a mention never helps a field",
        "A value is worth no more where other text mentions it too.",
        (some["rival"], *_same(some, bare, frozenset({"rival"}))),
        (*goals,),
    )


def _mentions() -> Lemma:
    said = facts("said")
    goals = (
        level(said, role, mode) >= ASK
        for role, mode in _each("targets")
        if (role, mode) != ("locator", "closed")
    )
    better = (one for one in ORIGINS[: ORIGINS.index("contested")] if one != "field")
    return Lemma(
        "a contested field is not enough",
        "A field that other text mentions too, and that no designated record says, is no target "
        "without a question, but to read it in `closed`.",
        (said["field"], said["rival"], *(z3.Not(said[one]) for one in better)),
        (*goals,),
    )


def _expired() -> Lemma:
    fresh, every = facts("fresh"), facts("every")
    added = (
        every[name] == fresh[name]
        if name not in OF_EXPIRED
        else z3.Implies(fresh[name], every[name])
        for name in fresh
    )
    goals = []
    for one in _each("all"):
        judged = z3.If(
            level(fresh, *one) >= level(every, *one), level(fresh, *one), level(every, *one)
        )
        goals.append(
            z3.And(
                judged >= level(fresh, *one),
                z3.Implies(judged == ALLOW, level(fresh, *one) == ALLOW),
            )
        )
    return Lemma(
        "what expired gives nothing",
        "Judged with what has expired and without it, no value is worth more than without it.",
        (*added,),
        (*goals,),
    )


# --- a yes ----------------------------------------------------------------------------------------


def _yes_holds(given_rank: Term, asked_rank: Term) -> Term:
    return asked_rank <= given_rank


def _approved() -> tuple[Term, dict[str, tuple[Term, Term]], Term, Term]:
    """Return whether a yes holds for a call: its role, tool and value, and the two tiers."""
    sort = z3.DeclareSort("Named")
    pairs = {
        name: tuple(z3.Consts(f"yes_{name} asked_{name}", sort))
        for name in ("role", "tool", "value")
    }
    given_rank, asked_rank = z3.Ints("yes_rank asked_rank")
    same = z3.And(*(one == other for one, other in pairs.values()))
    holds = z3.And(same, _yes_holds(given_rank, asked_rank))
    return holds, pairs, given_rank, asked_rank


def _yes_elsewhere() -> Lemma:
    holds, pairs, given_rank, asked_rank = _approved()
    other = z3.Or(*(one != asked for one, asked in pairs.values()), asked_rank > given_rank)
    return Lemma(
        "a yes elsewhere",
        "A yes to another role, tool or value, or at a lower tier, approves nothing.",
        (other,),
        (z3.Not(holds),),
    )


def _yes_below() -> Lemma:
    holds, pairs, given_rank, asked_rank = _approved()
    same = [one == asked for one, asked in pairs.values()]
    return Lemma(
        "a yes below",
        "A yes at a tier approves the same value, role and tool at that tier and below.",
        (*same, asked_rank <= given_rank),
        (holds,),
    )


# --- who fills a field ---------------------------------------------------------------------------


def _writers() -> tuple[Lemma, ...]:
    system, member, party, public, none = map(z3.IntVal, range(5))
    author, declared = z3.Ints("author declared")
    is_record, is_valid, narrows = z3.Bools("is_record is_valid narrows")
    people = z3.Or(*(author == one for one in (system, member, public)))
    broken = z3.And(is_record, z3.Not(is_valid))
    has_field = z3.And(is_record, is_valid, declared != none)
    writer = z3.If(z3.And(broken, narrows), public, z3.If(has_field, declared, author))
    of_record = z3.And(author == system, writer == system)
    given = (
        people,
        *(declared >= 0, declared <= none),
        z3.Implies(z3.And(declared != none, declared != system), narrows),
    )
    return (
        Lemma(
            "of a system's record",
            "What counts as a system of record is by one, and no other is declared to fill it.",
            (*given, of_record, has_field),
            (z3.And(author == system, declared == system),),
        ),
        Lemma(
            "an outsider's text",
            "What a stranger wrote is his wherever no field is declared, record or not.",
            (*given, author == public, declared == none),
            (writer == public,),
        ),
        Lemma(
            "a broken record",
            "A record that breaks its schema has no fields; where others fill some, it is public.",
            (*given, broken, declared != none, declared != system),
            (writer == public,),
        ),
        Lemma(
            "a party is no system",
            "A field that is declared to name a party is never filled by the system.",
            (*given, has_field, declared == party),
            (z3.And(writer == party, z3.Not(of_record), writer != member),),
        ),
    )


# --- the standing of a source ---------------------------------------------------------------------


def _standing() -> Lemma:
    named = {one: z3.Bool(f"locator {one}") for one in ("request", "phrase", "is_long")}
    reached = {one: z3.Bool(f"locator {one}") for one in ("host", "approved", "own", "leads_to")}
    found = z3.Bool("stands in untrusted text")
    by_name = z3.And(z3.Or(named["request"], named["phrase"]), named["is_long"])
    best = z3.If(by_name, 0, z3.If(z3.Or(*reached.values()), 1, z3.If(found, 2, 3)))
    nobody = (z3.Not(one) for one in (named["request"], named["phrase"], *reached.values()))
    return Lemma(
        "led by a stranger",
        "What only untrusted text names is led: it is neither named nor reached.",
        (found, *nobody),
        (best == z3.IntVal(2),),
    )
