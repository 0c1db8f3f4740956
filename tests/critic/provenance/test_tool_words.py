"""The words of a tool's name, and their stems."""

import pytest

from critic.provenance.tool_words import stem_of, stems_of, stems_of_name, words_of_name


@pytest.mark.parametrize(
    ("name", "stems"),
    [
        ("delete_file", {"delet", "file"}),
        ("deleteFile", {"delet", "file"}),
        ("DeleteFILE", {"delet", "file"}),
        ("HTTPSend", {"http", "send"}),
        ("s3Upload", {"s3", "upload"}),
        ("send.money-now/fast", {"send", "monei", "now", "fast"}),
        ("mail:send", {"mail:send"}),
        ("mail:Send", {"mail:send"}),
        ("get_all_user_info", set()),
        ("update_password", {"password"}),
        ("_", set()),
    ],
)
def test_names_are_split_at_signs_and_capitals(name: str, stems: set[str]) -> None:
    assert stems_of_name(name) == stems


@pytest.mark.parametrize(
    "same",
    [
        ("delete", "deletes", "deleted", "deleting", "deletion"),
        ("message", "messages"),
        ("reserve", "reservation", "reservations", "reserved"),
        ("transaction", "transactions"),
        ("invite", "invitation"),
        ("copy", "copies", "copied", "copying"),
        *(("order", "orders"), ("folder", "folders"), ("customer", "customers")),
        *(("entry", "entries"), ("movie", "movies"), ("key", "keys")),
        *(("wire", "wires", "wired", "wiring"), ("pay", "pays", "paying"), ("tag", "tags")),
        *(("add", "adds", "added", "adding"), ("type", "typing"), ("fix", "fixes", "fixing")),
        *(("donate", "donation", "donations"), ("note", "notes", "noted"), ("log", "logs")),
        *(("address", "addresses"), ("box", "boxes"), ("invoice", "invoices")),
    ],
)
def test_words_of_one_stem(same: tuple[str, ...]) -> None:
    assert len({*stems_of(" ".join(same))}) == 1


def test_three_letters_are_left() -> None:
    assert stems_of("uses bed bees rating a_b") == {"use", "bed", "bee", "rate", "a", "b"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *(("wire", "wir"), ("note", "not"), ("donation", "done don"), ("rate", "rat")),
        *(("fire", "fir"), ("rating", "rat"), ("wiring", "wir"), ("notes", "not"), ("code", "cod")),
    ],
)
def test_a_short_word_is_no_other_word(name: str, words: str) -> None:
    assert stems_of_name(name).isdisjoint(stems_of(words))


@pytest.mark.parametrize(
    "word",
    [
        *("a", "all", "and", "by", "for", "from", "get", "in", "of", "the", "through", "to"),
        *("city", "git", "info", "information", "up", "update", "user", "with"),
    ],
)
def test_a_common_word_says_nothing_about_a_tool(word: str) -> None:
    assert stems_of_name(f"{word}_send") == {"send"}


@pytest.mark.parametrize(
    ("words", "stem"),
    [
        ("reservations reservation", "reserv"),
        ("meetings meeting", "meet"),
        ("transactions transaction", "transact"),
        ("folders folder", "folder"),
        ("parties party", "parti"),
        ("boxes", "box"),
        ("posted", "post"),
        ("bills", "bill"),
        ("notes note", "note"),
        ("passes pass", "pass"),
    ],
)
def test_the_longest_ending_is_taken_off(words: str, stem: str) -> None:
    assert {*stems_of(words)} == {stem}


@pytest.mark.parametrize("name", ["pay_the_bill", "pay-the-bill", "pay.the.bill", "pay/the/bill"])
def test_words_of_a_name_stand_between_any_separators(name: str) -> None:
    assert words_of_name(name) == ["pay", "the", "bill"]
    assert words_of_name("payTheBILLNow") == ["pay", "the", "bill", "now"]
    assert stems_of_name(name) == stems_of_name(f"_{name}__") == {stem_of("pay"), "bill"}


STEMS = {
    "reservations": "reserv",
    "reservation": "reserv",
    "bookings": "book",
    "booking": "book",
    "sessions": "sess",
    "session": "sess",
    "houses": "hous",
    "deleted": "delet",
    "deletes": "delet",
    "delete": "delet",
    "notes": "note",
    "files": "file",
    "typing": "type",
    "boxed": "box",
    "sewed": "sew",
    "rations": "ration",
    "actions": "action",
    "tried": "tri",
    "boss": "boss",
    "pay": "pai",
    "use": "use",
    "": "",
}


@pytest.mark.parametrize("word", STEMS)
def test_one_ending_is_taken_off_where_enough_is_left(word: str) -> None:
    assert stem_of(word) == STEMS[word]
