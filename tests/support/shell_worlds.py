"""A made-up world in which command lines are read, and a stand-in for what judges their steps."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from critic.command.command_table import CommandTable
from critic.command.shell_facts import FactNeeds, ShellFacts, ShellName, is_below, join_path
from critic.command.steps import CommandSteps, ShellStep, read_steps

Action = Literal["allow", "ask", "refuse"]
_RANK: Final[tuple[Action, ...]] = ("allow", "ask", "refuse")
_ASKS: Final = ("read_outside", "read_secret", "write_outside", "discard", "system", "unknown")
_DELETES: Final = frozenset(("delet", "delete", "remov", "remove", "rm", "drop", "clean"))
_INSTALLS: Final = frozenset(("install", "sync", "add"))
_HERE: Final = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class World:
    """A machine: the project in `root`, links, repositories, and what git knows."""

    root: str = "/w"
    home: str = "/home/u"
    links: Mapping[str, str] = field(default_factory=dict)
    repositories: tuple[str, ...] = ("/w", "/w/src", "/w/backend", "/w/tests")
    folders: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    followed: tuple[str, ...] = ("origin/main",)
    remotes: Mapping[str, str] = field(default_factory=lambda: {"origin": "git.example"})
    path_safe: bool = True

    def real_path(self, path: str) -> str:
        """Return where a path leads, as the system walks it."""
        at = "/"
        for part in path.split("/"):
            at = at.rpartition("/")[0] or "/" if part == ".." else join_path(at, part)
            at = self.links.get(at, at)
        return at

    def answer(self, needs: FactNeeds, facts: ShellFacts) -> ShellFacts:
        """Return the facts with all that was asked for."""
        links = {path: self.real_path(path) for path in needs.links}
        git = {path: self.repositories_of(path) for path in needs.git}
        return ShellFacts.model_validate(
            {
                **facts.model_dump(exclude_none=True),
                "links": {**facts.links, **links},
                "git": {**facts.git, **git},
                "folders": {path: path in self.folders for path in needs.folders},
                "refs": (*self.branches, *self.followed),
                "remotes": {**self.remotes},
                "path_safe": self.path_safe,
            }
        )

    def repositories_of(self, folder: str) -> Literal["own", "other", "none"]:
        """Return what git finds from a folder."""
        return "own" if self.real_path(folder) in self.repositories else "other"

    def facts(self, cwd: str = "/w", shell: ShellName | None = "bash") -> ShellFacts:
        """Return the facts that are known before anything is asked."""
        return ShellFacts(root=self.root, cwd=cwd, home=self.home, shell=shell)

    def facts_for(
        self, command: str, args: Mapping[str, Any], table: CommandTable
    ) -> dict[str, Any]:
        """Return the facts of a call whose folder is its argument `cwd`, as a guard asks for."""
        facts = self.facts(str(args.get("cwd", self.root)))
        needs = read_steps(command, facts, table).needs
        return (self.answer(needs, facts) if needs else facts).wire()

    def read(
        self, text: str, table: CommandTable, *, cwd: str = "/w", shell: ShellName | None = "bash"
    ) -> CommandSteps:
        """Return the steps of a line, asked for in two passes."""
        facts = self.facts(cwd, shell)
        first = read_steps(text, facts, table)
        return read_steps(text, self.answer(first.needs, facts), table) if first.needs else first


def judge_steps(steps: tuple[ShellStep, ...], request: str, root: str = "/w") -> tuple[Action, str]:
    """Return what a careful policy does about the steps, and why: the worst of them."""
    ruled = [_judge_step(step, request.lower(), root) for step in steps]
    worst = max(ruled, key=_RANK.index)
    return worst, steps[ruled.index(worst)].why


def _judge_step(step: ShellStep, request: str, root: str) -> Action:
    if step.effect == "write_protected" or step.carries:
        return "refuse"
    if step.effect in _ASKS:
        return "ask"
    stems = _stems(request)
    match step.effect:
        case "delete":
            asked = bool(stems & _DELETES) and all(
                is_below(path, root) and _is_named(path, request, root)
                for path in step.values("path")
            )
            fine = step.tier == "local_write" or asked
        case "fetch" | "send":
            fine = _may_reach(step, request, stems)
        case "run":
            fine = _may_run(step, request, stems, root)
        case "install":
            packages = step.values("package")
            fine = all(name.lower() in request for name in packages)
            fine = fine if packages else bool(stems & _INSTALLS)
        case _:
            fine = True
    return "allow" if fine else "ask"


def _may_reach(step: ShellStep, request: str, stems: set[str]) -> bool:
    if step.program == "git push":
        return "push" in stems
    if step.program in ("git fetch", "git pull"):
        return step.effect == "fetch"
    return all(
        host in _HERE
        or ("." in host and re.search(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", request))
        for host in step.values("host")
    )


def _may_run(step: ShellStep, request: str, stems: set[str], root: str) -> bool:
    scripts = step.values("script")
    if any(not is_below(path, root) for path in scripts):
        return False
    if step.kinds[:1] == ("run",):
        return all(_is_named(path, request, root) for path in scripts)
    return any(_stems(kind) and _stems(kind) <= stems for kind in step.kinds)


def _stems(text: str) -> set[str]:
    return {re.sub(r"(ing|ed|es|s)$", "", word) for word in re.findall(r"[a-z0-9]+", text.lower())}


def _is_named(path: str, request: str, root: str) -> bool:
    name, below = path.rpartition("/")[2].lower(), path.removeprefix(f"{root}/").lower()
    names = [name] if "." in name[1:] else []
    names += [below] if "/" in below else []
    words = re.findall(r"[\w./~-]*[\w/]", request)
    return any(
        one in (word, f"./{word}") or word.endswith(f"/{one}") for word in words for one in names
    )
