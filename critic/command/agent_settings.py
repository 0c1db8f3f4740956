"""The files that agents, their guard and git obey: no agent may write them.

One list for the code loop, the policies of hooks and shell commands. A `/` at the end says that it
is a folder.
"""

from typing import Final

AGENT_SETTINGS: Final = (
    *("AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md"),
    *("QWEN.md", "QWEN.local.md", ".cursorrules", ".mcp.json", "opencode.json", "opencode.jsonc"),
    *(".agents/", ".claude/", ".codex/", ".critic/", ".cursor/", ".gemini/", ".opencode/"),
    ".qwen/",
)
"""Names of files and folders that agents load instructions, settings or code from."""

PROTECTED: Final = (*AGENT_SETTINGS, ".git/", ".gitconfig", ".config/git/", ".claude.json")
"""Names that the shipped policies of hooks refuse to tools that write files, anywhere in a path.

The last ones stand in the folder of the user, where a program that git or an agent starts can be
set as well. The code loop compares what git obeys with what was there before, and needs no name
for it.
"""
