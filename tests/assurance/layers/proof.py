"""Lemmas proven for plans of any length, their formulas compared with the engine, and every plan
up to a size. `tests.assurance.proof` says what is proven and what is not."""

from tests.assurance.proof.encoding import PER_STEP, WHOLE
from tests.assurance.proof.enumerate import compare
from tests.assurance.proof.proofs import failing, possible, proven, refuted
from tests.assurance.proof.validate import validate
from tests.assurance.row import Row, all_held


def run(*, quick: bool) -> list[Row]:
    """Return the rows. Quick: a tenth of the instances, and plans of at most two steps."""
    return [*_proofs(), _validated(2_000 if quick else 20_000), _enumerated(2 if quick else 3)]


def _proofs() -> list[Row]:
    answers = proven()
    unproven = failing(answers, "proven")
    vacuous = failing(possible(), "possible")
    refutations = refuted()
    standing = failing(refutations, "refuted")
    note = f"slowest {max(one.seconds for one in answers):.2f} s"
    return [
        all_held("lemmas proven", len(answers), "lemmas", len(unproven), _note(unproven, note)),
        all_held("premises met", len(answers), "lemmas", len(vacuous), _note(vacuous)),
        all_held("false lemmas", len(refutations), "refuted", len(standing), _note(standing)),
    ]


def _validated(count: int) -> Row:
    done = validate(range(count))
    kinds = {f"{check} {kind}" for check, kind in (*PER_STEP, *WHOLE)}
    kinds |= {"accepted", "approvable"}
    rare = sorted(kind for kind in kinds if done.met[kind] < count // 50)
    share = f"{done.met['accepted']:,} accepted"
    wrong = [*done.differing, *(f"hardly met: {kind}" for kind in rare)]
    return all_held("encoding against engine", done.tried, "plans", len(wrong), _note(wrong, share))


def _enumerated(size: int) -> Row:
    done = compare(size)
    note = f"all plans of up to {size} steps; {done.accepted:,} accepted"
    return all_held(
        "every small plan", done.tried, "verdicts", len(done.differing), _note(done.differing, note)
    )


def _note(failures: list[str], otherwise: str = "") -> str:
    return "; ".join(failures[:3]) if failures else otherwise
