"""Results are kept while they are the last used, and all together small enough."""

from threading import Thread

from hypothesis import given
from hypothesis import strategies as st

from evals.recent_results import RecentResults

MOST = 10


@given(st.lists(st.integers(0, 12)))
def test_the_last_used_that_are_small_enough_are_kept(keys: list[int]) -> None:
    made: list[int] = []

    def function(key: int) -> tuple[str, int]:
        made.append(key)
        return f"of {key}", key

    kept: list[int] = []
    results = RecentResults(function, most=MOST)
    for key in keys:
        before = len(made)
        assert results(key) == f"of {key}"
        assert (len(made) == before) == (key in kept)
        kept = [one for one in kept if one != key]
        if key <= MOST:
            kept.append(key)
        while sum(kept) > MOST:
            kept.pop(0)
        assert len(results) == len(kept)


def test_what_fails_is_not_kept() -> None:
    tried: list[int] = []

    def fails(key: int) -> tuple[int, int]:
        tried.append(key)
        raise ValueError(key)

    results = RecentResults(fails, most=MOST)
    for _ in range(2):
        try:
            results(1)
        except ValueError:
            continue
    assert tried == [1, 1]
    assert len(results) == 0


def _negated(key: int) -> tuple[int, int]:
    return -key, 1


def test_threads_share_the_results() -> None:
    results = RecentResults(_negated, most=3)

    def ask() -> None:
        for key in range(2_000):
            assert results(key % 7) == -(key % 7)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 3
