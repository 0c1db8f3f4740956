"""What is a link, character by character: the narrow form of one, and where texts hold any."""

import re
from typing import Final

import pytest

from critic.provenance.dot_segments import may_go_up
from critic.provenance.folding import WORD, small
from critic.provenance.host_names import may_be_file, names_no_host
from critic.provenance.link_signs import has_escapes
from critic.provenance.links import (
    all_links_in,
    hosts_beside,
    link_of,
    links_in,
    looks_like_link,
    wide_link_of,
    wide_links_in,
)

FILES: Final = (
    "bak bat bmp c cc cfg conf cpp cs css csv dat db doc docx dmg eml env exe gif go gz h hpp htm"
    " html ics ini ipynb jar java jpeg jpg js json jsonl jsx kt lock log lua m4a md mov mp3 mp4"
    " numbers odp ods odt old ogg pages parquet pdf pem php pl png ppt pptx ps py rar rb rs rst rtf"
    " sh so sql sqlite svg swift tar tex tgz toml ts tsv tsx txt vue wav webp xls xlsx xml yaml yml"
    " zip"
)
HOSTS: Final = (
    "ai app biz click cloud club com dev edu email example fun gov info int invalid io link live"
    " mil mobi name net online org page pro shop site space store tech test top tv website work"
    " world xyz zone"
)


def look_of(text: str) -> str:
    """Return what the first link in a text looks like."""
    return next(look for _, look in wide_links_in(text))


def test_what_ends_in_the_ending_of_a_file_is_a_host_only_where_it_is_written_as_one() -> None:
    for ending in FILES.split():
        assert may_be_file(f"a.{ending}")
        assert may_be_file(f"a.{ending.upper()}:80/b.com")
        assert not may_be_file(f"www.a.{ending}")
        assert not looks_like_link(f"a.{ending}/b")
        assert looks_like_link(f"www.a.{ending}")
        assert look_of(f"a.{ending}") == "words"


def test_a_host_is_told_by_what_it_ends_in() -> None:
    for ending in (*HOSTS.split(), "\u0434\u0440/b", "photography/b"):
        assert looks_like_link(f"a.{ending}")
        assert look_of(f"a.{ending}") == "link"
    for text in ("https://notes.md", "http://q1", "www.notes.md", "//a.q1"):
        assert look_of(text) == "link"
    for ending in ("uk", "zz"):
        assert looks_like_link(f"a.{ending}")
        assert look_of(f"a.{ending}") == "host"
    for ending in (
        "a",
        "q1",
        "1",
        "photography",
        "\u0434\u0440",
        "5/b",
        "q1/b",
        "ab1/b",
        "b_c/d",
        "\xe9\xe9",
    ):
        assert not looks_like_link(f"a.{ending}")
        assert look_of(f"a.{ending}") == "words"


READ: Final = {
    "HTTPS://www.Shop.Example:8080/B/c/?Q#F": ("shop.example:8080", "/B/c", "?Q#F"),
    "http://a.example": ("a.example", "", ""),
    "//a.example/": ("a.example", "", ""),
    "//intranet": ("intranet", "", ""),
    "intranet/x": ("intranet", "/x", ""),
    "a-b.example": ("a-b.example", "", ""),
    "www.www.a.example": ("www.a.example", "", ""),
    "a.example/?": ("a.example", "", "?"),
    "a.example/b/?q": ("a.example", "/b", "?q"),
    "a.example?q?r": ("a.example", "", "?q?r"),
    "a.example#f#?g": ("a.example", "", "#f#?g"),
    "a.example/b?/../c": ("a.example", "/b", "?/../c"),
    "a.example/...": ("a.example", "/...", ""),
    "a.example/.b": ("a.example", "/.b", ""),
    "a.example/%20%3f%25": ("a.example", "/%20%3f%25", ""),
    "a.example:99999": ("a.example:99999", "", ""),
    "\u0130.example": ("\u0130.example", "", ""),
}


@pytest.mark.parametrize("text", READ)
def test_the_narrow_form_of_a_link_is_host_path_and_rest(text: str) -> None:
    link = link_of(text)
    assert link == READ[text]
    assert link is not None
    assert link.key == "".join(READ[text])
    assert link.has_query == READ[text][2].startswith("?")


