"""`critic log check PROOF`: what a proof shows of a decision, who signed it, and what it cannot."""

import base64
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.audit.proofs.notes import ED25519, verifier_key
from harness.canonical import canonical_json
from harness.record import sha256
from harness.wire import parse_json
from tests.harness.audit.packs.signed_packs import pack, settled_log
from tests.harness.commands.log.proving import ORIGIN, WHY, Signed, changed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import body_of, meddle, query
from tests.harness.log.guard_logs import write_guard_log

INPUTS = ["compiled", "ctx", "plan", "spec"]
HOLDS = "it is in the log as it was signed"


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


@pytest.fixture
def guarded(critic: Critic, tmp_path: Path) -> Signed:
    """A log that guards wrote, with what they ask and begin, signed."""
    signed = signed_log(critic, tmp_path)._replace(log=tmp_path / "guard.db")
    write_guard_log(signed.log)
    return signed._replace(checkpoint=signed.sign("of-guard", "--origin", ORIGIN))


def proved(signed: Signed, record: int) -> Path:
    given = ("--checkpoint", signed.checkpoint, "--with-inputs")
    return signed.prove("proof", str(record), *given)


def alone(signed: Signed, proof: Path, *more: str | Path) -> Said:
    """Check a proof by the checkpoint that it holds."""
    return signed.critic("log", "check", proof, "--public-key", signed.public, *more)


def one_line(said: Said) -> str:
    """Return the line of a refusal, of which there is one."""
    text = said.out + said.err
    assert said.status in (1, 2), text
    assert (text.count("\n"), "internal error" in text) == (1, False), text
    return text


def test_a_pack_says_how_an_execution_ended_that_it_holds(critic: Critic, tmp_path: Path) -> None:
    signed, begun = settled_log(critic, tmp_path)
    said = alone(signed, pack(signed, "--trace", "s"))
    assert said.status == 0
    ends = f"record {begun + 1} settles it, and record {begun + 2} ends it"
    assert f"record {begun}: an execution began, {ends}, " in said.out
    assert f"settled as not_run by raj, overtaken by record {begun + 2}, " in said.out
    bare = alone(signed, pack(signed, "--record", str(begun), name="alone.html"))
    assert "an execution began, how it ended is not in the proof, " in bare.out


@pytest.mark.slow
def test_a_proof_shows_the_decision_as_show_does(guarded: Signed) -> None:
    shown = 0
    for (seq,) in query(guarded.log, "SELECT seq FROM records ORDER BY seq"):
        said = alone(guarded, proved(guarded, seq))
        assert (said.status, said.err) == (0, "")
        assert said.lines[0] == f"record {seq} of 43: {HOLDS}"
        whole = guarded.critic("log", "show", guarded.log, str(seq), "--format", "text").listed
        whole = [one for one in whole if not one.startswith("  turn: ")]  # no proof shows that
        begins = whole[0].startswith(f"record {seq}: an execution began")
        assert said.lines[1 + begins : len(whole) + 1] == whole[begins:]
        shown += "approval" in said.out and "by ada" in said.out
        digests = parse_json(body_of(guarded.log, seq)).get("inputs", {})
        checked = [f"checked: input {name} has the digest" for name in sorted(digests)]
        assert [one for one in checked if one not in said.out] == []
    assert shown, "no proof shows who approved"


def test_a_proof_says_whose_key_signed_it_and_what_it_does_not_show(signed: Signed) -> None:
    raw = base64.b64decode(signed.public.read_text("ascii").split("\n")[1])[-32:]
    key = verifier_key(ORIGIN, ED25519, raw)
    said = alone(signed, proved(signed, 3))
    assert (said.status, said.err) == (0, "")
    assert [line for line in said.lines if line.startswith("signed by:")] == [
        f"signed by: {key} (in {signed.public})"
    ]
    assert said.lines[-2].startswith("not proved: that what was recorded is true")
    assert said.lines[-1].startswith("trust this key only if you have it from the owner")
    told = json.loads(alone(signed, signed.log.with_name("proof"), "--format", "json").out)
    assert (told["ok"], told["signed_by"], told["not_checked"]) == (True, [key], [])
    assert told["checkpoint"] == {"origin": ORIGIN, "records": 8}
    assert sorted(told["record"]["input_bodies"]) == told["inputs"] == INPUTS


def test_a_proof_that_no_key_was_given_for_is_shown_and_not_believed(signed: Signed) -> None:
    for proof in (proved(signed, 3), signed.prove("unsigned", "3")):
        said = signed.critic("log", "check", proof)
        assert said.status == 2
        assert said.lines[0] == "record 3 of 8: it is under the checkpoint in the file"
        assert "record 3: " in said.lines[1]
        assert "no signature was checked, and anybody could have made it" in said.err
        assert HOLDS not in said.out
        assert "signed by" not in said.out
        told = signed.critic("log", "check", proof, "--format", "json")
        assert (told.status, json.loads(told.out)["ok"]) == (2, False)


