"""Read a log for the page: its last records, what they name, and whether they are sound."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Any, Final

from evals.json_value import SAFE_INTEGER
from evals.kinds import Fate
from harness.audit.record_texts import texts_of
from harness.audit.report.details import opened_record
from harness.audit.report.page_policies import PoliciesOfPage
from harness.audit.report.page_turns import PageTurn, TurnsOfPage
from harness.audit.report.parsed_inputs import InputsOfRecords, ShownInputs
from harness.audit.report.record_rows import (
    Checked,
    row_of,
    row_of_gap,
    row_of_seam,
    row_of_unreadable,
    tool_names,
)
from harness.audit.report.tallies import Tallies
from harness.audit.report.told_words import ToolsOfPage
from harness.audit.report.visible_text import data_text
from harness.log.log_errors import LogDamaged
from harness.log.search.listing import Listing
from harness.log.sql import SqlDecisionLog
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    Gap,
    Head,
    LogRecord,
    NoTurnRecord,
    RawRecord,
    SettledRecord,
    TurnRecord,
    read_record,
)
from harness.record.drafts import begun_claim
from harness.record.index_row import OF_NO_TURN, IndexRow, index_row, keep_turn
from harness.record.integrity import START
from harness.replay.engine import Replayer
from harness.replay.log_check import check_log
from harness.replay.result import ReplayResult
from harness.replay.session_facts import SessionHistory, complete_answer
from harness.replay.stretches import link_at
from harness.wire import InvalidInput


class Details:
    """Keeps the details of the newest records, as JSON.

    Attributes:
        dropped: how many records have no details here, so that the page stays within its size.
    """

    def __init__(self, most_bytes: int) -> None:
        self._left = most_bytes
        self._kept: deque[tuple[int, str, tuple[int, ...]]] = deque()
        self._numbers: dict[str, int] = {}
        self._shared: dict[int, tuple[str, int]] = {}
        self._next = 0
        self._used: dict[int, None] = {}
        self.dropped = 0

    def share(self, value: Any) -> int:
        """Return the number of a value in the pool. The details that are next added use it."""
        text = data_text(value)
        number = self._numbers.get(text)
        if number is None:
            self._next = number = self._next + 1
            self._numbers[text], self._shared[number] = number, (text, 0)
            self._left -= len(text)
        self._used[number] = None
        return number

    def add(self, seq: int, detail: Any) -> None:
        """Keep the details of a record, and forget the oldest while there are too many bytes."""
        text, used = data_text(detail), tuple(self._used)
        self._used.clear()
        for number in used:
            self._count_users(number, 1)
        self._kept.append((seq, text, used))
        self._left -= len(text)
        while self._left < 0 and self._kept:
            self._forget()

    def _forget(self) -> None:
        _, text, used = self._kept.popleft()
        self._left += len(text)
        self.dropped += 1
        for number in used:
            self._count_users(number, -1)

    def _count_users(self, number: int, by: int) -> None:
        text, users = self._shared[number]
        self._shared[number] = text, users + by
        if users + by == 0:
            del self._shared[number], self._numbers[text]
            self._left += len(text)

    def numbers(self) -> frozenset[int]:
        """Return the numbers of the records whose details are kept."""
        return frozenset(seq for seq, _, _ in self._kept)

    def blocks(self) -> Iterator[tuple[str, str]]:
        """Yield the id and the JSON of every block of data of the page."""
        for number, (text, _) in self._shared.items():
            yield f"shared-{number}", text
        for seq, text, _ in self._kept:
            yield f"detail-{seq}", text


_WITH_INPUTS: Final = (DecisionRecord, BegunRecord, SettledRecord)
_PAGE: Final = 64  # records whose inputs are read together


@dataclass(slots=True)
class Collected:
    """All that a page says of a log.

    Attributes:
        head: the end of the log.
        first: the number of the first record that is shown; those before are left out.
        gaps: what is missing in the whole log.
        problems: what is wrong with its tables, or with claims in it.
        answers: how many of the records that are shown have each answer of the check.
        checked: the answers that are not `same`, by number.
    """

    head: Head
    first: int
    gaps: tuple[Gap, ...]
    problems: tuple[str, ...]
    details: Details
    answers: Counter[str] = field(default_factory=Counter)
    checked: dict[int, Checked] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    tallies: Tallies = field(default_factory=Tallies)
    turns: TurnsOfPage = field(default_factory=TurnsOfPage)
    policies: PoliciesOfPage = field(default_factory=PoliciesOfPage)
    tools: ToolsOfPage = field(default_factory=ToolsOfPage)

    @property
    def sound(self) -> bool:
        """Return whether nothing is missing, and every record that is shown is as it was.

        An execution without an end is a state, and no damage.
        """
        return not (self.gaps or self.problems or self.answers.keys() - {"same", "open"})

    def is_redacted(self, seq: int) -> bool:
        """Return whether something was taken out of a record, and the rest is as it was."""
        checked = self.checked.get(seq)
        return checked is not None and checked.status == "redacted"

    def turns_of(self, wanted: Fate) -> list[PageTurn]:
        """Return the turns of a fate, in the order of their first records."""
        return [turn for turn in self.turns if self.turns.fate_of(turn) == wanted]


def collect(log: SqlDecisionLog, last: int, most_bytes: int) -> Collected:
    """Read the records with the `last` numbers of a log, and their details within `most_bytes`.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read.
    """
    head = log.head()
    first = max(head.seq - last, 0) + 1
    problems = check_log(log).damage if first == 1 else log.problems
    found = Collected(head, first, tuple(log.gaps()), tuple(problems), Details(most_bytes))
    _check(log, found)
    gaps = [gap for gap in found.gaps if gap.last >= first]
    inputs = InputsOfRecords(log)
    rows = _shown_rows(log, found)
    while page := list(islice(rows, _PAGE)):
        read = [(raw, _read_row(raw)) for raw in page]
        inputs.fetch(one.inputs for _, one in read if isinstance(one, _WITH_INPUTS))
        kept = _kept_rows(log, found, page)
        for raw, record in read:
            while gaps and gaps[0].first < raw.seq:
                _miss(found, gaps.pop(0))
            _take(found, raw, record, inputs, kept.get(raw.seq))
    _end_redacted(log, found)
    found.tallies.add_turns(found.turns)
    return found


def _kept_rows(
    log: SqlDecisionLog, found: Collected, page: list[RawRecord]
) -> Mapping[int, IndexRow]:
    """Return what the index says of the records of which something was taken out."""
    redacted = [raw.seq for raw in page if found.is_redacted(raw.seq)]
    try:
        return Listing(log).rows_of(redacted) if redacted else {}
    except LogDamaged:  # nothing is claimed of them
        return {}


def _end_redacted(log: SqlDecisionLog, found: Collected) -> None:
    """Note which executions are ended by a record of which a part was taken out: by its claim."""
    claims = {begun_claim(one): one for one in found.turns.open_hashes()}
    made = log.claims(claims) if "redacted" in found.answers else {}
    ends = {claims[claim]: seq for claim, seq in made.items() if found.is_redacted(seq)}
    found.turns.end(ends)


def _shown_rows(log: SqlDecisionLog, found: Collected) -> Iterator[RawRecord]:
    """Yield the rows to show. Rows with numbers below 1 are shown with those of the whole log."""
    rows = log.raw(None if found.first == 1 else found.first)
    return takewhile(lambda raw: raw.seq <= found.head.seq, rows)


def _check(log: SqlDecisionLog, found: Collected) -> None:
    replayer = Replayer(log, None, judge=False)
    link = START if found.first == 1 else link_at(log, replayer, found.first - 1)
    sessions = SessionHistory()
    for one in replayer.replay_rows(_shown_rows(log, found), link):
        result = complete_answer(one.answer, sessions)
        found.answers[result.status] += 1
        if not result:
            found.checked[result.seq] = _checked_of(result)


def _checked_of(result: ReplayResult) -> Checked:
    return Checked(result.status, result.reasons)


def _read_row(raw: RawRecord) -> LogRecord | str:
    """Return the record, or why it cannot be read."""
    if not 1 <= raw.seq <= SAFE_INTEGER:
        return f"it is kept under {raw.seq}, which is the number of no record"
    try:
        return read_record(raw.body)
    except InvalidInput as error:
        return "a part of it is redacted or missing" if b"\0" in raw.body else str(error)


def _miss(found: Collected, gap: Gap) -> None:
    found.tallies.lost["missing"] += gap.last - max(gap.first, found.first) + 1
    found.rows.append(row_of_gap(gap))


def _take(
    found: Collected,
    raw: RawRecord,
    record: LogRecord | str,
    inputs: InputsOfRecords,
    kept: IndexRow | None,
) -> None:
    checked = found.checked.get(raw.seq)
    if isinstance(record, str):
        found.tallies.lost["unreadable"] += not _add_redacted(found, raw, kept)
        found.rows.append(row_of_unreadable(raw.seq, record, checked))
        return
    # A record that claims another number is shown where it is; the check says what is wrong.
    record = record.model_copy(update={"seq": raw.seq})
    if isinstance(record, NoTurnRecord):
        found.rows.append(row_of_seam(record, texts_of(record).said))
        return
    given = None if isinstance(record, CriticErrorRecord) else inputs.inputs_of(record.inputs)
    ctx, plan = (None, None) if given is None else (given.ctx, given.plan)
    row = keep_turn(index_row(record, ctx, plan, raw.seq), kept)
    turn = found.turns.add(record, row, _approver_of(record, given))
    turn.tools = turn.tools or tool_names(plan)
    if checked is not None and checked.status != "open":
        turn.worst = checked.status
    if isinstance(record, DecisionRecord) and given is not None:
        found.tallies.add(record, turn, given)
        found.policies.add(record, turn.number, given)
    found.rows.append(row_of(record, checked))
    share, tools = found.details.share, found.tools
    found.details.add(raw.seq, opened_record(record, given, checked, share, tools))


def _add_redacted(found: Collected, raw: RawRecord, kept: IndexRow | None) -> bool:
    """Add a record of which a part was taken out to its turn; return False if none is known."""
    if kept is None or kept.status in OF_NO_TURN:
        return False
    try:
        found.turns.add_redacted(kept, raw.hash).worst = "redacted"
    except OverflowError:
        return False
    return True


def _approver_of(record: TurnRecord, given: ShownInputs | None) -> str | None:
    """Return who approved the plan of a record, if its context says so."""
    if given is None or given.ctx is None or isinstance(record, CriticErrorRecord):
        return None
    return next(
        (
            one.approver
            for one in given.ctx.approvals or ()
            if one.plan_digest.removeprefix("sha256:") == record.inputs.plan
        ),
        None,
    )
