"""A jail of programs that write down how they are called: real shells run lines in it.

Each program is a stub, which records its folder and its words. Some then run the real program of
their name, so that files change as they would; the others end with a status that is a seed.

Rule 1: nothing that a line does gets out: the root is a folder of the test, and no program of the
        jail opens a connection.
Rule 2: a line is over once each process that it started is.
"""

import os
import re
import resource
import select
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

REAL: Final = (
    *("cp", "mv", "mkdir", "touch", "rm", "rmdir", "tee", "sed", "sort", "ln", "tar", "find"),
    *(
        "xargs",
        "env",
        "timeout",
        "time",
        "nice",
        "nohup",
        "chmod",
        "cat",
        "head",
        "tail",
        "wc",
        "uniq",
    ),
    *("tr", "cut", "stdbuf", "gzip", "truncate", "stat", "ls", "grep", "basename", "dirname"),
    *("realpath", "seq", "split", "csplit", "install", "dd", "unlink", "link", "paste", "nl"),
)
"""The programs whose real forms run. All others only say that they were called."""

_STUB: Final = """#!/real/dash
{
    printf '%s\\0' "$(pwd -P)" "${0##*/}"
    [ $# -eq 0 ] || printf '%s\\0' "$@"
    printf '\\001\\0'
} >> "/log/$$"
[ ! -x "/real/${0##*/}" ] || exec "/real/${0##*/}" "$@"
read -r seed < /seed
exit "$seed"
"""
_TREE: Final[Mapping[str, str]] = {
    "w/a.py": "print(1)\n",
    "w/b.py": "x\n",
    "w/a.txt": "one\ntwo\n",
    "w/README.md": "# r\n",
    "w/src/m.py": "y\n",
    "w/src/deep/k.py": "k\n",
    "w/docs/d.md": "d\n",
    "w/build/o.o": "o\n",
    "w/tests/test_x.py": "t\n",
    "w/.env": "K=v\n",
    "w/two words.txt": "w\n",
    "w/-n": "dash\n",
    "w/.hidden": "h\n",
    "home/u/.bashrc": "rc\n",
    "home/u/note": "n\n",
    "home/u/.ssh/id_rsa": "k\n",
    "home/u/docs/o.txt": "o\n",
    "tmp/t.txt": "t\n",
}
_LINK: Final = ("w/out", "/home/u/docs")
_CHANGED: Final = ("w", "home", "tmp")
_NOBODY: Final = 65534
_LONGEST_S: Final = 20

Called = list[str]
"""The folder in which a program was called, its name, and its arguments."""


class Jail:
    """A root folder with one shell, and stubs of programs."""

    def __init__(self, root: Path, shell: Path, name: str, programs: set[str]) -> None:
        """Fill an empty folder.

        Raises:
            OSError: this process may not change its root.
        """
        self.root: Final = root
        self._name: Final = name
        for folder in ("usr/bin", "real", "log", "dev", "shells", *_CHANGED):
            (root / folder).mkdir(parents=True, exist_ok=True)
        (root / "bin").symlink_to("usr/bin")
        os.chmod(root / "log", 0o777)  # noqa: S103, PTH101 - the stubs run as nobody
        for path in (root / "seed", root / "dev" / "null"):
            path.write_text("0\n" if path.name == "seed" else "")
            path.chmod(0o666)
        _copy_program(root, shell, root / "shells" / name)
        dash = shutil.which("dash")
        _copy_program(root, Path(dash or "/bin/dash"), root / "real" / "dash")
        for one in REAL:
            if (found := shutil.which(one)) is not None:
                _copy_program(root, Path(found), root / "real" / one)
        stub = root / "real" / ".stub"
        stub.write_text(_STUB)
        stub.chmod(0o755)
        for one in programs | {*REAL, *("sh", "bash", "dash", "zsh", "evil")}:
            if "/" not in one:
                os.link(stub, root / "usr" / "bin" / one)
        os.link(root / "real" / "dash", root / "real" / "sh")
        if name != "dash":
            os.link(root / "shells" / name, root / "real" / name)
        self._is_mapped: Final = _is_mapped()

    def plant(self) -> None:
        """Put the files back as they were."""
        for folder in _CHANGED:
            shutil.rmtree(self.root / folder, ignore_errors=True)
        for name, text in _TREE.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.root / _LINK[0]).symlink_to(_LINK[1])
        if self._is_mapped:
            for folder in _CHANGED:
                for base, _, names in os.walk(self.root / folder):
                    for one in (base, *(os.path.join(base, name) for name in names)):  # noqa: PTH118
                        os.chown(one, _NOBODY, _NOBODY, follow_symlinks=False)
        (self.root / "home").chmod(0o755)

    def files(self) -> dict[str, tuple[int, ...]]:
        """Return what tells whether a file or folder was changed, by path in the jail."""
        found: dict[str, tuple[int, ...]] = {}
        for folder in _CHANGED:
            for path in (self.root / folder).rglob("*"):
                with suppress(FileNotFoundError):
                    known = path.lstat()
                    is_folder = path.is_dir() and not path.is_symlink()
                    rest = () if is_folder else (known.st_size, known.st_mtime_ns)
                    key = f"/{path.relative_to(self.root)}"
                    found[key] = (known.st_mode, known.st_ino, *rest)
        return found

    def run(self, line: str, seed: int) -> list[Called]:
        """Run a line in the folder /w, and return the programs that were called."""
        shutil.rmtree(self.root / "log", ignore_errors=True)
        (self.root / "log").mkdir()
        (self.root / "log").chmod(0o777)
        (self.root / "seed").write_text(f"{seed}\n")
        options = {"zsh": ["-f"], "bash": ["--norc", "--noprofile"]}.get(self._name, [])
        ended, held = os.pipe()
        try:
            started = self._start([f"/shells/{self._name}", *options, "-c", line], held)
            os.close(held)
            # It is closed once no process of the line holds it.
            if not select.select([ended], [], [], _LONGEST_S)[0]:
                with suppress(ProcessLookupError):
                    os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        finally:
            os.close(ended)
        return [called for path in sorted((self.root / "log").iterdir()) for called in _read(path)]

    def _start(self, words: list[str], held: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            preexec_fn=_enter(self.root, is_mapped=self._is_mapped),  # noqa: PLW1509 - the layer has one thread
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"PATH": "/usr/bin", "HOME": "/home/u", "LC_ALL": "C"},
            pass_fds=(held,),
            start_new_session=True,
        )


def _read(path: Path) -> list[Called]:
    words = path.read_bytes().decode("utf-8", "surrogateescape").split("\0")[:-1]
    found, called = list[Called](), list[str]()
    for word in words:
        if word == "\x01":
            found.append(called)
            called = []
        else:
            called.append(word)
    return found


def _enter(root: Path, *, is_mapped: bool) -> Callable[[], None]:
    """Return what a process does before it runs a shell: it goes into the jail, as nobody."""

    def enter() -> None:
        os.chroot(root)
        os.chdir("/w")
        resource.setrlimit(resource.RLIMIT_CPU, (5, 5))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        if is_mapped:
            os.setgroups([])
            os.setgid(_NOBODY)
            os.setuid(_NOBODY)

    return enter


def _is_mapped() -> bool:
    """Return whether there are other users than root here: not in a namespace of one user."""
    _, _, count = Path("/proc/self/uid_map").read_text("ascii").split()[:3]
    return int(count) > _NOBODY


def _copy_program(root: Path, program: Path, to: Path) -> None:
    shutil.copy(program.resolve(), to)
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+\.so\S*)", told):
        place = root / library.lstrip("/")
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(library).resolve(), place)
