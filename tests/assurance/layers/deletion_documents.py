"""Proposals about a session, with every field that provenance reads, for the layer `deletion`.

Each of them is small and stands for one reason to pass or to refuse.
"""

from copy import deepcopy
from typing import Any, Final

from tests.support.model.facts import Json, digest_of, plan_digest

_BANK: Final = {"adapter_id": "bank", "capability_id": "send_money"}
_READER: Final = {"adapter_id": "files", "capability_id": "read_file"}
_PAYEE: Final = "UK12BARC34567890"
_LATER, _NOW, _EARLIER = (f"2026-05-09T{hour}:00:00Z" for hour in ("11", "10", "09"))

_YES: Final[Json] = {
    "value": "zeta-9914",
    "role": "recipient",
    "tool": _BANK,
    "approval_mode": "delegated",
}
_BASE: Final[Json] = {
    "ctx": {
        "trace_id": "t",
        "safety_mode": "delegated",
        "as_of": _NOW,
        "scope": [_BANK],
        "session": {
            "id": "s",
            "turn": 2,
            "ran": [_READER],
            "own": [{"kind": "text", "value": "draft.txt"}],
            "approved": [{**_YES, "expires_at": _LATER}],
        },
        "spent": {"calls": [{**_BANK, "args_digest": digest_of({"to": "x"}), "id": "c1"}]},
    },
    "compiled": {
        "manifests": {
            "tool_manifest": [
                {
                    **_BANK,
                    "approval_mode": "delegated",
                    "arg_roles": {"to": "recipient", "about": "attribute"},
                    "result": {
                        "author": "system",
                        "web": False,
                        "format": "json",
                        "makes": {"x": "note"},
                    },
                    "follows": [_READER],
                }
            ],
            "evidence_manifest": [
                {
                    "id": "user/1",
                    "classification": "request",
                    "content": f"Send money to {_PAYEE}",
                    "source": {"author": "user", "standing": "named", "web": False, "cut": False},
                },
            ],
            "record_fields": ["sender"],
        }
    },
    "spec": {
        "id": "d",
        "required_outputs": [],
        "provenance": "closed",
        "party_recipients": "ask",
        "confined_evidence": ["hidden"],
    },
    "plan": {
        "steps": [{"kind": "tool", **_BANK, "args": {"to": _PAYEE}, "estimated_tokens": 1}],
        "declared_outputs": [],
    },
}


def documents() -> dict[str, Json]:
    """Return the proposals by name; each is a new one."""
    return {
        "asked-for": _made(),
        "open": _made(spec={**_BASE["spec"], "provenance": "open"}),
        "approved-value": _sending("zeta-9914", ctx={"scope": []}),
        "approved-value-expired": _sending(
            "zeta-9914", session={"approved": [{**_YES, "expires_at": _EARLIER}]}
        ),
        "field-recipient": _sending("mia@corp.example", seen=[_record()]),
        "contested-field": _sending(
            "mia@corp.example",
            seen=[_record(), _text("mia@corp.example")],
            spec={"party_recipients": "allow"},
        ),
        "untrusted-recipient": _sending("mia@corp.example", seen=[_text("mia@corp.example")]),
        "page-as-content": _sending(
            _PAYEE,
            seen=[_page("see https://docs.example/a")],
            roles={"to": "recipient", "note": "content"},
            args={"note": "https://docs.example/a"},
        ),
        "unlisted-tool": _made(ctx={"scope": []}, tool={"follows": []}, request=f"for {_PAYEE}"),
        "own-file": _sending("draft.txt", roles={"to": "object"}),
        "waived-for-another": _outside({"targets": ["other"]}),
        "waived": _outside({"targets": ["mia@corp.example"], "expires_at": _LATER}),
        "waived-expired": _outside({"targets": ["mia@corp.example"], "expires_at": _EARLIER}),
        "day-of-another": _sending(
            _PAYEE,
            seen=[_text("on 2026-05-12")],
            roles={"to": "recipient", "on": "time"},
            args={"on": "2026-05-12"},
        ),
        "repeat": _repeated(),
        "sent-before-shown": _sending(
            "mia@corp.example",
            seen=[_shown(2)],
            session={"sent": [{"seq": 1, "values": ["mia@corp.example"]}]},
        ),
        "shown-before-sent": _sending(
            "mia@corp.example",
            seen=[_shown(1)],
            session={"sent": [{"seq": 2, "values": ["mia@corp.example"]}]},
        ),
        "field-of-a-class": _sending(
            "mia@corp.example", seen=[_record("public")], classes=[_of_seen(sender="system")]
        ),
        "not-of-its-class": _sending(
            "mia@corp.example",
            seen=[_record("public")],
            classes=[{**_of_seen(sender="system"), "schema": {"required": ["id"]}}],
        ),
        "class-that-narrows": _sending(
            "zeta-7715", seen=[_record("system")], classes=[_of_seen(payee="public")]
        ),
        "kind-that-refuses": _sending(
            "zeta-7715", tool={"arg_kinds": {"to": "address"}}, request="Send money to zeta-7715"
        ),
        "kind-that-is-met": _sending(_PAYEE, tool={"arg_kinds": {"to": "account"}}),
        "nobody": _sending("", tool={"may_be_empty": ["to"]}),
        "approved-here": _approved({}),
        "approved-elsewhere": _approved({"context_digest": "0" * 64}),
        "confined": _sending(
            _PAYEE,
            seen=[{"id": "call/3", "classification": "hidden", "content": _PAYEE}],
        ),
    }


