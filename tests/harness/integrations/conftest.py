"""No framework reaches beyond this machine while it is tested."""

import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

import pytest

_OWN = {None, "", "localhost", b"localhost"}


def _is_own(host: Any) -> bool:
    try:
        return host in _OWN or ip_address(host).is_loopback
    except ValueError:
        return False


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse to look up and to connect to other machines; fail for a try, also if it is caught."""
    tried: list[Any] = []
    known, connect = socket.getaddrinfo, socket.socket.connect

    def looked_up(host: Any, *more: Any, **options: Any) -> Any:
        _require(host)
        return known(host, *more, **options)

    def connected(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            _require(address[0])
        connect(self, address)

    def _require(host: Any) -> None:
        if not _is_own(host):
            tried.append(host)
            raise OSError(f"a test may not reach {host!a}")

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    monkeypatch.setattr(socket.socket, "connect", connected)
    yield
    assert not tried, f"a framework reaches for other machines: {tried}"
