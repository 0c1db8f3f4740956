"""HR leave desk, plain functions."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, TypedDict


class LeaveKind(StrEnum):
    vacation = "vacation"
    sick = "sick"
    parental = "parental"


@dataclass
class Employee:
    id: str
    full_name: str
    work_email: str
    team: str
    manager_id: str | None = None


@dataclass
class LeaveRequest:
    request_id: int
    employee_id: str
    kind: LeaveKind
    starts_on: dt.date
    ends_on: dt.date
    days: float
    state: Literal["pending", "approved", "declined"]
    comment: str = ""


class Balance(TypedDict):
    kind: str
    remaining_days: float
    carried_over: float


class Mail(TypedDict):
    mail_id: str
    from_address: str
    subject: str
    received_at: str
    body: str


def lookup_employee(query: str) -> list[Employee]:
    """Look up employees by name, team or e-mail.

    Args:
        query: part of the name or address
    """
    raise NotImplementedError


def get_leave_balance(employee_id: str, year: int = 2026) -> list[Balance]:
    """How many days an employee has left, for each kind of leave."""
    raise NotImplementedError


def list_pending_requests(team: str | None = None) -> list[LeaveRequest]:
    """Leave requests which nobody has decided yet."""
    raise NotImplementedError


def team_calendar(team: str, month: str) -> list[str]:
    """Who is away when. `month` is YYYY-MM."""
    raise NotImplementedError


def submit_leave_request(
    employee_id: str,
    kind: LeaveKind,
    start_date: dt.date,
    end_date: dt.date,
    comment: str | None = None,
) -> LeaveRequest:
    """File a new leave request on behalf of an employee."""
    raise NotImplementedError


def decide_leave_request(
    request_id: int, decision: Literal["approve", "decline"], note: str = ""
) -> dict[str, str]:
    """Approve or decline a pending leave request."""
    raise NotImplementedError


def withdraw_leave_request(request_id: int) -> str:
    """Withdraw a request that has been filed; the days are credited back."""
    raise NotImplementedError


def adjust_balance(employee_id: str, kind: LeaveKind, delta_days: float, justification: str) -> str:
    """Correct the leave balance of an employee by hand."""
    raise NotImplementedError


def notify_manager(employee_id: str, message: str) -> str:
    """Notify the manager of an employee."""
    raise NotImplementedError


def read_mailbox(folder: str = "INBOX", unread_only: bool = True, limit: int = 20) -> list[Mail]:
    """Read mails from the shared HR mailbox."""
    raise NotImplementedError


def reply_to_mail(mail_id: str, body: str, cc: list[str] | None = None) -> str:
    """Reply to a mail in the shared HR mailbox."""
    raise NotImplementedError


def get_handbook_section(topic: str) -> str:
    """Return the section of the employee handbook on a topic."""
    raise NotImplementedError


def draft_letter(template: Literal["confirmation", "rejection"], employee_id: str) -> str:
    """Draft a letter from a template. The draft stays in the assistant's folder."""
    raise NotImplementedError


FUNCTIONS = [
    lookup_employee,
    get_leave_balance,
    list_pending_requests,
    team_calendar,
    submit_leave_request,
    decide_leave_request,
    withdraw_leave_request,
    adjust_balance,
    notify_manager,
    read_mailbox,
    reply_to_mail,
    get_handbook_section,
    draft_letter,
]
