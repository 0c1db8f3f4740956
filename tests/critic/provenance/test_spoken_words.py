"""What a sentence means by a word or a short number that it holds, sign by sign."""

from collections.abc import Iterable
from typing import Any, Final

import pytest

from critic import ToolCapability
from critic.provenance.argument_nouns import (
    NO_NOUNS,
    Nouns,
    meaning_stems,
    nouns_in,
    nouns_of,
    nouns_of_field,
)
from critic.provenance.folding import QUOTES
from critic.provenance.holders import ItemText
from critic.provenance.place import Place
from critic.provenance.spoken_words import find_folder, find_meant, find_mention
from critic.provenance.value_kinds import read_value
from evals.capability import Role
from evals.manifest import EvidenceItem
from tests.support.model.requests import FUNCTION_WORDS

ORDER: Final = Nouns(frozenset({"order"}), frozenset({"invoic"}))
SPACES: Final = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u2028\u2029\u202f\u205f" + "".join(
    map(chr, range(0x2000, 0x200B))
)
SAME_LINE: Final = " \t\xa0\u202f\u205f" + SPACES[-11:]
CHARS: Final = [*map(chr, range(0x100)), *map(chr, range(0x2000, 0x2060))]


def place_of(*texts: str) -> Place:
    """Return a place with one item of some texts."""
    place = Place()
    place.add(ItemText(EvidenceItem(id="e", classification="r"), texts))
    return place


def heard(
    value: object,
    *texts: str,
    role: Role = "object",
    nouns: Nouns = ORDER,
    kind: str | None = None,
) -> str:
    """Return what texts say of a value: they mean it, they only hold it, or neither."""
    sought = read_value(value, kind)  # type: ignore[arg-type]
    entry, is_meant = find_meant(place_of(*texts), sought, role, nouns, None)
    assert entry is not None or not is_meant
    return "meant" if is_meant else "nowhere" if entry is None else "held"


def test_a_word_of_every_sentence_is_meant_only_where_a_sign_stands_at_it() -> None:
    for word in FUNCTION_WORDS.split():
        assert heard(word, f"go {word.capitalize()} now") == "held", word
        assert heard(f"Dog {word}", f"go Dog {word} now") == "held", word
        assert heard(f"order {word}", f"go order {word} now") == "held", word
        assert heard(word, f"use '{word}' now") == heard(word, f"use #{word} now") == "meant"
        assert meaning_stems(f"dog {word}") == {"dog"}


MEANT = [
    *(("use dog", "held"), ("dog", "held"), ("use Dog", "meant"), ("use cat", "nowhere")),
    # Quotes stand on both sides.
    *(("use 'dog' now", "meant"), ("use dog' now", "held"), ("use 'dog now", "held")),
    *(("use 'dog", "held"), ("dog' now", "held"), ("'dog'", "meant")),
    *(("use #dog", "meant"), ("use @dog", "meant"), ("use # dog", "held"), ("#dog", "meant")),
    # The noun stands beside it, in the same line.
    *(("the order dog", "meant"), ("the dog order", "meant"), ("the ORDERS dog", "meant")),
    *(("the order the dog", "held"), ("the dog the order", "held"), ("order\ndog", "held")),
    *(("order named dog", "meant"), ("order: called 'dog", "meant"), ("order titled dog", "meant")),
    *(("order name dog", "held"), ("order tame dog", "held"), ("dog named order", "held")),
    *(("order" + "(" * 115 + "dog", "meant"), ("order" + "(" * 116 + "dog", "held")),
    *(("dog" + ")" * 115 + "order", "meant"), ("dog" + ")" * 116 + "order", "held")),
    # A capital stands inside of a sentence.
    *(("Dog runs", "held"), ("(Dog runs", "held"), ("a Dog", "meant"), ("USE DOG NOW", "held")),
    *(("USE Dog NOW", "held"), ("x" + "A" * 118 + " Dog", "meant")),
    *(("x" + "A" * 119 + " Dog", "held"), ("A Dog " + "A" * 118 + "x", "meant")),
    *(("A Dog " + "A" * 119 + "x", "held"), ("use dOG now", "held"), ("use DOG now", "meant")),
]


@pytest.mark.parametrize(("text", "word"), MEANT)
def test_a_word_is_meant_where_a_sign_says_so(text: str, word: str) -> None:
    assert heard("dog", text) == word


