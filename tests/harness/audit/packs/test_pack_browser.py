"""The page of a pack in a real browser: it checks itself, shows what holds, and nothing else."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.audit.packs.signed_packs import guarded_log, pack, places_in
from tests.harness.audit.report.browser import Tab, browsing
from tests.harness.audit.report.hostile_log import TRAPS, log_with
from tests.harness.commands.log.proving import ORIGIN, Signed
from tests.harness.console import Critic

pytest.importorskip("jinja2")
pytestmark = pytest.mark.slow

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


def test_a_pack_checks_itself_and_shows_each_decision(tab: Tab, signed: Signed) -> None:
    page = pack(signed, "--trace", "alpha/1")
    assert opened(tab, page) == HOLDS
    assert tab.complaints() == []
    said = text_of(tab)
    for words in (
        "the hash of 17 records, every input",
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


@pytest.mark.parametrize("part", ["path", "body", "note", "keys", "inputs", "seq", "digest"])
def test_each_part_of_a_pack_is_checked(
    tab: Tab, signed: Signed, tmp_path: Path, part: str
) -> None:
    text = pack(signed, "--record", "5", "--record", "6").read_text("utf-8")
    data = places_in(text)
    held = json.loads(text[data.start : data.stop])
    first = held["records"][0]
    digest = next(iter(held["inputs"]))
    match part:
        case "path":
            first["path"] = held["records"][1]["path"]
        case "body":
            first["body"] = first["body"].replace('"completed"', '"failed"', 1)
        case "note":
            held["note"] = held["note"].replace(ORIGIN, "example.com/other")
        case "keys":
            held["keys"] = []
        case "inputs":
            held["inputs"][digest] = held["inputs"][digest].replace("{", '{"a":1,', 1)
        case "seq":
            first["seq"] = 4
        case _:
            del held["inputs"][digest]
    changed = tmp_path / "changed.html"
    spelled = json.dumps(held).replace("<", "\\u003c")
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
