"""Numbers of accounts and telephones, in groups and beside other numbers."""

import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic.provenance.accounts import accounts_in, by_lines
from critic.provenance.folding import WORD
from critic.provenance.value_kinds import read_value
from critic.provenance.wide_accounts import account_parts, find_wide_accounts, wide_accounts_in
from tests.support.sightings import answer, item, proposal, request

CHARS: Final = [*map(chr, range(0x100)), *map(chr, range(0x2000, 0x2060)), "\u2212"]
IS_WORD: Final = re.compile(WORD)


def is_word(char: str) -> bool:
    return IS_WORD.fullmatch(char) is not None


DE: Final = "DE89370400440532013000"
GROUPED: Final = "DE89 3704 0044 0532 0130 00"
ACCOUNT: Final = "account"
NAMED: Final[list[tuple[str, str, str | None, str]]] = [
    # An IBAN is one number, and so is what stands beside it.
    *((f"Pay {GROUPED}{after}", DE, ACCOUNT, "allow") for after in ("", " 50 Euro", ".", "\t50")),
    *((f"Pay {before} {GROUPED}", DE, ACCOUNT, "allow") for before in ("50", "IBAN:", "(", "12-3")),
    *((f"向{GROUPED}账户", DE, ACCOUNT, "allow"), (f"{GROUPED}{chr(10)}50", DE, None, "allow")),
    *((f"{DE} 50 Euro", DE, ACCOUNT, "allow"), (f"12345678 {DE}", "12345678", ACCOUNT, "allow")),
    *(("Pay DE89 3704 0044\n0532 0130 00 50", DE, ACCOUNT, "allow"),),
    *((GROUPED, part, ACCOUNT, "refuse") for part in ("3704", "DE89", "0532013000", DE[:-2])),
    *(
        (f"{GROUPED} 50", f"{DE}50", ACCOUNT, "refuse"),
        (f"50 {GROUPED}", f"50{DE}", None, "refuse"),
    ),
    *((f"{DE}{after}", DE, ACCOUNT, "refuse") for after in ("-50", "_50", "x", "%", "/a")),
    # Of no country, or with a wrong check digit, it is some groups.
    *(("DE88 3704 0044 0532 0130 00 50", DE.replace("89", "88"), ACCOUNT, "refuse"),),
    *(("XX89 3704 0044 0532 0130 00 50", DE.replace("DE", "XX"), ACCOUNT, "refuse"),),
    # A group beside others with digits is a part. A break of a line or a cell parts numbers.
    *(
        ("Pay 4111 1111 1111 1111", "1111", ACCOUNT, "ask"),
        ("20-00-00 5577", "5577", ACCOUNT, "ask"),
    ),
    *(
        ("20-00-00 5577", "2000005577", ACCOUNT, "allow"),
        ("Pay 5577 50 Euro", "5577", ACCOUNT, "ask"),
    ),
    *((f"Pay 5577{gap}6688", "6688", ACCOUNT, "allow") for gap in ("\t", " and ", ", ", "; ")),
    ("Pay 5577\n6688", "6688", ACCOUNT, "ask"),
    # What may stand beside it is a list: with any other sign, one group asks.
    *(
        (f"pay {text}", DE, ACCOUNT, "allow")
        for text in (f"({DE})", f'"{DE}"', f"**{DE}**,", f"#{DE}")
    ),
    *(
        (f"{text}", DE, ACCOUNT, "allow")
        for text in (f"a, {DE}; b", f"a;{DE}|b", f"iban={DE}", f"{DE}...")
    ),
    *(
        (f"{text}", DE, ACCOUNT, "allow")
        for text in (f"{DE}'s", f"账户“{DE}”。", f"账户（{DE}）、b", f'{{"a":"{DE}"}}')
    ),
    *(
        (f"{sign}12345678", "12345678", ACCOUNT, "ask")
        for sign in ("A\u2013", "$", "{a}", "a(", "1,", "a#", "\u2011", '"a"')
    ),
    *(
        (f"12345678{sign}", "12345678", ACCOUNT, "ask")
        for sign in ("#2", "\u20132", ",50", "(old)", "{a}", "\u2011a", '"a')
    ),
    # A telephone number.
    *(("call +49 170 1234567", "+491701234567", kind, "allow") for kind in (None, ACCOUNT)),
    *(("call +491701234567", "+49 170-1234567", None, "allow"),),
    *((f"+49 {lead}170 1234567", "+491701234567", None, "allow") for lead in ("(0)", "(0) ", "- ")),
    *(
        ("+49 (170) 1234567", "+491701234567", None, "allow"),
        ("tel:+49 1701.", "+491701", "account", "allow"),
    ),
    *(("请拨打+49 170 1234567谢谢", "+491701234567", None, "allow"),),
    *(
        ("(555) 123-4567", "5551234567", ACCOUNT, "allow"),
        ("5551234567", "(555)123 4567", None, "allow"),
    ),
    *(("1 (555) 123-4567", "15551234567", ACCOUNT, "allow"),),
    *(
        ("1(555)123-4567", "5551234567", ACCOUNT, "refuse"),
        ("f(555) 1234", "5551234", ACCOUNT, "refuse"),
    ),
    *(("+49 170 1234567 2 days", f"{plus}491701234567", ACCOUNT, "ask") for plus in ("", "+")),
    *(("+49 170 1234567", "491701234567", ACCOUNT, "ask"),),
    *(("+49 170 1234567", part, ACCOUNT, "refuse") for part in ("1234567", "1701234567")),
    *((f"(555) 123-4567{after}", "5551234567", ACCOUNT, "ask") for after in (" 50", "-1")),
    *((f"{n}170 1234567", "+491701234567", None, "refuse") for n in ("a+49 ", "+49 (1")),
    *(("+49 170 1234567 5a", "+491701234567", None, "ask"),),
    *(("(555) 123-4567", "1234567", ACCOUNT, "refuse"),),
    *(
        (f"+49 170 1234567{after}", "+491701234567", None, "refuse")
        for after in ("x", "_1", "/2", "@a")
    ),
    # What stands behind or before a number may be another.
    *(("+49 170 1234567 5 times", f"+491701234567{n}", ACCOUNT, "ask") for n in ("", "5")),
    *(("+49 170 1234567 12 of", f"+491701234567{n}", ACCOUNT, "ask") for n in ("", "12")),
    *(("+1 555123456 5 of", f"+1555123456{n}", ACCOUNT, "ask") for n in ("", "5")),
    ("+1 55512345 5 of", "+1555123455", ACCOUNT, "allow"),
    *(("+1 555123456 12 of", f"+1555123456{n}", ACCOUNT, "ask") for n in ("", "12")),
    ("+1 55512345 12 of", "+15551234512", ACCOUNT, "allow"),
    ("+33 6 12 34 56 78", "+33612345678", ACCOUNT, "allow"),
    ("+90 532 123 45 67", "+905321234567", ACCOUNT, "allow"),
    ("+49 89 12345678-0", "+4989123456780", ACCOUNT, "allow"),
    *(("5577 (2026) 9911", joined, ACCOUNT, "refuse") for joined in ("557720269911", "20269911")),
    ("(12) 3456", "123456", ACCOUNT, "refuse"),
    *((f"5{before}+49 1701234567", "+491701234567", None, "refuse") for before in ("", "%", "\\")),
]


