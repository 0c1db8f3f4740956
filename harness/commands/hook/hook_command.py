"""`critic hook`: answer one event of a command-line agent. Every failure is a refusal.

Rule 1: options come from the command line if it names a policy, else from a file.
"""

import argparse
import gc
import os
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.commands.exit_status import EXIT_OK, EXIT_REFUSED
from harness.errors import UsageError, escape_text
from harness.integrations.hooks.dialect import HookAnswer
from harness.integrations.hooks.dialects import DIALECTS


def run(args: argparse.Namespace) -> int:
    """Answer the event, or write the settings of an agent."""
    if args.action == "install":
        return _install(args)
    if args.action == "check":
        return _check(args)
    try:
        client: Any = import_module("plan_critic_entry.hook_client")
    except ImportError:  # a checkout without its entry
        return _answer(args, None)
    with client.time_limit():
        return _answer(args, client)


def _answer(args: argparse.Namespace, client: Any) -> int:
    if (status := _ask_service(args, client)) is not None:
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
    sys.stderr.flush()
    with suppress(Exception):  # the event is answered, and the next hook can do so too
        _start_service(args, client)
    return answer.status


def _start_service(args: argparse.Namespace, client: Any) -> None:
    """Start the service that the next hooks ask, where the options say so."""
    named = args.socket if args.policy is not None else _options(args).socket
    service: Any = import_module("harness.integrations.hooks.hook_service")
    if client is not None and named == service.AUTO:
        service.start_service(client)


def _ask_service(args: argparse.Namespace, client: Any) -> int | None:
    """Let a service answer, and return the exit status. The script `critic` has already tried."""
    if client is None or (args.socket is None and args.policy is not None):
        return None
    once = {name: getattr(args, name) for name in ("options", "policy", "socket", "event")}
    once |= {name: getattr(args, name) for name in ("state", "log", "user")}
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
        options = _options(args)
        answer: HookAnswer = hook.answer_event(
            dialect, event, options.leave, lambda: _settings(options)
        )
        return answer
    except (Exception, KeyboardInterrupt) as error:
        return dialect.fail_closed(
            name, f"refused, because the guard failed: {_explain_error(error)}"
        )


def _options(args: argparse.Namespace) -> Any:
    """Return the options of the hook.

    Raises:
        UsageError: there are none, or they are invalid.
    """
    file: Any = import_module("harness.integrations.hooks.options_file")
    if args.policy is None:
        places = (args.state, args.log, args.socket, args.user)
        if any((*places, args.scope, args.leave, args.keep_prompts)):
            raise UsageError("name a policy too, or leave all options to the file of options")
        path = Path(args.options) if args.options else file.user_options_file()
        return file.read_options(path, args.action)
    if args.options is not None:
        raise UsageError("a policy and a file of options are named: name one of both")
    if args.policy == "-":
        raise UsageError("standard input is the event: name a file for the policy")
    return file.HookOptions(
        policy=Path(args.policy),
        state=None if args.state is None else Path(args.state),
        log=args.log,
        scope=args.scope,
        leave=args.leave,
        keeps_prompts=args.keep_prompts,
        user=args.user,
    )


def _settings(options: Any) -> Any:
    load_policy = import_module("harness.commands.policy.policy_command").load_policy
    hook: Any = import_module("harness.integrations.hooks.hook_answer")
    state: Any = import_module("harness.integrations.hooks.options_file")
    named = (options.policy, options.file)
    return hook.HookSettings(
        policy=load_policy(str(options.policy)).policy,
        state=state.state_folder(options.policy, options.state),
        scope=options.scope,
        log=options.log,
        keeps_prompts=options.keeps_prompts,
        user=options.user,
        files=[one for one in named if one is not None],
    )


def _read_event() -> bytes:
    """Return standard input, at most one byte beyond the limit."""
    if sys.stdin is None:
        raise UsageError("standard input is closed: it has to be the event")
    limit = import_module("harness.integrations.hooks.cut_event").MOST_EVENT_BYTES
    data: bytes = sys.stdin.buffer.read(limit + 1)
    return data


def _explain_error(error: BaseException) -> str:
    """Return the failure on one line, safe to print. It never fails itself."""
    try:
        line: str = import_module("harness.commands.complaint").explain(error)
    except Exception:  # a package that this program needs is missing
        return f"{type(error).__name__}: {escape_text(str(error))}"
    return line


def _install(args: argparse.Namespace) -> int:
    install: Any = import_module("harness.integrations.hooks.install")
    project = None if args.project is None else Path(args.project).resolve()
    if project is not None and not project.is_dir():
        raise UsageError(f"{escape_text(str(project))}: not a folder: name the project")
    given = {
        name: _named_place(name, getattr(args, name))
        for name in ("policy", "state", "log", "socket")
    }
    given["user"] = args.user
    known = {name: value for name, value in given.items() if value is not None}
    for line in install.install_hook(args.agent, project, known):
        sys.stdout.write(f"{line}\n")
    return EXIT_OK


def _check(args: argparse.Namespace) -> int:
    folder = Path(args.folder).absolute()
    if not folder.is_dir():
        raise UsageError(f"{escape_text(str(folder))}: not a folder: name where the agent starts")
    lookup: Any = import_module("harness.integrations.hooks.lookup")
    found = lookup.look_up(args.agent, folder, os.environ)
    sys.stdout.write("".join(f"{line}\n" for line in found.lines))
    return EXIT_OK if found.is_guarded else EXIT_REFUSED


def _named_place(name: str, place: str | None) -> str | None:
    """Return a place as an absolute path or URL."""
    if (
        not place
        or (name, place) == ("socket", "auto")
        or (name == "log" and import_module("harness.log.log_places").is_url(place))
    ):
        return place or None
    return str(Path(place).resolve())
