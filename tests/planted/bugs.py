"""All planted bugs, in the order of the packages."""

from typing import Final

from tests.planted.bug import Bug
from tests.planted.critic_bugs import CRITIC_BUGS
from tests.planted.evals_bugs import EVALS_BUGS
from tests.planted.facts_bugs import FACTS_BUGS
from tests.planted.harness_bugs import HARNESS_BUGS

BUGS: Final[tuple[Bug, ...]] = CRITIC_BUGS + FACTS_BUGS + EVALS_BUGS + HARNESS_BUGS