UNREAD: Final = [
    *(
        "",
        "/",
        "//",
        ".",
        "..",
        "a b.example",
        "a.example ",
        " a.example",
        "\u1680a.example",
        "a.example\n",
        "a,b.example",
    ),
    *("ftp://a.example", "http:a.example", "http:/a.example", "u@a.example", "a.example\\b"),
    *("a.example.", "a..example", ".a.example", "a.example:", "a.example:/b", "a.example:123456"),
    *("a.example:8o", "[::1]", "http://[::1]/x", "a.example/b\\c", "a.example/b?c\\d"),
    *("a.example/b c", "a.example/\x00", "a.example/\u3000b", "a.example/b\xa0c"),
    *(
        "a.example//",
        "a.example//b",
        "a.example/b//c",
        "a.example/.",
        "a.example/..",
        "a.example/./b",
    ),
    *("a.example/b/../c", "a.example/..;x/b", "a.example/.;/b", "a.example/\uff0e/b"),
    *("a.example/\u2025/b", "a.example/b\uff0fc", "a.example/b\uff3cc", "a.example/\uff0e;b"),
    *("a.example/%2e", "a.example/%2E%2e", "a.example/%2f", "a.example/%2F", "a.example/%5c"),
    *("a.example/%5C", "a.example/%252e", "a.example/%25252f", "a.example/b?%2e", "a.example#%5c"),
]


@pytest.mark.parametrize("text", UNREAD)
def test_what_programs_may_read_in_two_ways_has_no_narrow_form(text: str) -> None:
    assert link_of(text) is None


def test_dots_and_slashes_may_be_spelled_in_many_ways() -> None:
    plain = ".", "..", ".;", "..;x", "\uff0e", "\uff0e.", "\u2025", "a/b", "a\\b", "a\uff0fb"
    hidden = "..%3b", "..%00", "..%20", ".%c0%ae", ".. ", "..:x", ".\u200b.", "\xad..", "\u2025%"
    for up in (*plain, *hidden, "{a,..}", "{..,a}", "{.,a}{.,b}", "..}"):
        assert may_go_up(["a", up, "b"]), up
    assert not may_go_up(["a", "...", ".a", "a.", "a;..", "\xe9;\u2025", "\u2026"])
    assert not may_go_up(
        ["..a", ".-a", "._a", ".\xe9", "...a", "{a,b}", "{a..b}", "a,..", "[...a]"]
    )
    long = "%c0%ae", "%c0%AF", "%c1%9c", "%e0%80%ae", "%25e0%2580%25af"
    for escape in (
        "%2e",
        "%2E",
        "%2f",
        "%5c",
        "%252f",
        "%2525252F",
        *long,
        "%ef%bc%8e",
        "%E2%80%A5",
    ):
        assert has_escapes(f"a{escape}b")
    assert not has_escapes("%2g %25 %252 %25e %2 5c 2e %c3%ae %e2%80%a6 %ef%bc%8d %c0 %ae")


CHARS: Final = [*map(chr, (*range(0x100), *range(0x2000, 0x2060), 0x1680, 0x180E, 0x2215, 0x3000))]
"""Those that patterns name, and what is like them."""
LETTERS: Final = "".join(filter(str.isalpha, map(chr, range(0x80))))
WIDE_SPACES: Final = "\xa0\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
SPACES: Final = "".join(map(chr, range(0x21))) + "\x85\u1680\u180e\u2028\u2029"
QUOTES: Final = "\xab\xbb\u2018\u201c\u201d\u201e"
DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015"
ENDS_LINK: Final = SPACES + WIDE_SPACES + QUOTES + ".,;:!?>*~\"'`\u2019\u201a"
"""What stands behind a link that is named, where a word follows."""
BESIDE_USER: Final = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\u1680\u2028\u2029" + WIDE_SPACES


def keys(text: str) -> list[str]:
    return [link.key for link, _ in links_in(text)]


def all_keys(text: str) -> list[str]:
    """Return the links that a text names, and those that may be parts of longer ones."""
    return [link.key for link, _ in all_links_in(text)]


def wide_keys(text: str) -> list[str]:
    return [link.key for link, _ in wide_links_in(text)]