@pytest.mark.parametrize(
    ("value", "text", "word"),
    [
        # The noun may be one of the words, beside one that means something.
        *(
            ("living order", "in living order", "meant"),
            ("order living", "in order living", "meant"),
        ),
        *(("the order", "in the order", "held"), ("order the", "in order the", "held")),
        *(("a-b order", "in a-b order", "meant"), ("living room", "in living room", "held")),
        *(("one order two", "in one order two", "held"),),
        # What is all in capitals and joined is an abbreviation.
        *(("x-ray", "an X-RAY of it", "held"), ("x-ray", "an X-Ray of it", "meant")),
        *(("in-dog", "use In-Dog now", "held"), ("in dog", "use In Dog now", "held")),
        *(
            ("-", "use '-' now", "meant"),
            ("-", "use #- now", "held"),
            ("--", "order -- now", "held"),
        ),
    ],
)
def test_some_words_are_meant_together(value: str, text: str, word: str) -> None:
    assert heard(value, text) == word


def test_a_recipient_is_meant_after_to_or_with() -> None:
    for text, word in (
        *(("pay to dog", "meant"), ("go with dog", "meant"), ("To dog", "meant")),
        *(("onto dog", "held"), ("to 'dog", "held"), ("to\ndog", "held"), ("to a dog", "held")),
        *(("for dog", "held"), ("with (dog", "held"), ("to  dog", "meant")),
    ):
        assert heard("dog", text, role="recipient") == word, text
        assert heard("dog", text) == "held"


def test_what_may_stand_between_a_word_and_its_noun() -> None:
    for char in CHARS:
        before, after = (heard("dog", f"the {text}") for text in between(char))
        assert (before == "meant") == (char in ":(" + QUOTES + SAME_LINE), ascii(char)
        assert (after == "meant") == (char in ")" + QUOTES + SAME_LINE), ascii(char)


def between(char: str) -> tuple[str, str]:
    return f"order {char} dog", f"dog {char} order"


def test_a_sentence_begins_behind_the_end_of_another() -> None:
    for char in CHARS:
        begins = char in ".!?([{*\u2022-" + QUOTES + SPACES
        assert (heard("dog", f"go. {char} Dog") == "held") == begins, ascii(char)
        ends = char in ".!?" or (char in SPACES and char not in SAME_LINE)
        assert (heard("dog", f"go {char} Dog") == "held") == ends, ascii(char)


