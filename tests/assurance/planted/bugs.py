"""All planted bugs, in the order of the packages."""

from typing import Final

from tests.assurance.planted.attack_bugs import ATTACK_BUGS
from tests.assurance.planted.audit_bugs import AUDIT_BUGS
from tests.assurance.planted.authority_bugs import AUTHORITY_BUGS
from tests.assurance.planted.bug import Bug
from tests.assurance.planted.command_bugs import COMMAND_BUGS
from tests.assurance.planted.critic_bugs import CRITIC_BUGS
from tests.assurance.planted.demand_bugs import DEMAND_BUGS
from tests.assurance.planted.direction_bugs import DIRECTION_BUGS
from tests.assurance.planted.door_bugs import DOOR_BUGS
from tests.assurance.planted.evals_bugs import EVALS_BUGS
from tests.assurance.planted.facts_bugs import FACTS_BUGS
from tests.assurance.planted.file_bugs import FILE_BUGS
from tests.assurance.planted.harness_bugs import HARNESS_BUGS
from tests.assurance.planted.hook_bugs import HOOK_BUGS
from tests.assurance.planted.importer_bugs import IMPORTER_BUGS
from tests.assurance.planted.integration_bugs import INTEGRATION_BUGS
from tests.assurance.planted.journal_bugs import JOURNAL_BUGS
from tests.assurance.planted.late_bugs import LATE_BUGS
from tests.assurance.planted.later_bugs import LATER_BUGS
from tests.assurance.planted.life_bugs import LIFE_BUGS
from tests.assurance.planted.link_bugs import LINK_BUGS
from tests.assurance.planted.log_bugs import LOG_BUGS
from tests.assurance.planted.member_bugs import MEMBER_BUGS
from tests.assurance.planted.near_bugs import NEAR_BUGS
from tests.assurance.planted.pair_bugs import PAIR_BUGS
from tests.assurance.planted.place_bugs import PLACE_BUGS
from tests.assurance.planted.policy_bugs import POLICY_BUGS
from tests.assurance.planted.provenance_bugs import PROVENANCE_BUGS
from tests.assurance.planted.record_bugs import RECORD_BUGS
from tests.assurance.planted.replay_bugs import REPLAY_BUGS
from tests.assurance.planted.rules_bugs import RULES_BUGS
from tests.assurance.planted.seam_bugs import SEAM_BUGS
from tests.assurance.planted.serve_bugs import SERVE_BUGS
from tests.assurance.planted.several_bugs import SEVERAL_BUGS
from tests.assurance.planted.shell_bugs import SHELL_BUGS
from tests.assurance.planted.sighting_bugs import SIGHTING_BUGS
from tests.assurance.planted.step_bugs import STEP_BUGS
from tests.assurance.planted.stream_bugs import STREAM_BUGS
from tests.assurance.planted.taken_bugs import TAKEN_BUGS
from tests.assurance.planted.told_bugs import TOLD_BUGS
from tests.assurance.planted.tools_bugs import TOOLS_BUGS
from tests.assurance.planted.what_if_bugs import WHAT_IF_BUGS
from tests.assurance.planted.words_bugs import WORDS_BUGS
from tests.assurance.planted.worth_bugs import WORTH_BUGS

BUGS: Final[tuple[Bug, ...]] = (
    *CRITIC_BUGS,
    *DEMAND_BUGS,
    *RULES_BUGS,
    *PROVENANCE_BUGS,
    *SIGHTING_BUGS,
    *WORTH_BUGS,
    *FACTS_BUGS,
    *EVALS_BUGS,
    *HARNESS_BUGS,
    *DIRECTION_BUGS,
    *MEMBER_BUGS,
    *NEAR_BUGS,
    *PAIR_BUGS,
    *SEVERAL_BUGS,
    *SEAM_BUGS,
    *STREAM_BUGS,
    *STEP_BUGS,
    *JOURNAL_BUGS,
    *LIFE_BUGS,
    *TOLD_BUGS,
    *LATE_BUGS,
    *LATER_BUGS,
    *PLACE_BUGS,
    *COMMAND_BUGS,
    *SHELL_BUGS,
    *TOOLS_BUGS,
    *WORDS_BUGS,
    *ATTACK_BUGS,
    *AUTHORITY_BUGS,
    *SERVE_BUGS,
    *DOOR_BUGS,
    *HOOK_BUGS,
    *AUDIT_BUGS,
    *TAKEN_BUGS,
    *FILE_BUGS,
    *RECORD_BUGS,
    *LINK_BUGS,
    *LOG_BUGS,
    *REPLAY_BUGS,
    *WHAT_IF_BUGS,
    *POLICY_BUGS,
    *IMPORTER_BUGS,
    *INTEGRATION_BUGS,
)