def is_word(char: str) -> bool:
    return re.match(WORD, char) is not None


def test_a_link_in_a_text_begins_where_no_other_link_or_name_goes_on() -> None:
    for char in CHARS:
        bare, full, short = (f"a{char}corp.com/X", f"a {char}http://b/X", f"a {char}//b/X")
        begins = not is_word(char) and char not in "%+-./:@\\~"
        assert ("corp.com/X" in all_keys(bare)) == begins, bare
        assert ("corp.com/X" in keys(bare)) == (begins and char not in "$&)]^}\u2026" + DASHES), (
            bare
        )
        assert ("b/X" in keys(full)) == (char not in LETTERS + "0123456789+-./@"), full
        assert ("b/X" in keys(short)) == (char not in LETTERS + "0123456789+-./@:"), short


def test_a_reader_takes_for_a_link_what_begins_inside_of_a_word() -> None:
    for char in map(small, CHARS):
        bare, full, short = (f"a{char}corp.com/x", f"a {char}http://b/x", f"a {char}//[::1]/x")
        assert ("corp.com/x" in wide_keys(bare)) == (not is_word(char) and char not in "-.@"), bare
        assert wide_keys(full) == ["b/x"] or char in LETTERS, full
        joined = char in LETTERS + ":0123456789"
        assert ("[::1]/x" in wide_keys(short)) == (not joined), short


def test_a_page_ends_at_white_space_brackets_and_quotes() -> None:
    for char in CHARS:
        text = f"see http://corp.com/a{char}b"
        ends = char in SPACES + QUOTES + "<>\"'`|^{}()[]"
        ends = ends or char in WIDE_SPACES
        assert ("corp.com/a" in all_keys(text)) == (ends or char == "\\"), text
        assert ("corp.com/a" in keys(text)) == (ends and char not in "<({[|^)]}"), text
        assert ("corp.com/a" in wide_keys(text)) == (ends and char not in WIDE_SPACES), text
        unread = "\x7f" <= char <= "\x9f" and char != "\x85"
        assert bool(all_keys(text)) == (not unread), text


def test_the_signs_that_end_a_sentence_are_no_part_of_a_page() -> None:
    ends = ".,;:!?'\"*_~\u2019\u2026"
    for char in CHARS:
        text = f"http://corp.com/a{char}"
        cut = char in ends + SPACES + QUOTES + "/<>\"'`|^{}()[]"
        is_link = cut or char in WIDE_SPACES + "\\"
        assert ("corp.com/a" in all_keys(text)) == is_link, text
        assert ("corp.com/a" in keys(text)) == (is_link and char not in "*_~<({[^\\"), text
        assert ("corp.com/a" in wide_keys(text)) == (cut or char == "\\"), text
    assert keys(f"http://corp.com/a{ends[:6]}") == ["corp.com/a"]
    assert keys(f"http://corp.com/a{ends[:6]}b") == [f"corp.com/a{ends[:6]}b"]


def test_a_host_ends_where_a_sentence_goes_on_and_nowhere_else() -> None:
    for char in CHARS:
        text, before_dot = f"see http://corp.com{char}b", f"see corp.com.{char}b"
        parts = "$%&*+-:=^~\\/?#.@\u2044\u2215"
        goes_on = is_word(char) or char in parts
        assert ("corp.com" in all_keys(text)) == (not goes_on), text
        ends = char in ENDS_LINK and not goes_on
        assert ("corp.com" in keys(text)) == ends, text
        begins = char.isupper() and is_word(char)
        whole = begins or (not is_word(char) and char not in parts[:-2] + "({[<")
        assert ("corp.com" in keys(before_dot)) == whole, before_dot


def test_a_host_before_a_user_s_sign_is_no_host() -> None:
    for char in CHARS:
        text = f"see corp.com{char}@e.example"
        user = is_word(char) or char in "!$%&'()*+,-.:;=@\\^~\u2044\u2215"
        assert ("corp.com" in all_keys(text)) == (not user and char not in "/?#"), text
    for char in CHARS:
        text = f"see http://u{char}@corp.com/x"
        is_user = char not in BESIDE_USER + "/\\?#"
        assert ("corp.com/x" in wide_keys(text)) == is_user, text