NUMBERS = [
    *(("pay 7", "nowhere"), ("7", "nowhere"), ("order 7", "meant"), ("Orders: 7", "meant")),
    *(("order. 7", "nowhere"), ("order a 7", "nowhere"), ("order (7", "meant")),
    *(("#7", "meant"), ("go # 7", "meant"), ("id 7", "meant"), ("ids 7", "meant")),
    *(("number 7", "meant"), ("numbers 7", "meant"), ("no. 7", "meant"), ("nos. 7", "meant")),
    *(("nr. 7", "meant"), ("id. 7", "nowhere"), ("no 7", "nowhere"), ("go no 7", "nowhere")),
    *(("order no 7", "meant"), ("order nr 7", "meant"), ("order nos 7", "nowhere")),
    *(("order id: 7", "meant"), ("order: id 7", "meant"), (": 7", "nowhere"), ("go: 7", "nowhere")),
    *(("invoice id 7", "nowhere"), ("invoice. id 7", "nowhere"), ("cat id 7", "meant")),
    *(("invoice #: 7", "nowhere"), ("invoice 7", "nowhere"), ("id: 7", "meant")),
    *(("order" + "(" * 115 + "7", "meant"), ("order" + "(" * 116 + "7", "nowhere")),
    # Lists.
    *((f"orders 1{join} 7", "meant") for join in (",", ";", " &", " and", " or", ", and", "., ")),
    *((f"orders 1{join} 7", "nowhere") for join in (" +", " to", ":", "")),
    *(("orders 1, 2, 3 and 7", "meant"), ("ids 1 and 7", "meant"), ("pay 1 and 7", "nowhere")),
    *(("orders and 7", "nowhere"), ("orders x and 7", "nowhere"), (", 7", "nowhere")),
    *(("order #1, 7", "meant"), ("orders 1, #2, 7", "meant"), ("pay 1, #2, 7", "nowhere")),
    *(("#2, 7", "meant"), ("invoice #2, 7", "nowhere"), ("cat #2, 7", "meant")),
    *(("invoices 1, #2, 7", "nowhere"), ("1, 7", "nowhere"), ("and and 7", "nowhere")),
    # Signs of a number in other languages.
    *(
        (f"{mark}7", "meant")
        for mark in ("n\xb0 ", "n\xb0", "n.\xba ", "n\xba ", "\u2116", "\u2116 ")
    ),
    *(("commande n\xb0 7", "meant"), ("invoice n\xb0 7", "nowhere"), ("7 \xb0 7", "nowhere")),
    # What follows a list may count other things.
    *((f"orders 1, 7{more}", "held") for more in (" days", " more", " of them", " Uhr")),
    *((f"orders 1, 7{more}", "meant") for more in ("", " now", " orders", ".", ", 9", " 9", " (x")),
    *(("order 7 more", "meant"), ("#1 and 7 days", "held"), ("ids 1, 7 today", "meant")),
    # Nor is what has a unit the number of a thing, or what marks a line, or a part of a number.
    *(
        (f"order 7{unit}", "held")
        for unit in (" days", " hours", " times", "%", " $", "\u20ac", "\nkg")
    ),
    *(
        (f"orders:{line}", "held")
        for line in (" 7. x", "\n7. x", "\n7) x", "\n (7) x", "\n7.) x")[1:]
    ),
    *(("orders: 7. x", "meant"), ("orders:\n7.", "meant"), ("orders:\n7 x", "meant")),
    *(("order 7,345", "held"), ("order 7,34", "meant"), ("orders 7,345", "meant")),
    *(("orders 12,7", "meant"), ("orders 7,3456", "meant"), ("order 7, 345", "meant")),
    # An answer is no sign of a number.
    *((f"order 9{end} No. 7", "held") for end in (".", "!", "?", "?\n")),
    *(("No. 7", "held"), ("order 9, No. 7", "meant"), ("order 9. no. 7", "meant")),
    *(("order No. 7", "meant"), ("(No. 7", "held"), ("go\nNo.7", "held")),
    # A noun with a capital may be one of another language, and so may letters without a space.
    *(("die Bestellung 7", "held"), ("Bestellung 7", "nowhere"), ("die bestellung 7", "nowhere")),
    *(
        ("die Bestellung: 7", "held"),
        ("die Bestellung. 7", "nowhere"),
        ("the Invoice 7", "nowhere"),
    ),
    *(("go At 7", "nowhere"), ("the Ref 7", "nowhere"), ("die Bestellungen 1, 2 and 7", "held")),
    *(
        ("GO BUY 7", "nowhere"),
        ("x Go2 7", "nowhere"),
        ("\u8ba2\u53557", "held"),
        ("7\u53f7", "held"),
    ),
    *(("\u8ba2\u5355 7", "nowhere"), ("caf\xe97", "nowhere")),
    # A slash may join a list.
    *(
        ("orders 7/8", "held"),
        ("orders 8/7", "held"),
        ("orders 6/7/8.", "held"),
        ("id 8/7", "held"),
    ),
    *(("on 8/7", "nowhere"), ("orders 17/8", "nowhere"), ("orders 8/7x", "nowhere")),
    *(("orders /7", "nowhere"), ("orders x/7", "nowhere"), ("orders 8/7 of", "held")),
    # A part of a quoted name is none.
    *(('the "order 7"', "held"), ('order "7"', "meant"), ('order "7 up"', "held")),
]


@pytest.mark.parametrize(("text", "word"), NUMBERS)
def test_a_short_number_is_meant_as_that_of_something(text: str, word: str) -> None:
    assert heard(7, text) == word


def test_a_number_of_three_digits_marks_no_line() -> None:
    assert heard(83, "orders:\n83. x") == "held"
    assert heard(883, "orders:\n883. x") == "meant"


def test_what_is_read_without_a_question_is_no_number_of_any_noun() -> None:
    for text in ("die Bestellung 7", "\u8ba2\u53557", "orders 7/8"):
        assert heard(7, text) == "held"
        assert heard(7, text, role="locator") == "nowhere"
        assert heard("7", text, kind="path") == "nowhere"
    assert heard(7, "orders 1, 7 days", role="locator") == "held"


