"""Bugs of the journal of sessions: an event that happens twice, or is forgotten elsewhere."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_APPENDING: Final = "harness/log/appending.py"
_FOLDER: Final = "harness/guard/session_folder.py"
_GUARD: Final = "harness/guard/guard.py"
_JOURNAL: Final = "harness/guard/session_journal.py"
_OPEN: Final = "harness/guard/open_sessions.py"
_RECORDING: Final = "harness/guard/recording.py"
_ROWS: Final = "harness/log/journal_rows.py"

JOURNAL_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "step-made-twice",
        _APPENDING,
        "two processes make the same step of a session",
        "else step.number == last + 1",
        "else step.number <= last + 1",
    ),
    slip(
        "step-unclaimed",
        _RECORDING,
        "a record does not say which step of its session it is of",
        "claims += (step_claim(step),)",
        "claims += ()",
    ),
    slip(
        "old-journal-taken",
        _JOURNAL,
        "a journal that was put back is gone on from",
        "    if last_claim is None:\n        return True",
        "    if last_claim is None or place.number:\n        return True",
    ),
    slip(
        "claim-of-another-number",
        _JOURNAL,
        "steps are compared as texts: 10 comes before 9",
        "{step.number:016}",
        "{step.number}",
    ),
    slip(
        "journal-of-another-policy",
        _JOURNAL,
        "a session goes on under a policy that it was not opened with",
        "if body.policy not in (None, self._rules.digest):",
        'if body.policy == "":',
    ),
    slip(
        "ruling-not-compared",
        _JOURNAL,
        "a step that was edited counts, although its ruling comes out another way",
        "        if ruled != body.action:",
        "        if ruled is None and body.action:",
    ),
    slip(
        "journal-of-another-session",
        _JOURNAL,
        "the journal of one session is gone on from as another",
        "session_key(course.session.id) != place.session:",
        "not place.session:",
    ),
    slip(
        "note-lost-when-shortened",
        _JOURNAL,
        "what is noted beside a session is not in the step that says all",
        '{} if note is None else {"note": note}',
        "{}",
    ),
    slip(
        "journal-outlives-close",
        _RECORDING,
        "a session that was closed goes on elsewhere",
        "is_end = isinstance(told.event, CloseEvent)",
        "is_end = False",
    ),
    slip(
        "steps-left-behind",
        _ROWS,
        "the steps before one that says all stay",
        "    if step.is_whole:\n",
        "    if step.is_whole and step.is_end:\n",
    ),
    slip(
        "permit-of-a-call-that-ended-elsewhere",
        _OPEN,
        "a permit is good after another process told the result of its call",
        "if course.has_halted or place != self._places[call]:",
        "if course.has_halted:",
    ),
    slip(
        "stale-permit",
        _GUARD,
        "a permit is handed out without a look at what happened elsewhere",
        "            if not entry.is_over:  # else another of its id may be open\n"
        "                self._catch_up(name, entry)",
        "            pass",
    ),
    slip(
        "edited-line-taken",
        _FOLDER,
        "a line of a file that was edited is believed",
        "if not is_next or line != _line_of(int(number), body, before):",
        "if not is_next:",
    ),
    slip(
        "step-before-its-record-is-told",
        _RECORDING,
        "a step counts as made although an observer failed after it",
        "        for entry, given, decision in zip(entries, inputs, decisions, strict=True):\n"
        "            if entry.begins",
        "        if step is not None and marks.place is not None:\n"
        "            marks.place.number += 1\n"
        "        for entry, given, decision in zip(entries, inputs, decisions, strict=True):\n"
        "            if entry.begins",
    ),
    slip(
        "opened-again-while-open",
        _APPENDING,
        "a session that is open is opened again, and goes on twice",
        "is_next = not last if step.is_reopening else step.number == last + 1",
        "is_next = step.is_reopening or step.number == last + 1",
    ),
    slip(
        "step-left-out",
        _APPENDING,
        "a step is made although the one before it was not",
        "is_next = not last if step.is_reopening else step.number == last + 1",
        "is_next = not last if step.is_reopening else step.number > last",
    ),
    slip(
        "place-forgotten-in-a-step",
        _ROWS,
        "a step without a ruling forgets which record of its session was the last",
        "seq = decided[-1] if decided else self.seq",
        "seq = decided[-1] if decided else None",
    ),
    slip(
        "rows-stay-behind-a-beginning",
        _ROWS,
        "a step that says all, and that begins something, leaves the rows before it",
        "    if step.is_whole:\n",
        "    if step.is_whole and row.begun is None:\n",
    ),
    slip(
        "stricter-step-taken",
        "harness/guard/session_journal.py",
        "a step that says refuse is taken for a call that these rules allow",
        "if ruled != body.action:",
        'if ruled != body.action and body.action != "refuse":',
    ),
    slip(
        "opening-in-a-step-taken",
        "harness/guard/session_journal.py",
        "what a step says of an opened call is not compared",
        "isinstance(answer, Ruling | OpeningRuling) else None\n        if ruled",
        "isinstance(answer, Ruling) else body.action\n        if ruled",
    ),
    slip(
        "step-of-a-journal-left-out",
        "harness/guard/session_journal.py",
        "a journal that lacks a step in the middle is continued",
        "elif row.number != place.number + 1:",
        "elif row.number <= place.number:",
    ),
    slip(
        "journal-kept-to-the-clock",
        _GUARD,
        "a session whose time was told is not continued where clocks are compared",
        "time = time_after(event, course.time, now, None)",
        "time = time_after(event, course.time, now, self._max_skew)",
    ),
    slip(
        "first-line-unchecked",
        "harness/guard/session_folder.py",
        "the first line of the file of a session may be edited",
        "if not is_next or line != _line_of(int(number), body, before):",
        "if not is_next or (before and line != _line_of(int(number), body, before)):",
    ),
    slip(
        "numbers-left-out-in-a-file",
        "harness/guard/session_folder.py",
        "a step is stored whose number leaves one out",
        "if step.number != tail.number + 1:",
        "if step.number <= tail.number:",
    ),
    slip(
        "file-emptied",
        "harness/guard/session_folder.py",
        "a file that was emptied counts as a session that was never open",
        "    if not rows:\n        raise StateUnusable",
        "    if not rows and data:\n        raise StateUnusable",
    ),
    slip(
        "file-of-the-group",
        "harness/guard/session_folder.py",
        "the group may write the file of a session",
        "_OTHERS: Final = 0o077",
        "_OTHERS: Final = 0o007",
    ),
    slip(
        "link-followed",
        "harness/guard/session_folder.py",
        "a link is read as the file of a session",
        "os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK",
        "os.O_RDONLY | os.O_NONBLOCK",
    ),
    slip(
        "two-places-for-sessions",
        "harness/guard/guard_parts.py",
        "a guard with a log that keeps no sessions keeps them elsewhere",
        "if log is not None and id(given) != id(log):",
        "if isinstance(log, KeepsSessions) and id(given) != id(log):",
    ),
    slip(
        "folder-of-another-user",
        "harness/guard/session_folder.py",
        "a session is continued from the folder of another user",
        "or found.st_uid != os.geteuid() or",
        "or",
    ),
)
