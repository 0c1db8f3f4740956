"""A headless Chromium, driven over two pipes in its own protocol: no library, no port."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

_NEEDED: Final = "no Chromium on the path: apt-get install -y chromium"
_LIMIT_S: Final = 60


def chromium() -> str:
    """Return the browser. Without one, the test is skipped; in CI it fails."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if found is not None:
        return found
    if os.environ.get("CI"):
        pytest.fail(_NEEDED)
    pytest.skip(_NEEDED)


class Tab:
    """One page in the browser. `events` are all that the browser told of it."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing, self._ids = reading, writing, itertools.count(1)
        self._unread = b""
        self._session: dict[str, str] = {}
        self.events: list[Any] = []
        (target,) = [
            one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page"
        ]
        given = {"targetId": target["targetId"], "flatten": True}
        self._session = {"sessionId": self.ask("Target.attachToTarget", **given)["sessionId"]}
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility", "Audits"):
            self.ask(f"{domain}.enable")

    def ask(self, method: str, **params: Any) -> Any:
        """Send a command, and return its result."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": params, **self._session}
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while True:
            told = self._next()
            if told.get("id") == number:
                assert "error" not in told, f"{method}: {told['error']}"
                return told["result"]
            self.events.append(told)

    def _next(self) -> Any:
        while b"\0" not in self._unread:
            piece = os.read(self._reading, 1 << 20)
            assert piece, "the browser ended"
            self._unread += piece
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def open(self, address: str) -> None:
        """Open an address, and wait until all of it is there."""
        self.ask("Page.navigate", url=address)
        here = f"location.href.startsWith({json.dumps(address.partition('#')[0])})"
        self.until(f"document.readyState === 'complete' && {here}")

    def js(self, code: str) -> Any:
        """Return the value of an expression on the page."""
        told = self.ask("Runtime.evaluate", expression=code, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def until(self, code: str) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + _LIMIT_S
        while not self.js(code):
            assert time.monotonic() < end, f"never true: {code}"
            time.sleep(0.02)

    def key(self, name: str, code: int) -> None:
        """Press a key."""
        given = {"key": name, "code": name, "windowsVirtualKeyCode": code}
        text = {"text": "\r"} if name == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **given, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **given)

    def write(self, text: str) -> None:
        """Write a text where the focus is."""
        self.ask("Input.insertText", text=text)

    def focused(self) -> str:
        """Return the id of the element with the focus."""
        return str(self.js("document.activeElement.id"))

    def pdf(self) -> bytes:
        """Return the page as it prints."""
        return base64.b64decode(self.ask("Page.printToPDF")["data"])

    def complaints(self) -> list[Any]:
        """Return what the browser complains of, and what the page asked any network for."""
        self.js("0")
        methods = {"Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"}
        methods |= {"Page.javascriptDialogOpening", "Audits.issueAdded"}
        said = [one["params"] for one in self.events if one["method"] in methods]
        # Not of the page: a test that goes on without a click leaves an entry that Back skips.
        said = [one for one in said if "NavigationEntryMarkedSkippable" not in json.dumps(one)]
        asked = [one for one in self.events if one["method"] == "Network.requestWillBeSent"]
        addresses = [one["params"]["request"]["url"] for one in asked]
        return said + [one for one in addresses if not one.startswith(("file:", "data:"))]


@contextmanager
def browsing(folder: Path) -> Iterator[Tab]:
    """Start a browser with a profile of its own below `folder`, and end it."""
    to_browser, from_us = os.pipe()
    from_browser, to_us = os.pipe()
    command = [
        *(chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe"),
        *("--no-first-run", "--disable-background-networking", "--disable-component-update"),
        *("--window-size=1200,1000", f"--user-data-dir={folder / 'profile'}", "about:blank"),
    ]
    wrapped = ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{to_us}', "browser", *command]
    process = subprocess.Popen(
        wrapped,
        pass_fds=(to_browser, to_us),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser)
    os.close(to_us)
    try:
        yield Tab(from_browser, from_us)
    finally:
        os.close(from_us)
        os.close(from_browser)
        process.terminate()
        process.wait(_LIMIT_S)