NUMBERED: Final = ["2130", "2130706433", "0x7f00", "0x7f00a9bf", "0x1234", "0x567890", "0xabcdef"]
NUMBERLESS: Final = ["213", "21307064330", "0x7f0", "0x7f00a9bf0", "0x7f0g", "1x7f00", "abcdef"]


def test_a_number_behind_slashes_is_the_host_of_a_page() -> None:
    for number in NUMBERED:
        for behind in ("/x", "?x", "#x", ":80"):
            assert wide_keys(f"//{number}{behind}") == [f"{number}{behind}"]
        assert wide_keys(f"//{number} and //{number}.") == []
    for number in NUMBERLESS:
        assert wide_keys(f"//{number}/x") == []


BRACKETED: Final = [
    *("[::1]", "[0123:456:789::]", "[abcd:ef::abcd:ef]", "[::ffff:1.2.3.4]", "[1.2.3.4:1]", "[:1]"),
    *("[fe80::1%25eth0]", "[::1%a]", f"[:{'1' * 60}]", f"[::1%{'e' * 60}]", "[::%-_%\\[]"),
    *("[abc:1]", "[a.b:c]"),
]
UNBRACKETED: Final = [
    *("::1", "[1234]", "[]", "[:]", "[g::1]", "[::g]", "[::1%]", "[::1% a]", "[::1%a/b]", "[::1"),
    *(f"[:{'1' * 61}]", f"[::1%{'e' * 61}]", "[::-1]", "[:12a]3]", "[::1%a]3]"),
]


def test_an_address_in_brackets_is_a_host() -> None:
    for host in BRACKETED:
        assert wide_keys(f"see http://{host}/x") == [f"{host}/x"], host
        assert wide_keys(f"see //{host}") == [host], host
    for host in UNBRACKETED:
        assert f"{host}/x" not in wide_keys(f"see //{host}/x"), host
    assert wide_keys("see [::1]/x") == []


def test_a_value_with_a_scheme_is_a_link_whatever_the_scheme_is() -> None:
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert all(looks_like_link(f"{letter}://b c") for letter in letters)
    assert looks_like_link(f"x{letters}0123456789+.-://")
    for text in (
        *(f"{char}x://b" for char in " 0_-+./:"),
        "a_b://c",
        "a b://c",
        "://b",
        "a:b://c",
        "a:/b://c",
    ):
        assert looks_like_link(text) is False
    assert all(map(looks_like_link, ("//intranet", "//a.example", "www.q1", "a.example:80/b")))
    for text in (
        "intranet",
        "intranet/x",
        "a.example b",
        "//a.example b",
        "a.example!",
        "a.example/b c",
        "https:a",
        "",
    ):
        assert looks_like_link(text) is False


def test_a_number_with_points_names_no_host_by_itself() -> None:
    for text in (
        "3.5",
        "10.0.0.1:80",
        "3.5?x",
        "3.5#x.com",
        "a.q1",
        "a.ab1",
        "a.\xb5\xb5",
        "q",
        "notes.md/x",
        "3.5x",
    ):
        assert names_no_host(text), text
    for text in (
        "10.0.0.1/x",
        "a.example",
        "a.example?b.md",
        "a.example#b.md",
        "www.3.5",
        "www.q1",
    ):
        assert not names_no_host(text), text