def test_a_proof_without_a_signature_needs_a_checkpoint_that_has_one(signed: Signed) -> None:
    proof = signed.prove("unsigned", "3", "--with-inputs")
    assert "nobody signed it: give --checkpoint" in one_line(alone(signed, proof))
    assert signed.check(proof).lines[0] == f"record 3 of 8: {HOLDS}"


def test_a_proof_signed_by_another_key_is_refused(signed: Signed, critic: Critic) -> None:
    proof = proved(signed, 3)
    assert critic("log", "key", "--new", signed.key.with_name("other")).status == 0
    other = signed._replace(key=signed.key.with_name("other"))
    assert "the checkpoint is not signed by" in one_line(alone(other, proof))
    assert "the checkpoint is not signed by" in one_line(
        signed.critic(
            "log",
            "check",
            proof,
            "--checkpoint",
            other.sign("other.checkpoint", "--origin", ORIGIN),
            "--public-key",
            other.public,
        )
    )


def test_a_witness_whose_key_was_not_given_is_named(signed: Signed, critic: Critic) -> None:
    witness = signed.key.with_name("witness")
    assert critic("log", "key", "--new", witness).status == 0
    given = ("--key", witness, "--name", "w1", "--seen", signed.key.with_name("seen"), "--first")
    said = critic("log", "witness", signed.checkpoint, "--public-key", signed.public, *given)
    cosigned = signed._replace(checkpoint=signed.write("cosigned", said.out))
    proof = proved(cosigned, 3)
    said = alone(cosigned, proof)
    assert said.status == 0
    assert "not checked: a signature of w1" in said.lines
    both = ("--public-key", witness.with_name("witness.pub"))
    assert "not checked: a signature" not in alone(cosigned, proof, *both).out
    assert alone(cosigned, proof, *both).out.count("signed by: ") == 2
    # A plain proof leads to the cosigned checkpoint as well: the texts are the same.
    assert cosigned.check(proved(signed, 3), *both).status == 0


def test_a_log_and_the_proof_of_growth_still_need_a_checkpoint(signed: Signed) -> None:
    assert "--checkpoint" in one_line(alone(signed, signed.log))
    needs_key = signed.critic("log", "check", signed.log, "--checkpoint", signed.checkpoint)
    assert "--public-key" in one_line(needs_key)
    signed.grow(2)
    later = signed.sign("later", "--origin", ORIGIN)
    growth = signed.prove("growth", "--since", signed.checkpoint, "--checkpoint", later)
    assert "--checkpoint" in one_line(alone(signed, growth))


def test_the_origin_of_a_proof_can_be_demanded(signed: Signed) -> None:
    proof = proved(signed, 3)
    assert alone(signed, proof, "--origin", ORIGIN).status == 0
    assert "another origin" in one_line(alone(signed, proof, "--origin", "example.com/other"))


def test_inputs_that_were_altered_are_not_proved(signed: Signed) -> None:
    digest = parse_json(body_of(signed.log, 4))["inputs"]["plan"]
    ((body,),) = query(signed.log, "SELECT body FROM inputs WHERE digest = ?", digest)
    altered = bytes(body).replace(b"refund", b"refind")
    meddle(signed.log, ("UPDATE inputs SET body = ? WHERE digest = ?", (altered, digest)))
    said = signed.critic("log", "prove", signed.log, "4", "--with-inputs")
    assert "input plan of record 4 is not what was recorded" in one_line(said)


def test_redacted_inputs_are_told_and_redacted_records_have_none(signed: Signed) -> None:
    copy = signed._replace(log=signed.log.with_name("copy.db"))
    values = ("--value", "3:/inputs/plan", "--value", "4:/run")
    assert signed.critic("log", "redact", signed.log, copy.log, *values, *WHY).status == 0
    said = alone(signed, proved(copy, 3))
    assert said.status == 0
    assert "  input plan: redacted in the log that this was proved from" in said.lines
    assert [line.split()[2] for line in said.lines if line.startswith("checked: input")] == [
        "compiled",
        "ctx",
        "spec",
    ]
    refused = signed.critic("log", "prove", copy.log, "4", "--with-inputs")
    assert "leave out --with-inputs" in one_line(refused)


