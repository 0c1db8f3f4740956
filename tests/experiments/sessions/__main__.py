"""What the guard stops of recorded attacks: `python -m tests.experiments.sessions`

Takes the recordings beside the project through the real guard and prints, for each group and in
all: attacks refused, asked about and missed, good runs refused and asked; with intervals; and the
commonest reasons. In both modes, headless, without scope, and with each label left out in turn.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.experiments.sessions import recordings
from tests.experiments.sessions.figures import Rate, commonest, figures, wire
from tests.experiments.sessions.replaying import Judged, judge_all


class Setting(NamedTuple):
    """One way to guard all recordings."""

    provenance: str = "closed"
    headless: bool = False
    with_scope: bool = True
    without: str | None = None

    @property
    def name(self) -> str:
        """Return the setting in words."""
        parts = [self.provenance]
        parts += ["headless"] if self.headless else []
        parts += [] if self.with_scope else ["without scope"]
        parts += [f"without {self.without}"] if self.without else []
        return ", ".join(parts)


SETTINGS = (
    Setting(),
    Setting("open"),
    Setting(headless=True),
    Setting(with_scope=False),
    Setting("open", with_scope=False),
)


def judged_in(data: Path, setting: Setting, only: list[str]) -> list[Judged]:
    """Take all recordings through guards in this setting."""
    names = only or recordings.groups(data)
    policies = {
        name: recordings.policy_of(
            data,
            name,
            provenance=setting.provenance,
            headless=setting.headless,
            without=setting.without,
        )
        for name in names
    }
    return judge_all(
        recordings.recordings(data, names),
        policies,
        recordings.intended(data),
        with_scope=setting.with_scope,
    )


def _show(title: str, found: dict[str, Rate]) -> None:
    sys.stdout.write(f"{title}\n")
    for name, one in found.items():
        sys.stdout.write(f"  {name:16} {one.text()}\n")
    sys.stdout.flush()


def _show_reasons(judged: list[Judged]) -> None:
    for is_attacked, outcome in ((True, "missed"), (False, "refused"), (False, "asked")):
        runs = "attacks" if is_attacked else "good runs"
        sys.stdout.write(f"  commonest of {runs} {outcome}:\n")
        for reason, count in commonest(judged, is_attacked=is_attacked, outcome=outcome):
            sys.stdout.write(f"    {count:4} {reason}\n")


def main(argv: list[str] | None = None) -> int:
    """Run the experiment and return 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.experiments.sessions")
    parser.add_argument("--data", type=Path, default=recordings.DATA)
    parser.add_argument("--group", action="append", default=[], help="only this group")
    parser.add_argument("--quick", action="store_true", help="both modes only")
    parser.add_argument("--labels", action="store_true", help="leave each label out as well")
    parser.add_argument("--json", type=Path, help="write all figures there")
    args = parser.parse_args(argv)
    kept: dict[str, Any] = {}
    settings = [*SETTINGS[: 2 if args.quick else None]]
    settings += [Setting(without=one) for one in recordings.labels(args.data) if args.labels]
    for setting in settings:
        started = time.process_time()
        judged = judged_in(args.data, setting, args.group)
        found = figures(judged)
        _show(f"{setting.name} ({time.process_time() - started:.0f} s CPU)", found)
        kept[setting.name] = {"all": wire(found)}
        for group in dict.fromkeys(one.recording.group for one in judged):
            of_group = figures([one for one in judged if one.recording.group == group])
            kept[setting.name][group] = wire(of_group)
            if setting.without is None:
                _show(f" {group}", of_group)
        if setting.without is None:
            _show_reasons(judged)
    if args.json:
        args.json.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
