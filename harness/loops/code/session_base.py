"""The base of a session, kept on disk, so that a later run judges the same whole change.

One base is kept for each work tree: that of its newest session. It is kept in the user's data
folder, outside of the work tree: what the actor can write there is not what the session began with.

Rule 1: a base is complete or it does not count: its description is written last.
Rule 2: what is read back is checked: the description by its digest, which the first line of the
        session holds, and every object by the name it has. The first line is checked by its digest
        in the description, as the record may be where the actor can write.
"""

import hashlib
import json
import os
import shutil
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.git_guard import GitState
from harness.loops.code.session_files import data_folder
from harness.loops.code.session_lines import SessionStart
from harness.whole_files import replace_file

_DESCRIPTION: Final = "base.json"
_OBJECTS: Final = Path("git") / "objects"


class BaseLost(CodeLoopError):
    """The base of a session is not kept any more, or it was changed."""


@dataclass(frozen=True, slots=True)
class Base:
    """The state that a session began with.

    Attributes:
        tree: the id of the tree of all files.
        exclude: the ignore rules that are not in the tree.
        rules: the content of every .gitignore file, by path.
        links: the symbolic links, each with the paths in the tree that it leads to.
        git: the last commit, and the settings of the repository.
    """

    tree: str
    exclude: str
    rules: Mapping[bytes, bytes]
    links: tuple[tuple[bytes, tuple[bytes, ...]], ...]
    git: GitState

    def to_json(self, session: str, sessions: Path, record: str) -> bytes:
        """Return the base as JSON, with the session it belongs to and where its record begins."""
        value = {
            "record": record,
            "session": session,
            "sessions": str(sessions),
            "tree": self.tree,
            "exclude": self.exclude,
            "rules": {
                _encode_bytes(path): _encode_bytes(content) for path, content in self.rules.items()
            },
            "links": [
                [_encode_bytes(name), [*map(_encode_bytes, targets)]]
                for name, targets in self.links
            ],
            "commit": self.git.commit,
            "settings": {**self.git.contents},
        }
        return json.dumps(value, sort_keys=True).encode()


@dataclass(frozen=True, slots=True)
class KeptBase:
    """A base on disk, and the session that it belongs to.

    Attributes:
        session: the id of the session.
        sessions: the folder with the session's record.
        record: the digest of the first line of the record; see `first_line_digest`.
        base: the state that the session began with.
        digest: the SHA-256 of the description on disk.
        folder: where all of it is kept.
    """

    session: str
    sessions: Path
    record: str
    base: Base
    digest: str
    folder: Path

    @property
    def objects(self) -> Path:
        """Return the folder of the git objects."""
        return self.folder / _OBJECTS


def bases_folder(root: Path) -> Path:
    """Return the folder for the bases of the work tree with this top."""
    return data_folder() / "bases" / hashlib.sha256(os.fsencode(root)).hexdigest()[:32]


def base_folder(root: Path, session: str) -> Path:
    """Return the folder for the base of a session."""
    return bases_folder(root) / session


def first_line_digest(start: SessionStart) -> str:
    """Return the SHA-256 of the first line of a record, without its digest of the base."""
    fields = {name: value for name, value in start.wire().items() if name != "base_digest"}
    return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()


def keep_base(folder: Path, session: str, sessions: Path, record: str, base: Base) -> str:
    """Describe the base whose objects are in `folder`, and return the digest of the description.

    `record` is the digest of the first line of the record.

    Raises:
        OSError: it cannot be written.
    """
    data = base.to_json(session, sessions, record)
    replace_file(folder / _DESCRIPTION, data, private=True)
    return hashlib.sha256(data).hexdigest()


def drop_other_bases(folder: Path) -> None:
    """Remove the bases of earlier sessions of the work tree that the base in `folder` is of."""
    for other in folder.parent.iterdir():
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)


def drop_base(folder: Path) -> None:
    """Remove the base in `folder`, when nothing is left to review."""
    shutil.rmtree(folder, ignore_errors=True)


def newest_base(root: Path) -> KeptBase | None:
    """Return the base of the newest session of a work tree, if one is kept.

    Raises:
        BaseLost: the description cannot be read.
    """
    try:
        folders = sorted(bases_folder(root).iterdir(), reverse=True)
    except FileNotFoundError:
        return None
    for folder in folders:
        if (folder / _DESCRIPTION).exists():
            return _read(folder)
    return None


def _read(folder: Path) -> KeptBase:
    try:
        data = (folder / _DESCRIPTION).read_bytes()
        value: Any = json.loads(data)
        base = Base(
            tree=value["tree"],
            exclude=value["exclude"],
            rules={
                _decode_text(path): _decode_text(content)
                for path, content in value["rules"].items()
            },
            links=tuple(
                (_decode_text(name), tuple(map(_decode_text, to))) for name, to in value["links"]
            ),
            git=GitState(value["commit"], value["settings"]),
        )
        return KeptBase(
            session=value["session"],
            sessions=Path(value["sessions"]),
            record=value["record"],
            base=base,
            digest=hashlib.sha256(data).hexdigest(),
            folder=folder,
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        kind = type(error).__name__
        raise BaseLost(f"the base of session {folder.name} cannot be read ({kind})") from None


def _encode_bytes(data: bytes) -> str:
    return b64encode(data).decode()


def _decode_text(text: str) -> bytes:
    return b64decode(text, validate=True)
