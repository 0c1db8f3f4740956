"""The assurance table claims figures of today's code only."""

from typing import Any

import pytest

from tests.assurance.table import Kept, code_digest, rendered

ROW = {"layer": "laws of verify", "tried": 7, "unit": "laws", "held": 7, "met": True, "note": ""}


def kept(**layers: Any) -> Kept:
    return {"full": {"laws": {"seconds": 3.0, "rows": [ROW], **layers}}}


@pytest.mark.parametrize("layer", [{"code": "sha256:" + "0" * 64}, {}])
def test_figures_of_other_code_are_not_shown(layer: dict[str, str]) -> None:
    table = rendered(kept(**layer))
    assert "7" not in table.replace("0 minutes", "")
    assert "Not measured on this code: laws." in table


def test_figures_of_this_code_are_shown() -> None:
    figures = kept(code=code_digest())
    assert "| laws of verify | full | 7 laws | 7 | 3 |  |" in rendered(figures)
    assert "Not measured" not in rendered(figures)


def test_a_quick_run_of_this_code_is_shown_where_the_full_one_is_of_other_code() -> None:
    figures = kept(code="sha256:" + "0" * 64)
    figures["quick"] = {"laws": {"seconds": 1.0, "rows": [ROW], "code": code_digest()}}
    assert "| laws of verify | quick | 7 laws |" in rendered(figures)
