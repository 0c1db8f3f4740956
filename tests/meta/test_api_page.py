"""The API reference says what the docstrings say today."""

import pytest

from tests.meta.api_page import PAGE, rendered


@pytest.mark.slow
def test_the_page_is_current() -> None:
    fix = "write it again: python -m tests.meta.api_page"
    assert PAGE.read_text(encoding="utf-8") == rendered(), fix
