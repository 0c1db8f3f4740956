"""Insurance claims, LangGraph: a StateGraph with a ToolNode and an injected state."""

from typing import Annotated, Any, Literal, TypedDict

from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode


class Holder(TypedDict):
    policy_no: str
    holder_name: str
    email: str
    mobile: str
    payout_iban: str


class Claim(TypedDict):
    claim_ref: str
    policy_no: str
    status: Literal["new", "in_review", "paid", "rejected"]
    loss_date: str
    claimed_amount: float
    adjuster: str | None
    statement: str


class Document(TypedDict):
    document_id: str
    file_name: str
    mime_type: str
    uploaded_at: str


def get_policyholder(policy_no: str) -> Holder:
    """Retrieve the policyholder's contact and bank details."""
    raise NotImplementedError


def fetch_claim(claim_ref: str) -> Claim:
    """Fetch a claim as the policyholder filed it."""
    raise NotImplementedError


def list_claim_documents(claim_ref: str) -> list[Document]:
    """List the documents on a claim."""
    raise NotImplementedError


def extract_document_text(document_id: str, pages: str | None = None) -> str:
    """Extract the text of an uploaded document (OCR)."""
    raise NotImplementedError


def check_sanctions(full_name: str) -> dict[str, bool]:
    """Check a name against the sanctions list."""
    raise NotImplementedError


def set_reserve(claim_ref: str, amount_chf: float) -> str:
    """Set the reserve that is held back for a claim."""
    raise NotImplementedError


def approve_payout(claim_ref: str, amount_chf: float, iban: str) -> dict[str, str]:
    """Approve a claim and pay the amount out."""
    raise NotImplementedError


def reject_claim(
    claim_ref: str, grounds: Literal["not_covered", "late", "fraud"], explanation: str = ""
) -> str:
    """Reject a claim; the holder gets a letter."""
    raise NotImplementedError


def assign_adjuster(claim_ref: str, adjuster: str) -> str:
    """Assign an adjuster to a claim."""
    raise NotImplementedError


def request_document(
    claim_ref: str, document_type: Literal["invoice", "police_report", "photos"], due_date: str
) -> str:
    """Ask the policyholder for a missing document."""
    raise NotImplementedError


def message_policyholder(policy_no: str, text: str, via: Literal["email", "sms"] = "email") -> str:
    """Message a policyholder."""
    raise NotImplementedError


def forward_document(document_id: str, email: str, cover_note: str | None = None) -> str:
    """Forward a document to somebody outside."""
    raise NotImplementedError


def append_file_note(
    claim_ref: str, note: str, state: Annotated[dict[str, Any], InjectedState]
) -> str:
    """Append a note to the internal file of a claim."""
    raise NotImplementedError


FUNCTIONS: list[Any] = [
    get_policyholder,
    fetch_claim,
    list_claim_documents,
    extract_document_text,
    check_sanctions,
    set_reserve,
    approve_payout,
    reject_claim,
    assign_adjuster,
    request_document,
    message_policyholder,
    forward_document,
    append_file_note,
]
tools = ToolNode([tool(one) for one in FUNCTIONS])
graph = StateGraph(MessagesState).add_node("tools", tools).add_edge("__start__", "tools").compile()
