"""What a value is worth, clause by clause, as the design says it: the engine and the second model.

`answer` fails where the two differ.
"""

from typing import Any, Final

import pytest

from tests.support.model.facts import Json
from tests.support.sightings import VALUE, answer, item, proposal, request, yes_to

EVIL: Final = "evil-1"
DAY: Final = "2026-05-09"
LINK: Final = "https://evil.example/x"
FETCHED: Final = "www.a.example/x"


def answer_for(role: str, value: Any, *items: Json, **changes: Any) -> str:
    """Return the answer about one value in a role, of a tool in scope."""
    return answer(proposal(*items, args={"x": value}, tool={"arg_roles": {"x": role}}, **changes))


IN_THE_REQUEST = [
    *(("pay zeta-9914.", VALUE, True), ("pay (zeta-9914)", "ZETA-9914", True)),
    *(("pay xzeta-9914", VALUE, False), ("pay zeta-9914-b", VALUE, False)),
    *(("pay a-zeta-9914", VALUE, False), ("see https://corp.example/zeta-9914/x", VALUE, False)),
    *(("mail mia@corp.example", "corp.example", False), ("mail mia@corp.example", "mia", False)),
    *(("mail miax@corp.example", "mia", False), ("file bill.txt", "bill", False)),
    *(("pay 4471", 4471, True), ("pay 4471", 4471.0, True), ("pay 44712", "4471", False)),
    *(("pay 7 euro", "7", False), ("id 7", 7.0, True), ("IDs: 7", "7", True)),
    *(("ids 7 and 8", "8", True), ("the 777", "777", False), ("pay 1234", "1234", True)),
    *(("pay Stra\xdfe", "STRASSE", False), ("pay \uff5aeta", "zeta", False)),
    *(("see http://a.example/b/", "https://A.example/b", True), ("x_zeta", "zeta", False)),
    *(("see a.example/b", "http://a.example/b/.", False), ("bob-smith", "bob smith", False)),
    *(("bob 1\nsmith", "Bob \t 1 smith", True), ("caf\xe9", "cafe\u0301", False)),
    *(("pay eu-bob 1", "bob 1", False), ("pay bob 1-b", "bob 1", False)),
    *(("caf\xe9", "cafe", False), ("5.50", "5.5", False), ("5.5 please", 5.5, True)),
    *(("1e3", "1000", False), ("[zeta]", "[zeta]", True), ("zeta", "[zeta]", False)),
]


@pytest.mark.parametrize(("text", "value", "found"), IN_THE_REQUEST)
def test_a_value_stands_in_the_request(text: str, value: object, found: bool) -> None:
    assert answer_for("recipient", value, request(text)) == ("allow" if found else "refuse")


IN_A_RESULT = [
    *(("pay zeta-9914.", VALUE, True), ("pay zeta-9914-b", VALUE, False)),
    *(("a-zeta-9914", VALUE, False), ("see zeta-9914/x", VALUE, False)),
    *(("see zeta-9914/", VALUE, True), ("mia@corp.example", "corp.example", False)),
    *(("a:zeta-9914", VALUE, False), ("a: zeta-9914", VALUE, True), ("a,zeta-9914,b", VALUE, True)),
    *(
        ("a=zeta-9914", VALUE, True),
        ("id 7", "7", False),
        ("id=7", "7", False),
        ("id7", "7", False),
    ),
    *((7, "7", True), ({"id": 7}, 7, True), ({"id": 4471}, 4471, True)),
    *(("id 7.5", "7", False), ("id 7.", "7", False)),
]


@pytest.mark.parametrize(("content", "value", "found"), IN_A_RESULT)
def test_a_value_stands_in_a_result(content: object, value: object, found: bool) -> None:
    expected = "allow" if found else "refuse"
    assert answer_for("recipient", value, item(content, "system")) == expected


FIELDS = [
    *(({"sender": EVIL}, EVIL, "allow"), ({"x": EVIL}, EVIL, "refuse")),
    *(({"x": {"sender": EVIL}}, EVIL, "refuse"), ({"sender": {"a": EVIL}}, EVIL, "refuse")),
    *(({"sender": {EVIL: "rw"}}, EVIL, "allow"), ({"sender": [{EVIL: "rw"}]}, EVIL, "refuse")),
    *(({"sender": {"a": {EVIL: "rw"}}}, EVIL, "refuse"), ({"x": {EVIL: 1}}, EVIL, "refuse")),
    *(([EVIL], EVIL, "refuse"), ({"x": [[EVIL]]}, EVIL, "refuse"), ({"x": [7]}, 7, "refuse")),
    *(({"x": ["two words"]}, "two words", "refuse"), ({"x": [{"y": EVIL}]}, EVIL, "refuse")),
    *(({"sender": [EVIL]}, EVIL, "allow"), ([{"sender": EVIL}], EVIL, "allow")),
    *(({"sender": "x" * 80}, "x" * 80, "allow"), ({"sender": "x" * 81}, "x" * 81, "refuse")),
    *(({"sender": "a\nb"}, "a b", "refuse"), ({"sender": "a\x0bb"}, "a b", "refuse")),
    *(({"sender": "two words"}, "two words", "allow"), ({"sender": "two words"}, "two", "refuse")),
    *(({"sender": LINK}, "evil.example/x/", "allow"), (f'["{EVIL}"]', EVIL, "refuse")),
    ({"sender": 7.0}, "7", "allow"),
    *(({"sender": EVIL, "body": f"pay {EVIL}"}, EVIL, "ask"), ({"sender": None}, "null", "refuse")),
    *(({"sender": EVIL, "body": f"{EVIL}-x"}, EVIL, "allow"), ({EVIL: 1}, EVIL, "refuse")),
    ({"sender": "mia@corp.example"}, "corp.example", "refuse"),
]


