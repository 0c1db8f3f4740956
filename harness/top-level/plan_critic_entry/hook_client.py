"""Have a hook of an agent answered by `critic serve --socket`: all that its process then loads.

Rule 1: only a whole answer of a service of this user is one. Without it, None is returned, and the
        hook is worked out in this process, with the same policy and the same sessions.
Rule 2: the policy is sent as the bytes of the file that the hook names, so that no service can
        judge by another one.
Rule 3: a service that runs other code than this process is not asked.
Rule 4: options are read as `critic hook` reads them, or not at all: those of the command line, or
        those of the file that it names, which for a user's own hooks is one that it need not name.
"""

import io
import os
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from plan_critic_entry.plain_options import Options, read_plain

HOOKS_PATH = "/v1/hooks"
MEDIA_TYPE = "application/vnd.plan-critic.hook"
MOST_BYTES = 32 * 1024 * 1024
"""The largest event or policy that a service takes."""
_MOST_READ = 256 * 1024 * 1024  # of an event: one that is longer is not read here either

_SECONDS = 10.0
"""How long the service may take. After that the work is done here, once it has let go."""

_MOST_SECONDS = 40
"""How long a hook may take: less than the agent waits, which would then let the call run."""

_AUTO = "auto"
"""In place of a socket: that of the service that hooks start themselves."""
_FOLDER, _SOCKET = ".critic", "hooks.sock"

_ONCE = ("--policy", "--socket", "--state", "--log", "--event", "--user")
_LISTED = ("--scope", "--leave")
_FILE = "--options"
_USER_FILE = "~/.critic/hook.toml"
_FLAG = "--keep-prompts"
_OTHERS = 0o077
"""The permissions of the group and of everybody."""

_BLOCKED = 2
"""The exit status that blocks, in every dialect."""


class _Heard(io.TextIOWrapper):
    """Standard input that was read, and can be read again."""


ServiceAnswer = tuple[int, str, str]
"""The exit status, standard output, and standard error."""


@contextmanager
def time_limit() -> Iterator[None]:
    """Have the system end this process if it takes too long, whatever it is doing then.

    Its status is that of a failure, and the shell of the agent refuses.
    """
    if not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)  # whoever started it may ignore the signal
    except ValueError:  # not the main thread of a process
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, _MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def answered_by_service(words: list[str]) -> int | None:
    """Print the answer of the service to the event on standard input, and return the exit status.

    Args:
        words: the command line after `critic hook`.

    Returns:
        None if there is no such answer. Standard input can then be read as before.
    """
    options = options_of(words)
    if options is None or None in (sys.stdin, sys.stdout, sys.stderr):
        return None
    if isinstance(sys.stdin, _Heard):  # a service was asked already, and did not answer
        return None
    try:
        answer = _answer(words[0], options)
    except (Exception, KeyboardInterrupt):  # whatever it is, the work is done here
        return None
    return _print_answer(*answer)


def _answer(agent: str, options: Options) -> ServiceAnswer:
    """Return the answer of the service. Standard input is read only if there is one."""
    places = dict(options)
    policy = _content(places["--policy"])
    with _connect_service(find_socket(places["--socket"])) as service:
        return _ask_service(service, request_of(agent, options, policy, _event()))


def find_socket(named: str) -> str:
    """Return the path of the socket that is named: for `auto` in the run-time folder of the user.

    Where there is none that is theirs alone, it is in `~/.critic/run`.
    """
    if named != _AUTO:
        return named
    place = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(place) and is_own_folder(place):
        return os.path.join(place, _FOLDER, _SOCKET)
    return os.path.join(os.path.expanduser("~"), _FOLDER, "run", _SOCKET)


