"""Render what was collected as one file of HTML.

Rule 1: the page loads nothing, and its policy forbids what it does not hold: the hashes of its one
        style sheet and its one script are all that may apply.
Rule 2: the template escapes every text, and data for the script is JSON that cannot end its
        element. The script sets text, never HTML.
Rule 3: the same log gives the same bytes.
"""

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any, Final

from harness.audit.report import chart
from harness.audit.report.collecting import Collected
from harness.audit.report.page_words import CHECK_WORDS, EXPLAINED, OUTCOME_WORDS, REFUSAL_WORDS
from harness.audit.report.visible_text import data_text, visible
from harness.errors import UsageError

_MOST_SAID: Final = 20
_MOST_QUESTIONS: Final = 200


def rendered(found: Collected, name: str) -> Iterator[str]:
    """Yield the pieces of the page. `name` is what the page calls the log.

    Raises:
        UsageError: the library that renders it is not installed.
    """
    try:
        import jinja2  # noqa: PLC0415 - an extra of its own
        from markupsafe import Markup  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "the page needs one more library: pip install 'plan-critic[report]'"
        ) from None
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    # Ours, or JSON without any character of markup: the only texts that are not escaped.
    own = {part: _file(f"page.{part}") for part in ("css", "js")} | _data(found)
    safe = {part: Markup(text) for part, text in own.items()}  # noqa: S704
    blocks = ((id_, Markup(text)) for id_, text in found.details.blocks())  # noqa: S704
    template = environment.from_string(_file("page.html"))
    return template.generate(**_facts(found, name), **safe, blocks=blocks, policy=_policy())


def _file(name: str) -> str:
    return (files("harness.audit.report") / "files" / name).read_text(encoding="utf-8")


def _policy() -> str:
    style, script = (_hash_source(_file(f"page.{part}")) for part in ("css", "js"))
    return (
        f"default-src 'none'; style-src {style}; script-src {script}; img-src data:; "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _hash_source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _data(found: Collected) -> dict[str, str]:
    """Return the JSON that the list needs. The script runs on it before the details are read."""
    kept = found.details.numbers()
    rows = [row | {"more": 1} if row["seq"] in kept else row for row in found.rows]
    words = {"is": OUTCOME_WORDS, "why": REFUSAL_WORDS, "more": EXPLAINED}
    legend = {name: dict(said) for name, said in words.items()}
    return {"legend": data_text(legend), "rows": data_text(rows)}


def _facts(found: Collected, name: str) -> dict[str, Any]:
    tallies, answers, kinds = found.tallies, found.answers, found.tallies.kinds
    said = [gap.text() for gap in found.gaps]
    said += [f"the log is damaged: {visible(one)}" for one in found.problems]
    said += [
        f"record {seq}: {one.status}: {visible('; '.join(one.reasons))}"
        for seq, one in found.checked.items()
    ]
    return {
        "name": visible(name),
        "found": found,
        "unsound": _unsound(found),
        "answers": [f"{answers[one]:,} {CHECK_WORDS[one]}" for one in CHECK_WORDS if answers[one]],
        "tallies": tallies,
        "checked": answers.total(),
        "said": said[:_MOST_SAID],
        "unsaid": max(len(said) - _MOST_SAID, 0),
        "outcomes": [(one, OUTCOME_WORDS[one], tallies.outcomes[one]) for one in OUTCOME_WORDS],
        "kinds": [(one, REFUSAL_WORDS[one], kinds[one]) for one in REFUSAL_WORDS if kinds[one]],
        "chart": chart.chart_of(tallies.refusals, tallies.decided),
        "size": (chart.WIDTH, chart.HEIGHT),
        "words": REFUSAL_WORDS,
        "budgets": [one for one in tallies.budgets.values() if one.measured],
        "questions": found.questions.asked[-_MOST_QUESTIONS:],
        "period": _period(found),
    }


def _unsound(found: Collected) -> str:
    """Return the heading of a log that is not sound.

    Of records with redacted values it does not say that they hold: the rest may be unproved.
    """
    if found.gaps or found.problems or found.answers.keys() - {"same", "open", "redacted"}:
        return "The log is not as it should be"
    if found.answers["redacted"]:
        return "Values were taken out of records"
    return "The records hold together, but executions have no end on record"


def _period(found: Collected) -> tuple[str, str] | None:
    times = sorted(row["at"] for row in found.rows if "at" in row)
    return (times[0], times[-1]) if times else None