def _content(proof: str) -> bytes:
    return base64.b64decode(proof.split("\n")[1].removeprefix("extra "))


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the places of all values in a document, those that hold others too."""
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, one in inner:
        yield from _leaves(one, (*path, name))


def _with(value: object, path: tuple[str | int, ...], new: object) -> object:
    if not path:
        return new
    name, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, name: _with(value[name], rest, new)}
    assert isinstance(value, list)
    return [_with(one, rest, new) if at == name else one for at, one in enumerate(value)]


def _altered(proof: str, content: bytes) -> str:
    old = proof.split("\n")[1]
    return proof.replace(old, f"extra {base64.b64encode(content).decode()}", 1)


_OTHERS: list[object] = [None, 0, "x", [], {}, "0" * 64]


@pytest.mark.slow
def test_no_member_of_a_proof_can_be_replaced(guarded: Signed) -> None:
    """Replace every value in the record and its inputs, also with null and with its like."""
    for record in (2, 5, 23, 21):
        proof = proved(guarded, record).read_text("utf-8")
        document = parse_json(_content(proof))
        target = guarded.write("altered", "")
        for path in _leaves(document):
            for new in _OTHERS:
                content = canonical_json(_with(document, path, new))
                absent = new is None and len(path) == 2 and path[0] == "inputs"
                if content == canonical_json(document) or absent:
                    continue
                target.write_text(_altered(proof, content), "utf-8")
                one_line(alone(guarded, target))


@pytest.mark.slow
def test_no_byte_of_a_proof_can_be_changed(signed: Signed) -> None:
    proof = proved(signed, 3).read_bytes()
    target = signed.write("altered", "")
    for at in range(len(proof)):
        target.write_bytes(proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1 :])
        one_line(alone(signed, target))


@pytest.mark.parametrize("own", [True, False])
def test_a_change_in_any_line_of_a_proof_is_refused(signed: Signed, own: bool) -> None:
    """Also of a proof without a signature, beside a checkpoint that has one."""
    given = ("--checkpoint", signed.checkpoint) if own else ()
    proof = signed.prove("proof", "3", "--with-inputs", *given).read_bytes()
    target, draw = signed.write("altered", ""), random.Random(7)  # noqa: S311 - not a secret
    proof_as_it_is = signed.write("as-it-is", proof.decode())
    assert (alone(signed, proof_as_it_is) if own else signed.check(proof_as_it_is)).status == 0
    start = 0
    for line in proof.splitlines(keepends=True):
        places = {start, start + len(line) - 1, start + draw.randrange(len(line))}
        start += len(line)
        for at in places:
            target.write_bytes(proof[:at] + bytes([proof[at] ^ 1]) + proof[at + 1 :])
            one_line(alone(signed, target) if own else signed.check(target))


@pytest.mark.parametrize("name", [*INPUTS, "record"])
def test_what_was_altered_is_named(signed: Signed, name: str) -> None:
    proof = proved(signed, 3).read_text("utf-8")
    document = parse_json(_content(proof))
    held = document if name == "record" else document["inputs"]
    altered = canonical_json(held[name] | {"x": 1})
    held[name] = parse_json(altered)
    target = signed.write("altered", _altered(proof, canonical_json(document)))
    said = one_line(alone(signed, target))
    assert said.startswith(f"altered: its {'record' if name == 'record' else f'input {name}'} was")
    # Whoever makes the digest in the record anew has made another record.
    document["record"]["inputs"] |= {name: sha256(altered)} if name in INPUTS else {}
    target.write_text(_altered(proof, canonical_json(document)), "utf-8")
    assert one_line(alone(signed, target)).startswith("altered: its record was altered")


def test_a_record_of_another_tree_is_refused(signed: Signed) -> None:
    proof = proved(signed, 3)
    other = proved(signed, 4).read_text("utf-8").split("\n")[1]
    own = proved(signed, 3).read_text("utf-8").split("\n")[1]
    with changed(proof, own, other):
        assert "another record" in one_line(alone(signed, proof))


def test_another_spelling_of_what_a_proof_holds_is_refused(signed: Signed) -> None:
    """No blank, order of members, number or doubled member may be another than was hashed."""
    proof = proved(signed, 3).read_text("utf-8")
    content, target = _content(proof), signed.write("altered", "")
    document = parse_json(content)
    others = [
        content.replace(b'{"inputs":{', b'{"inputs": {', 1),
        content.replace(b'"record":{', b'"record":\n{', 1),
        b'{"record":%s,"inputs":%s}'
        % (canonical_json(document["record"]), canonical_json(document["inputs"])),
        content.replace(b'{"inputs":', b'{"inputs":{},"inputs":', 1),
        content.replace(b'"seq":3', b'"seq":3.0', 1),
        content + b"\n",
    ]
    for other in others:
        assert other != content
        target.write_text(_altered(proof, other), "utf-8")
        assert one_line(alone(signed, target)).startswith("altered: its record was altered: ")
