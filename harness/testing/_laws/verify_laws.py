"""All laws of `verify`, in the order in which they are checked; a docstring states its law."""

from collections.abc import Callable
from typing import Final

from harness.testing._laws import (
    answer_laws,
    authority_laws,
    batch_laws,
    effect_laws,
    evidence_laws,
    name_laws,
    need_laws,
    outsider_laws,
    plan_laws,
    provenance_laws,
)
from harness.testing._laws.law_context import LawContext

Law = Callable[[LawContext], None]

OF_ANY: Final[tuple[Law, ...]] = (
    answer_laws.totality,
    answer_laws.any_values_get_an_answer,
    answer_laws.determinism,
    answer_laws.json_round_trip,
    answer_laws.the_order_of_keys_means_nothing,
    answer_laws.violations_come_in_the_order_of_checks,
    answer_laws.violations_name_real_places,
    answer_laws.reasons_are_safe_to_print,
    authority_laws.safety_mode_is_monotone,
    authority_laws.ceiling_is_monotone,
    authority_laws.read_only_refuses_every_write,
    authority_laws.less_evidence_never_helps,
    authority_laws.fewer_capabilities_never_help,
    authority_laws.less_budget_never_helps,
    authority_laws.no_budget_is_the_default_budget,
    authority_laws.no_clock_never_helps,
    authority_laws.another_plans_approval_changes_nothing,
    authority_laws.approval_lifts_only_its_need,
    authority_laws.spent_calls_never_help,
    need_laws.stricter_demands_never_help,
    need_laws.stricter_bindings_never_help,
    need_laws.a_group_is_as_strict_as_its_bindings,
    need_laws.confining_a_class_never_helps,
    name_laws.unrelated_entries_change_nothing,
    name_laws.manifest_order_is_irrelevant,
    name_laws.renaming_changes_nothing,
    plan_laws.appended_steps_keep_the_violations_of_steps,
    plan_laws.an_idle_step_cures_nothing,
    plan_laws.claims_only_add,
    plan_laws.a_named_trace_only_adds,
    plan_laws.omitted_outputs_only_add,
    batch_laws.the_order_of_calls_does_not_matter,
    batch_laws.calls_never_back_each_other,
    evidence_laws.a_demand_is_met_by_what_content_says,
    evidence_laws.a_binding_looks_where_it_points,
    evidence_laws.a_group_needs_one_item,
    effect_laws.confined_content_is_not_sent,
    effect_laws.a_repeat_over_turns_asks,
    effect_laws.an_approval_holds_in_its_context,
    effect_laws.a_long_refusal_is_capped,
)
"""The laws of any proposal."""

OF_SOURCED: Final[tuple[Law, ...]] = (
    provenance_laws.untrusted_text_never_allows,
    provenance_laws.less_authority_never_widens,
    provenance_laws.fewer_items_never_widen,
    provenance_laws.open_softens_and_never_allows,
    outsider_laws.outsiders_name_no_target,
)
"""The laws of provenance, for specs that judge it."""

OF_PASSING: Final[tuple[Law, ...]] = (plan_laws.valid_plans_pass, plan_laws.near_misses_are_refused)
"""The laws of plans that pass or nearly pass, for inputs under which a plan can."""
