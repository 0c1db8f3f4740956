"""The addresses, links and account numbers in content, and what each is looked for as."""

import pytest

from critic.provenance.content_values import content_values

FOUND = {
    "mail ada@x.example": [("ada@x.example", "ada@x.example", False)],
    "mail \uff41da@x.example": [("ada@x.example", "", False)],
    "pay US64SVBKUS6S3300958879": [("us64svbkus6s3300958879", "us64svbkus6s3300958879", False)],
    "pay \uff35\uff3364SVBKUS6S3300958879": [("us64svbkus6s3300958879", "", False)],
    "see http://intranet/page": [("intranet/page", "intranet/page", False)],
    "see https://a.example/b": [("a.example/b", "a.example/b", False)],
    "see https://notes.md/b": [("notes.md/b", "notes.md/b", True)],
    "see https://a\uff0eexample/b": [("a.example/b", "", False)],
    "see http://\u2474/x": [],
    "see \u2474 https://\u2474/x or https://a.example": [("a.example", "a.example", False)],
}


@pytest.mark.parametrize("text", FOUND)
def test_what_does_not_stand_in_its_narrow_form_is_looked_for_as_nothing(text: str) -> None:
    found = [
        (value.shown, part.narrow, part.names_no_host)
        for value in content_values(text)
        for part in value.parts
    ]
    assert found == FOUND[text]
