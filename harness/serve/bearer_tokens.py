"""Bearer tokens from files: who may ask, and who may say yes.

Rule 1: a file that is missing, empty, malformed or readable by everybody is an error at the start.
        It is read once: a token is given or taken away by a restart.
Rule 2: a comparison takes as long for a wrong token as for a right one. No token is ever printed.
Rule 3: no token is of both kinds: whoever reports calls must not answer what a person is asked.
"""

import hashlib
import hmac
import os
import re
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from harness.errors import UsageError, escape_text

_TOKEN: Final = re.compile(rb"[A-Za-z0-9._~+/-]+=*")
_BEARER: Final = re.compile(rb"(?i:bearer) +(\S+) *")
_MOST_BYTES: Final = 1024 * 1024


class Asker(NamedTuple):
    """Who sent a request.

    Attributes:
        token: the digest of its token; None where none is asked for.
        is_agent: it may open sessions, and report what happens in them.
        is_approver: it may answer what a person is asked, and hand in what a person approved.
    """

    token: bytes | None = None
    is_agent: bool = True
    is_approver: bool = True


class BearerTokens:
    """The tokens of those who may ask, as digests: their length cannot be told from the time."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        """Take the tokens."""
        self._digests: Final = tuple(hashlib.sha256(token).digest() for token in tokens)

    def accept(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Return whether a request with these headers carries one of the tokens, once."""
        return self.find(headers) is not None

    def find(self, headers: Iterable[tuple[bytes, bytes]]) -> bytes | None:
        """Return the digest of the token that a request carries, if it is one of these."""
        given = [value for name, value in headers if name == b"authorization"]
        found = _BEARER.fullmatch(given[0]) if len(given) == 1 else None
        presented = hashlib.sha256(found[1] if found else b"").digest()
        matches = [hmac.compare_digest(presented, digest) for digest in self._digests]
        return presented if found is not None and any(matches) else None

    def shares(self, other: "BearerTokens") -> bool:
        """Return whether some token is among both."""
        return not set(self._digests).isdisjoint(other._digests)


class Askers:
    """Tells by its token who sent a request. Without approvers, one kind of token does all."""

    def __init__(self, agents: BearerTokens, approvers: BearerTokens | None) -> None:
        """Take the tokens of agents, and of those who approve.

        Raises:
            UsageError: a token is of both kinds.
        """
        if approvers is not None and agents.shares(approvers):
            raise UsageError(
                "a token is in --tokens and in --approvers: give those who approve their own"
            )
        self._agents, self._approvers = agents, approvers

    def find(self, headers: Sequence[tuple[bytes, bytes]]) -> Asker | None:
        """Return who sent a request with these headers; None for a token that nobody has."""
        agent = self._agents.find(headers)
        if self._approvers is None:
            return None if agent is None else Asker(agent)
        approver = self._approvers.find(headers)
        if approver is not None:
            return Asker(approver, is_agent=False)
        return None if agent is None else Asker(agent, is_approver=False)


def askers_of(agents: BearerTokens | None, approvers: BearerTokens | None) -> Askers | None:
    """Return who may ask; None where everybody may who can connect.

    Raises:
        UsageError: a token is of both kinds, or only those who approve have one.
    """
    if agents is not None:
        return Askers(agents, approvers)
    if approvers is not None:
        raise UsageError(
            "--approvers needs --tokens: without tokens, every client counts as an agent"
        )
    return None


def read_tokens(name: str) -> BearerTokens:
    """Read tokens from a file: one a line; blank lines and lines that begin with # are skipped.

    Raises:
        UsageError: it cannot be read, has no token, or others can read it.
    """
    shown = escape_text(name)
    try:
        with Path(name).open("rb") as stream:
            _check_private(shown, os.fstat(stream.fileno()))
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        reason = escape_text(error.strerror or type(error).__name__)
        raise UsageError(f"{shown}: cannot read the tokens: {reason}") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{shown}: over 1 MiB: this is not a file of tokens")
    return BearerTokens(_tokens_in(shown, data))


def _check_private(shown: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UsageError(f"{shown}: not a regular file: keep the tokens in a file")
    if os.name == "posix" and status.st_mode & (stat.S_IRWXO | stat.S_IWGRP):
        raise UsageError(f"{shown}: others can read or change the tokens: chmod 600 {shown}")


def _tokens_in(shown: str, data: bytes) -> list[bytes]:
    tokens = []
    for number, line in enumerate(data.splitlines(), start=1):
        token = line.strip()
        if not token or token.startswith(b"#"):
            continue
        if not _TOKEN.fullmatch(token):
            raise UsageError(
                f"{shown} line {number}: not a bearer token: letters, digits and -._~+/ only, with "
                "= at the end"
            )
        tokens.append(token)
    if not tokens:
        raise UsageError(f"{shown}: no token in it: write one a line")
    return tokens
