"""`critic replay --since`: a signed checkpoint says what was checked, or is refused by name."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.audit.proofs.checkpoint import Checkpoint
from harness.audit.proofs.comparison import compare_hashes, compare_log
from harness.audit.proofs.merkle import EMPTY_ROOT
from harness.log.sql import SqlDecisionLog
from tests.harness.commands.log.proving import ORIGIN, WHY, Signed, changed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import LogPlace, filled, meddle
from tests.support.examples import is_safe


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


def since(signed: Signed, *more: str | Path, log: LogPlace | None = None) -> Said:
    """Replay what a log holds beyond the checkpoint."""
    given = ("--since", signed.checkpoint, "--public-key", signed.public)
    return signed.critic("replay", log or signed.log, *given, *more)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [(), ("--jobs", "2")])
def test_what_comes_after_a_checkpoint_is_answered_as_in_the_whole(
    signed: Signed, engine: tuple[str, ...]
) -> None:
    signed.grow(3)
    whole = signed.critic("replay", signed.log, "--format", "json")
    after = since(signed, "--format", "json", *engine)
    assert (after.status, after.err, after.lines) == (0, "", whole.lines[8:])
    assert since(signed, *engine).lines[-1].startswith("3 records after record 8: 3 same")


def test_a_checkpoint_of_no_records_skips_none(critic: Critic, tmp_path: Path) -> None:
    signed = signed_log(critic, tmp_path, 0)
    signed.grow(2)
    assert since(signed).lines[-1].startswith("2 records after record 0: 2 same")


def test_a_log_in_postgresql_is_held_to_a_checkpoint_too(signed: Signed, place: LogPlace) -> None:
    filled(place, 10).close()
    assert since(signed, log=place).lines[-1].startswith("2 records after record 8: 2 same")


def _without(seq: int, log: Path) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = ?", (seq,)))


def _swapped(log: Path) -> None:
    pair = [("UPDATE records SET seq = ? WHERE seq = ?", at) for at in ((-3, 2), (2, 3), (3, -3))]
    meddle(log, *pair)


def _refilled(log: Path, count: int, kinds: tuple[str, ...]) -> None:
    log.unlink()
    filled(log, count, kinds=kinds).close()


CHANGES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "fewer records": (
        "truncated",
        lambda log: meddle(log, ("DELETE FROM records WHERE seq=8", ())),
    ),
    "a gap": ("removed", lambda log: meddle(log, ("DELETE FROM records WHERE seq = 3", ()))),
    "no first record": (
        "removed",
        lambda log: meddle(log, ("DELETE FROM records WHERE seq=1", ())),
    ),
    "another log": ("exchanged", lambda log: _refilled(log, 9, ("partial",))),
    "a fork": ("forked", lambda log: _refilled(log, 9, ("refused", "refused", "partial"))),
    "other places": ("forked", _swapped),
    "a number below 1": (
        "spliced",
        lambda log: meddle(log, ("UPDATE records SET seq = -1 WHERE seq = 5", ())),
    ),
    "no hash": (
        "altered",
        lambda log: meddle(log, ("UPDATE records SET hash = ? WHERE seq = 4", ("\x1b[2Jx",))),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", ["text", "json", "junit", "sarif", "github"])
def test_a_log_that_is_not_as_signed_is_refused_by_name(
    signed: Signed, change: str, form: str
) -> None:
    kind, make = CHANGES[change]
    if change == "a fork":
        _refilled(signed.log, 8, ("refused", "refused", "completed"))
        signed.sign("checkpoint", "--origin", ORIGIN)
    make(signed.log)
    said = since(signed, "--format", form)
    assert (said.status, said.err) == (1, "")
    assert f"{kind}: " in said.out
    assert form == "junit" or all(map(is_safe, said.lines))
    if form == "text":
        assert said.lines[-1].startswith("nothing was replayed")


def test_the_last_record_that_was_signed_is_read(signed: Signed) -> None:
    signed.grow(1)
    meddle(signed.log, ("UPDATE records SET body = '{}' WHERE seq = 8", ()))
    said = since(signed)
    assert (said.status, said.out) == (2, "")
    assert "the log does not hold record 8 with that hash" in said.err


def test_a_checkpoint_counts_with_a_key_alone(signed: Signed, tmp_path: Path) -> None:
    for given, words in (
        (("--since", signed.checkpoint), "give --public-key"),
        (("--public-key", signed.public), "name it with --since"),
        (("--since", tmp_path / "none"), "--since: write it as"),
        (("--since", tmp_path / "none", "--public-key", signed.public), "no such file"),
        (("--since", signed.checkpoint, "--public-key", signed.key), "a private key"),
        (("--since", signed.checkpoint, "--public-key", signed.log), "not a public key"),
        (("--since", signed.log, "--public-key", signed.public), "not a signed checkpoint"),
        (("--since", tmp_path, "--public-key", signed.public), "it is a directory"),
    ):
        said = signed.critic("replay", signed.log, *given)
        assert (said.status, said.out) == (2, "")
        assert words in said.err
        assert is_safe(said.err.removesuffix("\n"))


def test_another_key_or_a_changed_checkpoint_is_refused(signed: Signed, tmp_path: Path) -> None:
    assert signed.critic("log", "key", "--new", tmp_path / "other").status == 0
    both = since(signed, "--public-key", tmp_path / "other.pub")
    assert (both.status, both.out) == (2, "")
    assert "is not signed by" in both.err
    with changed(signed.checkpoint, "\n8\n", "\n7\n"):
        said = since(signed)
    assert (said.status, said.out) == (2, "")
    assert "the checkpoint was changed" in said.err


def test_a_replay_since_a_checkpoint_goes_on_where_it_was(
    signed: Signed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.commands.replay import replay_command as command  # noqa: PLC0415
    from harness.replay import stretches  # noqa: PLC0415

    monkeypatch.setattr(stretches, "_SIZE", 2)
    signed.grow(6)
    asked = ("--format", "json", "--resume", tmp_path / "state")
    whole = since(signed, *asked)

    def interrupted(answers: Any, *_: object) -> Any:
        yield from (next(answers) for _ in range(3))
        next(answers)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(command, "with_progress", interrupted)
        first = since(signed, *asked)
    assert first.status == 130
    other = signed.sign("other", "--origin", ORIGIN)
    later = signed.critic(
        "replay", signed.log, *asked, "--since", other, "--public-key", signed.public
    )
    assert "another --since" in later.err
    rest = since(signed, *asked)
    assert (rest.status, [*first.lines[:2], *rest.lines]) == (0, whole.lines)


@pytest.mark.parametrize("seq", [0, 3, 8])
def test_a_head_among_the_records_that_are_believed_is_refused(signed: Signed, seq: int) -> None:
    signed.grow(1)
    head = f"{seq}:{'1' * 64}" if seq else f"0:{'0' * 64}"
    said = since(signed, "--head", head)
    assert (said.status, said.out) == (2, "")
    assert f"--head: record {seq} is among those" in said.err


def test_a_head_that_is_the_record_of_the_checkpoint_holds(signed: Signed) -> None:
    head = signed.critic("log", "verify", signed.log).lines[-1].removeprefix("head ")
    assert since(signed, "--head", head).status == 0


@pytest.mark.parametrize("size", range(1, 9))
def test_hashes_alone_lead_to_every_checkpoint_that_the_log_was_at(
    tmp_path: Path, size: int
) -> None:
    filled(tmp_path / "part", size).close()
    filled(tmp_path / "log", 8).close()
    with (
        SqlDecisionLog.open_for_reading(tmp_path / "part") as part,
        SqlDecisionLog.open_for_reading(tmp_path / "log") as log,
    ):
        compared = compare_log(part)
        checkpoint = Checkpoint("x", size, compared.root, compared.first)
        assert compare_hashes(log.hashes(), checkpoint) == part.head().hash
        wrong = compare_hashes(log.hashes(), checkpoint._replace(root=EMPTY_ROOT))
        assert getattr(wrong, "kind", None) == "forked"


def test_a_redacted_record_is_skipped_with_the_rest(signed: Signed, tmp_path: Path) -> None:
    public = tmp_path / "public.db"
    asked = ("log", "redact", signed.log, public, "--value", "8:/run", *WHY)
    assert signed.critic(*asked).status == 0
    assert since(signed, log=public).status == 0
    told = json.loads(signed.check(public, "--format", "json").out)
    assert told["redacted"] == 1
