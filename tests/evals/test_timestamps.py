"""Times: every form of RFC 3339 with a zone, nothing else, and one spelling per instant."""

from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from critic import EvidenceItem, RunContext
from evals.timestamps import format_time, parse_time
from tests.support.effort import examples
from tests.support.examples import refused_at
from tests.support.patience import PATIENT

LAW = settings(PATIENT, max_examples=examples(200))
EXPECTED = "not an RFC 3339 time with a zone, such as 2026-05-09T09:30:00Z"
NOON = datetime(2026, 5, 9, 12, tzinfo=UTC)

zones = st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(
    min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=zones
)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-09T12:00:00Z", NOON),
        ("2026-05-09t12:00:00z", NOON),
        ("2026-05-09T12:00:00z", NOON),
        ("2026-05-09t12:00:00+00:00", NOON),
        ("2026-05-09T12:00:00-00:00", NOON),
        ("2026-05-09T17:30:00+05:30", NOON),
        ("2026-05-08T12:01:00-23:59", NOON),
        ("2026-05-10T11:59:00+23:59", NOON),
        ("2026-05-09T12:00:00.5Z", NOON.replace(microsecond=500_000)),
        ("2026-05-09T12:00:00.000001Z", NOON.replace(microsecond=1)),
        ("2026-05-09T12:00:00.123456Z", NOON.replace(microsecond=123_456)),
        ("2026-05-09T12:00:00.1234560Z", NOON.replace(microsecond=123_456)),
        ("2026-05-09T12:00:00.000000000000Z", NOON),
        ("2026-05-09T12:00:00.10+00:00", NOON.replace(microsecond=100_000)),
        ("2024-02-29T00:00:00Z", datetime(2024, 2, 29, tzinfo=UTC)),
        ("2000-02-29T23:59:59Z", datetime(2000, 2, 29, 23, 59, 59, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_every_form_of_rfc3339_is_parsed(text: str, moment: datetime) -> None:
    parsed = parse_time(text)
    assert parsed == moment
    assert parsed.tzinfo is UTC
    assert RunContext(trace_id="t", safety_mode="read_only", as_of=text).as_of == moment


REFUSED = (
    *("", "now", "2026-05-09", "12:00:00Z", "2026-05-09T12:00Z", "2026-05-09T12Z"),
    *("2026-05-09T12:00:00", "2026-05-09 12:00:00Z", "2026-05-09_12:00:00Z"),
    *("2026-05-09T12:00:00 Z", " 2026-05-09T12:00:00Z", "2026-05-09T12:00:00Z "),
    *("2026-05-09T12:00:00Z\n", "\n2026-05-09T12:00:00Z", "2026-05-09T12:00:00Z\x00"),
    *("2026-05-09T12:00:00.Z", "2026-05-09T12:00:00,5Z", "2026-05-09T12:00:00.-5Z"),
    *("2026-05-09T12:00:00.1234567Z", "2026-05-09T12:00:00.0000001Z"),
    *(
        "2026-05-09T12:00:60Z",
        "2016-12-30T23:59:60Z",
        "2016-12-31T23:59:61Z",
        "2026-05-09T12:60:00Z",
    ),
    *("2026-05-09T24:00:00Z", "2026-05-09T25:00:00Z", "2026-13-09T12:00:00Z"),
    *("2026-00-09T12:00:00Z", "2026-05-00T12:00:00Z", "2026-05-32T12:00:00Z"),
    *("2023-02-29T12:00:00Z", "1900-02-29T12:00:00Z", "2026-04-31T12:00:00Z"),
    *("2026-05-09T12:00:00+5:30", "2026-05-09T12:00:00+0530", "2026-05-09T12:00:00+05"),
    *("2026-05-09T12:00:00+24:00", "2026-05-09T12:00:00-05:60", "2026-05-09T12:00:00+05:30:15"),
    *("2026-05-09T12:00:00UTC", "2026-05-09T12:00:00Z[Europe/Berlin]", "2026-05-09T12:00:00ZZ"),
    *("2026-05-09T12:00:00\u221205:30", "2026-5-9T12:00:00Z", "26-05-09T12:00:00Z"),
    *("+2026-05-09T12:00:00Z", "-2026-05-09T12:00:00Z", "12026-05-09T12:00:00Z"),
    *("20260509T120000Z", "2026-W19-6T12:00:00Z", "2026-129T12:00:00Z", "1778328000", "1e9"),
    *("\u0662026-05-09T12:00:00Z", "2026-05-09T\uff11\uff12:00:00Z", "2026-05-09\u017f12:00:00Z"),
    *("0000-01-01T00:00:00Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"),
)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_rfc3339_with_a_zone(text: str) -> None:
    with pytest.raises(ValueError, match="not an RFC 3339 time with a zone"):
        parse_time(text)
    error = refused_at(RunContext, {"trace_id": "t", "safety_mode": "read_only", "as_of": text})
    assert (error.path, error.message) == ("/as_of", EXPECTED)


@pytest.mark.parametrize(
    "text",
    [
        *("2016-12-31T23:59:60Z", "2015-06-30t23:59:60.5z", "2016-12-31T18:59:60-05:00"),
        *("2017-01-01T05:29:60+05:30", "2012-02-29T23:59:60Z"),
    ],
)
def test_a_leap_second_is_refused_and_the_message_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="a leap second cannot be kept: write the second before"):
        parse_time(text)
    error = refused_at(RunContext, {"trace_id": "t", "safety_mode": "read_only", "as_of": text})
    assert error.path == "/as_of"
    assert error.message.startswith("a leap second cannot be kept: ")


@pytest.mark.parametrize("text", ["2016-12-31T23:58:60Z", "2016-12-31T22:59:60Z"])
def test_a_second_60_within_a_day_is_not_a_leap_second(text: str) -> None:
    with pytest.raises(ValueError, match="RFC 3339") as caught:
        parse_time(text)
    assert "leap" not in str(caught.value)


def test_what_is_not_a_text_is_an_error_of_its_kind() -> None:
    with pytest.raises(ValidationError) as caught:
        RunContext(trace_id="t", safety_mode="read_only", as_of=7)  # type: ignore[arg-type]
    assert [error["type"] for error in caught.value.errors()] == ["time"]


class NoZone(tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, _when: datetime | None, /) -> None: ...
    def dst(self, _when: datetime | None, /) -> None: ...
    def tzname(self, _when: datetime | None, /) -> None: ...


class LateDatetime(datetime):
    """A datetime that could tell the time otherwise."""


class LyingText(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    "value",
    [
        *(0, 1778328000, 1.5, True, b"2026-05-09T12:00:00Z", [], {}, date(2026, 5, 9)),
        datetime(2026, 5, 9, 12),
        datetime(2026, 5, 9, 12, tzinfo=NoZone()),
        datetime(2026, 5, 9, 12, tzinfo=timezone(timedelta(minutes=19, seconds=32))),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        LateDatetime(2026, 5, 9, 12, tzinfo=UTC),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_types_and_naive_times_are_refused(value: Any) -> None:
    wire = {"trace_id": "t", "safety_mode": "read_only", "as_of": value}
    error = refused_at(RunContext, wire)
    assert (error.path, error.message) == ("/as_of", EXPECTED)


def test_a_string_that_lies_is_read_by_its_characters() -> None:
    value: Any = LyingText("2026-05-09T12:00:00Z")
    as_of = RunContext(trace_id="t", safety_mode="read_only", as_of=value).as_of
    assert type(as_of) is datetime
    assert as_of == NOON


@LAW
@given(instants)
def test_a_time_survives_its_spelling(moment: datetime) -> None:
    spelled = format_time(moment)
    assert parse_time(spelled) == moment
    assert format_time(parse_time(spelled)) == spelled
    assert spelled.endswith("Z")
    assert "+" not in spelled


@LAW
@given(instants)
def test_whoever_gives_a_datetime_gets_the_instant_of_its_spelling(moment: datetime) -> None:
    given_object = EvidenceItem(id="e", classification="k", expires_at=moment)
    given_text = EvidenceItem(id="e", classification="k", expires_at=moment.isoformat())
    assert given_object == given_text
    assert given_object.wire() == given_text.wire()
    assert given_object.wire()["expires_at"] == format_time(moment)


@LAW
@given(instants, zones, st.integers(0, 3))
def test_all_spellings_of_an_instant_are_one(moment: datetime, zone: tzinfo, zeros: int) -> None:
    spelled = moment.astimezone(zone).isoformat(timespec="microseconds")
    other = f"{spelled[:26]}{'0' * zeros}{spelled[26:]}".replace("T", "t")
    assert format_time(parse_time(other)) == format_time(moment)


@pytest.mark.parametrize(
    ("moment", "spelled"),
    [
        (NOON, "2026-05-09T12:00:00Z"),
        (NOON.replace(microsecond=100), "2026-05-09T12:00:00.0001Z"),
        (NOON.replace(microsecond=500_000), "2026-05-09T12:00:00.5Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00Z"),
        (datetime(2000, 10, 10, 10, 10, 10, tzinfo=UTC), "2000-10-10T10:10:10Z"),
        (NOON.astimezone(timezone(timedelta(hours=-3))), "2026-05-09T12:00:00Z"),
    ],
)
def test_the_spelling_is_in_utc_with_a_fraction_only_where_there_is_one(
    moment: datetime, spelled: str
) -> None:
    assert format_time(moment) == spelled