def is_own_folder(path: str) -> bool:
    """Return whether a path is a folder that this user alone can use, and no link to one."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    is_own = found.st_uid == os.geteuid() and not found.st_mode & _OTHERS
    return is_own and stat.S_ISDIR(found.st_mode)


def code_identity() -> str:
    """Return which installation this is, and which state of it: another one may judge otherwise."""
    path = os.path.abspath(__file__)
    found = os.stat(path)
    return f"{path}:{found.st_ino}:{found.st_ctime_ns}"


def _event() -> bytes:
    """Return standard input, and leave it to be read again."""
    given, sys.stdin = sys.stdin, _Heard(io.BytesIO())  # nothing, if it is cut short
    event = given.buffer.read(_MOST_READ + 1)
    sys.stdin = _Heard(io.BytesIO(event))
    if len(event) > MOST_BYTES:
        raise ValueError("more than a service takes")
    return event


def options_of(words: list[str]) -> Options | None:
    """Return the options of a hook, or None if they do not name a service or are not plain."""
    found = _named_options(words)
    if found is None:
        return None
    names = [name for name, _ in found]
    if "--policy" not in names:
        if not {*names} <= {_FILE, "--event"} or len({*names}) < len(names):
            return None
        found = _filed_options(words[0], dict(found))
        names = [name for name, _ in found]
    elif _FILE in names:
        return None
    is_plain = all(names.count(name) <= 1 for name in (*_ONCE, _FILE))
    return found if is_plain and {"--policy", "--socket"} <= {*names} else None


def _filed_options(agent: str, named: dict[str, str]) -> Options:
    """Return the options in the file: none where it is not there or not plain."""
    try:
        filed = read_plain(named.get(_FILE) or os.path.expanduser(_USER_FILE), agent)
    except (OSError, ValueError):
        return []
    return [*filed, *named.items()]


def _named_options(words: list[str]) -> Options | None:
    if not words or words[0].startswith("-"):
        return None
    found: Options = []
    rest = iter(words[1:])
    for word in rest:
        name, is_joined, value = word.partition("=")
        if name == _FLAG and not is_joined:
            found.append((name, ""))
        elif name in (*_ONCE, *_LISTED, _FILE):
            value = value if is_joined else next(rest, "-")
            if not is_joined and value.startswith("-"):
                return None
            found.append((name, value))
        else:
            return None
    return found


def request_of(agent: str, options: Options, policy: bytes, event: bytes) -> bytes:
    """Return the request: words that each end with a zero byte, an empty one, policy and event."""
    settings = [f"{name}={value}" for name, value in options if name != "--socket"]
    known = [f"agent={agent}", f"folder={os.getcwd()}", f"policy_bytes={len(policy)}"]
    known.append(f"code={code_identity()}")
    head = b"".join(os.fsencode(word) + b"\0" for word in (*known, *settings))
    body = head + b"\0" + policy + event
    lines = (
        f"POST {HOOKS_PATH} HTTP/1.1",
        "Host: critic",
        f"Content-Type: {MEDIA_TYPE}",
        f"Content-Length: {len(body)}",
        "Connection: close",
    )
    return "\r\n".join((*lines, "", "")).encode() + body


def answer_of(response: bytes) -> ServiceAnswer:
    """Return the exit status, standard output and standard error in a response.

    Raises:
        ValueError: it is not such a response, or not all of it.
    """
    head, _, body = response.partition(b"\r\n\r\n")
    first, *headers = head.lower().split(b"\r\n")
    kind = f"content-type: {MEDIA_TYPE}".encode()
    if not first.startswith(b"http/1.1 200 ") or kind not in headers:
        raise ValueError("not an answer to a hook")
    sizes, _, said = body.partition(b"\n")
    status, out, err = (int(size) for size in sizes.split(b" "))
    is_whole = sizes == b"%d %d %d" % (status, out, err) and len(said) == out + err
    if not is_whole or min(out, err) < 0 or status not in (0, _BLOCKED):
        raise ValueError("not an answer to a hook")
    return status, said[:out].decode("ascii"), said[out:].decode()


def _content(path: str) -> bytes:
    """Return the bytes of a policy. Of a pipe there is only one reader: it is left alone."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("not a regular file")
    with open(path, "rb") as file:
        return file.read(MOST_BYTES + 1)


def _connect_service(path: str) -> socket.socket:
    """Return a connection to the service of this user at a path.

    Raises:
        Exception: there is none, or others could have put it there or can use it.
    """
    found = os.lstat(path)
    if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & _OTHERS:
        raise ValueError("not a socket of this user alone")
    service = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        service.settimeout(_SECONDS)
        service.connect(path)
        _require_own(service)
    except BaseException:
        service.close()
        raise
    return service


def _require_own(service: socket.socket) -> None:
    """Check who listens, where the system tells: the file may be another one by now."""
    if not hasattr(socket, "SO_PEERCRED"):
        return
    told = service.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    if int.from_bytes(told[4:8], sys.byteorder) != os.geteuid():
        raise ValueError("another user listens")


def _ask_service(service: socket.socket, request: bytes) -> ServiceAnswer:
    ends = time.monotonic() + _SECONDS
    service.sendall(request)
    received = bytearray()
    while piece := service.recv(65536):
        received += piece
        service.settimeout(max(ends - time.monotonic(), 0.001))
    return answer_of(bytes(received))


def _print_answer(status: int, out: str, err: str) -> int:
    """Print an answer at once. One that cannot be printed blocks: the agent may not have it."""
    rest = out.encode()
    try:
        while rest:
            rest = rest[os.write(sys.stdout.fileno(), rest) :]
        sys.stderr.write(err)
        sys.stderr.flush()
    except (OSError, ValueError):
        return _BLOCKED
    return status
