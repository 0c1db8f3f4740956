"""Laws of ids: of sessions, of calls and of plans. Each docstring is the law."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from hypothesis import strategies as st

from harness.testing._draw.primitives import Json
from harness.testing._laws.renaming_laws import named_back
from harness.testing._streams.guard_trial import PlayedStream, interleave_streams, is_error
from harness.testing._streams.stream_trial import StreamTrial, recorded_decisions

NEAR_SESSIONS: Final = (
    ("a", "b"),
    ("a", "A"),
    ("a", "a "),
    ("s/1", "s/10"),
    ("turn/1", "1"),
    ("a/b", "a%2Fb"),
    ("e\u0301", "\u00e9"),
    ("x" * 200, "x" * 201),
)
"""Two ids that differ, and that a careless key takes for one."""

_ODD: Final = ("c" * 256, "a b", "\u202eev\u0301", "x/../y", "'; --", "0", "None", "\U0001f600")
_DIGESTS: Final = frozenset({"plan_digest", "context_digest", "plan_id"})
_WORDS: Final = frozenset({"reason", "reasons", "message", "trace_id"})
_ORDER: Final = st.lists(st.booleans(), max_size=24)


def two_streams_are_answered_as_each_alone(trial: StreamTrial) -> None:
    """Two sessions whose events mix are answered, and recorded, as each of them alone."""
    names = trial.pick(NEAR_SESSIONS)
    streams = [trial.stream(name) for name in names]
    mixed = trial.play(interleave_streams(streams[0], streams[1], trial.draw(_ORDER)))
    halted = 0
    for name, stream in zip(names, streams, strict=True):
        alone, among = trial.play(stream), mixed.of(name)
        same = (alone.events, alone.answers) == (among.events, among.answers)
        trial.require(same, f"session {name!r} is answered otherwise among others", mixed, alone)
        kept = recorded_decisions(alone) == recorded_decisions(among)
        trial.require(kept, f"session {name!r} is recorded otherwise among others", mixed, alone)
        halted += _has_halted(trial, alone)
        trial.met["asked and answered"] += _asks_and_answers(alone)
    trial.met["both halted"] += halted == len(names)
    trial.met["near ids"] += names != NEAR_SESSIONS[0]


def _has_halted(trial: StreamTrial, played: PlayedStream) -> bool:
    halts = trial.policy.guard.on_refusal == "halt"
    refused = (a.get("action") == "refuse" and "verdict" in a for a in played.answers if a)
    return halts and any(refused)


def _asks_and_answers(played: PlayedStream) -> bool:
    """Whether a person's answer was taken in."""
    return any(
        event["event"] == "answer" and not is_error(answer)
        for event, answer in zip(played.events, played.answers, strict=True)
    )


def renamed_ids_rename_the_answers(trial: StreamTrial) -> None:
    """Other ids of the session and its calls change those in the answers, and nothing else."""
    plain = trial.draw(st.booleans())
    stream = trial.stream()
    names = _new_names(stream, plain=plain)
    before, after = trial.play(stream), trial.play([_rename_ids(event, names) for event in stream])
    old = {new: name for name, new in names.items()}
    answers = [_strip_answer(_rename_ids(one, old), old, plain=plain) for one in after.answers]
    same = [_strip_answer(one, {}, plain=plain) for one in before.answers] == answers
    trial.require(same, "other ids are answered otherwise", before, after)
    trial.require(_digests(before) == _digests(after), "other plans are the same", before, after)
    kept = [[_strip_answer(one._asdict(), {}, plain=plain) for one in recorded_decisions(before)]]
    kept += [[_strip_answer(one._asdict(), old, plain=plain) for one in recorded_decisions(after)]]
    trial.require(
        kept[0] == kept[1] or not plain, "other ids are recorded otherwise", before, after
    )
    trial.met["plain ids" if plain else "odd ids"] += 1


