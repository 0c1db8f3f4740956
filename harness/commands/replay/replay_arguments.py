"""The parser of `critic replay`."""

from harness.commands.arguments import (
    Commands,
    add_ci_format,
    add_command,
    add_jobs,
    add_known_head,
    add_no_open,
)


def add_replay(commands: Commands) -> None:
    """Add `critic replay`."""
    replay = add_command(commands, "replay")
    replay.add_argument("log", metavar="LOG")
    add_known_head(replay)
    add_ci_format(replay)
    add_no_open(replay)
    add_jobs(replay)
    replay.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="replay on the cluster of dask.distributed at tcp://HOST:PORT or tls://HOST:PORT",
    )
    replay.add_argument(
        "--since",
        metavar="SEQ:HASH|CHECKPOINT",
        help="trust the records up to this one, or up to this signed checkpoint, and replay only "
        "later ones",
    )
    replay.add_argument(
        "--resume",
        metavar="FILE",
        help="save the progress in FILE, and continue from there if FILE exists",
    )
