"""A TypeScript client that is generated from the OpenAPI document talks to a real service.

The generator, the client's runtime and the compiler are those of `.ci/typescript`, at pinned
versions: `npm ci --prefix .ci/typescript`.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.harness.serve.asking import ServiceProcess, serving
from tests.support.guarding import asking_desk
from tests.support.paths import ROOT

pytestmark = pytest.mark.slow

MODULES: Final = ROOT / ".ci" / "typescript" / "node_modules"
SOURCE: Final = Path(__file__).with_name("client.ts")
COMPILED: Final = "--strict --module nodenext --target es2022 --exactOptionalPropertyTypes"

NOT_AWAITED: Final = "no result of call c0 is awaited: it was not allowed, or has a result already"


def run(folder: Path, *command: str | Path) -> str:
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def generated(service: ServiceProcess, folder: Path) -> Path:
    """Return the compiled client, whose types are generated from what the service serves."""
    if not (MODULES / ".bin" / "openapi-typescript").exists():
        pytest.skip("no generator is installed: npm ci --prefix .ci/typescript")
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "node_modules").symlink_to(MODULES)
    shutil.copy(SOURCE, folder)
    with service.client() as client:
        (folder / "openapi.json").write_bytes(client.get("/openapi.json").content)
    run(folder, MODULES / ".bin" / "openapi-typescript", "openapi.json", "-o", "api.ts")
    # `--skipLibCheck` leaves out the declarations of the packages, not those of the service.
    options = [*COMPILED.split(), "--lib", "es2022,dom", "--skipLibCheck"]
    run(folder, MODULES / ".bin" / "tsc", *options, "client.ts")
    return folder / "client.js"


def test_a_generated_client_compiles_strictly_and_holds_a_session(tmp_path: Path) -> None:
    (tmp_path / "critic.json").write_text(json.dumps(asking_desk()))
    with serving("--policy", "critic.json", "--port", "0", folder=tmp_path) as service:
        printed = run(tmp_path, "node", generated(service, tmp_path), service.url)
    lines: list[list[Any]] = [json.loads(line) for line in printed.splitlines()]
    assert lines == [
        ["healthy", True],
        ["invalid", None, "/ctx", 1],
        ["error", "/id", NOT_AWAITED],
        ["list_mail", "allow"],
        ["transfer", "refuse"],  # to the account that the mail names
        ["transfer", "allow"],  # to the one of the request
        ["shred", "ask"],
        ["questions", 1],
        ["answered", "allow"],
        ["nothing", "refuse"],
        ["turn", 4, False],
        ["report", "completed"],
    ]
