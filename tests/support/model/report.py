"""A slow, obvious second statement of `consolidate`, over plain JSON values.

Written from the published critic and the design alone: it shares no code with the engine. Input is
what `consolidate` is given, in wire form; output is the whole report in wire form.
"""

from datetime import UTC, datetime

from tests.support.model.facts import Json

LONGEST = 500
"""Characters of a rationale. Two hard failures share them, so that neither hides the other."""

INVALID = {"status": "invalid"}

SAFE = {chr(code) for code in range(32, 127)} - {"<", "&"} | {"\u2014"}


def consolidate_model(given: Json) -> Json:
    """Return the report: the given verdicts, and their result. Without one, only say `invalid`."""
    if is_contradiction(given):
        return INVALID
    status, refused_at, rationale = outcome(given["verify"], given.get("score"))
    report = {
        **given,
        "status": status,
        "rationale": rationale,
        "decided_at": utc(given["decided_at"]),
    }
    return report if refused_at is None else {**report, "refused_at": refused_at}


def is_contradiction(given: Json) -> bool:
    """Return whether a refused plan has a score, or one of another trace passed policy."""
    if "score" not in given:
        return False
    card = given["score"]["scorecard"]
    foreign = card["trace_id"] != given["trace_id"]
    return not given["verify"]["ok"] or (foreign and card["scores"]["policy"]["status"] != "fail")


def outcome(verify: Json, score: Json | None) -> tuple[str, str | None, str]:
    """Return the status, the place of the refusal, and the one line for the engineer on call."""
    if not verify["ok"]:
        lead = f"verify failed: {verify['kind']} \u2014 "
        return "refused_by_critic", "verify", cut(lead, verify["reasons"], "; ", LONGEST)
    if score is None:
        return "partial", None, "verify passed; no score (no execution)"
    scores = score["scorecard"]["scores"]
    failed = [name for name in ("policy", "safety") if scores[name]["status"] == "fail"]
    if failed:
        room = LONGEST // len(failed) - 2
        parts = [cut(f"{name} fail: ", messages(scores[name]), ", ", room) for name in failed]
        return "refused_by_critic", "score", "; ".join(parts)
    order = ("policy", "utility", "latency", "safety", "cost")
    soft = [name for name in order if scores[name]["status"] != "pass"]
    shares = [
        f"{name} {scores[name]['status']} {float(scores[name]['score']):.2f}" for name in soft
    ]
    return "completed", None, "verify and score passed" + ("; " + ", ".join(shares) if soft else "")


def messages(verdict: Json) -> list[str]:
    return [finding["message"] for finding in verdict["findings"]]


def cut(lead: str, parts: list[str], between: str, longest: int) -> str:
    """Everything if it fits; else the most whole parts that leave room to say how many are left.

    Room is kept for the count of all parts. Of a first part that does not fit, the beginning.
    """
    safe = [shown(part) for part in parts]
    everything = lead + between.join(safe)
    if len(everything) <= longest:
        return everything
    room = longest - len(between) - len(f"and {len(safe)} more")
    for kept in range(len(safe) - 1, 0, -1):
        begun = lead + between.join(safe[:kept])
        if len(begun) <= room:
            return begun + between + f"and {len(safe) - kept} more"
    begun = (lead + safe[0])[: max(room, len(lead))]
    return begun if len(safe) == 1 else begun + between + f"and {len(safe) - 1} more"


def shown(text: str) -> str:
    """Return the text as one line that a terminal and HTML show unchanged."""
    return "".join(char if char in SAFE else escaped(ord(char)) for char in text)


def escaped(code: int) -> str:
    return "\\u" + format(code, "04x") if code < 0x10000 else "\\U" + format(code, "08x")


def utc(text: str) -> str:
    """Return the instant in UTC, with a fraction only if it is not zero."""
    moment = datetime.fromisoformat(text.upper()).astimezone(UTC)
    whole = moment.strftime("%Y-%m-%dT%H:%M:%S")
    fraction = f".{moment.microsecond:06}".rstrip("0") if moment.microsecond else ""
    return f"{whole}{fraction}Z"