def test_a_mention_of_a_short_number_is_seen_behind_each_sign_of_one() -> None:
    for mark in ("n\xb0 ", "n\xba ", "\u2116", "Nr. ", "\u2116 ", "n.\xba "):
        seven = read_value(7, None)
        assert find_mention(place_of(f"{mark}7"), seven, ORDER, None) is not None, mark


def test_what_stands_around_a_short_number_does_not_part_it_from_its_noun() -> None:
    for char in CHARS:
        is_around = char in "()[]{}<>=*:#7" + QUOTES + SPACES
        assert (heard(7, f"order {char} 7") == "meant") == is_around, ascii(char)


def test_a_short_number_is_no_part_of_another_text() -> None:
    assert heard(7, "the order", "7 of them") == "nowhere"
    assert heard(7, "the cat", "order 7") == heard(7, "a", "my order 7") == "meant"
    assert heard(7, "id 8", "7") == heard(8, "id 7", "# 7") == "nowhere"


def test_a_plain_folder_is_named_with_a_slash_behind() -> None:
    """Signs such as a hyphen name none."""
    assert heard("notes", "tidy notes/ up", kind="path") == "meant"
    assert heard("notes", "tidy notes up", kind="path") == "held"
    assert heard("notes", "tidy 'notes' up", kind="path") == "meant"
    assert heard("-", "tidy -/ up", kind="path") == heard("-", "tidy - up", kind="path") == "held"
    for value, text, found in (
        *(("notes", "tidy notes/a up", False), ("notes", "tidy notes up", False)),
        *(("notes", "tidy notes and notes/", True), ("notes", "notes/", True)),
        *(("q3", "tidy the Q3 notes", False), ("q3", "tidy q3/ up", True)),
        *(("2024", "notes of 2024", False), ("v2.0", "update to v2.0 now", False)),
        *(
            ("bob@x.com", "with bob@x.com", False),
            ("~", "all in ~", False),
            ("~", "all in ~/", True),
        ),
        *(("/srv/a-1", "tidy /srv/a-1 up", True), ("/srv/a-1", "tidy /srv/a-2 up", False)),
    ):
        folder, is_whole = find_folder(place_of(text), read_value(value, "path"), None)
        assert (folder is not None) == is_whole == found, text


@pytest.mark.parametrize(
    ("text", "value", "kind", "found"),
    [
        ('delete "/data/Project X"', "/data/Project", "path", "held"),
        ("delete “/data/Project X” or /data/Project", "/data/Project", "path", "meant"),
        ('delete "Q1 report.txt"', "report.txt", "path", "held"),
        ('the note "Q3 plan"', "Q3", "order", "held"),
        ('delete "/srv/My Project/data"', "Project/data", "path", "held"),
        ('run "cp /srv/a /srv/b" now', "/srv/b", "path", "held"),
        ('run "rm /srv/a b" now', "/srv/a", "path", "held"),
        ('run "rm ~/a.txt" now', "~/a.txt", "path", "meant"),
        ('run "rm a/b.txt" now', "a/b.txt", "path", "held"),
        ('the notes «Q3 plan» and "Q3"', "Q3", "order", "meant"),
        ('run "rm /srv/old.txt" now', "/srv/old.txt", "path", "meant"),
        ('delete "/srv/a b" and /srv/a', "/srv/a", "path", "meant"),
        ('delete "/srv/a/."', "/srv/a", "path", "meant"),
        ('say "no" and delete /srv/a "now"', "/srv/a", "path", "meant"),
        ('a 5" disk and /srv/a for it', "/srv/a", "path", "meant"),
        ('the "5 disks\nand /srv/a for it" now', "/srv/a", "path", "meant"),
        ('send "hello mia@corp.example now"', "mia@corp.example", "address", "meant"),
    ],
)
def test_what_is_part_of_a_longer_quoted_name_asks(
    text: str, value: str, kind: str, found: str
) -> None:
    assert heard(value, text, kind=kind) == found


def test_a_mention_of_a_short_number_may_be_that_of_another_thing() -> None:
    seven = read_value(7, None)
    for text, found in (
        *(("order \uff17", True), ("invoice id 7", True), ("the 7", False), ("invoice 7", False)),
        *(("1 of 7, order 7", True), ("17", False)),
    ):
        assert (find_mention(place_of(text), seven, ORDER, None) is not None) == found, text
    assert find_mention(place_of("the Dog"), read_value("dog", None), NO_NOUNS, None) is not None


