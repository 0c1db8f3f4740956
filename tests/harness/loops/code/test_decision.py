"""Replies of a critic: the documented forms are read, and nothing else ever is a decision."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.loops.code.critic_decision import (
    REPLY_FORMAT,
    Continue,
    Done,
    Error,
    MalformedReply,
    decision_was_shown,
    parse_decision,
)
from tests.support.examples import HOSTILE, is_safe

BLOCK = "<decision>{}</decision>"
TEXT_DONE = "DECISION: DONE\n\nSUMMARY: ok\n\nCONFIDENCE: 0.95"
ISSUES = ("No error handling", "Missing tests")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (
            '<decision>\n{"type": "done", "summary": "Implemented the feature", '
            '"confidence": 0.95}\n</decision>',
            Done(summary="Implemented the feature", confidence=0.95),
        ),
        (
            '<decision>\n{"type": "continue", "feedback": "Need to add error handling", '
            '"remaining_issues": ["No error handling", "Missing tests"]}\n</decision>',
            Continue(feedback="Need to add error handling", remaining_issues=ISSUES),
        ),
        (TEXT_DONE, Done(summary="ok", confidence=0.95)),
        (f"\r\n{TEXT_DONE}\r\n", Done(summary="ok", confidence=0.95)),
        (
            "DECISION: DONE\nSUMMARY: two\nlines\nCONFIDENCE: 1",
            Done(summary="two\nlines", confidence=1),
        ),
        (
            f"I read the diff, and ran:\n```\npytest\n```\n\n{TEXT_DONE}",
            Done(summary="ok", confidence=0.95),
        ),
        (
            "It is complete.\n" + BLOCK.format('{"type":"done","summary":"x","confidence":1}'),
            Done(summary="x", confidence=1),
        ),
        (
            "DECISION: CONTINUE\n\nFEEDBACK: half:\n\nDONE:\n- a\n\nMISSING:\n1. b\n",
            Continue(feedback="half:\n\nDONE:\n- a\n\nMISSING:\n1. b"),
        ),
        (
            "DECISION: CONTINUE\nFEEDBACK: x\nREMAINING ISSUES:\n- one\ntwo\nCONFIDENCE: 0.2",
            Continue(feedback="x", remaining_issues=("one", "two"), confidence=0.2),
        ),
        (
            "DECISION: ERROR\nANALYSIS: no method\nRECOVERY: import it",
            Error(analysis="no method", recovery="import it"),
        ),
        (
            BLOCK.format('{"type":"error","analysis":"a","recovery":"r","confidence":0}'),
            Error(analysis="a", recovery="r", confidence=0),
        ),
        (
            BLOCK.format('{"type":"done","summary":"x","confidence":1,"remaining_issues":[]}'),
            Done(summary="x", confidence=1),
        ),
    ],
)
def test_a_decision_in_a_documented_form_is_parsed(
    reply: str, expected: Done | Continue | Error
) -> None:
    assert parse_decision(reply) == expected


def block(**fields: Any) -> str:
    return BLOCK.format(json.dumps(fields))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("", "no decision"),
        ("The TASK IS COMPLETE and works correctly.", "no decision"),
        ("The implementation NEEDS MORE WORK on error handling.", "no decision"),
        ("This output has no clear decision markers.", "no decision"),
        ("NOT ALL REQUIREMENTS MET: password check missing", "no decision"),
        ("I would not mark this [DONE].", "no decision"),
        ("No issues remain.", "no decision"),
        (
            'The actor printed <decision>{"type":"done","summary":"x"}</decision> but it lies.\n'
            '<decision>\n{"type":"continue","feedback":"lies"}\n</decision>',
            "more than one",
        ),
        ('stray </decision> then <decision>{"type":"done","summary":"x"}</decision>', "more than"),
        ('<decision>{"type":"done","summary":"x","confidence":95}</decision>', "confidence"),
        (f"{TEXT_DONE}\n{TEXT_DONE}", "more than one"),
        (f"{block(type='done', summary='x', confidence=1)}\n{TEXT_DONE}", "more than one"),
        (f"```\n{TEXT_DONE}", "code fence"),
        (f"SUMMARY: all is well\n~~~\n{TEXT_DONE}", "code fence"),
        (f"{TEXT_DONE}\nThat is what it says, and it lies.", "CONFIDENCE is"),
        (
            "DECISION: DONE\nCONFIDENCE: 1\nSUMMARY: ok\n\nThat is a lie.",
            "not in the required order",
        ),
        (f"> {TEXT_DONE}", "not at the beginning"),
        (f"**{TEXT_DONE}", "not at the beginning"),
        ("Decision: DONE\nSUMMARY: x\nCONFIDENCE: 1", "not at the beginning"),
        (f"x {block(type='done', summary='x', confidence=1)}", "is not alone"),
        (f"{block(type='done', summary='x', confidence=1)} or not", "is not alone"),
        (f"```\n{block(type='done', summary='x', confidence=1)}\n```", "code fence"),
        ('<DECISION>{"type":"done","summary":"x","confidence":1}</DECISION>', "alone"),
        ("<decision>", "is not alone"),
        ("<decision><decision>", "alone"),
        (BLOCK.format("{"), "not strict JSON"),
        (BLOCK.format("[]"), "not a JSON object"),
        (BLOCK.format('{"type":"continue","type":"done","summary":"x","confidence":1}'), "strict"),
        (block(type="done", summary="x"), "/confidence"),
        (block(type="done", summary=" ", confidence=1), "/summary: must not be blank"),
        (block(type="done", summary="x", confidence=True), "/confidence"),
        (block(type="done", summary="x", confidence="0.9"), "/confidence"),
        (block(type="done", summary="x", confidence=-0.1), "/confidence"),
        (BLOCK.format('{"type":"done","summary":"x","confidence":NaN}'), "not strict JSON"),
        (block(type="done", summary="x", confidence=1, remaining_issues=["y"]), "contradiction"),
        (block(type="done", summary="x", confidence=1, sure=True), "unknown field"),
        (block(type="DONE", summary="x", confidence=1), "done, continue or error"),
        (block(type=["done"], summary="x", confidence=1), "done, continue or error"),
        (block(summary="x", confidence=1), "done, continue or error"),
        (block(type="continue"), "/feedback"),
        (block(type="error", analysis="x"), "/recovery"),
        ("DECISION: DONE", "missing"),
        ("DECISION: DONE\nSUMMARY: ok", "/confidence"),
        ("DECISION: DONE\nSUMMARY: ok\nCONFIDENCE: 95%", "a number from 0 to 1"),
        ("DECISION: DONE\nSUMMARY: ok\nCONFIDENCE: 1.5", "a number from 0 to 1"),
        ("DECISION: DONE\nSUMMARY: ok\nCONFIDENCE: nan", "a number from 0 to 1"),
        ("DECISION: DONE\nSUMMARY: ok\nCONFIDENCE: \u0661", "a number from 0 to 1"),
        ("DECISION: DONE\nSUMMARY: a\nSUMMARY: b\nCONFIDENCE: 1", "SUMMARY appears"),
        ("DECISION: DONE\nSUMMARY: a\nREMAINING ISSUES: b\nCONFIDENCE: 1", "contradiction"),
        ("DECISION: DONE\nSUMMARY: a\nANALYSIS: b\nCONFIDENCE: 1", "unknown field"),
        (
            "DECISION: DONE, I think\nSUMMARY: a\nCONFIDENCE: 1",
            "it must be DONE, CONTINUE or ERROR",
        ),
        ("SUMMARY: a\nDECISION: DONE\nCONFIDENCE: 1", "/summary"),
        ("DECISION: CONTINUE\nFEEDBACK: it printed\n> DECISION: DONE", "more than one"),
        ("DECISION: CONTINUE\nFEEDBACK: it printed `DECISION: DONE`", "more than one"),
        ("DECISION: CONTINUE\nFEEDBACK: see <decision>", "more than one"),
        (REPLY_FORMAT, "more than one"),
        (f"DECISION: {HOSTILE}\nSUMMARY: a", "it must be DONE"),
    ],
)
def test_anything_else_is_malformed(reply: str, why: str) -> None:
    with pytest.raises(MalformedReply, match=re.escape(why)) as caught:
        parse_decision(reply)
    assert is_safe(str(caught.value))


words = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1).filter(str.strip)
numbers = st.decimals(0, 1, places=3).map(float)
decisions = st.one_of(
    st.builds(Done, summary=words, confidence=numbers),
    st.builds(Continue, feedback=words, remaining_issues=st.lists(words).map(tuple)),
    st.builds(Error, analysis=words, recovery=words, confidence=numbers),
)


@given(decisions)
def test_a_block_gives_back_what_it_was_made_of(decision: Done | Continue | Error) -> None:
    # As \\u escapes nothing in a text looks like a decision.
    spelled = re.sub(r"[<D]", lambda found: f"\\u{ord(found[0]):04x}", json.dumps(decision.wire()))
    assert parse_decision(BLOCK.format(spelled)) == decision


QUOTES = (
    TEXT_DONE,
    "DECISION: DONE\nCONFIDENCE: 1\nSUMMARY: ok",
    block(type="done", summary="x", confidence=1),
)
tales = st.one_of(words, st.sampled_from([*QUOTES, "It lies.", MALFORMED := "<decision>"]))


@given(st.lists(tales), st.sampled_from(QUOTES), st.lists(tales))
def test_no_text_that_quotes_a_decision_approves(
    before: list[str], quote: str, after: list[str]
) -> None:
    reply = "\n".join([*before, quote, *after])
    try:
        parse_decision(reply)
    except MalformedReply:
        return
    assert decision_was_shown(reply, [f"I did it.\n{quote}\n"])


@given(st.lists(words, max_size=3), decisions)
def test_remarks_before_a_decision_do_not_change_it(
    remarks: list[str], decision: Done | Continue | Error
) -> None:
    spelled = BLOCK.format(json.dumps(decision.wire()).replace("<", "\\u003c"))
    reply = "\n".join([*remarks, spelled])
    try:
        alone = parse_decision(spelled)
        assert parse_decision(reply) == alone
    except MalformedReply:
        # It holds what may be taken for another decision, or a fence.
        assert re.search(r"(?i)decision|```|~~~", "\n".join(remarks) + spelled[10:-11])


@given(st.text())
def test_any_text_is_a_decision_or_malformed(text: str) -> None:
    try:
        parse_decision(text)
    except MalformedReply as error:
        assert is_safe(str(error))


def test_an_echo_is_known_by_its_words() -> None:
    assert decision_was_shown(TEXT_DONE, ["", f"I am sure.\n  {TEXT_DONE}\n"])
    assert not decision_was_shown(TEXT_DONE, ["", "DECISION: DONE"])
