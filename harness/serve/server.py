"""Run the service on a socket until it is told to stop. What it has begun, it answers.

Rule 1: nothing is printed but that it serves, and one line for each failure.
"""

import socket
from typing import Final

from harness.serve.app import CriticApp
from harness.serve.running import run_app
from harness.serve.service import ServiceSettings

_GRACE_S: Final = 5


def serve(settings: ServiceSettings, bound: socket.socket) -> int:
    """Serve until SIGTERM or SIGINT, and return the one that came, 0 for none.

    It then takes no more connections, answers what it has begun, and returns.
    """
    app = CriticApp(settings)
    # A body, its answer, and a little more: by then every request has ended by its own limits.
    grace = 2 * settings.limits.seconds + _GRACE_S
    try:
        return run_app(app, bound, int(grace))
    finally:
        app.close()