@pytest.mark.parametrize(("text", "value", "kind", "expected"), NAMED)
def test_which_numbers_a_request_names(
    text: str, value: str, kind: str | None, expected: str
) -> None:
    tool: Any = {} if kind is None else {"arg_kinds": {"x": kind}}
    for items in ([request(text)], [request(text), item(f"pay {value} now")]):
        assert answer(proposal(*items, args={"x": value}, tool=tool)) == expected
    if expected == "allow":
        shown = [item(text, "system", "named"), item(f"pay {value} now")]
        assert answer(proposal(*shown, args={"x": value}, tool=tool)) == "allow"


def test_the_length_of_an_iban_and_its_check_digits() -> None:
    """Examples of the registry of SWIFT."""
    for iban in (
        *("AT611904300234573201", "BE68539007547034", "CH9300762011623852957", "NO9386011117947"),
        *(
            "GB29NWBK60161331926819",
            "FR1420041010050500013M02606",
            "MT84MALT011000012345MTLCAST001S",
        ),
        *(
            "LC55HEMM000100010012001200023015",
            "RU0204452560040702810412345678901",
            "SE4550000000058398257466",
        ),
    ):
        groups = " ".join(iban[at : at + 4].lower() for at in range(0, len(iban), 4))
        assert [*accounts_in(f"50 {groups} 1234")] == [iban.lower(), "1234"]
        wrong = groups.replace(groups[2:4], f"{(int(groups[2:4]) + 1) % 100:02}", 1)
        assert iban.lower() not in accounts_in(f"{wrong} 1234")