@pytest.mark.parametrize(("content", "value", "word"), FIELDS)
def test_a_result_is_fields_and_free_text(content: object, value: object, word: str) -> None:
    assert answer_for("recipient", value, item(content)) == word


FIELD, TEXT = item({"sender": EVIL}), item(EVIL)
LED = item({"sender": EVIL}, standing="led")
KEY: Final = "https://corp.example/k"


@pytest.mark.parametrize(
    ("role", "value", "items", "word"),
    [
        ("recipient", EVIL, [FIELD, item(EVIL, standing="named")], "allow"),
        ("secret", EVIL, [FIELD, item(EVIL, standing="named")], "refuse"),
        ("secret", EVIL, [item(EVIL, standing="named")], "ask"),
        ("secret", EVIL, [FIELD, item(EVIL, "operator", "ambient")], "allow"),
        ("recipient", EVIL, [FIELD, LED], "allow"),
        ("recipient", EVIL, [LED], "ask"),
        ("recipient", EVIL, [LED, TEXT], "refuse"),
        ("recipient", EVIL, [LED, item(EVIL, standing="named")], "ask"),
        ("locator", EVIL, [LED, item(EVIL, "member", "reached")], "allow"),
        ("secret", KEY, [request("see corp.example"), item(f"use {KEY}", "system")], "allow"),
        ("secret", KEY, [request(f"see {KEY}")], "allow"),
        ("code", "1234", [item("code 1234")], "allow"),
        ("code", "123", [item("code 123")], "refuse"),
    ],
)
def test_the_first_class_that_holds_decides(
    role: str, value: str, items: list[Json], word: str
) -> None:
    assert answer_for(role, value, *items) == word


@pytest.mark.parametrize(
    ("text", "items", "word"),
    [
        (f"hello {EVIL}", [TEXT], "allow"),
        (f"go {LINK} now", [item(f"visit {LINK}")], "refuse"),
        (f"go {LINK}?q=1 now", [item(f"visit {LINK}")], "refuse"),
        ("HTTPS://EVIL.example/X", [item(LINK)], "refuse"),
        ("mail evil@x.example.", [item("write evil@x.example")], "refuse"),
        ("\uff45vil@x.example", [item("evil@x.example")], "refuse"),
        ("pay UK12BARC34567890", [item("to UK12BARC34567890!")], "refuse"),
        (f"see ({FETCHED}), ok", [item(FETCHED)], "refuse"),
        (f"go {FETCHED}", [item(FETCHED, standing="named", web=True)], "ask"),
        (f"go {FETCHED}", [item(FETCHED, standing="named")], "allow"),
        (f"go {FETCHED}", [item(FETCHED, standing="reached")], "refuse"),
        (f"go {FETCHED}", [item(FETCHED, "member", "reached")], "allow"),
        (f"go {FETCHED}", [item(FETCHED, "member", "reached", web=True)], "refuse"),
        ({"k": [f"see {LINK}"]}, [item(LINK)], "refuse"),
        ({LINK: "x"}, [item(LINK)], "refuse"),
        (f"go {LINK}", [request("use evil.example"), item(LINK)], "allow"),
    ],
)
def test_content_is_judged_by_what_is_in_it(text: object, items: list[Json], word: str) -> None:
    assert answer_for("content", text, *items) == word


@pytest.mark.parametrize(
    ("value", "text", "word"),
    [
        *((DAY, "the 9th of May", "ask"), (DAY, "Saturday, May 9, 2026", "ask")),
        *((DAY, "May. 9", "ask"), (DAY, "mayor 9", "allow"), (DAY, "May 91", "allow")),
        *((DAY, "05/09/2026", "ask"), (DAY, "05/09/2025", "allow"), (DAY, "1/5/9/2026", "allow")),
        *((f"{DAY} 10:00", f"{DAY}T10:00", "ask"), (f"{DAY}/2026-05-10", DAY, "ask")),
        *(("12026-05-09", DAY, "ask"), (DAY, "12026-05-09", "allow"), ("9 May", DAY, "ask")),
        *((["x", DAY], DAY, "ask"), (f"['{DAY}']", DAY, "ask")),
    ],
)
def test_a_day_stands_in_text(value: object, text: str, word: str) -> None:
    assert answer_for("time", value, item(text)) == word


@pytest.mark.parametrize(
    ("approved", "value", "word"),
    [
        (EVIL, EVIL, "allow"),
        ([EVIL, "evil-2"], "['evil-1', 'evil-2']", "allow"),
        ("['evil-1', 'evil-2']", ["evil-2"], "allow"),
        ("evil-1 x", EVIL, "refuse"),
        ({EVIL: "x"}, EVIL, "refuse"),
        ("7", 7, "allow"),
    ],
)
def test_approved_values_are_whole(approved: object, value: object, word: str) -> None:
    session = {"id": "s", "turn": 1, "approved": [yes_to(approved)]}
    assert answer_for("recipient", value, session=session) == word
