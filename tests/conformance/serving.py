"""The protocol from the side of a program, for those that are written in Python."""

import base64
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from harness.cases import Command
from harness.wire import InvalidInput
from tests.conformance.kit import COMMANDS

Json = dict[str, Any]
Answer = Callable[[Command, bytes], Json]


def serve(answer: Answer, arguments: Sequence[str]) -> int:
    """Answer every line of standard input; `arguments` are COMMAND and maybe `--base64`."""
    command = next((name for name in COMMANDS if name in arguments), None)
    if command is None:
        sys.stderr.write(f"name a command of {', '.join(COMMANDS)}\n")
        return 2
    for line in sys.stdin.buffer:
        sent = line.removesuffix(b"\n")
        document = base64.b64decode(sent, validate=True) if "--base64" in arguments else sent
        sys.stdout.write(json.dumps(_said(answer, command, document)) + "\n")
        sys.stdout.flush()
    return 0


def _said(answer: Answer, command: Command, document: bytes) -> Json:
    try:
        return answer(command, document)
    except InvalidInput as error:
        return {"error": {"path": error.path, "message": error.message}}
