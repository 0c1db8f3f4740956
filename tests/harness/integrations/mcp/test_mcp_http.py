"""The URL form of `critic mcp-proxy`: a real server, the real client, sockets on loopback."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import mcp_types
import pytest
from mcp import Client

from harness.log import SqlDecisionLog
from harness.record import DecisionRecord
from tests.harness.console import spawn
from tests.harness.integrations.mcp.mcp_shop import ERAS, YES, Json, shop_policy
from tests.harness.integrations.mcp.test_mcp_stdio import ENVIRONMENT, SERVER

eras = pytest.mark.parametrize("era", ERAS)
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
}


class Served(NamedTuple):
    """A proxy that runs in front of a server that runs."""

    url: str
    folder: Path
    process: "subprocess.Popen[str]"

    @property
    def ran(self) -> list[str]:
        noted = self.folder / "ran.txt"
        return noted.read_text().split() if noted.exists() else []


@contextmanager
def running(*command: str, **options: Any) -> "Iterator[subprocess.Popen[str]]":
    popen: Any = subprocess.Popen
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "text": True}
    with popen([sys.executable, *command], env=ENVIRONMENT, **pipes, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


def wait_for(port: int) -> None:
    for _ in range(600):
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError("the server does not listen")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder, port = tmp_path_factory.mktemp("http"), free_port()
    policy = folder / "critic.json"
    policy.write_text(json.dumps(shop_policy(max_questions=100).wire()))
    with ExitStack() as stack:
        server = (SERVER, str(folder / "ran.txt"), "Look an order up.", str(port))
        stack.enter_context(running(*server, stderr=subprocess.DEVNULL))
        wait_for(port)
        words = ("--policy", str(policy), "--port", "0", "--log", str(folder / "audit.db"))
        url = f"http://127.0.0.1:{port}/mcp"
        command = ("-W", "error", "-m", "harness.cli", "mcp-proxy", *words, url)
        proxy = stack.enter_context(running(*command, stderr=subprocess.PIPE))
        assert proxy.stdout is not None
        line = proxy.stdout.readline()
        assert line.startswith("serving on "), line
        yield Served(line.split()[-1], folder, proxy)


async def called(
    served: Served, era: str, answer: Json | None, calls: list[tuple[str, Json]]
) -> tuple[list[str], list[Any]]:
    """Return the tools that a client sees, and what its calls are answered."""

    async def elicit(_: Any, params: Any) -> mcp_types.ElicitResult:
        return mcp_types.ElicitResult(**(answer or {}))

    mode: Any = "legacy" if era == "legacy" else "auto"
    callback: Any = None if answer is None else elicit
    async with Client(served.url, mode=mode, elicitation_callback=callback) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        return names, [await client.call_tool(name, args) for name, args in calls]


@pytest.mark.one_in(3)
@eras
@pytest.mark.parametrize("answer", [YES, {"action": "decline"}, None], ids=str)
def test_the_real_client_sees_and_calls_what_the_policy_allows(
    era: str, answer: Json | None, served: Served
) -> None:
    before, order = len(served.ran), f"{era}-{answer}"
    refund = {"order_id": order, "cents": 5}
    calls: list[tuple[str, Json]] = [
        ("lookup", {"order_id": order}),
        ("issue_refund", refund),
        ("mystery", {}),
    ]
    names, results = asyncio.run(called(served, era, answer, calls))
    yes = answer == YES
    assert names == ["lookup", "issue_refund"]
    assert [result.is_error for result in results] == [False, not yes, True]
    assert results[0].structured_content == {"order": order, "status": "paid"}
    assert served.ran[before:] == ["lookup", "issue_refund"][: 1 + yes]


def post(served: Served, body: Any, **headers: str) -> httpx.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    with httpx.Client(trust_env=False, timeout=60) as client:
        return client.post(served.url, content=data, headers={**HEADERS, **headers})


@pytest.mark.parametrize(
    "data",
    [
        b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mystery"}}]',
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping"}',
        b"{",
        b"",
    ],
)
def test_a_body_that_is_not_one_message_is_an_error(data: bytes, served: Served) -> None:
    before = served.ran
    answer = post(served, data)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] in (-32700, -32600)
    assert served.ran == before


def test_methods_that_nothing_allows_are_refused_without_asking_the_server(served: Served) -> None:
    answer = post(served, {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {}})
    assert answer.json()["error"]["code"] == -32601


def test_headers_of_a_page_in_a_browser_are_refused(served: Served) -> None:
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert post(served, ping, origin="https://evil.example").status_code == 403
    assert post(served, ping, host="evil.example").status_code == 403
    assert post(served, ping, origin="null").status_code == 403


@pytest.mark.slow
def test_an_address_that_others_can_reach_is_not_served(tmp_path: Path) -> None:
    (tmp_path / "critic.json").write_text(json.dumps(shop_policy().wire()))
    words = ("--policy", tmp_path / "critic.json", "http://127.0.0.1:1/mcp")
    said = spawn("mcp-proxy", "--host", "0.0.0.0", *words)  # noqa: S104 - it is refused
    assert said.status == 2
    assert "others can reach this address" in said.err


@pytest.mark.slow
@eras
def test_a_server_that_is_not_there_is_an_error_to_the_client(era: str, tmp_path: Path) -> None:
    (tmp_path / "critic.json").write_text(json.dumps(shop_policy().wire()))
    gone = f"http://127.0.0.1:{free_port()}/mcp"
    words = ("mcp-proxy", "--policy", str(tmp_path / "critic.json"), "--port", "0", gone)
    with running("-m", "harness.cli", *words, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        served = Served(process.stdout.readline().split()[-1], tmp_path, process)
        call = {"name": "lookup", "arguments": {"order_id": "7"}}
        wire = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        answer = post(served, wire).json()
        assert "error" in answer or answer["result"]["isError"]


@pytest.mark.slow
def test_it_stops_in_order_and_all_that_was_ruled_is_on_record(served: Served) -> None:
    calls: list[tuple[str, Json]] = [("lookup", {"order_id": str(it)}) for it in range(3)]
    asyncio.run(called(served, "legacy", None, calls))
    served.process.send_signal(signal.SIGTERM)
    _, err = served.process.communicate(timeout=60)
    assert (served.process.returncode, err) == (0, "")
    with SqlDecisionLog.open(f"{served.folder}/audit.db") as log:
        plans = [
            record.inputs.plan for record in log.entries() if isinstance(record, DecisionRecord)
        ]
    assert len(plans) >= 3
