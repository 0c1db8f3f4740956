"""`critic hook`: answer one event of a command-line agent; whatever fails is a refusal."""

import argparse
import gc
import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.commands.exit_status import EXIT_OK
from harness.errors import UsageError, escape_text
from harness.hooks.dialect import HookAnswer
from harness.hooks.dialects import DIALECTS

_HOME = ".critic"


def run(args: argparse.Namespace) -> int:
    """Answer the event, or write the settings of an agent."""
    if args.action == "install":
        return _install(args)
    was_enabled = gc.isenabled()
    gc.disable()  # a tenth of the time of a short process, which is over before it pays
    try:
        answer = _answer(args)
    finally:
        if was_enabled:
            gc.enable()
    if answer.said is not None:
        sys.stdout.write(json.dumps(answer.said).replace("\x7f", "\\u007f") + "\n")
        sys.stdout.flush()
    if answer.reason:
        sys.stderr.write(f"critic: {answer.reason}\n")
    return answer.status


def state_folder(policy: str, given: str | None) -> Path:
    """Return where sessions are kept: beside the policy, unless another folder is named."""
    if given is not None:
        return Path(given)
    beside = Path(policy).resolve().parent
    return (beside if beside.name == _HOME else beside / _HOME) / "sessions"


def _answer(args: argparse.Namespace) -> HookAnswer:
    """Return the answer to the event on standard input. No failure is an allow."""
    dialect, name = DIALECTS[args.action], args.event
    try:
        hook: Any = import_module("harness.hooks.hook")
        event = hook.heard(dialect, _given(), args.event)
        name = event.name
        if event.kind == "other":
            return dialect.allow(name, quiet=True)
        if hook.is_left(event, args.leave):
            return dialect.allow(name)
        return _ruled(hook, args, event)
    except (Exception, KeyboardInterrupt) as error:
        return dialect.closed(name, f"refused, because the guard failed: {_explained(error)}")


def _ruled(hook: Any, args: argparse.Namespace, event: Any) -> HookAnswer:
    load_policy = import_module("harness.commands.policy").load_policy
    if args.policy == "-":
        raise UsageError("standard input is the event: name a file for the policy")
    policy = load_policy(args.policy).policy
    state = state_folder(args.policy, args.state)
    settings = hook.HookSettings(
        policy=policy,
        state=state,
        leave=args.leave,
        scope=args.scope,
        log=args.log,
        keeps_prompts=args.keep_prompts,
    )
    answer: HookAnswer = hook.answered(DIALECTS[args.action], event, settings)
    return answer


def _given() -> bytes:
    """Return standard input, and one byte more than is read of it at most."""
    if sys.stdin is None:
        raise UsageError("standard input is closed: it has to be the event")
    limit = import_module("harness.wire").MAX_DOCUMENT_BYTES
    data: bytes = sys.stdin.buffer.read(limit + 1)
    return data


def _explained(error: BaseException) -> str:
    """Return what failed, on one line that is safe to print. It fails for nothing."""
    try:
        line: str = import_module("harness.commands.complaint").explain(error)
    except Exception:  # a package that this program needs is missing
        return f"{type(error).__name__}: {escape_text(str(error))}"
    return line


def _install(args: argparse.Namespace) -> int:
    install: Any = import_module("harness.hooks.install")
    project = Path(args.project).resolve()
    if not project.is_dir():
        raise UsageError(f"{escape_text(str(project))}: not a folder: name the project")
    home = project / _HOME
    policy = Path(args.policy).resolve() if args.policy else home / f"{args.agent}.toml"
    state = Path(args.state).resolve() if args.state else state_folder(str(policy), None)
    places: Mapping[str, str] = {"--policy": str(policy), "--state": str(state)}
    if args.log:
        places = {**places, "--log": str(Path(args.log).resolve())}
    for line in install.installed(args.agent, project, policy, places):
        sys.stdout.write(f"{line}\n")
    return EXIT_OK
