"""Where the project is on disk."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FIXTURES: Final = ROOT / "fixtures"
CASES: Final = FIXTURES / "cases"
