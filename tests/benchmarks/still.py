"""Take chance out of a process, so that the same work takes the same number of instructions.

Rule 1: the hash seed of Python is fixed by whoever starts the process.
Rule 2: libraries in Rust seed their hash tables from `getrandom`. It is made to answer always the
        same, in the memory of this process alone and before those libraries are loaded.
"""

import ctypes
import mmap
import platform
from typing import Final

_READ_WRITE_EXECUTE: Final = 7

# getrandom(buffer, length, flags): fill the buffer with one byte, return its length.
_CODE: Final = {"x86_64": "4889f1b05af3aa4889f0c3"}


def is_known(machine: str) -> bool:
    """Return whether chance can be taken out on this kind of machine."""
    return machine in _CODE


def hold_still() -> None:
    """Make `getrandom` of the C library a constant. Never in a process that needs a secret.

    Raises:
        OSError: this system does not allow it, or the kind of machine is not known.
    """
    machine = platform.machine()
    if not is_known(machine):
        raise OSError(f"no code for {machine}")
    code = bytes.fromhex(_CODE[machine])
    library = ctypes.CDLL(None, use_errno=True)
    place = ctypes.cast(library.getrandom, ctypes.c_void_p).value or 0
    page = place - place % mmap.PAGESIZE
    length = ctypes.c_size_t(2 * mmap.PAGESIZE)
    if library.mprotect(ctypes.c_void_p(page), length, _READ_WRITE_EXECUTE):
        raise OSError(ctypes.get_errno(), "getrandom cannot be replaced")
    ctypes.memmove(place, code, len(code))
