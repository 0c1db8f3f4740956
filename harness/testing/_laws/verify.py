"""All laws of `verify`, in the order in which they are checked; a docstring states its law."""

from collections.abc import Callable
from typing import Final

from harness.testing._laws import (
    answers,
    authority,
    batches,
    effects,
    evidence,
    names,
    needs,
    plans,
    provenance,
)
from harness.testing._laws.context import LawContext

Law = Callable[[LawContext], None]

OF_ANY: Final[tuple[Law, ...]] = (
    answers.totality,
    answers.any_values_get_an_answer,
    answers.determinism,
    answers.json_round_trip,
    answers.the_order_of_keys_means_nothing,
    answers.violations_come_in_the_order_of_checks,
    answers.violations_name_real_places,
    answers.reasons_are_safe_to_print,
    authority.safety_mode_is_monotone,
    authority.ceiling_is_monotone,
    authority.read_only_refuses_every_write,
    authority.less_evidence_never_helps,
    authority.fewer_capabilities_never_help,
    authority.less_budget_never_helps,
    authority.no_budget_is_the_default_budget,
    authority.no_clock_never_helps,
    authority.another_plans_approval_changes_nothing,
    authority.approval_lifts_only_its_need,
    authority.spent_calls_never_help,
    needs.stricter_demands_never_help,
    needs.stricter_bindings_never_help,
    needs.a_group_is_as_strict_as_its_bindings,
    needs.confining_a_class_never_helps,
    names.unrelated_entries_change_nothing,
    names.manifest_order_is_irrelevant,
    names.renaming_changes_nothing,
    plans.appended_steps_keep_the_violations_of_steps,
    plans.an_idle_step_cures_nothing,
    plans.claims_only_add,
    plans.a_named_trace_only_adds,
    plans.omitted_outputs_only_add,
    batches.the_order_of_calls_does_not_matter,
    batches.calls_never_back_each_other,
    evidence.a_demand_is_met_by_what_content_says,
    evidence.a_binding_looks_where_it_points,
    evidence.a_group_needs_one_item,
    effects.confined_content_is_not_sent,
    effects.a_repeat_over_turns_asks,
    effects.an_approval_holds_in_its_context,
    effects.a_long_refusal_is_capped,
)
"""The laws of any proposal."""

OF_SOURCED: Final[tuple[Law, ...]] = (
    provenance.untrusted_text_never_allows,
    provenance.less_authority_never_widens,
    provenance.fewer_items_never_widen,
    provenance.open_softens_and_never_allows,
)
"""The laws of provenance, for specs that judge it."""

OF_PASSING: Final[tuple[Law, ...]] = (plans.valid_plans_pass, plans.near_misses_are_refused)
"""The laws of plans that pass or nearly pass, for inputs under which a plan can."""
