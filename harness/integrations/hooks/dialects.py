"""The dialects by their names. Loads nothing heavy."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from harness.integrations.hooks.claude_code_dialect import ClaudeCode, Codex, QwenCode
from harness.integrations.hooks.cursor_dialect import Cursor
from harness.integrations.hooks.dialect import Dialect
from harness.integrations.hooks.gemini_dialect import Gemini

DIALECTS: Final[Mapping[str, Dialect]] = MappingProxyType(
    {dialect.name: dialect for dialect in (ClaudeCode(), Codex(), Gemini(), QwenCode(), Cursor())}
)
