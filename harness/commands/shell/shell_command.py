"""`critic shell explain`: the steps of a command line, which is not run, and what a guard says."""

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from critic.command.effect_tools import CARRIES
from critic.command.plan_parts import CallCommand, read_command
from critic.command.steps import ShellStep
from critic.session.shell_rules import ShellRules
from evals.escaping import escape_line, escape_name
from harness.canonical import ascii_json
from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.commands.policy.policy_command import load_policy
from harness.errors import UsageError
from harness.guard import Guard, RequestedCall
from harness.guard.shell_world import DiskWorld
from harness.integrations.hooks.install import shipped_policy
from harness.integrations.hooks.own_places import places_of_guard
from harness.policy import Policy, PolicyTool, parse_policy
from harness.policy.policy_rules import rules_of

_AGENT = "claude-code"
_TOOL = "explained-command"


class _Told(NamedTuple):
    """A step as it is judged: its effect may hang on the request."""

    step: ShellStep
    effect: str
    tier: str
    carries: tuple[str, ...]


def run(args: argparse.Namespace) -> int:
    """Print the steps of a command line; return whether it was understood, as exit status."""
    line = _join_words(args.words)
    _require_text(line, args)
    policy = _find_policy(args.policy)
    rules = rules_of(policy).shell
    assert rules is not None  # noqa: S101 - the policy has a section and a tool
    folder = Path(args.cwd).absolute()
    own = () if args.policy is None else places_of_guard(Path.cwd(), [Path(args.policy)], None)
    world = DiskWorld.around(folder, args.shell, guarded=own)
    facts = world.facts_for(line, {}, rules.table) if folder.is_dir() else None
    texts = [] if args.request is None else [args.request]
    told = [*_tell_steps(line, facts, rules, texts)]
    action = _find_action(policy, line, facts, args.request or "")
    if args.format == "json":
        sys.stdout.write(f"{ascii_json(_document_of(action, told))}\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in _lines_of(action, told)))
    return EXIT_OK if _is_understood(told) else EXIT_REFUSED


def _join_words(words: list[str]) -> str:
    """Return one argument as it stands, and several quoted, as the caller's shell parted them."""
    return words[0] if len(words) == 1 else shlex.join(words)


def _require_text(line: str, args: argparse.Namespace) -> None:
    for name, text in (("COMMAND", line), ("--request", args.request), ("--cwd", args.cwd)):
        try:
            (text or "").encode()
        except UnicodeEncodeError:
            raise UsageError(f"{name} is not UTF-8") from None


def _find_policy(path: str | None) -> Policy:
    """Return a policy with one tool more, which takes the command.

    Raises:
        UsageError: the policy has no section `[shell]`.
    """
    if path is None:
        policy = parse_policy(shipped_policy(_AGENT), syntax="toml").policy
    else:
        policy = load_policy(path).policy
    if policy.shell is None:
        shown = escape_name(path or _AGENT)
        raise UsageError(f'{shown} has no [shell]: add [shell] table = "common-1" to it')
    named = {"adapter_id": _TOOL, "capability_id": _TOOL, "shell": "command"}
    tool = PolicyTool(**named, approval_mode="destructive")
    return policy.model_copy(update={"tool": (*policy.tool, tool)})


def _tell_steps(
    line: str, facts: Mapping[str, Any] | None, rules: ShellRules, texts: list[str]
) -> Iterator[_Told]:
    tiers = {one.capability_id: one.approval_mode for one in rules.effects}
    read, _ = read_command(line, facts, rules.table)
    for step, part in zip(
        read.steps, rules.parts_of([CallCommand(0, line, facts)], texts), strict=True
    ):
        tier = tiers.get(part.capability_id, step.tier)
        yield _Told(step, part.capability_id, tier, tuple(part.args.get(CARRIES, ())))


def _find_action(policy: Policy, line: str, facts: dict[str, Any] | None, request: str) -> str:
    """Return what a guard makes of the command, in a session that begins with a request."""
    guard = Guard(policy)
    guard.open("explain", request=request)
    given: dict[str, Any] = {} if facts is None else {"shell": facts}
    call = RequestedCall(id="call", tool=_TOOL, args={"command": line}, **given)
    return guard.calls("explain", [call]).action


def _is_understood(told: list[_Told]) -> bool:
    return told[0].step.effect != "unknown"


def _lines_of(action: str, told: list[_Told]) -> Iterator[str]:
    yield f"action: {action}"
    names = max(len(one.effect) for one in told)
    tiers = max(len(one.tier) for one in told)
    for number, (step, effect, tier, carries) in enumerate(told, 1):
        program = escape_line(step.program) or "-"
        yield f"{number:>3}  {escape_line(effect):{names}}  {tier:{tiers}}  {program}"
        yield f"     {step.why}{_carried_text(carries)}"


def _carried_text(carries: tuple[str, ...]) -> str:
    if not carries:
        return ""
    return f"; what is confidential may get there: {escape_line(', '.join(carries))}: refused"


def _document_of(action: str, told: list[_Told]) -> dict[str, Any]:
    return {
        "action": action,
        "understood": _is_understood(told),
        "steps": [
            {
                "effect": effect,
                "tier": tier,
                "program": step.program,
                "text": step.text,
                "why": step.why,
                "args": {arg.name: [*arg.values] for arg in step.args},
                "roles": {arg.name: arg.role for arg in step.args},
                "carries": [*step.carries],
            }
            for step, effect, tier, _ in told
        ],
    }