SENTENCES: Final = {
    "see corp.com.Then go": ["corp.com"],
    "see corp.com.It": ["corp.com"],
    "see b.corp.com.Then": ["b.corp.com"],
    "see corp.com.THEN": ["corp.com.then"],
    "see corp.com.ThEn": ["corp.com.then"],
    "see corp.com.T": ["corp.com.t"],
    "see corp.com.then": ["corp.com.then"],
    "see Corp.com.Then": ["corp.com.then"],
    "see corp.Then": [],
    "see https://corp.com/b.Then": ["corp.com/b.Then"],
    "see https://Intranet": ["intranet"],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_may_begin_right_behind_a_host(text: str) -> None:
    assert keys(text) == SENTENCES[text]


WIDE: Final = {
    "www.corp.com/": ("corp.com", "", ""),
    "www.www.corp.com": ("www.corp.com", "", ""),
    "corp.com:80\\b\\c?d#e?f": ("corp.com", ":80/b/c", "?d#e?f"),
    "corp.com#e?f": ("corp.com", "", "#e?f"),
    "corp.com/b#e?f": ("corp.com", "/b", "#e?f"),
    "corp.com?": ("corp.com", "", ""),
    "corp.com/b?c/": ("corp.com", "/b", "?c/"),
    "corp.com//": ("corp.com", "", ""),
    "corp.com./b": ("corp.com", "/b", ""),
    "  ftp://corp/b ": ("corp", "/b", ""),
    "https:\\corp": ("corp", "", ""),
    "u:p@corp.com": None,
    "corp": None,
    "": None,
}


@pytest.mark.parametrize("text", WIDE)
def test_the_wide_form_of_a_link_is_host_path_and_rest(text: str) -> None:
    assert wide_link_of(text) == WIDE[text]


def test_a_link_has_all_pages_above_its_own_up_to_a_depth() -> None:
    deep = ["corp.com", *("b" * 62)]
    for path in (deep, [*deep, "c"]):
        link = link_of("/".join(path))
        assert link is not None
        assert [*link.parents()] == ["/".join(path[:end]) for end in range(len(path) - 1, 1, -1)]
    link = link_of("/".join([*deep, "c", "d"]))
    assert link is not None
    assert [*link.parents()] == []


ALNUM: Final = LETTERS + "0123456789"
SEEN: Final = "\u898b"
"""A letter of a script that sets no space beside a host."""


def test_a_host_begins_where_letters_of_another_script_end() -> None:
    for char in ALNUM:
        assert [*hosts_beside(f"{SEEN}{char}b.example/x")] == [f"{char}b.example/x"]
        assert [*hosts_beside(f"a{SEEN}\x80{char}.{SEEN}b")] == [f"{char}.{SEEN}b"]
    for none in (f"{SEEN}-b.c", f"{SEEN}_b.c", "\x7fb.c", f"b.{SEEN}c", "b.c", f"{SEEN}.b", SEEN):
        assert [*hosts_beside(none)] == []
    many = [f"{SEEN}a" * count for count in range(13, 1, -1)]
    assert [*hosts_beside(many[0] + ".b")] == [f"{one[1:]}.b" for one in many]


def test_a_host_ends_where_letters_of_another_script_or_final_underscores_begin() -> None:
    for char in map(small, ALNUM):
        for behind in (SEEN, "\x80a", "_", "__"):
            assert f"b.a{char}" in wide_keys(f"see b.a{char}{behind}"), (char, behind)
    for text in (f"b.a-{SEEN}", "b.a\x7f", "b.a_c", "b.a"):
        assert len(wide_keys(text)) == 1
    assert wide_keys("b." + f"c{SEEN}" * 20)[1:] == [
        "b." + f"c{SEEN}" * count + "c" for count in range(12)
    ]
    looks = {"b.example": "link", "b.uk": "host", "b.q1": "words", "b.md": "words"}
    for host, look in looks.items():
        assert [*wide_links_in(f"_{host}{SEEN}")][1] == ((host, "", ""), look)
    for link in (f"https://b.example{SEEN}", f"www.b.example{SEEN}", f"b.com/x.b.example{SEEN}"):
        assert [look for _, look in wide_links_in(link)][1:] in ([], ["words"])
    assert [look for _, look in wide_links_in(f"http://b{SEEN}/x")] == ["link", "words"]
    assert [*wide_links_in(f"com{SEEN}.b")][1] == (("com", "", ""), "words")


def test_a_host_within_underscores_or_beside_another_script_is_named_without_them() -> None:
    assert "a.example" in keys("see _a.example_ now")
    assert "a.example" in keys("see __A.example__ now")
    assert keys("_a.example/b_") == ["_a.example/b"]
    assert keys("see a.example_ now") == ["a.example"]
    for text in ("_a.example", "_a.example/b_", "a_a.example_", "see a.example_b"):
        assert "a.example" not in keys(text), text
    for text in (f"see a.example{SEEN}", f"{SEEN}https://a.example{SEEN}"):
        assert keys(text) == [f"a.example{SEEN}", "a.example"]
    assert keys(f"see {SEEN} a.example") == ["a.example"]
