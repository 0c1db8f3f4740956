"""Advice in words, for a terminal."""

from typing import assert_never

from critic import Advice, Repair
from critic.repairs.repair_kinds import (
    AllowTool,
    AskApproval,
    BackArgument,
    CorrectArgs,
    DeclareOutput,
    DropClaim,
    DropDependency,
    DropId,
    DropStep,
    GrantBudget,
    ObtainEvidence,
    OthersRepair,
    PinEvidence,
    PlanRepair,
    ProduceOutput,
    SaveTokens,
    SetTrace,
    Shorten,
    StepRepair,
    TakeValue,
    UnpinEvidence,
)
from harness.errors import escape_text


def describe_advice(advice: Advice) -> str:
    """Return a line for each repair, each after a line break."""
    alone = advice.disposition == "replan"
    head = "fix" if alone else "a new plan alone cannot fix it"
    return "".join(f"\n  {head}: {_describe(repair)}" for repair in advice.repairs)


def _describe(repair: Repair) -> str:
    match repair:
        case AskApproval() | ObtainEvidence() | AllowTool() | GrantBudget():
            return f"{repair.by}: {_for_others(repair)}"
        case DeclareOutput() | ProduceOutput() | SetTrace() | Shorten() | SaveTokens():
            return _of_plan(repair)
        case _:
            place = "" if repair.step is None else f"step {repair.step}: "
            return place + _of_step(repair)


def _of_step(repair: StepRepair) -> str:
    match repair:
        case DropStep():
            text = "drop it"
        case CorrectArgs():
            text = f"give other args at {escape_text(repair.path)}"
        case TakeValue():
            places = [f"{one.at or 'the output'} of step {one.step}" for one in repair.candidates]
            sources = escape_text(" or ".join(places))
            text = f"take {escape_text(repair.path)} from {sources}"
        case PinEvidence():
            text = f"pin {repair.classification}: {' or '.join(repair.candidates)}"
        case BackArgument():
            refs = " or ".join(repair.candidates)
            text = f"back argument {escape_text(repair.argument)}: pin {refs}"
        case UnpinEvidence():
            text = f"do not pin {repair.ref}"
        case DropClaim():
            text = f"do not require evidence class {repair.classification}"
        case DropId():
            text = "give it a different id, or none"
        case DropDependency():
            text = f"remove the dependency on {repair.dependency}"
        case _:
            assert_never(repair)
    return text


def _of_plan(repair: PlanRepair) -> str:
    match repair:
        case DeclareOutput():
            return f"declare output {repair.output}"
        case ProduceOutput():
            tools = [f"{tool.adapter_id}.{tool.capability_id}" for tool in repair.candidates]
            step = f"call {' or '.join(tools)}" if tools else "add a reason step"
            return f"{step} to produce {repair.output}"
        case SetTrace():
            return f"set trace_id to {repair.trace_id}, or leave it out"
        case Shorten():
            return f"drop {repair.steps} more {'step' if repair.steps == 1 else 'steps'}"
        case SaveTokens():
            steps = ", ".join(map(str, repair.steps))
            return f"plan for {repair.tokens} fewer tokens, for example without steps {steps}"
        case _:
            assert_never(repair)


def _for_others(repair: OthersRepair) -> str:
    match repair:
        case AskApproval():
            steps = ", ".join(map(str, repair.steps))
            return f"approve this plan for steps {steps} (mode {repair.tier})"
        case ObtainEvidence():
            where = "" if repair.step is None else f" for step {repair.step}"
            what = f"fresh evidence of class {' or '.join(repair.classifications)}{where}"
            return f"obtain {what}" + (f" whose content {repair.content}" if repair.content else "")
        case AllowTool():
            tools = [f"{tool.adapter_id}.{tool.capability_id}" for tool in repair.candidates]
            return f"allow {' or '.join(tools)} to produce {repair.output}"
        case GrantBudget():
            return f"grant {repair.by_how_much} more {repair.of}"
        case _:
            assert_never(repair)
