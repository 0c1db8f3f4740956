"""Keys, bad input and witnesses of `critic log`: one clear line, and the right exit status."""

import base64
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.audit.proofs.notes import COSIGNATURE, ED25519, key_id
from tests.harness.commands.log.proving import ORIGIN, Signed, changed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import meddle, put_body
from tests.support.effort import examples

WITNESS = "witness.example/w1"


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


def verifier_key(public: Path, name: str, kind: int) -> str:
    """Return a public key in PEM as a line of signed notes."""
    key = serialization.load_pem_public_key(public.read_bytes())
    raw = key.public_bytes_raw()  # type: ignore[union-attr]
    encoded = base64.b64encode(bytes([kind]) + raw).decode()
    return f"{name}+{key_id(name, kind, raw).hex()}+{encoded}\n"


def refused(said: Said) -> str:
    """Return the one line of a command that could not do what it was asked for."""
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert "internal error" not in said.err
    return said.err


def test_a_new_key_is_for_its_owner_alone(critic: Critic, tmp_path: Path) -> None:
    said = critic("log", "key", "--new", tmp_path / "k")
    assert said.status == 0
    assert stat.S_IMODE((tmp_path / "k").stat().st_mode) == 0o600
    before = (tmp_path / "k").read_bytes()
    assert "k exists: choose another name" in refused(critic("log", "key", "--new", tmp_path / "k"))
    assert (tmp_path / "k").read_bytes() == before
    assert "PRIVATE" not in (tmp_path / "k.pub").read_text("ascii")


@pytest.mark.parametrize("mode", [0o604, 0o640, 0o660, 0o644, 0o602])
def test_a_private_key_that_others_may_read_signs_nothing(signed: Signed, mode: int) -> None:
    signed.key.chmod(mode)
    line = refused(signed.critic("log", "checkpoint", signed.log, "--key", signed.key))
    assert "others may read this private key: run chmod 600" in line


def test_keys_of_openssl_and_ssh_keygen_work(signed: Signed, tmp_path: Path) -> None:
    for name, commands in {
        "openssl": (
            "umask 077; openssl genpkey -algorithm ed25519 -out openssl",
            "openssl pkey -in openssl -pubout -out openssl.pub",
        ),
        "ssh": ("ssh-keygen -q -t ed25519 -N '' -f ssh",),
    }.items():
        if shutil.which(commands[0].split("; ")[-1].split()[0]) is None:
            continue
        for command in commands:
            subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, capture_output=True)
        own = signed._replace(key=tmp_path / name)
        checkpoint = own.sign(f"of-{name}")
        assert own.check(own.log, checkpoint=checkpoint).status == 0


def test_what_is_not_a_private_key_signs_nothing(signed: Signed, tmp_path: Path) -> None:
    pem = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    plain = serialization.NoEncryption()
    secret = serialization.BestAvailableEncryption(b"secret")
    contents = {
        "not a private key": b"hello\n",
        "a public key cannot sign": signed.public.read_bytes(),
        "the private key is encrypted": Ed25519PrivateKey.generate().private_bytes(*pem, secret),
        "not an Ed25519 key": ec.generate_private_key(ec.SECP256R1()).private_bytes(*pem, plain),
    }
    for problem, content in contents.items():
        path = tmp_path / "bad"
        path.write_bytes(content)
        path.chmod(0o600)
        assert problem in refused(signed.critic("log", "checkpoint", signed.log, "--key", path))
    for path in (tmp_path / "missing", tmp_path):
        refused(signed.critic("log", "checkpoint", signed.log, "--key", path))