def _new_names(stream: list[Json], *, plain: bool) -> dict[str, str]:
    calls = [call["id"] for event in stream for call in event.get("calls", ())]
    calls += [event["id"] for event in stream if "id" in event]
    found = dict.fromkeys([*(event["session"] for event in stream), *calls])
    return {
        name: f"Zq{at:05}qZ" if plain else _ODD[at % len(_ODD)] + "'" * (at // len(_ODD))
        for at, name in enumerate(found)
    }


def _rename_ids(value: Any, names: Mapping[str, str]) -> Any:
    """Return an event or an answer with the ids of its sessions and calls replaced."""
    if not isinstance(value, dict):
        return value
    changed = dict(value)
    for name in ("session", "id"):
        if isinstance(changed.get(name), str):
            changed[name] = names.get(changed[name], changed[name])
    for name, key in (("calls", "id"), ("unknown", "id"), ("questions", "call")):
        if name in changed:
            changed[name] = [{**one, key: names.get(one[key], one[key])} for one in changed[name]]
    return changed


def _strip_answer(answer: Any, names: Mapping[str, str], *, plain: bool) -> Any:
    """Return an answer without digests; where ids are odd, without the words that quote them."""
    if plain:
        return named_back(_without(answer, _DIGESTS), dict(names))
    return _without(answer, _DIGESTS | _WORDS)


def _without(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, dict):
        return {name: _without(part, names) for name, part in value.items() if name not in names}
    return [_without(part, names) for part in value] if isinstance(value, list) else value


def _digests(played: PlayedStream) -> list[int]:
    """Return which plans are one: each digest by the place at which it came first."""
    first: dict[str | None, int] = {}
    given = [one.get("plan_digest") for one in played.answers if one and "action" in one]
    return [first.setdefault(digest, at) for at, digest in enumerate(given)]


_LEGAL_AGAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "open": ("close",),
    "result": ("calls",),
    "answer": ("open",),
    "close": ("open",),
}
"""What makes an event right again that was taken in once."""


def what_was_taken_in_is_not_taken_in_again(trial: StreamTrial) -> None:
    """A second open, result, answer or close with the same id is an error, and changes nothing."""
    once = trial.play(trial.stream())
    again = dict[int, list[tuple[int, Json]]]()
    for at, event in _taken_in(once):
        places = [*_wrong_places(once, at)]
        if event["event"] not in _LEGAL_AGAIN or not places:
            continue
        if event["event"] == "answer" or trial.draw(st.integers(0, 3)):  # answers are few
            place = trial.pick(places)
            again.setdefault(place, []).append((at, _alter_event(trial, event)))
    events: list[Json] = []
    repeats: list[bool] = []
    for at, event in enumerate([*once.events, {}]):
        extra = [repeat for _, repeat in again.get(at, ())]
        whole = [*extra, event] if event else extra
        events += whole
        repeats += [True] * len(extra) + [False] * (len(whole) - len(extra))
    twice = trial.play(events)
    kept = [a for a, is_repeat in zip(twice.answers, repeats, strict=True) if not is_repeat]
    for answer, is_repeat, event in zip(twice.answers, repeats, events, strict=True):
        if is_repeat:
            trial.met[f"{event['event']} again"] += 1
            trial.require(is_error(answer), f"{event['event']} is taken in twice", once, twice)
    trial.require(kept == [*once.answers], "what comes again changes something", once, twice)
    trial.require(
        recorded_decisions(once) == recorded_decisions(twice), "it is recorded twice", once, twice
    )


def _taken_in(played: PlayedStream) -> Iterator[tuple[int, Json]]:
    for at, (event, answer) in enumerate(zip(played.events, played.answers, strict=True)):
        if not is_error(answer):
            yield at, event


def _wrong_places(played: PlayedStream, at: int) -> Iterator[int]:
    """Yield the places after an event at which it would come again, and is not right again."""
    event = played.events[at]
    legal = _LEGAL_AGAIN.get(event["event"], ())
    for place in range(at + 1, len(played.events) + 1):
        yield place
        if place < len(played.events) and played.events[place]["event"] in legal:
            return


def _alter_event(trial: StreamTrial, event: Json) -> Json:
    """Return an event of the same ids, the same or with another content."""
    others: dict[str, Json] = {
        "open": {"request": "Do it all"},
        "result": {"status": "completed", "output": "again"},
        "answer": {"yes": True, "approver": "mallory"},
        "close": {"outputs": {"again": True}},
    }
    changes = trial.pick(({}, others[event["event"]]))
    return {**event, **changes}


def a_session_that_is_opened_again_is_a_new_one(trial: StreamTrial) -> None:
    """A session with the id of one that was closed is answered as if that had never been."""
    alone = trial.play(trial.stream())
    before = [*trial.stream(), {"event": "close", "session": "s", "outputs": {}}]
    both = trial.play([*before, *alone.events])
    later = both.answers[len(before) :]
    trial.require(later == alone.answers, "the session before it counts", alone, both)
    mine = recorded_decisions(alone)
    kept = recorded_decisions(both)[len(both.decisions) - len(mine) :]
    trial.require(mine == kept, "the session before it is recorded with it", alone, both)