ALL_QUOTES: Final = (
    *('""', "''", "``", "\u201c\u201d", "\u2018\u2019", "\u201e\u201c", "\u201e\u201d"),
    *("\u201d\u201d", "\u2019\u2019", "\u201a\u2018", "\xab\xbb", "\xbb\xab", "\xbb\xbb"),
    *("\u2039\u203a", "\u203a\u2039", "\u300c\u300d", "\u300e\u300f", "\u300a\u300b"),
    *("\u3008\u3009", "\u3010\u3011", "\u3014\u3015", "\u3016\u3017", '\u201c"', '"\u201d'),
)
APOSTROPHES = [
    *(
        ("the plan of Bob\u2019s x", "Bob's x", "meant"),
        ("use \u201cBob\u2019s\u201d", "Bob's", "meant"),
    ),
    *(("the 'a' plan", "\u2018a\u2019 plan", "meant"), ("an O\u2019Neil", "O'Neil", "meant")),
    *(("an O'Neil", "O\u2019Neil", "meant"), ("an O`Neil", "O'Neil", "nowhere")),
    ("order 5\u201d disk", 'order 5" disk', "meant"),
]


def test_an_apostrophe_of_a_phone_is_that_of_a_keyboard() -> None:
    for text, value, word in APOSTROPHES:
        assert heard(value, text) == word, text


QUOTED = [
    # What begins a longer name in double quotes is another name, and so is what ends one.
    *(('use "a-1 b" now', "held"), ('use "b a-1" now', "held"), ('use "b a-1 b" now', "held")),
    *(('use "a-1" now', "meant"), ('use " a-1 " now', "meant"), ('use "a-1 b now', "meant")),
    *(('use a-1 b" now', "meant"), ('"x" a-1 "y"', "meant"), ('"x" "a-1 y"', "held")),
    *(('"a-1 b" and a-1', "meant"), ('"a-1 b" and "a-1 c"', "held"), ("'a-1 b'", "held")),
    *(('"a-1 b\n"', "meant"), ('"\na-1 b"', "meant"), ('x\n"a-1 b"\nx', "held")),
    *((f'"a-1{end}"', "meant") for end in " .,;:!?/"),
    *((f'"a-1{end} b"', "held") for end in ".,;:!?"),
    *((f"{one}a-1 b{two}", "held") for one, two in ("\u201c\u201d", "\u201e\u201c", "\xab\xbb")),
    *((f"{one}a-1{two}", "meant") for one, two in ("\u201c\u201d", "\u201e\u201c", "\xab\xbb")),
    # Nobody can say which of two signs closes.
    *((f"{one}x{two} a-1 y{two}", "held") for one, two in ("\u201c\u201d", "\xab\xbb", '""')),
    *((f"a-1 y{end}", "meant") for end in "\u201d\u201c\xbb"),
    # What is longer than 800 characters is no name.
    *(('"' + "b" * 795 + ' a-1"', "held"), ('"' + "b" * 796 + ' a-1"', "meant")),
    *(('"a-1 ' + "b" * 795 + '"', "held"), ('"a-1 ' + "b" * 796 + '"', "meant")),
    # Each language has quotes of its own, on either side.
    *((f"use {one}a-1 b{two}", "held") for one, two in map(tuple, ALL_QUOTES)),
    *((f"use {one}b a-1{two}", "held") for one, two in map(tuple, ALL_QUOTES)),
    *((f"use {one}a-1{two}, b", "meant") for one, two in map(tuple, ALL_QUOTES)),
    *((f"\u7528{one}a-1\u8ba1{two}\u5427", "held") for one, two in map(tuple, ALL_QUOTES)),
    # Apostrophes and signs of inches are no quotes.
    *(("Bob's a-1 and Ann's", "meant"), ("d'Emma a-1 l'an", "meant"), ("the '90s a-1", "meant")),
    *(('5" disk, a-1 and 6" disk', "meant"), ("the users' a-1 for 'b'", "meant")),
    *(("use 'Bob's a-1' now", "held"), ("the '90s 'a-1' now", "meant")),
    # Marks are no part of a name, and what is listed without blanks is no name.
    *(('use "#a-1" now', "meant"), ('use "(a-1)" now', "meant"), ('use "x-a-1" now', "nowhere")),
    *(('["b","a-1","c"]', "meant"), ('{"b":"a-1","c d":"e"}', "meant"), ('"b" a-1 "c"', "meant")),
    *(("use \"the 'a-1'\" now", "held"), ("use \"'a-1'\" now", "meant")),
    *(('use "label:a-1 b" now', "held"), ('use "order:a-1" now', "meant")),
    *(('use "order:a-1 b" now', "held"), ("use \u201ca\u201d\u201cb a-1\u201d", "held")),
]


