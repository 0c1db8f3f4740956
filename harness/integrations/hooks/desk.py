"""Answer hooks for processes that ask over a socket, as each would answer its own.

Rule 1: a hook is answered by the policy that it sends, and goes on with the session as its file has
        it: so a service and processes that work alone can take turns.
Rule 2: a process that runs other code is not answered: it might judge otherwise.
Rule 3: what fails here is not answered: the process that asked finds out for itself, and refuses.
"""

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Final

from harness.errors import escape_text
from harness.integrations.hooks.dialect import Dialect, HookAnswer, HookFault
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.hook_answer import HookSettings, answer_event, read_event
from harness.integrations.hooks.kept_sessions import KeptSessions
from harness.integrations.hooks.options_file import state_folder
from harness.policy import Policy, parse_policy
from harness.policy.policy_reading import syntax_of
from harness.wire import InvalidInput

_MOST_POLICIES: Final = 32
_MOST_SESSIONS: Final = 16  # in memory: a long one takes tens of megabytes
_END: Final = b"\0\0"
_ONCE: Final = frozenset(
    (
        *("agent", "code", "folder", "policy_bytes"),
        *("--policy", "--state", "--log", "--event", "--user", "--options"),
    )
)
_LISTED: Final = frozenset({"--scope", "--leave"})
_FLAG: Final = "--keep-prompts"
_NEEDED: Final = frozenset({"agent", "code", "folder", "policy_bytes", "--policy"})


@dataclass(frozen=True)
class _Question:
    """The arguments of a hook, and the bytes of its policy and of its event."""

    dialect: Dialect
    once: Mapping[str, str]
    policy: bytes
    event: bytes
    listed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    keeps_prompts: bool = False

    def place(self, name: str) -> Path | None:
        """Return a path that was named, as it is where the hook runs."""
        named = self.once.get(name)
        return None if named is None else Path(self.once["folder"], named)


class HookDesk:
    """Answers hooks, and keeps policies as they were read, and the last sessions. Thread-safe."""

    def __init__(self) -> None:
        """Begin without a policy, and without a session."""
        client: Any = import_module("plan_critic_entry.hook_client")
        self._code: Final[str] = client.code_identity()
        self.is_outdated = False
        self._lock: Final = Lock()
        self._policies: Final[OrderedDict[bytes, Policy]] = OrderedDict()
        self._sessions: Final = KeptSessions(_MOST_SESSIONS)

    def answer(self, request: bytes) -> bytes:
        """Return the answer to a request, as `plan_critic_entry.hook_client` writes and reads them.

        Raises:
            InvalidInput: it is not such a request, or its policy or event is not valid.
            Exception: something failed. Nothing is allowed.
        """
        question = _question(request)
        self._check_code(question.once["code"])
        try:
            event = read_event(question.dialect, question.event, question.once.get("--event"))
        except HookFault as fault:
            raise InvalidInput(fault.path, str(fault)) from None
        leave = question.listed.get("--leave", ())
        said = answer_event(question.dialect, event, leave, lambda: self._settings(question))
        return _write_answer(said)

    def _check_code(self, code: str) -> None:
        """Note that this installation was changed, where it was.

        Raises:
            InvalidInput: the process that asks runs other code.
        """
        if code != self._code:
            # Another installation has its own hooks. A newer state of this one takes its place.
            self.is_outdated |= _place_of(code) == _place_of(self._code)
            raise InvalidInput("/code", "another installation of plan-critic asks")

    def _settings(self, question: _Question) -> HookSettings:
        policy, log = question.place("--policy"), question.place("--log")
        if policy is None or not question.once["folder"].startswith("/"):
            raise InvalidInput("/folder", "must be an absolute path")
        return HookSettings(
            policy=self._keep_policy(question.policy, policy),
            state=state_folder(policy, question.place("--state")),
            scope=question.listed.get("--scope", ()),
            log=None if log is None else str(log),
            keeps_prompts=question.keeps_prompts,
            user=question.once.get("--user"),
            sessions=self._sessions,
            files=[one for one in (policy, question.place("--options")) if one is not None],
            folder=question.once["folder"],
        )

    def _keep_policy(self, data: bytes, path: Path) -> Policy:
        """Return a policy as it is read from a file of that name."""
        syntax = syntax_of(path.name)
        key = sha256(f"{syntax}\n".encode() + data).digest()
        with self._lock:
            policy = self._policies.pop(key, None)
        if policy is None:
            policy = parse_policy(data, syntax=syntax).policy
        with self._lock:
            self._policies[key] = policy
            if len(self._policies) > _MOST_POLICIES:
                self._policies.popitem(last=False)
        return policy


def _place_of(code: str) -> str:
    return code.rsplit(":", 2)[0]


def _question(request: bytes) -> _Question:
    """Return what a request asks.

    Raises:
        InvalidInput: it is not such a request.
    """
    head, end, rest = request.partition(_END)
    once: dict[str, str] = {}
    listed: dict[str, list[str]] = {name: [] for name in _LISTED}
    keeps_prompts = False
    for word in head.split(b"\0"):
        name, _, value = os.fsdecode(word).partition("=")
        if name in _ONCE and name not in once:
            once[name] = value
        elif name in _LISTED:
            listed[name].append(value)
        elif name == _FLAG and not keeps_prompts:
            keeps_prompts = True
        else:
            raise InvalidInput("", f"not a word of a hook: {escape_text(name)}")
    size = once.get("policy_bytes", "")
    is_whole = end and once.keys() >= _NEEDED and size.isdecimal() and int(size) <= len(rest)
    if not is_whole or once["agent"] not in DIALECTS:
        raise InvalidInput("", "not the request of a hook")
    policy, event = rest[: int(size)], rest[int(size) :]
    return _Question(DIALECTS[once["agent"]], once, policy, event, listed, keeps_prompts)


def _write_answer(answer: HookAnswer) -> bytes:
    out, err = answer.out.encode(), answer.err.encode()
    return b"%d %d %d\n" % (answer.status, len(out), len(err)) + out + err