def test_an_iban_has_twelve_groups_at_most() -> None:
    for count in (11, 12):
        groups = ["DE89", *DE[4 : 3 + count], DE[3 + count :]]
        found = [*accounts_in(f"{' '.join(groups)} 50".lower())]
        assert (DE.lower() in found) == (len(groups) == 12), count


def test_a_telephone_number_has_seven_to_fifteen_digits() -> None:
    for count, form in ((6, "text"), (7, "account"), (15, "account"), (16, "text")):
        for text in ("+" + "1" * count, "(11)" + "1" * (count - 2)):
            assert read_value(text, None).form == form, text


def test_a_few_signs_may_open_a_number() -> None:
    for before, is_named in (("(" * 8, True), (f"a{'(' * 8}", False), ("(" * 9, False)):
        assert (DE.lower() in accounts_in(before + DE.lower())) == is_named, before


def test_numbers_are_read_line_by_line() -> None:
    assert by_lines("A1\t 2 \n\n3  4\r\n5") == "a1| 2\n3 4\n5"


NARROW_GAP, WIDE_GAP = re.compile("[ -]+"), re.compile("[ ./()\u2010-\u2015\u2212-]+")


def numbers_in(text: str, gap: re.Pattern[str], *, strict: bool) -> Iterator[str]:
    """Yield what may be account numbers, by trying each run of groups: the definition."""
    groups = [*re.finditer(r"[^\W_]+", text)]
    for last, end in enumerate(groups):
        for first in range(last, max(-1, last - 12), -1):
            run = groups[first : last + 1]
            gaps = [text[one.end() : two.start()] for one, two in pairwise(run)]
            if not all(map(gap.fullmatch, gaps)):
                break
            joined = "".join(one[0] for one in run)
            if not 4 <= len(joined) <= 62 or not re.search("[0-9]", joined):
                continue
            before = text[: run[0].start()]
            if strict and is_inside(before, text[end.end() :]):
                continue
            further = re.match(r"[ -]+\w*[0-9]", text[end.end() :])
            earlier = last - first < 11 and re.search("[0-9][^\\W_]*[ -]+$", before)
            if not (strict and (further or earlier)):
                yield joined


def is_inside(before: str, after: str) -> bool:
    """Return whether a number between two texts is a part of something longer."""
    begun = re.search(r"(^|\s|[a-z]:)$", before)
    return begun is None or re.match(r"[.:]*(?:$|\s)", after) is None


