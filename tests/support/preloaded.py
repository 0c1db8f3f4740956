"""Python code in a process of its own, at the price of a fork of a small process.

A test that starts Python and imports the engine waits for a quarter of a second, and one that forks
itself copies the page tables of all that the tests have loaded. So a process that has imported what
the code needs, and nothing else, forks for each piece of code.
"""

import atexit
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.paths import ROOT

_SERVER: Final = """
import importlib, json, os, sys, traceback
for name in sys.argv[2:]:
    importlib.import_module(name)
streams = [os.path.join(sys.argv[1], str(number)) for number in range(3)]

def run(code, args):
    for number, path in enumerate(streams):
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC if number else os.O_RDONLY
        os.dup2(os.open(path, flags, 0o600), number)
    sys.argv = ["-c", *args]
    status = 0
    try:
        exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
    except BaseException:
        traceback.print_exc()
        status = 1
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)

while line := sys.stdin.buffer.readline():
    code, args = json.loads(line)
    if not (child := os.fork()):
        run(code, args)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    sys.stdout.buffer.write(b"%d\\n" % status)
    sys.stdout.buffer.flush()
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@cache
def preloaded(*modules: str) -> Run:
    """Return a function that runs code in a process that has imported these modules.

    It takes the code, its arguments, and as `text` what it reads from its input.
    """
    folder = TemporaryDirectory(prefix="critic-preloaded-")
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, folder.name, *modules],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    asked, answers = server.stdin, server.stdout

    def end() -> None:
        asked.close()
        answers.close()
        server.wait()
        folder.cleanup()

    def run(code: str, *args: str, text: str = "") -> subprocess.CompletedProcess[str]:
        given, out, err = (Path(folder.name, str(number)) for number in range(3))
        given.write_text(text, encoding="utf-8")
        asked.write(json.dumps([code, args]).encode() + b"\n")
        asked.flush()
        status = int(answers.readline())
        return subprocess.CompletedProcess(args, status, *map(_read, (out, err)))

    atexit.register(end)
    return run


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")
