"""Every text of a record goes through the escaping, whatever prints it: a law over all fields.

One log has a record for each text of a decision, of a beginning and of a failure, with a marker in
that one text. The marker begins like a formula, holds markup, control characters and marks that
turn the writing round, and begins a line like an annotation.
"""

import csv
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from critic import digest
from evals.plan import Proposal
from evals.run import Run
from harness.log import SqlDecisionLog
from harness.record import Begun, CriticError, UsedApproval
from harness.wire import InvalidInput, build
from tests.harness.audit.report.pages import Page, strings, text_of
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, judged
from tests.support.altering import Path as PathOf
from tests.support.altering import altered, paths_in, value_at
from tests.support.effort import examples
from tests.support.examples import good_run

Json = dict[str, Any]

WILD: Final = (
    "=mark{0}<mark{0} onload=x>&'\"`\x1b[31m\x07\x9b2J\r\n::error ::\u202e\u2066\u200b\u2028"
)
TAME: Final = "=mark{0}<mark{0}/onload=x>&'\"`::error"
"""What a line of printable ASCII may hold."""
NAME: Final = "mark{0}.::error"
"""What a name may hold: it is harmless, and shows that it is printed."""

UNSAFE: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]")


def whole_run() -> Json:
    """Return a run with every text that a run and its proposal may have."""
    run = good_run()
    run |= {"intent": "refund", "pack_version": "p@1"}
    run["outputs"]["note"] = {"to": ["ada"]}
    for call in run["calls"]:
        call |= {"error": "late", "idempotency_key": "k", "output": {"a": ["b"]}}
    proposal = run["proposal"]
    for item in proposal["compiled"]["manifests"]["evidence_manifest"]:
        item["source"] = {"author": "public", "standing": "ambient"}
    proposal["plan"]["steps"].append({"kind": "reason", "summary": "so it is", "id": "why"})
    names = {"adapter_id": "adp_orders", "capability_id": "lookup"}
    digests = {"plan_digest": "0" * 64, "context_digest": "0" * 64}
    proposal["ctx"] |= {
        "approvals": [{"approval_id": "a", "approver": "ada", **digests}],
        "spent": {"calls": [{**names, "args_digest": "0" * 64, "id": "c"}]},
        "scope": [names],
        "user_id": "ada",
    }
    return run


def texts_in(document: Json) -> Iterator[PathOf]:
    for path in paths_in(document):
        if isinstance(value_at(document, path), str):
            yield path


NO_TEXTS: Final = """
    safety_mode as_of args_digest approval_mode type id expires_at author standing kind status
"""
"""Where only some words, times, digests or pointers may stand: the last names of those fields."""


def _name(field: PathOf) -> str:
    return "/".join(map(str, field))


class Marked:
    """The log, and which field each marker stands in."""

    def __init__(self, path: Path) -> None:
        self.path, self.fields = path, dict[int, str]()
        self.wild = set[str]()
        with SqlDecisionLog.open(path) as self._log:
            for field in texts_in(whole_run()):
                self._mark(field, lambda wire: self._log.append(_decision(wire)))
            whole: Json = {"error": "x", "claim": "x", "where": "x", "trace": "t", "key": "k"}
            whole |= {"asked": {"a": ["b"]}, "approval": "a"}
            for field in texts_in(whole):
                self._mark(field, self._append_other, whole)

    def _mark(self, field: PathOf, keep: Any, document: Json | None = None) -> None:
        number = len(self.fields) + 1
        for marker in (WILD, TAME, NAME):
            try:
                wire = whole_run() if document is None else document
                keep(altered(wire, field, marker.format(number)))
            except (InvalidInput, ValueError):
                continue
            self.fields[number] = _name(field)
            if marker == WILD:
                self.wild.add(self.fields[number])
            return

    def _append_other(self, wire: Json) -> None:
        proposed = build(Proposal, good_run()["proposal"])
        asked = {wire["key"]: wire["asked"]}
        more = {"asked": asked, "where": wire["where"], "trace_id": wire["trace"]}
        failure = build(CriticError, {**more, "failed_at": "2026-05-09T12:00:00Z"})
        if wire["error"] != "x" or wire["claim"] != "x":
            self._log.append(judged(proposed, error=wire["error"], claims=(wire["claim"],)))
        elif wire["approval"] != "a":
            used = UsedApproval(approval_id=wire["approval"], plan_digest=digest(proposed.plan))
            self._log.begin(Begun(proposal=proposed, approvals=(used,), begun_at=NOON))
        else:
            self._log.append_error(failure)


def _decision(wire: Json) -> Any:
    run = build(Run, wire)
    return judged(run.proposal, run)


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Marked:
    return Marked(tmp_path_factory.mktemp("marked") / "marked.db")


def require_plain(text: str, *, may_be_markup: bool = False) -> str:
    """Require that a text holds no marker as it is: no control character, no markup."""
    assert not (found := UNSAFE.search(text)), ascii(text[max(0, found.start() - 60) :][:90])
    if not may_be_markup:
        assert not (tag := re.search("<mark[0-9]", text)), text[max(0, tag.start() - 60) :][:90]
    assert not re.search(r"^::error ::", text, re.MULTILINE)
    return text


