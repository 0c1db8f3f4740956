"""`python -m tests.assurance.proof`: lemmas with proof times, falsehoods with examples."""

import sys

from tests.assurance.proof.falsehoods import falsehoods
from tests.assurance.proof.lemma import Answer, prove, refute
from tests.assurance.proof.proofs import LONG_ENOUGH, failing, lemmas
from tests.assurance.proof.worlds import world


def main() -> int:
    """Exit status 0 when every lemma is proven and every falsehood refuted."""
    proofs = [_told(prove(lemma)) for lemma in lemmas(world())]
    examples = [_told(refute(lemma)) for lemma in falsehoods(world(LONG_ENOUGH))]
    return 1 if failing(proofs, "proven") or failing(examples, "refuted") else 0


def _told(answer: Answer) -> Answer:
    said = answer.lemma
    sys.stdout.write(f"{answer.verdict:<12} {answer.seconds:6.2f} s  {said.name}: {said.says}\n")
    for line in answer.example.splitlines():
        sys.stdout.write(f"    {line}\n")
    return answer


if __name__ == "__main__":
    sys.exit(main())
