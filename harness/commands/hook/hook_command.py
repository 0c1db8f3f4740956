"""`critic hook`: answer one event of a command-line agent; whatever fails is a refusal."""

import argparse
import gc
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.commands.exit_status import EXIT_OK
from harness.errors import UsageError, escape_text
from harness.integrations.hooks.dialect import HookAnswer
from harness.integrations.hooks.dialects import DIALECTS


def run(args: argparse.Namespace) -> int:
    """Answer the event, or write the settings of an agent."""
    if args.action == "install":
        return _install(args)
    if (status := _ask_service(args)) is not None:
        return status
    was_enabled = gc.isenabled()
    gc.disable()  # a tenth of the time of a short process, which is over before it pays
    try:
        answer = _answer_event(args)
    finally:
        if was_enabled:
            gc.enable()
    sys.stdout.write(answer.out)
    sys.stdout.flush()
    sys.stderr.write(answer.err)
    return answer.status


def _ask_service(args: argparse.Namespace) -> int | None:
    """Have a service answer, and return the exit status. The script `critic` has tried already."""
    if args.socket is None:
        return None
    try:
        client: Any = import_module("plan_critic_entry.hook_client")
    except ImportError:  # a checkout without its entry
        return None
    once = {name: getattr(args, name) for name in ("policy", "socket", "state", "log", "event")}
    listed = [("scope", value) for value in args.scope] + [("leave", one) for one in args.leave]
    named = [(name, value) for name, value in once.items() if value is not None] + listed
    flags = ["--keep-prompts"] if args.keep_prompts else []
    words = [args.action, *(f"--{name}={value}" for name, value in named), *flags]
    status: int | None = client.answered_by_service(words)
    return status


def _answer_event(args: argparse.Namespace) -> HookAnswer:
    """Return the answer to the event on standard input. No failure is an allow."""
    dialect, name = DIALECTS[args.action], args.event
    try:
        hook: Any = import_module("harness.integrations.hooks.hook_answer")
        event = hook.read_event(dialect, _read_event(), args.event)
        name = event.name
        answer: HookAnswer = hook.answer_event(dialect, event, args.leave, lambda: _settings(args))
        return answer
    except (Exception, KeyboardInterrupt) as error:
        return dialect.fail_closed(
            name, f"refused, because the guard failed: {_explain_error(error)}"
        )


def _settings(args: argparse.Namespace) -> Any:
    load_policy = import_module("harness.commands.policy.policy_command").load_policy
    if args.policy == "-":
        raise UsageError("standard input is the event: name a file for the policy")
    hook: Any = import_module("harness.integrations.hooks.hook_answer")
    return hook.HookSettings(
        policy=load_policy(args.policy).policy,
        state=_state(Path(args.policy), args.state),
        scope=args.scope,
        log=args.log,
        keeps_prompts=args.keep_prompts,
    )


def _state(policy: Path, given: str | None) -> Path:
    named = None if given is None else Path(given)
    found: Path = import_module("harness.integrations.hooks.state_file").state_folder(policy, named)
    return found


def _read_event() -> bytes:
    """Return standard input, and one byte more than is read of it at most."""
    if sys.stdin is None:
        raise UsageError("standard input is closed: it has to be the event")
    limit = import_module("harness.wire").MAX_DOCUMENT_BYTES
    data: bytes = sys.stdin.buffer.read(limit + 1)
    return data


def _explain_error(error: BaseException) -> str:
    """Return what failed, on one line that is safe to print. It fails for nothing."""
    try:
        line: str = import_module("harness.commands.complaint").explain(error)
    except Exception:  # a package that this program needs is missing
        return f"{type(error).__name__}: {escape_text(str(error))}"
    return line


def _install(args: argparse.Namespace) -> int:
    install: Any = import_module("harness.integrations.hooks.install")
    project = Path(args.project).resolve()
    if not project.is_dir():
        raise UsageError(f"{escape_text(str(project))}: not a folder: name the project")
    policy = project / ".critic" / f"{args.agent}.toml"
    policy = Path(args.policy).resolve() if args.policy else policy
    places = {"--policy": str(policy), "--state": str(_state(policy, args.state).resolve())}
    if args.socket:
        places["--socket"] = str(Path(args.socket).resolve())
    if args.log:
        is_url: Any = import_module("harness.log.log_places").is_url
        places["--log"] = args.log if is_url(args.log) else str(Path(args.log).resolve())
    for line in install.install_hook(args.agent, project, policy, places):
        sys.stdout.write(f"{line}\n")
    return EXIT_OK