def test_account_numbers_are_runs_of_groups_that_are_only_separated() -> None:
    """By many texts of few characters, always the same."""
    chance = random.Random(0)  # noqa: S311 - chance, not a secret
    for _ in range(2_000):
        text = "".join(chance.choices(["ab", "a1", "11", "1", " ", " ", "-", *"./:@_%~\\"], k=9))
        expected = [*numbers_in(text, NARROW_GAP, strict=True)]
        assert [*accounts_in(text)] == expected, text
        expected = [*numbers_in(text, WIDE_GAP, strict=False)]
        assert [*wide_accounts_in(text)] == expected, text


def test_account_numbers_have_twelve_groups_and_62_characters_at_most() -> None:
    for count in (11, 12, 13, 14):
        for text in ("1 " + "a " * count, "a " * count + "1", "12 " * count, "1 a " * count):
            expected = [*numbers_in(text, NARROW_GAP, strict=True)]
            assert [*accounts_in(text)] == expected, text
            expected = [*numbers_in(text, WIDE_GAP, strict=False)]
            assert [*wide_accounts_in(text)] == expected, text
    for length in (61, 62, 63):
        long = "1" * length
        found = [long] if length < 63 else []
        assert [*accounts_in(long)] == [*wide_accounts_in(long)] == found
        assert [*accounts_in(f"ab {long[2:]}")][-1:] == ([f"ab{long[2:]}"] if found else [long[2:]])


def test_what_separates_the_groups_of_an_account_number() -> None:
    for char in CHARS:
        if is_word(char) and char != "_":
            continue
        text = f"ab12{char}cd34"
        assert ("ab12cd34" in accounts_in(text)) == (char in " -"), ascii(char)
        is_wide = char in " ./()-\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
        assert ("ab12cd34" in wide_accounts_in(text)) == is_wide, ascii(char)
        before = char in " \n,;|:=\u2014\u2022\u2026"
        assert ("cd34" in accounts_in(f"ab{char}cd34")) == before, ascii(char)
        after = char in " \n,<;|\u2014\u2022\u2026"
        assert ("cd34" in accounts_in(f"cd34{char}ab")) == after, ascii(char)
    for gap in ("- ", "--", " -", " ", "---"):
        assert [*accounts_in(f"ab 1234{gap}5")] == ["12345", "ab12345"], gap
    assert [*accounts_in("iban:cd34")] == ["cd34"]
    assert [*accounts_in("1:cd34")] == []


LETTERS: Final = "abcdefghijklmnopqrstuvwxyz0123456789" + "a" * 23
HEX: Final = "0123456789abcdef" * 2 + "a" * 8
IBAN: Final = "gb29nwbk60161331926819"


def test_account_numbers_in_a_wide_text_have_parts() -> None:
    """A word behind one may belong to it or not."""
    for text, parts in (
        *((f"to {IBAN}.", [(IBAN,)]), (f"{IBAN} now", [(IBAN, f"{IBAN}now")])),
        *(("gb29 nwbk 6016", [("gb29nwbk6016",)]), ("gb29 nwbk 601", []), ("gb29-nwbk/6016", 1)),
        *(
            ("gb29_nwbk,(6016)", []),
            ("gb29_nwbk,6016(1331)9268:19", [("gb29nwbk60161331926819",)]),
            ("gb29; nwbk 6016", []),
            ("g129 nwbk 6016", []),
            ("gbx9 nwbk 6016", []),
            ("gb2 9", []),
        ),
        *(("gb2 9nwbk6016a", []), (f"gb29{'a' * 30} b", [(f"gb29{'a' * 30}",)])),
        *((f"gb29{'a' * 31}", []), (f"x {IBAN}", [(IBAN,)]), ("gb29" + " a" * 8, 1)),
        *(("gb29" + " a" * 13, [tuple(f"gb29{'a' * count}" for count in (8, 9, 10, 11))]),),
        *(("bc1" + "a" * 11, [("bc1" + "a" * 11,)]), ("bc1" + "a" * 10, [])),
        *(("bc1" + LETTERS, [("bc1" + LETTERS,)]), ("bc1" + "a" * 60, [])),
        *(("0x" + HEX, [("0x" + HEX,)]), ("0x" + "a" * 39, [])),
        *(("0x" + "a" * 41, []), ("0x" + "g" * 40, []), ("bc1" + "a" * 10 + "_", [])),
    ):
        found = [*account_parts(text)]
        assert (len(found) if isinstance(parts, int) else found) == parts, text


