"""Opens a session: a new one over reviewed files, or an unfinished one with the base it began with.

Rule 1: a change that no session approved is not made the base of a new session, unless a person
        says so; then the first line of the new session says whose changes were accepted.
        The work tree may have another top than before: an actor can remove or add a repository.
Rule 2: a resumed session has the task, the agents, the gate and the base that it began with.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from evals.escaping import escape_line
from harness.clock import SystemClock
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.code_events import IgnoreEvents, ProgressEmitter, ProgressListener
from harness.loops.code.code_loop import CodeLoop
from harness.loops.code.git import GitFailed, clean_env, git
from harness.loops.code.session_base import (
    BaseLost,
    KeptBase,
    base_folder,
    bases_folder,
    drop_base,
    drop_other_bases,
    first_line_digest,
    keep_base,
    newest_base,
)
from harness.loops.code.session_files import (
    RecordedSession,
    SessionWriter,
    data_folder,
    load,
    new_id,
    session_file,
    sessions_folder,
)
from harness.loops.code.session_lines import SessionResumed, SessionStart
from harness.loops.code.session_lock import WorkTreeInUse, work_tree_lock
from harness.loops.code.session_recorder import CodeLoopJob, SessionRecorder, judged_iterations
from harness.loops.code.workspace import Workspace, top_of
from harness.runtime.ports import Clock

_IGNORE_EVENTS = IgnoreEvents()
_SYSTEM_CLOCK = SystemClock()


class UnreviewedChanges(CodeLoopError):
    """The work tree contains unreviewed changes of an unfinished session."""


@contextmanager
def open_session(
    job: CodeLoopJob,
    *,
    sessions: Path | None = None,
    listener: ProgressListener = _IGNORE_EVENTS,
    clock: Clock = _SYSTEM_CLOCK,
    accept_unreviewed: bool = False,
) -> Iterator[CodeLoop]:
    """Open a new session; run it with `await loop.run()` before the context ends.

    `sessions` is the folder of the record (default: `sessions_folder()`). `accept_unreviewed` makes
    the files as they are the base, even if they contain changes that no session approved.

    Raises:
        UnreviewedChanges: what an earlier session changed without success is still there.
        CodeLoopError: the folder is not in a git work tree.
        OSError: the record cannot be written.
    """
    folder = sessions_folder() if sessions is None else sessions
    root = top_of(job.folder)
    with work_tree_lock(root, data_folder() / "locks"):
        acceptance = _acceptance(job.folder) if accept_unreviewed else _require_reviewed(job.folder)
        session = new_id(clock.now())
        with (
            _base_of(root, folder, session) as keep,
            _workspace(job, (session_file(folder, session), keep), keep=keep) as workspace,
            SessionWriter(folder, session) as writer,
        ):
            named = {"session": session, "time": clock.now()}
            first_line = _first_line(job, workspace, **named, **acceptance)
            record = first_line_digest(first_line)
            digest = keep_base(keep, session, folder, record, workspace.start())
            first_line = first_line.model_copy(update={"base_digest": digest})
            recorder = SessionRecorder(first_line, session, writer, clock)
            yield CodeLoop(job, workspace, recorder, ProgressEmitter(listener, clock))
        if accept_unreviewed and session_file(folder, session).exists():
            _drop_bases_of_others(job.folder, root)


@contextmanager
def resume_session(
    session: str,
    *,
    sessions: Path | None = None,
    listener: ProgressListener = _IGNORE_EVENTS,
    clock: Clock = _SYSTEM_CLOCK,
    max_iterations: int | None = None,
) -> Iterator[CodeLoop]:
    """Open a session again that did not end in success; run it with `await loop.run()`.

    `max_iterations` is a new limit for all reviewed iterations of the session together.

    Raises:
        CodeLoopError: the session is running, succeeded or used up its iterations, or its base
            cannot be restored.
        OSError: the record cannot be read or written.
    """
    folder = sessions_folder() if sessions is None else sessions
    root = load(folder, session).start.root or ""
    with (
        work_tree_lock(Path(root), data_folder() / "locks"),
        SessionWriter(folder, session, resume=True) as writer,
    ):
        recorded = load(folder, session)
        kept = _kept_base(recorded)
        job = _recorded_job(recorded, max_iterations)
        with _restore_workspace(job, folder, kept, root) as workspace:
            first_line = SessionResumed(time=clock.now(), max_iterations=job.max_iterations)
            past = recorded.iterations
            recorder = SessionRecorder(first_line, session, writer, clock, past)
            yield CodeLoop(job, workspace, recorder, ProgressEmitter(listener, clock))
        _settle(folder, session, kept.folder)


# --- a new session --------------------------------------------------------------------------------


@contextmanager
def _base_of(root: Path, folder: Path, session: str) -> Iterator[Path]:
    """Make the folder for the base of a session; drop the bases that are not needed at its end."""
    keep = base_folder(root, session)
    keep.mkdir(parents=True, mode=0o700)
    try:
        yield keep
    finally:
        _settle(folder, session, keep)


def _workspace(
    job: CodeLoopJob,
    unseen: tuple[Path, ...],
    *,
    keep: Path | None = None,
    kept: KeptBase | None = None,
) -> Workspace:
    guarded = not job.allow_agent_settings
    return Workspace(
        job.folder, unseen, job.gate.protected, guard_git_settings=guarded, keep=keep, kept=kept
    )


def _first_line(job: CodeLoopJob, workspace: Workspace, **fields: Any) -> SessionStart:
    optional = {"commit": _commit(workspace.root), "time_limit": job.time_limit, **fields}
    return SessionStart(
        task=job.task,
        folder=_path_text(job.folder),
        root=_path_text(workspace.root),
        actor=job.actor,
        critic=job.critic,
        max_iterations=job.max_iterations,
        gate=job.gate,
        timeout=job.timeout,
        retries=job.retries,
        allow_agent_settings=job.allow_agent_settings,
        base_tree=workspace.base,
        **{name: value for name, value in optional.items() if value is not None},
    )


def _commit(root: Path) -> str | None:
    """Return the commit that is checked out; None in a repository without one."""
    last = ("rev-parse", "-q", "--verify", "HEAD^{commit}")
    return os.fsdecode(git(*last, cwd=root, env=clean_env(), ok=128)).strip() or None


def _acceptance(folder: Path) -> dict[str, Any]:
    """Return what the first line says of changes that a person accepts unreviewed."""
    unfinished = None
    for top in _possible_tops(folder):
        with suppress(BaseLost):
            kept = newest_base(top)
            if unfinished is None and kept is not None and not _is_success(top, kept):
                unfinished = kept.session
    return {"accepted_unreviewed": True, "accepted_session": unfinished}


def _require_reviewed(folder: Path) -> dict[str, Any]:
    """Return nothing for the first line, unless an earlier session left unreviewed changes."""
    accept = "look at the changes yourself and then add --accept-unreviewed to this command"
    for top in _possible_tops(folder):
        try:
            kept = newest_base(top)
        except BaseLost as error:
            raise UnreviewedChanges(f"{error}: {accept}") from None
        if kept is None or _is_success(top, kept) or _is_unchanged(top, kept):
            continue
        raise UnreviewedChanges(
            f"session {kept.session} is unfinished and its changes are not reviewed: go on with "
            f"`critic loop --resume {kept.session}`, or {accept}"
        )
    return {}


def _possible_tops(folder: Path) -> tuple[Path, ...]:
    """Return every folder that was the top of a work tree with `folder` in it, if one was."""
    place = folder.resolve()
    return (place, *place.parents)


def _is_success(root: Path, kept: KeptBase) -> bool:
    if kept.sessions.resolve().is_relative_to(root):
        return False  # an actor could have written the end, and a success drops its base itself
    try:
        return load(kept.sessions, kept.session).state == "success"
    except CodeLoopError:
        return False  # a record that cannot be read shows no review


def _is_unchanged(root: Path, kept: KeptBase) -> bool:
    unseen = (session_file(kept.sessions, kept.session), kept.folder)
    try:
        with Workspace(root, unseen=unseen, kept=kept) as workspace:
            same = workspace.root == root and workspace.tree() == kept.base.tree
            return same and not workspace.git_changes()
    except CodeLoopError:
        return False


def _settle(folder: Path, session: str, keep: Path) -> None:
    """Drop the bases that are not needed: after a success all, else those of earlier sessions."""
    if not session_file(folder, session).exists():  # it never began
        drop_base(keep)
        return
    drop_other_bases(keep)
    with suppress(CodeLoopError):
        if load(folder, session).state == "success":
            drop_base(keep)


def _drop_bases_of_others(folder: Path, root: Path) -> None:
    """Drop accepted bases of work trees with another top than `root`, unless a session is there."""
    for top in _possible_tops(folder):
        if top != root and bases_folder(top).exists():
            with suppress(WorkTreeInUse), work_tree_lock(top, data_folder() / "locks"):
                drop_base(bases_folder(top))


# --- a resumed session ----------------------------------------------------------------------------


def _kept_base(recorded: RecordedSession) -> KeptBase:
    """Return the base of a session, checked against the first line of its record."""
    start = recorded.start
    if recorded.state == "success":
        raise CodeLoopError(f"session {start.session} ended in success: start a new one")
    kept = None if start.root is None else newest_base(Path(start.root))
    if kept is None or kept.session != start.session:
        raise BaseLost(
            f"the base of session {start.session} is not kept any more: review the changes "
            "yourself, and start a new session with --accept-unreviewed"
        )
    if (kept.digest, kept.base.tree) != (start.base_digest, start.base_tree):
        raise BaseLost(f"the base of session {start.session} is not the one on record")
    if kept.record != first_line_digest(start):
        raise BaseLost(
            f"the record of session {start.session} was changed: review the changes yourself, and "
            "start a new session with --accept-unreviewed"
        )
    return kept


def _recorded_job(recorded: RecordedSession, max_iterations: int | None) -> CodeLoopJob:
    start = recorded.start
    limit = recorded.max_iterations if max_iterations is None else max_iterations
    judged = judged_iterations(recorded.iterations)
    if limit <= judged:
        raise CodeLoopError(
            f"session {start.session} used up its limit of iterations ({judged} of {limit}): "
            f"allow more, for example with --max-iterations {judged + 1}"
        )
    if start.timeout is None or start.retries is None:
        raise CodeLoopError(f"session {start.session} was recorded without its settings")
    return CodeLoopJob(
        task=start.task,
        folder=Path(start.folder),
        actor=start.actor,
        critic=start.critic,
        max_iterations=limit,
        timeout=start.timeout,
        gate=start.gate,
        retries=start.retries,
        allow_agent_settings=start.allow_agent_settings,
        time_limit=start.time_limit,
    )


@contextmanager
def _restore_workspace(
    job: CodeLoopJob, folder: Path, kept: KeptBase, root: str
) -> Iterator[Workspace]:
    unseen = (session_file(folder, kept.session), kept.folder)
    try:
        workspace = _workspace(job, unseen, kept=kept)
    except GitFailed as error:
        reason = escape_line(str(error))
        raise BaseLost(f"the base of session {kept.session} cannot be restored: {reason}") from None
    with workspace:
        if _path_text(workspace.root) != root:
            raise BaseLost(f"the work tree of session {kept.session} is not at {root} any more")
        yield workspace


def _path_text(path: Path) -> str:
    return str(path).encode("utf-8", "backslashreplace").decode()