def test_a_name_is_meant_where_it_is_not_the_end_of_one_in_quotes() -> None:
    for text, word in QUOTED:
        assert heard("a-1", text) == word, text
    for text, word in (
        *(('"a-1/x c"', "held"), ('"b a-1/x"', "held"), ('"b a-1/x c"', "held")),
        ('"a-1/x"', "meant"),
    ):
        assert heard("a-1/x", text, kind="path") == word, text
    assert heard("mia@b.de", '"mia@b.de c"') == heard("b.de/x", '"https://b.de/x c"') == "meant"
    assert heard("a 1", "a 2 1 " * 201 + "a 1") == "meant"


def test_one_segment_of_a_path_is_a_folder_with_a_slash_behind() -> None:
    for value, text, found in (
        *(("Q3", "tidy Q3/ up", True), ("Q3", "tidy Q3 up", False), ("v2.0", "v2.0", False)),
        *(("a/b-1", "tidy a/b-1 up", True), ("-", "tidy -/ up", True)),
    ):
        folder, is_whole = find_folder(place_of(text), read_value(value, "path"), None)
        assert (folder is not None) == is_whole == found, text


def test_each_place_of_a_word_is_looked_at() -> None:
    assert heard("dog", "a dog, a dog and a Dog") == heard(7, "7, 7 and id 7") == "meant"
    place = place_of("a dog")
    meaning = ItemText(EvidenceItem(id="f", classification="r"), ["a Dog"])
    place.add(meaning)
    assert find_meant(place, read_value("dog", None), "object", ORDER, None) == (meaning, True)


MEANINGLESS: Final = (
    "id ids no nos nr num number numbers key ref name names list value arg to from for of in on at "
    "by the a an text"
)


def tool(name: str, **fields: Any) -> ToolCapability:
    return ToolCapability(adapter_id="a", capability_id=name, approval_mode="network", **fields)


def test_what_any_argument_is_called_is_no_noun() -> None:
    for word in MEANINGLESS.split():
        assert nouns_of_field(f"order_{word}") == Nouns(frozenset({"order"})), word
        assert nouns_of_field(word) == NO_NOUNS


def test_an_argument_is_called_by_its_name_and_its_kind_or_else_by_its_tool() -> None:
    move = tool("move_old_files", arg_roles={"/boxes/roomId": "object"}, arg_kinds={"x": "cats"})
    found: Iterable[tuple[str, str | None, set[str]]] = (
        *(("order_id", None, {"order"}), ("id", "order", {"order"})),
        *(("albumId", "order", {"album", "order"}), ("id", None, {"old", "file"})),
        ("", "id", {"old", "file"}),
    )
    for name, kind, stems in found:
        assert nouns_of(move, name, kind) == stems
    more = tool("x", arg_roles={"order": "object"}, arg_kinds={"/albums/*": "id"})
    assert nouns_in([move, more]) == {"box", "room", "x", "cat", "order", "album", "*"}
    assert nouns_in([tool("y")]) == frozenset()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        *(("in « general » now", "meant"), ("in 「general」 now", "meant")),
        *(("in 『 general 』", "meant"), ("say “ general ” to all", "meant")),
        *(("say «a» general «b» now", "held"), ('say " general " now', "held")),
        *(("\u5728「general」\u53d1", "meant"), ("\u5728「a」 general 「b」", "held")),
        *(("say »a« general »b« now", "held"), ("say a« general » now", "held")),
        *(("in « general x » now", "held"), ("in » general « now", "held")),
    ],
)
def test_quotes_of_which_each_side_is_known_may_have_a_blank_inside(text: str, found: str) -> None:
    assert heard("general", text) == found
