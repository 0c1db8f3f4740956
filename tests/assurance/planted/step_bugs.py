"""Bugs of steps: of a journal, of a plan, and of a turn that waits."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_COURSE: Final = "harness/guard/course.py"
_DISPATCH: Final = "harness/guard/event_dispatch.py"
_JOURNAL: Final = "harness/guard/session_journal.py"
_OPENING: Final = "harness/guard/course_opening.py"
_OPENINGS: Final = "harness/guard/call_openings.py"

STEP_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "beginnings-of-a-whole-step-unread",
        _JOURNAL,
        "who goes on from a whole step knows no beginning",
        "            marks.begun = {one.turn: one.hash for one in body.state.begun}\n",
        "",
    ),
    slip(
        "whole-step-without-beginnings",
        _JOURNAL,
        "a journal that is shortened forgets what began",
        "_Body(state=state_of_course(course, 1, None, begun), **known)",
        "_Body(state=state_of_course(course, 1, None, {}), **known)",
    ),
    slip(
        "last-step-left-out",
        _JOURNAL,
        "a last step that cannot be read is left out, and with it a no",
        "            except (InvalidInput, OutOfPlace, ValueError) as error:\n                "
        "raise JournalAltered(str(error)) from None\n        if",
        "            except (InvalidInput, OutOfPlace, ValueError):\n                continue\n "
        "       if",
    ),
    slip(
        "tenant-for-a-user",
        _OPENING,
        "a session for a tenant alone is recorded for a user of its name",
        "user_id=event.user,",
        "user_id=event.user or event.tenant,",
    ),
    slip(
        "plan-of-commands",
        _COURSE,
        "a plan has shell commands, which nobody judges as they are asked for",
        "waits = is_plan or any(call.takes or call.after for call in calls)",
        "waits = any(call.takes or call.after for call in calls)",
    ),
    slip(
        "plan-without-its-order",
        _COURSE,
        "in a plan, what has effects does not wait for the reads before it",
        "if self.settings.turns is not None:",
        "if self.settings.turns is not None and not is_plan:",
    ),
    slip(
        "opening-approved-without-its-place",
        _DISPATCH,
        "approvals of openings of two lives have one name",
        "return answer_opening(course, event, as_of, record)",
        "return answer_opening(course, event, as_of, None)",
    ),
    slip(
        "opening-approved-by-its-turn",
        _OPENINGS,
        "approvals of two openings of a turn have one name",
        'name = f"turn/{turn}/step/{step}" + (',
        'name = f"turn/{turn}" + (',
    ),
    slip(
        "opened-while-another-asks",
        _OPENINGS,
        "a call is opened while a person is asked about another of its turn",
        "if asked is not None and asked.place[0] == place[0]:",
        "if asked is not None and asked.place == place:",
    ),
    slip(
        "passed-opening-of-a-denied-call",
        _OPENINGS,
        "a call that a person said no to is opened where its opening passes",
        '    if has_values and course.is_denied(call):\n        return Ruled("refuse", verdict, '
        'DENIED)\n    if isinstance(verdict, Verified):\n        return Ruled("allow", '
        "verdict)\n",
        '    if isinstance(verdict, Verified):\n        return Ruled("allow", verdict)\n    if '
        'has_values and course.is_denied(call):\n        return Ruled("refuse", verdict, '
        "DENIED)\n",
    ),
)
