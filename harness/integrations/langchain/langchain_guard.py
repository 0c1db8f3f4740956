"""Make guarded agents and graphs of LangChain: the public functions."""

from collections.abc import Sequence
from typing import Any

from harness.guard import Guard
from harness.integrations.seam.principals import NameSource, Principals


def guarded_agent(
    model: Any,
    tools: Sequence[Any] = (),
    *,
    guard: Guard,
    middleware: Sequence[Any] = (),
    scope: Sequence[str] | None = None,
    user: NameSource = None,
    tenant: NameSource = None,
    nested: bool = False,
    **options: Any,
) -> Any:
    """Return an agent of `create_agent` that is guarded: a compiled graph of LangGraph.

    Args:
        model: as `create_agent` takes it, like `tools`, `middleware` and all `options`.
        guard: rules on its calls. A sub-agent with the same guard acts in the session of the call
            that runs it.
        scope: the tools that the requests are for, if known.
        user, tenant: whom a thread is for: identifiers, or functions of the `Runtime` of a run. The
            caller authenticates them.
        nested: it is only ever a sub-agent: it ends where it runs outside of a guarded call, as in
            a thread that a tool starts without its context.

    Raises:
        ValueError: one of the tools is one that the provider of the model runs.
        UnknownTool, PolicyError: the policy lacks one of the tools, or a name of the scope.
    """
    from langchain.agents import create_agent  # noqa: PLC0415 - a second

    if any(isinstance(one, dict) for one in tools):
        raise ValueError("a tool that the provider runs cannot be guarded: leave it out")
    if not guard.is_shadow:
        guard.check_tools(map(_name_of_tool, tools))
    prompt = options.get("system_prompt")
    system = None if prompt is None else str(getattr(prompt, "text", prompt))
    known: dict[str, Any] = {"system": system, "scope": scope, "user": user, "tenant": tenant}
    listed = [*middleware, *guard_middleware(guard, nested=nested, **known)]
    return guarded_graph(create_agent(model, list(tools), middleware=listed, **options), guard)


def guard_middleware(
    guard: Guard,
    *,
    system: str | None = None,
    scope: Sequence[str] | None = None,
    user: NameSource = None,
    tenant: NameSource = None,
    nested: bool = False,
) -> list[Any]:
    """Return the middleware that guards an agent which is built elsewhere: list it last.

    Args:
        system: the system prompt of the agent.
        scope: the tools that the requests are for, if known.
        user, tenant, nested: as `guarded_agent` takes them.

    Raises:
        PolicyError: the policy lacks a name of the scope.
    """
    from harness.integrations.langchain.langchain_hooks import (  # noqa: PLC0415 - a second
        CriticApproval,
        CriticGuard,
    )
    from harness.integrations.langchain.langchain_sessions import Sessions  # noqa: PLC0415 - as above

    guard.check_scope(scope)
    sessions = Sessions(guard, system, scope, Principals(user, tenant), nested=nested)
    return [CriticApproval(sessions), CriticGuard(sessions)]


def guarded_graph(graph: Any, guard: Guard) -> Any:
    """Return a graph in which no tool starts but in the calls of agents that the guard holds."""
    from harness.integrations.langchain.langchain_gate import ToolGate  # noqa: PLC0415 - a second

    return graph.with_config(callbacks=[ToolGate(guard)])


def _name_of_tool(tool: Any) -> str:
    return str(getattr(tool, "name", None) or tool.__name__)
