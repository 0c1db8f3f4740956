"""The parser of `critic serve`."""

import argparse

from harness.commands.arguments import Commands, add_command, parse_port, positive_number


def add_serve(commands: Commands) -> None:
    """Add `critic serve`."""
    exits = "Exit status: 0 stopped by SIGTERM; 2 cannot start; 130 interrupted."
    serve = add_command(commands, "serve", exits)
    serve.add_argument(
        "--policy",
        metavar="FILE",
        help="the policy of the sessions, and of documents that leave it out; - is standard input",
    )
    serve.add_argument("--log", help="decision log to append each decision to, made if missing")
    where = serve.add_mutually_exclusive_group()
    where.add_argument(
        "--host",
        default="127.0.0.1",
        help="the address to serve on (default: %(default)s); others than loopback need --tokens",
    )
    where.add_argument(
        "--socket",
        metavar="PATH",
        help="serve on a Unix socket, for this user only, and not on TCP",
    )
    serve.add_argument(
        "--port", type=parse_port, default=8470, help="(default: %(default)s); 0 is any free one"
    )
    _add_tokens(serve)
    serve.add_argument(
        "--public-url",
        type=_url,
        metavar="URL",
        help="what metadata calls the service, such as https://critic.example.org behind a proxy",
    )
    _add_limits(serve)
    serve.add_argument(
        "--end-idle",
        type=positive_number,
        metavar="S",
        help="end after S seconds without a request, or once the socket is gone (with --socket)",
    )


def _add_tokens(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--tokens",
        metavar="FILE",
        help="ask for one of the bearer tokens in FILE, one a line, which others cannot read",
    )
    serve.add_argument(
        "--approvers",
        metavar="FILE",
        help="take answers to questions only with one of the bearer tokens in FILE, and nothing "
        "else of a session; without it, from all that --tokens lets in",
    )


def _add_limits(serve: argparse.ArgumentParser) -> None:
    serve.add_argument(
        "--max-bytes",
        type=positive_number,
        metavar="N",
        help="refuse bodies of more bytes (default: 33554432, 32 MiB)",
    )
    serve.add_argument(
        "--timeout",
        type=positive_number,
        default=30,
        metavar="S",
        help="seconds for a body to arrive, and then for its answer (default: %(default)s)",
    )
    serve.add_argument(
        "--max-sessions",
        type=positive_number,
        default=10_000,
        metavar="N",
        help="the most sessions that are open at once (default: %(default)s)",
    )

    serve.add_argument(
        "--max-idle",
        type=positive_number,
        default=86_400,
        metavar="S",
        help="seconds after which a session without an event ends; with a log, it is let go of, "
        "and its next event goes on with it (default: %(default)s, a day)",
    )
    serve.add_argument(
        "--max-skew",
        type=positive_number,
        default=300,
        metavar="S",
        help="seconds that the as_of of an event may be from the clock (default: %(default)s)",
    )


def _url(text: str) -> str:
    """Return a base URL without the slash at its end."""
    scheme, _, rest = text.partition("://")
    if scheme not in ("http", "https") or not rest or not text.isascii() or set(text) & set(" ?#"):
        raise argparse.ArgumentTypeError("must be like https://critic.example")
    return text.rstrip("/")
