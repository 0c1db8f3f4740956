"""The output of an agent: the reply in it, the usage it reports, and its last words."""

from dataclasses import dataclass
from typing import Any, Final

from evals.escaping import escape_line
from evals.json_value import SAFE_INTEGER
from harness.loops.code.session_lines import AgentRun
from harness.wire import InvalidInput, parse_json

# Enough to see "not logged in: run ...", and not a screen full of a stack trace.
_LAST_LINES: Final = 3
_LAST_CHARACTERS: Final = 300
_TOKEN_FIELDS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


@dataclass(frozen=True, slots=True)
class AgentReply:
    """The text of a reply. Usage is None if the agent did not report it."""

    text: str
    tokens: int | None = None
    cost_micros: int | None = None


def read_reply(stdout: str) -> AgentReply:
    """Return the reply in what an agent printed.

    An agent may print its reply as one JSON object of type `result`, as `claude -p --output-format
    json` does: `result` is then the text, and `usage` and `total_cost_usd` are what it used. Any
    other output is the text of the reply itself.
    """
    envelope = _result_object(stdout)
    if envelope is None:
        return AgentReply(stdout)
    return AgentReply(
        text=envelope["result"],
        tokens=_count_tokens(envelope.get("usage")),
        cost_micros=_micros(envelope.get("total_cost_usd")),
    )


def _result_object(stdout: str) -> dict[str, Any] | None:
    if not stdout.lstrip().startswith("{"):
        return None
    try:
        value = parse_json(stdout.strip().encode("utf-8", "replace"))
    except InvalidInput:
        return None
    if not isinstance(value, dict) or value.get("type") != "result" or value.get("is_error"):
        return None
    return value if isinstance(value.get("result"), str) else None


def _count_tokens(usage: object) -> int | None:
    if not isinstance(usage, dict):
        return None
    counts = [usage[name] for name in _TOKEN_FIELDS if name in usage]
    if not counts or any(type(count) is not int or count < 0 for count in counts):
        return None
    total: int = sum(counts)
    return min(total, SAFE_INTEGER)


def _micros(dollars: object) -> int | None:
    if not isinstance(dollars, int | float) or isinstance(dollars, bool) or dollars < 0:
        return None
    return min(round(min(float(dollars), SAFE_INTEGER) * 1_000_000), SAFE_INTEGER)


def how_it_ended(run: AgentRun) -> str:
    """Return how a run ended, as the end of a sentence that begins with the agent's name."""
    if run.not_started:
        return "could not be started"
    if run.interrupted:
        return "was interrupted"
    if run.timed_out:
        return "ran out of time and was stopped"
    if run.exit_code < 0:
        return f"was killed by signal {-run.exit_code}"
    return f"exited with {run.exit_code}"


def failure_text(run: AgentRun) -> str:
    """Return how a run ended and, unless it exited with 0, its last words. One safe line."""
    words = last_words(run) if run.exit_code != 0 else ""
    return how_it_ended(run) + (f": {words}" if words else "")


def last_words(run: AgentRun) -> str:
    """Return the last lines of stderr, or of stdout if stderr is blank, as one safe line."""
    text = run.stderr if run.stderr.strip() else read_reply(run.stdout).text
    lines = [line.strip() for line in text[-10 * _LAST_CHARACTERS :].splitlines() if line.strip()]
    joined = " | ".join(lines[-_LAST_LINES:])
    shown = joined if len(joined) <= _LAST_CHARACTERS else f"...{joined[-_LAST_CHARACTERS:]}"
    return escape_line(shown)