STRUCTURED: Final = [
    *(f'{{"iban":"{IBAN}","n":50}}', f'["{IBAN}","{HEX}"]', f"1,{IBAN},50", f"<td>{IBAN}</td>"),
    *(f'<account id="{IBAN}"/>', f"x=1&iban={IBAN}&b=1", f"2026-01-01 {IBAN} 100", f"{IBAN} 50"),
    *(f'{{"n":{IBAN},"m":1}}', f"bob,{IBAN},250"),
]


@pytest.mark.parametrize("text", STRUCTURED)
@pytest.mark.parametrize("number", [IBAN, "us64svbkus6s3300958879", "55779911"])
def test_a_number_stands_in_what_programs_write(text: str, number: str) -> None:
    """Text of a system of record is often JSON, a table or markup without a blank."""
    if number == "55779911" and " " in text:
        return  # beside another number it may be a part of one
    if number == "55779911" and text.startswith("1,"):
        return  # so may it behind a comma
    assert number in accounts_in(text.replace(IBAN, number))


@pytest.mark.parametrize(
    "text",
    [
        *(
            "flight lh1234, 14:30 tomorrow",
            "order ab1234: 2 items, total 50",
            "re2024_0012 due now",
        ),
        *(
            "room ch12, floor 3, building b",
            "commit ab12cd34, author bob",
            "model xy12 (2024) edition",
        ),
    ],
)
def test_words_of_a_sentence_are_no_account_number(text: str) -> None:
    assert not [*account_parts(text)]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        *(("card 4111 1111\n1111 1111", []), ("us64 svbk us6s\n3300 9588 79", ["us64"])),
        *(("call +49 170\n1234567", []), ("55779911\n250", ["55779911"])),
        *(
            ("55779911\t250.00\tbob", ["55779911"]),
            ("12345678\n23456789", ["12345678", "23456789"]),
        ),
        ("a 123456\nb 234567", ["123456", "a123456", "234567"]),
    ],
)
def test_a_number_may_go_on_in_the_next_line(text: str, numbers: list[str]) -> None:
    assert [*accounts_in(by_lines(text))] == numbers


@pytest.mark.parametrize("text", ["DE8 9370400440532013000", "DE89 3704 0044 0532 0130 00"])
def test_an_iban_is_found_whatever_its_first_group(text: str) -> None:
    assert [*accounts_in(by_lines(f"pay {text} now"))] == ["de89370400440532013000"]


@pytest.mark.parametrize("count", [1, 2, 11, 12, 13, 20])
def test_numbers_of_a_length_are_those_of_all_that_have_it(count: int) -> None:
    for group in ("1", "a1", "DE89", "12345"):
        text = " ".join([group] * count)
        every = {*wide_accounts_in(text)}
        lengths = range(1, 70)
        assert {*wide_accounts_in(text, lengths)} == every
        for length in lengths:
            assert {*wide_accounts_in(text, (length,))} == {
                one for one in every if len(one) == length
            }


@given(
    groups=st.lists(st.sampled_from(("1", "a1", "de89", "b", "12345", "x" * 30)), min_size=1),
    gap=st.sampled_from((" ", "-", "; ", "\n")),
    more=st.lists(st.text("ade189", max_size=9)),
)
def test_numbers_that_are_sought_are_found_where_any_are(
    groups: list[str], gap: str, more: list[str]
) -> None:
    text = gap.join(groups)
    every = {*wide_accounts_in(text)}
    parts = {one[start:end] for one in every for start in (0, 1) for end in (-1, len(one))}
    sought = every | parts | {*more}
    assert find_wide_accounts(text, sought) == sought & every
