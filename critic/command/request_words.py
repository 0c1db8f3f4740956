"""Whether the words of a user ask for what a step of a command does.

Rule 1: a step is asked for by the deed (`delete`, `push`, the kind of code that is run) together
        with what it is done to, where it names any.
Rule 2: a name counts as a whole, and its case does: no part of another name or address is one.
        What names a path with its folders names that path alone.
Rule 3: code that is run by its path, or by a name that is no usual one (`migrate`, not `test`), is
        the object of a verb that runs (see `requested_runs`), and a push and a release need a verb
        that asks (see `deed_verbs`).
Rule 4: to name a host asks to read from it, by an address without a query of the agent's own. It
        asks for nothing to be sent there.
Rule 5: what a sentence forbids is not asked for, nor is it by what was said before (see
        `prohibitions`). Otherwise words count until the session ends.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from critic.command.deed_verbs import (
    ASIDE,
    MAIN_BRANCHES,
    NAMED_PUSH,
    RELEASE_VERBS,
    asks_for_pull_request,
    read_deed_verbs,
    read_pushed_branches,
    short_ref,
    verb_stem,
)
from critic.command.prohibitions import forbids_all_runs, split_message
from critic.command.requested_deletions import read_deletions
from critic.command.requested_hosts import read_hosts
from critic.command.requested_packages import asks_for_list, read_packages
from critic.command.requested_runs import THAT, name_key, read_runs, read_targets
from critic.command.shell_facts import is_below
from critic.command.steps import ShellStep

_HERE: Final = frozenset(("localhost", "127.0.0.1"))
_WORD: Final = re.compile(r"[a-z0-9]+")
_NAME: Final = re.compile(r"[\w./~-]+")
_AROUND: Final = "\"'`<>()[]{},.;:!"
_MEANT: Final = {
    "linter": "lint",
    "formatter": "format",
    "typecheck": "typ",
    "typechecker": "typ",
    "restart": "start",
}
"""What stems of a request mean, by the stem of the word that asks for it."""

_DEEDS: Final = {
    "start": re.compile(
        r"\b(?:npm|pnpm|yarn|bun|make|restart)\s+start\b|\brestart(?:s|ing|ed)?\b"
        r"|\bstart(?:s|ing|ed)?(?:\s*(?:$|[.,;:!?)&])|\s+(?:up|locally|now|anymore)\b"
        r"|\s+(?:(?!(?:by|with|from|over|at|on|to|working|and|in)\b)[\w-]+\s+){0,4}?"
        r"(?:it|them|server|servers|app|apps|application|applications|service|services|dev|backend"
        r"|frontend|site|website|api|ui|client|project|everything|localhost|storybook|container"
        r"|containers|preview|program|daemon|worker)\b)"
    ),
    "install": re.compile(
        r"\binstall(?:s|ing|ed)?(?:\s*(?:$|[.,;:!?)&])|\s+(?:again|locally|now|first)\b"
        r"|\s+(?:(?!(?:in|of|for|from|to|on|as)\b)[\w-]+\s+){0,3}?"
        r"(?:it|them|dependency|dependencies|deps|packages?|requirements|everything|all|project|app"
        r"|application|tool|cli|binary|binaries|program|library|modules|node_modules)\b)"
    ),
    "format": re.compile(
        r"\b(?:re)?format(?:s|ted)?\s*(?:$|[.,;:!?)&])|\b(?:re)?formatting\b"
        r"|\b(?:re)?format(?:s|ted)?\s+(?:(?!(?:in|of|for|from|to|inside|as)\b)\S+\s+){0,3}?"
        r"(?:code|codebase|files?|folders?|project|repo|repository|sources?|everything|all|it|them"
        r"|this|that|and|tests?|modules?|imports?|with|using|[\w./*-]*[./][\w./*-]*)(?!\w)"
    ),
}
"""Where a text asks for these deeds: not in "start the timer" and "format the date"."""
_RUNS_SERVER: Final = re.compile(
    r"\b(?:re-?)?run\s+(?:(?:the|a|my|our|this)\s+)?(?:(?:dev|development|local|web|api)\s+)?"
    r"(?:server|app|application)\b"
    r"(?=\s*(?:$|[.,;:!?)]|(?:and|then|to|on|at|in|with|locally|again|first|so|or)\b))"
)
_PULL_REQUEST: Final = "pull request"
_ON_GITHUB: Final = frozenset(("pull", "request", "pr", "github"))
_OPENS_ONE: Final = ("gh", "pr", "create")
_USUAL: Final = frozenset(
    map(
        verb_stem,
        (
            *("test", "lint", "build", "format", "start", "type", "typecheck", "check", "docs"),
            *("doc", "documentation", "coverage", "bench", "benchmark", "compile", "install"),
            *("preview", "validate", "ci"),
        ),
    )
)
"""The stems of names that need no order to be run: whoever fixes tests has them run."""

_MOST_PARTS: Final = 5_000
_SPARES: Final = re.compile(
    r"(?:never|not|nor|no|neither|,?\s*except|instead\s+of|rather\s+than|(?:other|apart|aside)\s+\w+"
    r"|(?:everything|anything|all)\s+but)\b",
    re.IGNORECASE,
)
_MOST_SPARED: Final = 6
_OF_A_PUSH: Final = {
    "--tags": frozenset(("tag",)),
    "--follow-tags": frozenset(("tag",)),
    "--no-verify": frozenset(("verify", "hook")),
}
"""The stems by which options of a push are asked for."""

_CURRENT: Final = frozenset(("HEAD", "@"))
_FROM_A_LIST: Final = ("-r", "--requirement", "-e", "--editable")


class _Words(NamedTuple):
    """Words that ask for something."""

    stems: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    """Those that ask for a deed."""
    names: frozenset[str] = frozenset()
    runs: frozenset[str] = frozenset()
    """Those of scripts that are to be run."""
    targets: frozenset[str] = frozenset()
    """Those of what is to be run by a plain name."""
    deletions: frozenset[str] = frozenset()
    addresses: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    branches: frozenset[str] = frozenset()
    """The names that the last push is to be of, or to go to."""
    spared: frozenset[str] = frozenset()
    """The names that a push is to leave alone: `push main, never other`."""
    bans: frozenset[str] = frozenset()
    """What they say of all that is run, where they forbid it."""

    @property
    def names_github(self) -> bool:
        """Whether they are of what stands beside the repository, where it is published."""
        return {"pull", "request"} <= self.stems or not self.stems.isdisjoint(("pr", "github"))

    def with_more(self, more: "_Words") -> "_Words":
        """Return these words and more."""
        return _Words(*(one | other for one, other in zip(self, more, strict=True)))

    def without(self, taken: "_Words") -> "_Words":
        """Return these words without those that are taken back."""
        left = _Words(*(one - other for one, other in zip(self, taken, strict=True)))
        targets = (one for one in left.targets if not taken.stems.issuperset(one.split()))
        left = left._replace(
            deletions=left.deletions - taken.names,
            verbs=left.verbs - taken.stems,
            runs=left.runs - taken.names,
            targets=frozenset(targets),
        )
        if not taken.bans:
            return left
        none = frozenset[str]()
        return left._replace(stems=left.stems & _ON_GITHUB, runs=none, targets=none)


_NOTHING_SAID: Final = _Words()


class RequestedDeeds:
    """The words that a user said, ready to be asked for steps of commands in one project."""

    def __init__(self, texts: Iterable[str], root: str) -> None:
        """Read what the user said, in order.

        Args:
            root: the folder of the project.
        """
        self._root: Final = root
        said = _NOTHING_SAID
        for text in texts:
            wanted, taken = _read_words(text)
            spared = (said.spared - wanted.names) | taken.spared
            pushed = wanted if "push" in wanted.verbs else said
            said = said.without(taken).with_more(wanted)
            said = said._replace(spared=spared, branches=pushed.branches)
        self._said: Final = said

    def ask_for(self, step: ShellStep) -> bool:
        """Return whether the user asked for a step that is not free in itself."""
        match step.effect:
            case "delete":
                paths = step.values("path")
                named = (self._names_path(path, self._said.deletions) for path in paths)
                return bool(paths) and all(named)
            case "fetch" | "send":
                return self._may_reach(step)
            case "run":
                return self._may_run(step)
            case "install":
                return self._may_install(step)
            case _:
                return False

    def _may_install(self, step: ShellStep) -> bool:
        names = {name.lower() for name in step.values("package")}
        from_list = not names or any(word.startswith(_FROM_A_LIST) for word in step.words)
        if from_list and not self._said.lists:
            return False
        # Who asks for a package asks for its types.
        return all(
            not {one, one.removeprefix("@types/")}.isdisjoint(self._said.packages) for one in names
        )

    def _may_reach(self, step: ShellStep) -> bool:
        if step.program == "git push":
            return "push" in self._said.verbs and self._may_push(step)
        if step.program in ("git fetch", "git pull"):
            return step.effect == "fetch"
        if step.program == "gh" and step.effect == "fetch" and self._said.names_github:
            return {*step.values("host")} <= {"github.com"} | self._said.hosts
        if step.words[:3] == _OPENS_ONE:
            return _PULL_REQUEST in self._said.verbs
        hosts = {*step.values("host")}
        if step.effect == "send":
            return is_local(step)
        queries = {word for word in step.words if "?" in word}
        is_named = bool(hosts and step.words) and hosts <= _HERE | self._said.hosts
        return is_local(step) or (is_named and queries <= self._said.addresses)

    def _may_push(self, step: ShellStep) -> bool:
        """Return whether a push is of what was named, where anything was, and has its options."""
        refs = {short_ref(name) for word in step.words[2:] for name in _NAME.findall(word)}
        options = {word for word in step.words if word in _OF_A_PUSH}
        if not all(_OF_A_PUSH[one] & self._said.stems for one in options):
            return False
        operands = [word for word in step.words[2:] if not word.startswith("-")][1:]
        ends = {short_ref(word.rpartition(":")[2].lstrip("+")) for word in operands} - _CURRENT
        named = self._said.branches
        if not refs.isdisjoint(self._said.spared) or (NAMED_PUSH in named and not ends):
            return False
        may_be = named | (ends - MAIN_BRANCHES if ASIDE in named else set())
        return not named or ends <= may_be

    def _may_run(self, step: ShellStep) -> bool:
        scripts = step.values("script")
        if not all(is_below(path, self._root) for path in scripts):
            return False
        if step.kinds[:1] == ("run",):
            named = (self._names_path(script, self._said.runs) for script in scripts)
            return bool(scripts) and all(named)
        usual = _USUAL | self._said.verbs
        may_be_any = not _is_target(step)
        return any(
            self._says_kind(_stems(kind))
            and (may_be_any or _stems(kind) <= usual or name_key(kind) in self._said.targets)
            for kind in step.kinds
        )

    def _says_kind(self, stems: frozenset[str]) -> bool:
        return bool(stems) and stems <= self._said.stems - (RELEASE_VERBS - self._said.verbs)

    def _names_path(self, path: str, said: frozenset[str]) -> bool:
        """Return whether names say a path of the project: by more than one plain word."""
        if not is_below(path, self._root) or path == self._root:
            return False
        name = path.rpartition("/")[2]
        below = path.removeprefix(f"{self._root.rstrip('/')}/")
        named = {path, f"./{below}"}
        named |= {name} if "." in name[1:] else set()
        named |= {below} if "/" in below else set()
        return not named.isdisjoint(said)


def _is_target(step: ShellStep) -> bool:
    """Return whether a step runs what the project gives a name: the first of its kinds."""
    name, *more = step.kinds or ("",)
    return not more or name.startswith(more[0])


def is_local(step: ShellStep) -> bool:
    """Return whether a step reaches this machine alone."""
    hosts = {*step.values("host")}
    return bool(hosts) and hosts <= _HERE


@lru_cache(maxsize=64)  # a session judges each turn by the same texts
def _read_words(said: str) -> tuple[_Words, _Words]:
    """Return the words of a message that ask, and those that it takes back.

    A message of more parts than a person writes asks for nothing.
    """
    wanted = _NOTHING_SAID
    forbidden = taken = _Words(bans=frozenset(("all",) if forbids_all_runs(said) else ()))
    parts = [*islice(split_message(said), _MOST_PARTS + 1)]
    if len(parts) > _MOST_PARTS:
        return _NOTHING_SAID, taken.with_more(_words_of(said, said))
    for part in parts:
        is_wanted = part.means in ("asks", "wonders")
        words = _words_of(part.text, part.orders if is_wanted else part.text)
        if part.means == "wonders":
            # A question about what left the machine, or about a deletion, does not ask for it.
            words = words._replace(verbs=words.verbs - RELEASE_VERBS, deletions=frozenset())
            words = words._replace(verbs=words.verbs - {_PULL_REQUEST})
            words = words._replace(runs=frozenset(), targets=frozenset())
        if THAT in words.runs:
            words = words._replace(runs=words.runs | wanted.names)
        if is_wanted:
            wanted = wanted.with_more(words)
            continue
        if _SPARES.match(part.text) and len(words.names) <= _MOST_SPARED:
            taken = taken._replace(spared=taken.spared | words.names)
        wanted, taken = wanted.without(words), taken.with_more(words)
        if part.means == "forbids":
            forbidden = forbidden.with_more(words)
    return wanted.without(forbidden), taken


def _words_of(text: str, orders: str) -> _Words:
    """Return the words of a text; `orders`: the text without what is only spoken of."""
    small = orders.lower()
    opens = (_PULL_REQUEST,) if asks_for_pull_request(small) else ()
    return _Words(
        stems=_said_stems(text.lower()),
        verbs=frozenset((*read_deed_verbs(small), *opens)),
        names=frozenset(one.rstrip(".~-") for one in _NAME.findall(text)),
        branches=frozenset(read_pushed_branches(orders)),
        runs=frozenset(read_runs(orders)),
        targets=frozenset(read_targets(small)),
        deletions=frozenset(read_deletions(orders)),
        addresses=frozenset(one.strip(_AROUND) for one in text.split()),
        hosts=read_hosts(text),
        packages=read_packages(small),
        lists=frozenset(("list",) if asks_for_list(small) else ()),
    )


def _said_stems(text: str) -> frozenset[str]:
    stems = _stems(text)
    meant = {_MEANT[stem] for stem in stems & _MEANT.keys()}
    other = {stem for stem, is_meant in _DEEDS.items() if not is_meant.search(text)}
    return (stems - other) | meant | ({"start"} if _RUNS_SERVER.search(text) else set())


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(verb_stem, _WORD.findall(text.lower())))
