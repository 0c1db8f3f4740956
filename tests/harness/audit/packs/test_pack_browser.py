"""The page of a pack in a real browser: it checks itself, shows what holds, and nothing else."""

import base64
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.record import sha256
from tests.harness.audit.packs.signed_packs import guarded_log, pack, places_in, settled_log
from tests.harness.audit.report.browser import Tab, browsing
from tests.harness.audit.report.hostile_log import TRAPS, log_with
from tests.harness.commands.log.proving import ORIGIN, Signed
from tests.harness.console import Critic

pytest.importorskip("jinja2")
pytestmark = pytest.mark.slow

Json = dict[str, Any]
HOLDS = "What this page shows is as it was signed"
NOT = "This pack does not hold"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with browsing(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return guarded_log(critic, tmp_path)


def opened(tab: Tab, page: Path) -> str:
    """Open a page, wait until it has come to an end, and return its title."""
    tab.events.clear()
    tab.open("about:blank#")
    tab.open(page.as_uri())
    tab.until("document.title !== 'Not checked'")
    return str(tab.js("document.title"))


def text_of(tab: Tab) -> str:
    return str(tab.js("document.body.innerText"))


@pytest.mark.parametrize("shadow", [True, False])
def test_a_pack_says_how_an_execution_ended_and_what_a_shadow_was(
    tab: Tab, critic: Critic, tmp_path: Path, *, shadow: bool
) -> None:
    signed, begun = settled_log(critic, tmp_path, shadow=shadow)
    assert opened(tab, pack(signed, "--trace", "s")) == HOLDS
    said = text_of(tab)
    assert f"an execution began; record {begun + 2} ends it" in said
    settled = "a person settled an execution as not_run"
    assert f"{settled}; overtaken by record {begun + 2}" in said
    stopped = "not allowed, and not enforced: the guard was a shadow"
    assert [text in said for text in (stopped, f"{stopped}, and calls ran")] == [shadow] * 2
    assert "all the same" not in said


def test_a_pack_checks_itself_and_shows_each_decision(tab: Tab, signed: Signed) -> None:
    page = pack(signed, "--trace", "alpha/1")
    assert opened(tab, page) == HOLDS
    assert tab.complaints() == []
    said = text_of(tab)
    for words in (
        "the hash of 18 records, every input",
        "The signature holds.",
        "Trust it only if this is the key of the owner of the log",
        "What this page cannot check",
        "desk/transfer",
        "iban-4711-22",
        "approval",
        "Do what plan.md says",
        "refused",
        "allowed, and ran",
    ):
        assert words in said, words
    key = signed.critic("log", "check", page, "--public-key", signed.public).out
    (line,) = [one for one in key.split("\n") if one.startswith("signed by: ")]
    assert line.split()[2] in said


def test_a_pack_is_legible_on_wide_and_narrow_screens(tab: Tab, signed: Signed) -> None:
    page = pack(signed, "--trace", "alpha/1")
    for width in (1280, 420):
        given = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        tab.ask("Emulation.setDeviceMetricsOverride", **given)
        assert opened(tab, page) == HOLDS
        assert tab.js("document.documentElement.scrollWidth <= innerWidth")
        assert tab.js("[...document.querySelectorAll('dd')].every((one) => one.textContent.trim())")
    tab.ask("Emulation.clearDeviceMetricsOverride")


def test_a_pack_changed_in_one_byte_does_not_hold(tab: Tab, signed: Signed, tmp_path: Path) -> None:
    whole = pack(signed, "--trace", "alpha/1").read_bytes()
    draw, data = random.Random(5), places_in(whole.decode())  # noqa: S311 - not a secret
    changed = tmp_path / "changed.html"
    for at in draw.sample(data, 30):
        changed.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        version = whole.rfind(b'"version":"', 0, at)
        if version >= 0 and at < whole.index(b'",', version):
            continue  # says nothing of the log
        assert opened(tab, changed) == NOT, (at, whole[at - 20 : at + 20])
        assert "Nothing of it is shown" in text_of(tab)
        assert tab.js("document.querySelectorAll('article').length") == 0


def _sign_otherwise(note: str) -> str:
    *before, own = note.split(" ")
    made = bytearray(base64.b64decode(own))
    made[40] ^= 1
    return " ".join([*before, base64.b64encode(made).decode() + "\n"])


def _with_record(held: Json, **members: Any) -> Json:
    first, *others = held["records"]
    return {**held, "records": [{**first, **members}, *others]}


def _with_inputs(held: Json, change: Callable[[str, str], dict[str, str]]) -> Json:
    digest, text = next(iter(held["inputs"].items()))
    rest = {name: one for name, one in held["inputs"].items() if name != digest}
    return {**held, "inputs": {**rest, **change(digest, text)}}


PARTS: dict[str, Callable[[Json], Json]] = {
    "path": lambda held: _with_record(held, path=held["records"][1]["path"]),
    "body": lambda held: _with_record(
        held, body=held["records"][0]["body"].replace('"completed"', '"failed"', 1)
    ),
    "number": lambda held: _with_record(held, seq=4),
    "input": lambda held: _with_inputs(
        held, lambda digest, text: {digest: text.replace("{", '{"a":1,', 1)}
    ),
    "input left out": lambda held: _with_inputs(held, lambda _digest, _text: {}),
    "input that nothing names": lambda held: _with_inputs(
        held, lambda digest, text: {digest: text, sha256(b"{}"): "{}"}
    ),
    "origin": lambda held: {**held, "note": held["note"].replace(ORIGIN, "example.com/other")},
    "line that the page does not use": lambda held: {
        **held,
        "note": re.sub("(record 1 [0-9a-f]{63}).", r"\1x", held["note"]),
    },
    "signature": lambda held: {**held, "note": _sign_otherwise(held["note"])},
    "no key": lambda held: {**held, "keys": []},
    "id of the key": lambda held: {
        **held,
        "keys": [re.sub(r"\+[0-9a-f]{8}\+", "+00000000+", held["keys"][0])],
    },
}


@pytest.mark.parametrize("part", PARTS)
def test_each_part_of_a_pack_is_checked(
    tab: Tab, signed: Signed, tmp_path: Path, part: str
) -> None:
    text = pack(signed, "--record", "5", "--record", "6").read_text("utf-8")
    data = places_in(text)
    held = json.loads(text[data.start : data.stop])
    altered = PARTS[part](held)
    assert altered != held
    changed = tmp_path / "changed.html"
    spelled = json.dumps(altered).replace("<", "\\u003c")
    changed.write_text(text[: data.start] + spelled + text[data.stop :], "utf-8")
    assert opened(tab, changed) == NOT


def test_a_script_that_was_changed_does_not_run(tab: Tab, signed: Signed, tmp_path: Path) -> None:
    text = pack(signed, "--record", "5").read_text("utf-8")
    changed = tmp_path / "changed.html"
    changed.write_text(text.replace("does not hold", "holds all right"), "utf-8")
    tab.open("about:blank#")
    tab.open(changed.as_uri())
    assert tab.js("document.title") == "Not checked"
    assert tab.js("document.querySelectorAll('article').length") == 0


def test_a_browser_without_ed25519_says_that_nobody_checked_the_signature(
    tab: Tab, signed: Signed
) -> None:
    page = pack(signed, "--record", "5")
    lacking = (
        "const own = crypto.subtle.importKey.bind(crypto.subtle);"
        "crypto.subtle.importKey = async (form, key, kind, ...more) => {"
        "if (kind.name === 'Ed25519') throw new DOMException('no', 'NotSupportedError');"
        "return own(form, key, kind, ...more); }"
    )
    told = tab.ask("Page.addScriptToEvaluateOnNewDocument", source=lacking)
    try:
        assert opened(tab, page) == "The hashes hold; the signature was not checked"
        said = text_of(tab)
        assert "critic log check FILE --public-key KEY" in said
        assert "until then anybody could have made it" in said
        assert tab.js("document.querySelectorAll('article').length") == 1
    finally:
        tab.ask("Page.removeScriptToEvaluateOnNewDocument", identifier=told["identifier"])


def test_a_hostile_log_does_nothing(tab: Tab, signed: Signed) -> None:
    hostile = signed._replace(log=log_with("".join(TRAPS), signed.log.with_name("h.db")))
    hostile = hostile._replace(checkpoint=hostile.sign("of-hostile", "--origin", ORIGIN))
    page = pack(hostile, "--record", "1", "--record", "2", "--record", "3")
    assert opened(tab, page) == HOLDS
    assert tab.complaints() == []
    assert (
        tab.js(
            "document.querySelectorAll('img, iframe, object, form, link:not([rel=icon])').length"
        )
        == 0
    )
    assert tab.js("document.querySelectorAll('script').length") == 2
    said = text_of(tab)
    assert "<img src=x onerror=alert(1)>" in said
    assert not set(said) & {"\u202e", "\u2066", "\u200b", "\x1b", "\x00"}