def test_without_its_library_a_command_says_what_to_install(
    signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for said in (
        signed.check(signed.log),
        signed.critic("log", "key", "--new", signed.log.with_name("k")),
        signed.critic("log", "checkpoint", signed.log, "--key", signed.key),
    ):
        assert "pip install 'plan-critic[checkpoint]'" in refused(said)


def test_a_wrong_key_verifies_nothing(signed: Signed, tmp_path: Path) -> None:
    signed.critic("log", "key", "--new", tmp_path / "other")
    wrong = signed._replace(key=tmp_path / "other")
    assert "is not signed by" in refused(wrong.check(signed.log))
    shutil.copy(signed.key, tmp_path / "private.pub")
    private = signed._replace(key=tmp_path / "private")
    assert "a private key: name the public one" in refused(private.check(signed.log))
    (tmp_path / "nothing.pub").write_text("nothing")
    nothing = signed._replace(key=tmp_path / "nothing")
    assert "not a public key" in refused(nothing.check(signed.log))


def test_keys_of_signed_notes_name_who_signs(signed: Signed, tmp_path: Path) -> None:
    line = verifier_key(signed.public, ORIGIN, ED25519)
    own = tmp_path / "noted.pub"
    own.write_text(line)
    noted = signed._replace(key=tmp_path / "noted")
    assert noted.check(signed.log).status == 0
    own.write_text(verifier_key(signed.public, "example.com/other", ED25519))
    assert "is not signed by" in refused(noted.check(signed.log))
    own.write_text(line.replace("+", "x+", 1))
    assert "do not belong together" in refused(noted.check(signed.log))
    own.write_text(verifier_key(signed.public, ORIGIN, 6))
    assert "not a key of signed notes" in refused(noted.check(signed.log))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("\n8\n", "\n9\n", "does not hold"),
        ("\n8\n", "\n08\n", "line 2 is not a number"),
        ("\n8\n", "\n\n", "lacks the lines"),
        ("record 1 ", "record 2 ", "does not hold"),
        (ORIGIN, "example.com/audio", "is not signed by"),
        ("\u2014 ", "- ", "a line of its signatures is malformed"),
        ("\n\n", "\n", "lacks an empty line"),
        ("=\n", "==\n", "line 3 is not the root"),
    ],
)
def test_a_checkpoint_that_was_changed_counts_for_nothing(
    signed: Signed, old: str, new: str, problem: str
) -> None:
    with changed(signed.checkpoint, old, new):
        assert problem in refused(signed.check(signed.log))


def test_a_checkpoint_of_another_origin_is_refused(signed: Signed) -> None:
    assert signed.check(signed.log, "--origin", ORIGIN).status == 0
    line = refused(signed.check(signed.log, "--origin", "example.com/other"))
    assert f"is of another origin: {ORIGIN}, not example.com/other" in line
    for near in (ORIGIN.upper(), ORIGIN[:-1], f"{ORIGIN}x"):
        assert "is of another origin" in refused(signed.check(signed.log, "--origin", near))
    given = ("--key", signed.key, "--origin", "two words")
    assert "no spaces and no plus" in refused(
        signed.critic("log", "checkpoint", signed.log, *given)
    )


def test_what_is_not_a_proof_is_refused(signed: Signed) -> None:
    proof = signed.prove("proof", "3", "--checkpoint", signed.checkpoint)
    for old, new in (("index 2", "index -2"), ("extra ", "extra !"), ("\n\n", "\n")):
        with changed(proof, old, new):
            refused(signed.check(proof))
    refused(signed.check(signed.write("cut", "c2sp.org/tlog-proof@v1\n")))
    refused(signed.check(signed.write("old", "old 8\n\n")))
    refused(signed.check(signed.log.with_name("missing")))
    refused(signed.check(signed.log.parent))
    for parts in (("9",), (), ("3", "--since", signed.checkpoint)):
        refused(signed.critic("log", "prove", signed.log, *parts))


def witness(signed: Signed, given: Path, *more: str, name: str = WITNESS) -> Said:
    """Let a witness sign a checkpoint; it has a key and a file of its own."""
    key = signed.log.with_name("witness.key")
    if not key.exists():
        signed.critic("log", "key", "--new", key)
    own = ("--key", key, "--name", name, "--seen", signed.log.with_name("seen"))
    return signed.critic("log", "witness", given, "--public-key", signed.public, *own, *more)


def test_a_witness_signs_what_extends_the_last_one_that_it_saw(signed: Signed) -> None:
    assert "the witness has seen nothing" in refused(witness(signed, signed.checkpoint))
    said = witness(signed, signed.checkpoint, "--first")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(signed.checkpoint.read_text("utf-8"))
    cosigned = signed.write("cosigned", said.out)
    assert signed.log.with_name("seen").read_text("utf-8") == said.out
    both = ("--public-key", signed.log.with_name("witness.key.pub"))
    assert signed.check(signed.log, *both, checkpoint=cosigned).status == 0
    line = verifier_key(both[1], WITNESS, COSIGNATURE)
    noted = ("--public-key", signed.write("witness.vkey", line))
    assert signed.check(signed.log, *noted, checkpoint=cosigned).status == 0
    assert "is not signed by" in refused(signed.check(signed.log, *noted))

    signed.grow(3)
    later = signed.sign("later", "--origin", ORIGIN)
    assert "give the proof from there" in refused(witness(signed, later))
    growth = signed.prove("growth", "--since", signed.checkpoint, "--checkpoint", later)
    said = witness(signed, growth)
    assert said.status == 0
    assert said.out.startswith(f"{ORIGIN}\n11\n")
    assert witness(signed, later).status == 0  # once more the same


