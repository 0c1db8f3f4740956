"""Values of kind `url` that are a bare host: what names it in a text, and what does not."""

from typing import Final

import pytest

from tests.support.model.facts import Json
from tests.support.sightings import answer, item, proposal, request

AS_LINK: Final[Json] = {"arg_kinds": {"x": "url"}}
UNDOTTED: Final = ("7", "intranet", "ord_7", "localhost:8080")
DOTTED: Final = ("7.0", "10.0.0.1", "10.0.0.1:8080", "www.ord_7", "corp.example")


def told(value: str, *items: Json) -> str:
    return answer(proposal(*items, args={"x": value}, tool=AS_LINK))


@pytest.mark.parametrize("host", [*UNDOTTED[1:], *DOTTED])
def test_a_link_in_a_text_names_its_bare_host(host: str) -> None:
    said = f"open https://{host} and wait"
    assert told(host, request(said)) == "allow"
    assert told(host, item(said, "member", "named")) == "ask"
    assert told(host, item(said, "public", "ambient")) == "refuse"


@pytest.mark.parametrize("host", UNDOTTED)
@pytest.mark.parametrize("author", ["user", "system", "member"])
@pytest.mark.parametrize("shown", ["{}", "open {} and wait", "a\n{}\nb", '["{}", "b"]'])
def test_a_bare_word_names_no_host(host: str, author: str, shown: str) -> None:
    assert told(host, item(shown.format(host), author, "named")) == "refuse"


@pytest.mark.parametrize("host", DOTTED)
def test_a_request_may_name_a_host_by_numbers(host: str) -> None:
    assert told(host, request(f"open {host} and wait")) == "allow"


def test_a_number_of_a_text_is_no_link_with_a_scheme() -> None:
    assert told("https://7.0", request("pay 7.0 and wait")) == "refuse"


@pytest.mark.parametrize("value", ["https:corp.example", "HTTP:corp.example/a"])
def test_a_scheme_without_slashes_is_not_readable(value: str) -> None:
    """Some programs open the host, for others there is none."""
    assert told(value, request(f"open {value} or https://corp.example/a or corp.example")) == (
        "refuse"
    )
    assert told(value, item({"sender": value}, "member", "named")) == "refuse"
