"""Bugs of where commands run and of what people are told: the disk, remotes, and values to come."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_ANSWERS: Final = "harness/guard/answer_words.py"
_LATE: Final = "harness/guard/late_value_texts.py"
_OPENING: Final = "harness/guard/opening_words.py"
_WORDS: Final = "harness/guard/ruling_words.py"
_WORLD: Final = "harness/guard/shell_world.py"

PLACE_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "folder-that-is-zero",
        _WORLD,
        "a folder that is no text is taken for none where it is empty",
        'named = next((args[name] for name in _FOLDERS if args.get(name) is not None), "")',
        'named = next((args[name] for name in _FOLDERS if args.get(name)), "")',
    ),
    slip(
        "path-that-others-write",
        _WORLD,
        "a folder of programs that others can write is safe",
        "if mode & stat.S_IWOTH:",
        "if mode & stat.S_IWGRP and mode & stat.S_IWOTH:",
    ),
    slip(
        "path-by-a-link-into-the-project",
        _WORLD,
        "programs of the project are safe where a link leads to them",
        "is_below(os.path.realpath(folder), root)",
        "is_below(folder, root)",
    ),
    slip(
        "path-that-is-relative",
        _WORLD,
        "programs of wherever a command runs are safe",
        'if not folder.startswith("/") or',
        'if folder.startswith(".") or',
    ),
    slip(
        "repository-inside-is-the-project-s",
        _WORLD,
        "a repository inside the project counts as the project's own",
        'return "own" if str(one) == root else "other"',
        'return "own" if str(one).startswith(root) else "other"',
    ),
    slip(
        "host-of-another-section",
        _WORLD,
        "a remote has the host of whatever stands behind it",
        'name = remote[1] if section and remote else ""',
        "name = remote[1] if section and remote else name",
    ),
    slip(
        "disk-is-a-host",
        _WORLD,
        "a remote on this disk is a host of its name",
        'yield name, host[1].lower() if host else "localhost"',
        "yield name, host[1].lower() if host else name",
    ),
    slip(
        "guarded-unknown-to-commands",
        _WORLD,
        "no command is told from one that writes a file of the guard",
        "facts = ask_first_facts(folder, self.shell, self.root, self.guarded)",
        "facts = ask_first_facts(folder, self.shell, self.root)",
    ),
    slip(
        "packed-branches-unknown",
        _WORLD,
        "branches that git has packed are no branches",
        '    lines = (_read_text(packed) or "").splitlines()\n',
        "    lines: list[str] = []\n",
    ),
    slip(
        "refusal-in-words-of-a-question",
        _ANSWERS,
        "a refusal is told in the words of the question before it",
        "batch = answered.records[-1].batch if answered.records else None",
        "batch = answered.records[0].batch if answered.records else None",
    ),
    slip(
        "unknown-tool-told-in-silence",
        _WORDS,
        "a policy that says nothing names its tools for one that nobody knows",
        '        if self._is_silent:\n            return call.model_copy(update={"say": BARE})\n',
        "",
    ),
    slip(
        "reply-in-silence",
        _WORDS,
        "a policy that says nothing tells a model why its call did not run",
        'told["reply"] = BARE if self._is_silent else "\\n".join(said)',
        'told["reply"] = "\\n".join(said)',
    ),
    slip(
        "repeat-of-another-tool",
        _WORDS,
        "a repeated call is told to be that of another tool",
        "                if (one.spent.adapter_id, one.spent.capability_id) == pair\n           "
        "     and one",
        "                if one",
    ),
    slip(
        "waits-for-nobody",
        _WORDS,
        "a model is told to wait for a person where none is asked",
        'return "never" if ruling.action == "refuse" else "now"',
        'return "now"',
    ),
    slip(
        "value-to-come-of-the-most-believed",
        _LATE,
        "a person is told that a system writes what others write too",
        "return next(said for writer, said in _WRITTEN.items() if writer in writers)",
        "return next(said for writer, said in reversed(_WRITTEN.items()) if writer in writers)",
    ),
    slip(
        "value-to-come-of-a-system",
        _LATE,
        "a person is told that a system writes what anybody may",
        'author = "public" if tool.result is None else tool.result.author',
        'author = "system" if tool.result is None else tool.result.author',
    ),
    slip(
        "member-for-an-element",
        _LATE,
        "a person is told of a member what holds for elements",
        'or (name == "*" and array_index(part) is not None)',
        'or name == "*"',
    ),
    slip(
        "asked-in-words-of-a-violation",
        _OPENING,
        "a person is asked about an opening without a question",
        "ask=asks.get(_key(violation), violation.reason),",
        "ask=violation.reason,",
    ),
)
