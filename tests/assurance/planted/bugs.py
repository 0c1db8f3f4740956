"""All planted bugs, in the order of the packages."""

from typing import Final

from tests.assurance.planted.bug import Bug
from tests.assurance.planted.critic_bugs import CRITIC_BUGS
from tests.assurance.planted.evals_bugs import EVALS_BUGS
from tests.assurance.planted.facts_bugs import FACTS_BUGS
from tests.assurance.planted.harness_bugs import HARNESS_BUGS

BUGS: Final[tuple[Bug, ...]] = CRITIC_BUGS + FACTS_BUGS + EVALS_BUGS + HARNESS_BUGS
