"""Many threads, the same objects: every one gets the same verdict, byte for byte."""

import threading
from collections import Counter

import pytest

from evals.canonical_json import canonical_bytes
from tests.support.effort import sampled
from tests.support.examples import good_proposal, proposal_of, refused_proposal
from tests.support.judging import judge_proposal
from tests.support.model.facts import Json

THREADS = 1000


WIRES = [good_proposal(), refused_proposal()]


@pytest.mark.slow
@pytest.mark.parametrize("wire", sampled(WIRES, one_in=2), ids=["good", "refused"])
def test_a_thousand_threads_verify_the_same_objects(wire: Json) -> None:
    # Nothing has been derived from these objects yet: all threads come upon them at once.
    proposal = proposal_of(wire)
    together = threading.Barrier(THREADS)
    verdicts: list[bytes] = []

    def judge() -> None:
        together.wait()
        verdicts.append(canonical_bytes(judge_proposal(proposal)))

    threads = [threading.Thread(target=judge) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(verdicts) == {canonical_bytes(judge_proposal(proposal_of(wire))): THREADS}
