"""What the guard stops of recorded attacks: `python -m tests.experiments.sessions`

Takes the recordings beside the project through the real guard and prints, for each group and in
all: attacks refused, asked about and missed, good runs refused and asked; with intervals; and the
commonest reasons. In both modes, headless, without scope, and with each label left out in turn.
`--adapted` takes attacks through it that somebody rewrote who knows the rules and the labels.
`--publish` writes the sums into the docs, with a picture.
"""

import argparse
import sys
import time
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.experiments.sessions import recordings
from tests.experiments.sessions.figures import Rate, commonest, families, figures, wire
from tests.experiments.sessions.replaying import Judged, judge_all
from tests.experiments.sessions.shown import merged, publish
from tests.support.folded import write_folded


class Setting(NamedTuple):
    """One way to guard all recordings."""

    provenance: str = "closed"
    headless: bool = False
    with_scope: bool = True
    parties: str = "ask"
    without: str | None = None

    @property
    def name(self) -> str:
        """Return the setting in words."""
        parts = [self.provenance]
        parts += ["headless"] if self.headless else []
        parts += [] if self.with_scope else ["without scope"]
        parts += [] if self.parties == "ask" else ["parties allowed"]
        parts += [f"without {self.without}"] if self.without else []
        return ", ".join(parts)


SETTINGS = (
    Setting(),
    Setting("open"),
    Setting(headless=True),
    Setting(with_scope=False),
    Setting("open", with_scope=False),
    Setting(parties="allow"),
)


def judged_in(data: Path, setting: Setting, only: list[str], *, one_in: int = 1) -> list[Judged]:
    """Take all recordings through guards in this setting, or one in so many."""
    names = only or recordings.groups(data)
    policies = {
        name: recordings.policy_of(
            data,
            name,
            provenance=setting.provenance,
            headless=setting.headless,
            parties=setting.parties,
            without=setting.without,
        )
        for name in names
    }
    return judge_all(
        islice(recordings.recordings(data, names), 0, None, one_in),
        policies,
        recordings.intended(data),
        with_scope=setting.with_scope,
    )


def judged_adapted(data: Path, setting: Setting) -> list[Judged]:
    """Take the adapted attacks through guards in this setting."""
    policies = {
        name: recordings.policy_of(data, name, provenance=setting.provenance)
        for name in recordings.groups(data)
    }
    with TemporaryDirectory() as made:
        found = recordings.adapted(data, Path(made))
        return judge_all(found, policies, recordings.intended(data))


def _show_adapted(data: Path) -> dict[str, dict[str, Any]]:
    """Print what becomes of adapted attacks in both modes, and return it as JSON."""
    kept: dict[str, dict[str, Any]] = {}
    for setting in SETTINGS[:2]:
        found = families(judged_adapted(data, setting))
        sys.stdout.write(f"adapted, {setting.name}\n")
        for name, one in found.items():
            told = f"{one.left_passed} of {one.left} pass, of all {one.passed} of {one.total}"
            sys.stdout.write(f"  {name:24} {told}\n")
        kept[setting.name] = {name: one._asdict() for name, one in found.items()}
    return kept


def _show(title: str, found: dict[str, Rate]) -> None:
    sys.stdout.write(f"{title}\n")
    for name, one in found.items():
        sys.stdout.write(f"  {name:16} {one.text()}\n")
    sys.stdout.flush()


def _reasons(judged: list[Judged]) -> dict[str, list[tuple[str, int]]]:
    """Return the commonest reasons of what should not be."""
    wanted = ((True, "missed"), (False, "refused"), (False, "asked"))
    return {
        f"{'attacks' if is_attacked else 'good runs'} {outcome}": commonest(
            judged, is_attacked=is_attacked, outcome=outcome
        )
        for is_attacked, outcome in wanted
    }


def _show_reasons(judged: list[Judged]) -> None:
    for outcome, reasons in _reasons(judged).items():
        sys.stdout.write(f"  commonest of {outcome}:\n")
        for reason, count in reasons:
            sys.stdout.write(f"    {count:4} {reason}\n")


def main(argv: list[str] | None = None) -> int:
    """Run the experiment and return 0."""
    args = _parser().parse_args(argv)
    kept: dict[str, Any] = {}
    public: dict[str, Any] = {"settings": {}, "reasons": {}}
    settings = [*SETTINGS[: 2 if args.quick else None]]
    if args.labels or args.publish:
        settings += [Setting(without=one) for one in recordings.labels(args.data)]
    for setting in settings:
        started = time.process_time()
        judged = judged_in(args.data, setting, args.group)
        found = figures(judged)
        _show(f"{setting.name} ({time.process_time() - started:.0f} s CPU)", found)
        by_group = _by_group(judged)
        kept[setting.name] = {"all": wire(found)}
        kept[setting.name] |= {group: wire(one) for group, one in by_group.items()}
        public["settings"][setting.name] = wire(found)
        if setting.without is None:
            for group, one in by_group.items():
                _show(f" {group}", one)
            _show_reasons(judged)
        if setting in SETTINGS[:2]:
            reasons = _reasons(judged)
            public["reasons"][setting.name] = {name: merged(one) for name, one in reasons.items()}
    if args.adapted or args.publish:
        public["adapted"] = kept["adapted"] = _show_adapted(args.data)
    if args.publish:
        publish(public)
    if args.json:
        write_folded(args.json, kept)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.experiments.sessions")
    parser.add_argument("--data", type=Path, default=recordings.DATA)
    parser.add_argument("--group", action="append", default=[], help="only this group")
    parser.add_argument("--quick", action="store_true", help="both modes only")
    parser.add_argument("--labels", action="store_true", help="leave each label out as well")
    parser.add_argument("--adapted", action="store_true", help="the adapted attacks as well")
    parser.add_argument("--json", type=Path, help="write all figures there")
    parser.add_argument("--publish", action="store_true", help="with labels, and into the docs")
    return parser


def _by_group(judged: list[Judged]) -> dict[str, dict[str, Rate]]:
    """Return the figures of each group."""
    return {
        group: figures([one for one in judged if one.recording.group == group])
        for group in dict.fromkeys(one.recording.group for one in judged)
    }


if __name__ == "__main__":
    sys.exit(main())
