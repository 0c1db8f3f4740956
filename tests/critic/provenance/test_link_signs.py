"""Signs in markup: a link is read as a page shows it, whichever way its signs are written."""

from itertools import product

import pytest

from critic.provenance.link_signs import unescape_markup

DROPPED = {9: "&tab;", 10: "&newline;", 13: ""}
"""The codes that readers of links drop, with their names."""
SIGNS = {".": "&period;", "/": "&sol;", ":": "&colon;", "@": "&commat;"}


def spelled(code: int, name: str = "") -> list[str]:
    """Return the references to a character."""
    forms = [f"&#{zeros}{code}" for zeros in ("", "000")]
    forms += [f"&#{x}{zeros}{code:x}" for x, zeros in product("xX", ("", "00"))]
    return [*(f"{form}{end}" for form in forms for end in (";",)), *filter(None, [name])]


@pytest.mark.parametrize("code", DROPPED)
@pytest.mark.parametrize("link", ["https://a.example/b", "a.example", "eve@x.example"])
def test_a_break_in_a_link_parts_nothing_of_it(code: int, link: str) -> None:
    for form, at in product(spelled(code, DROPPED[code]), range(1, len(link))):
        assert unescape_markup(f"{link[:at]}{form}{link[at:]}") == link


@pytest.mark.parametrize("sign", SIGNS)
def test_a_sign_of_a_link_is_that_sign_in_any_form(sign: str) -> None:
    for form in spelled(ord(sign), SIGNS[sign]):
        assert unescape_markup(f"a{form}b") == f"a{sign}b"


@pytest.mark.parametrize("code", [0, 1, 8, 11, 12, 14, 31, 0xD800, 0xDFFF, 0x110000, 10**9])
def test_what_is_no_character_parts_a_link(code: int) -> None:
    for form in spelled(code):
        assert unescape_markup(f"a.ex{form}ample") == "a.ex\ufffdample"