def _made(
    *,
    ctx: Json | None = None,
    session: Json | None = None,
    spec: Json | None = None,
    tool: Json | None = None,
    request: str = "",
    classes: list[Json] | None = None,
) -> Json:
    made = deepcopy(_BASE)
    made["compiled"]["manifests"] |= {"classes": classes} if classes else {}
    made["ctx"] |= ctx or {}
    made["ctx"]["session"] |= session or {}
    made["spec"] |= spec or {}
    made["compiled"]["manifests"]["tool_manifest"][0] |= tool or {}
    if request:
        made["compiled"]["manifests"]["evidence_manifest"][0]["content"] = request
    return made


def _sending(
    to: str,
    *,
    seen: list[Json] | None = None,
    roles: Json | None = None,
    args: Json | None = None,
    **changes: Any,
) -> Json:
    """Return a proposal that sends money to somebody."""
    if roles:
        changes["tool"] = {**changes.get("tool", {}), "arg_roles": roles}
    made = _made(**changes)
    made["plan"]["steps"][0]["args"] = {"to": to, **(args or {})}
    made["compiled"]["manifests"]["evidence_manifest"] += seen or []
    return made


def _outside(waived: Json) -> Json:
    """Return a proposal outside the scope after a yes to such a call."""
    return _sending(
        "mia@corp.example",
        seen=[{**_record(), "source": {"author": "member", "standing": "ambient"}}],
        spec={"party_recipients": "allow"},
        ctx={"scope": []},
        tool={"follows": []},
        session={"waived": [{"tool": _BANK, **waived}]},
        request="Please help",
    )


def _record(author: str = "member") -> Json:
    content = {"sender": "mia@corp.example", "payee": "zeta-7715", "text": "hello"}
    return _seen("call/1", content, {"author": author, "standing": "named"})


def _shown(seq: int) -> Json:
    """Return what a system of record shows, and when."""
    source = {"author": "system", "standing": "named", "seq": seq}
    return _seen("call/1", "mia@corp.example", source)


def _of_seen(**fields: str) -> Json:
    """Return the table of the class of what is seen."""
    return {"class": "seen", "fields": fields, "schema": True}


def _text(said: str) -> Json:
    return _seen("call/2", said, {"author": "public", "standing": "ambient"})


def _page(said: str) -> Json:
    return _seen("call/2", said, {"author": "public", "standing": "named", "web": True})


def _seen(ref: str, content: Any, source: Json) -> Json:
    return {"id": ref, "classification": "seen", "content": content, "source": source}


def _repeated() -> Json:
    """Return a proposal to make a destructive call that an earlier turn made."""
    made = _made(ctx={"safety_mode": "destructive"}, tool={"approval_mode": "destructive"})
    digest = digest_of(made["plan"]["steps"][0]["args"])
    made["ctx"]["spent"]["calls"][0]["args_digest"] = digest
    return made


def _approved(changes: Json) -> Json:
    """Return a proposal with an approval, in this context but for the changes."""
    made = _made(spec={"approval_required_from": "delegated"})
    context = {
        "compiled": made["compiled"],
        "spec": made["spec"],
        "trace_id": made["ctx"]["trace_id"],
    }
    approval = {
        "approval_id": "a",
        "approver": "emma",
        "plan_digest": plan_digest(made["plan"]),
        "context_digest": digest_of(context),
    }
    made["ctx"]["approvals"] = [approval | changes]
    return made
