"""The dialects by their names. Loads nothing heavy."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harness.hooks.claude_code import ClaudeCode, Codex
from harness.hooks.cursor import Cursor
from harness.hooks.dialect import Dialect
from harness.hooks.gemini import Gemini

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {dialect.name: dialect for dialect in (ClaudeCode(), Codex(), Gemini(), Cursor())}
)
