"""Small pieces of work to be counted, each in a process of its own: run by the gate, in valgrind.

Rule 1: what is counted lies between two calls of `getppid`, at each of which valgrind writes down
        what it has counted since the last.
Rule 2: inputs are made, and the work is done often enough to be warm, before the first of them.
Rule 3: each work begins in a copy of one process that has imported everything and done nothing.
"""

import gc
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tests.benchmarks.works import Batch, Work

COUNTED: Final = 3
"""How many of the batches are counted, the last ones: those before are for warming up."""


def count(work: "Work", folder: Path) -> int:
    """Do the work in a process of its own, and return the number of that process."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if status:
            raise RuntimeError(f"{work.name} failed")
        return child
    try:
        folder.mkdir()
        _run(work.make(folder))
    except BaseException as error:
        os.write(2, f"{work.name}: {error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def _run(batches: "list[Batch]") -> None:
    for batch in batches[:-COUNTED]:
        batch()
    gc.collect()
    gc.disable()
    os.getppid()
    for batch in batches[-COUNTED:]:
        batch()
    os.getppid()


def main() -> None:
    """Do every work, and print the numbers of their processes by name."""
    from tests.benchmarks.still import hold_still  # noqa: PLC0415 - before what draws by chance

    hold_still()
    from tests.benchmarks.works import WORKS  # noqa: PLC0415 - as above

    folder = Path(sys.argv[1])
    folder.mkdir()
    gc.collect()
    gc.freeze()
    numbers: dict[str, Any] = {
        work.name: count(work, folder / str(place)) for place, work in enumerate(WORKS)
    }
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