def test_a_witness_names_what_it_does_not_sign(signed: Signed, tmp_path: Path) -> None:
    fork = tmp_path / "fork.db"
    shutil.copy(signed.log, fork)
    signed.grow(2)
    assert witness(signed, signed.sign("later", "--origin", ORIGIN), "--first").status == 0
    kept = signed.log.with_name("seen").read_bytes()

    said = witness(signed, signed.checkpoint)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("critic: truncated: the checkpoint is of 8 records")
    signed.grow(2, kind="ended_early", log=fork)
    said = witness(signed, signed.sign("forked", "--origin", ORIGIN, log=fork))
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("critic: forked: the checkpoint does not extend")
    other = signed.sign("other", "--origin", "example.com/other")
    assert "is of another origin" in refused(witness(signed, other))
    with changed(signed.checkpoint, "\n8\n", "\n9\n"):
        assert "does not hold" in refused(witness(signed, signed.checkpoint))
    assert "no spaces and no plus" in refused(witness(signed, signed.checkpoint, name="two words"))
    assert signed.log.with_name("seen").read_bytes() == kept


def test_a_witness_does_not_believe_a_file_that_was_changed(signed: Signed) -> None:
    assert witness(signed, signed.checkpoint, "--first").status == 0
    with changed(signed.log.with_name("seen"), "\n8\n", "\n7\n"):
        assert "does not hold" in refused(witness(signed, signed.checkpoint))
    assert witness(signed, signed.checkpoint).status == 0


def test_a_record_that_was_altered_is_not_proved(signed: Signed) -> None:
    put_body(signed.log, 3, b"{}")
    said = signed.critic("log", "prove", signed.log, "3", "--checkpoint", signed.checkpoint)
    assert "record 3 is not what was recorded: replay the log" in refused(said)


def test_a_checkpoint_that_could_control_a_terminal_is_refused(signed: Signed) -> None:
    text = signed.checkpoint.read_text("utf-8").replace("record 1 ", "\x9b31m")
    forged = signed.write("forged", text)
    said = signed.critic("log", "prove", signed.log, "3", "--checkpoint", forged)
    assert "a line of it cannot be printed" in refused(said)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=examples(60),
    deadline=None,
)
@given(st.data())
def test_no_change_of_a_file_is_more_than_refused(signed: Signed, data: st.DataObject) -> None:
    """A checkpoint or a proof with a byte changed, cut or doubled: status 1 or 2, or the same."""
    proof = signed.log.with_name("proof")
    if not proof.exists():
        signed.prove("proof", "3", "--checkpoint", signed.checkpoint)
    path = data.draw(st.sampled_from([proof, signed.checkpoint]))
    whole = path.read_bytes()
    place = data.draw(st.integers(min_value=0, max_value=len(whole) - 1))
    middle = data.draw(st.binary(max_size=2))
    path.write_bytes(whole[:place] + middle + whole[place + 1 :])
    said = signed.check(proof)
    path.write_bytes(whole)
    assert "internal error" not in said.err
    if path == signed.checkpoint:
        assert said.status == (0 if middle == whole[place : place + 1] else 2)
    assert said.status in (0, 1, 2)


def test_a_log_whose_records_cannot_be_proved_says_which(signed: Signed) -> None:
    meddle(signed.log, ("DELETE FROM records WHERE seq = 4", ()))
    said = signed.critic("log", "prove", signed.log, "3", "--checkpoint", signed.checkpoint)
    assert "record 4 is missing" in refused(said)


@pytest.mark.parametrize("seen", ["", ".", "none/seen", "device", "folder"])
def test_what_a_witness_saw_is_kept_in_a_file(
    signed: Signed, monkeypatch: pytest.MonkeyPatch, seen: str
) -> None:
    monkeypatch.chdir(signed.log.parent)
    signed.log.with_name("folder").mkdir()
    signed.log.with_name("device").symlink_to("/dev/zero")
    asked = ("log", "witness", signed.checkpoint, "--public-key", signed.public, "--key")
    said = signed.critic(*asked, signed.key, "--name", "w", f"--seen={seen}", "--first")
    assert (said.status, said.out) == (2, "")
    assert said.err.count("\n") == 1
    assert "internal error" not in said.err
