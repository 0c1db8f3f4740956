"""Where the project is on disk."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
FIXTURES: Final = ROOT / "fixtures"
CASES: Final = FIXTURES / "cases"
DETAILS: Final = ROOT / "build" / "assurance"
"""What runs of the assurance leave behind that is not for the repository."""