def seen_in(text: str, marked: Marked) -> set[int]:
    """Return which markers can be seen."""
    numbers = {int(number) for number in re.findall(r"mark([0-9]+)", text)}
    assert numbers <= marked.fields.keys()
    return numbers


def test_enough_fields_are_marked(marked: Marked) -> None:
    assert len(marked.fields) >= 90
    assert len(marked.wild) >= 35
    of_words = {
        path[-1] for path in texts_in(whole_run()) if _name(path) not in marked.fields.values()
    }
    assert of_words <= {*NO_TEXTS.split(), 0, 1}
    named = {re.sub(r"/[0-9]+", "", field) for field in marked.fields.values()}
    for name in (
        *("intent", "pack_version", "run_id", "trace_id", "outputs/note/to", "calls/error"),
        *("calls/idempotency_key", "calls/output/a", "error", "where"),
        *("proposal/ctx/tenant_id", "proposal/ctx/user_id"),
        *("proposal/ctx/approvals/approver", "proposal/plan/steps/summary", "asked/a", "trace"),
        *("proposal/compiled/manifests/evidence_manifest/subject", "proposal/spec/id", "claim"),
        *("proposal/compiled/manifests/evidence_manifest/content/payment/id", "approval", "key"),
    ):
        assert name in named, sorted(named)


@pytest.mark.parametrize("action", ["list", "stats"])
def test_no_marker_is_printed_as_it_is_in_lists_and_counts(
    action: str, marked: Marked, critic: Critic
) -> None:
    seen = set()
    for form in ("text", "json", "csv"):
        said = critic("log", action, marked.path, "--format", form)
        assert said.status == 1  # calls whose texts were altered are of no step that was allowed
        require_plain(said.out + said.err, may_be_markup=form != "text")
        seen |= seen_in(said.out, marked)
        if form == "csv":
            require_no_formula(said.out)
    assert len(seen) >= (10 if action == "list" else 1), seen


def require_no_formula(text: str) -> None:
    for row in csv.reader(io.StringIO(text)):
        for cell in row:
            assert cell.lstrip(" \t'\"")[:1] not in ("=", "+", "-", "@") or cell[:1] == "'", cell


@pytest.mark.slow
def test_no_marker_is_printed_as_it_is_of_a_record(marked: Marked, critic: Critic) -> None:
    with SqlDecisionLog.open_for_reading(marked.path) as log:
        last = log.head().seq
    seen = dict.fromkeys(("text", "json", "csv"), frozenset[int]())
    every = 1 if examples(100) == 100 else 4
    for seq in range(1, last + 1):
        for form in seen if seq % every == 0 else ():
            said = critic("log", "show", marked.path, str(seq), "--format", form)
            assert said.status == 0
            require_plain(said.out + said.err, may_be_markup=form != "text")
            seen[form] |= seen_in(said.out, marked)
            if form == "csv":
                require_no_formula(said.out)
    # An export has every text in full.
    assert len(seen["json"]) * every >= len(marked.fields) - every
    assert len(seen["text"]) >= 40 // every - 5
    assert seen["csv"]


@pytest.mark.slow
def test_no_marker_is_in_what_a_replay_prints(marked: Marked, critic: Critic) -> None:
    for form in ("text", "json", "github", "sarif", "junit"):
        for command in (("replay",), ("log", "verify"), ("what-if",)):
            if command != ("replay",) and form == "sarif" and examples(100) < 100:
                continue
            if command == ("what-if",) and form not in ("text", "json"):
                continue
            more = ("--safety-mode", "read_only") if command == ("what-if",) else ()
            said = critic(*command, marked.path, "--format", form, *more)
            require_plain(said.out + said.err, may_be_markup=form in ("json", "sarif"))
            if form == "sarif":
                assert json.loads(said.out)["runs"]
            if command == ("what-if",):
                assert len(seen_in(said.out, marked)) >= 4


def test_no_marker_is_in_an_export(marked: Marked, critic: Critic) -> None:
    said = critic("log", "export", marked.path, "--to", "opa", "-o", "-")
    require_plain(said.out + said.err, may_be_markup=True)
    unseen = marked.fields.keys() - seen_in(said.out, marked)
    assert {marked.fields[number] for number in unseen} <= {"approval", "claim"}


def test_no_marker_is_markup_or_hidden_on_the_page(marked: Marked) -> None:
    text = text_of(marked.path)
    require_plain(text)
    page = Page(text)
    assert not [shape for shape in page.shape if "mark" in shape[0] and shape[0] != "mark"]
    assert not any("onload" in shape for shape in page.shape)
    shown = set()
    for block in page.blocks.values():
        for one in strings(json.loads(block)):
            assert not UNSAFE.search(one.replace("\n", "")), ascii(one)
            shown |= seen_in(one, marked)
    hidden = {marked.fields[number] for number in marked.fields.keys() - shown}
    assert len(shown) >= 60, sorted(hidden)
