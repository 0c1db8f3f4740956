"""`python -m tests.assurance.proof`: lemmas with proof times, falsehoods with examples.

Keeps in `fixtures/proofs.json` that they hold, for the tests.
"""

import sys

from tests.assurance.proof.kept import keep
from tests.assurance.proof.lemma import Answer, prove, refute
from tests.assurance.proof.proofs import all_falsehoods, failing, lemmas, possible
from tests.assurance.proof.worlds import world


def main() -> int:
    """Exit status 0, and it is kept, when every lemma is proven and every falsehood refuted."""
    proofs = [_told(prove(lemma)) for lemma in lemmas(world())]
    examples = [_told(refute(lemma)) for lemma in all_falsehoods()]
    empty = failing(possible(), "possible")
    sys.stdout.writelines(f"{line}\n" for line in empty)
    if empty or failing(proofs, "proven") or failing(examples, "refuted"):
        return 1
    keep()
    return 0


def _told(answer: Answer) -> Answer:
    said = answer.lemma
    sys.stdout.write(f"{answer.verdict:<12} {answer.seconds:6.2f} s  {said.name}: {said.says}\n")
    for line in answer.example.splitlines():
        sys.stdout.write(f"    {line}\n")
    return answer


if __name__ == "__main__":
    sys.exit(main())
