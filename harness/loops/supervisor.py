"""Supervisor: one agent judges the work of several, and names the one who goes on with it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final, Unpack

from evals.envelope import OPTIONAL, Identifier
from harness.loops.actor_critic import DEFAULT_CRITIQUE_TEMPLATE, ActorCritic, ActorCriticOptions
from harness.loops.agents.agent import Agent
from harness.loops.critique import Critique
from harness.loops.revise import Malformed
from harness.loops.templates import bullet_lines

DEFAULT_SUPERVISE_TEMPLATE: Final = f"""{DEFAULT_CRITIQUE_TEMPLATE}
If there is an issue, add "worker" to the object: the one of these who is to fix it.
{{workers}}
"""
"""The prompt to the supervisor: a base for one's own. `{workers}` are the names, one a line."""


class Assignment(Critique):
    """A critique with the name of the worker who is to revise the output."""

    worker: Annotated[Identifier | None, OPTIONAL] = None


class Supervisor(ActorCritic):
    """Has the first of `workers` draft, `supervisor` judge, and the worker that it names revise.

    A refusal that names none of them is malformed. All else is as for `ActorCritic`.
    """

    name = "supervisor"
    form = Assignment

    def __init__(
        self, supervisor: Agent, workers: Mapping[str, Agent], **options: Unpack[ActorCriticOptions]
    ) -> None:
        """Prepare the loop; `options` are those of `ActorCritic`.

        Raises:
            ValueError: a name is not an identifier, or there is none; or as for `ActorCritic`.
        """
        names = [Assignment(issues=(), score=0, worker=name).worker for name in workers or ("",)]
        asking = options.get("critique_template") or DEFAULT_SUPERVISE_TEMPLATE
        options["critique_template"] = asking.replace(
            "{workers}", bullet_lines((*map(str, names),))
        )
        super().__init__(actor=workers[str(names[0])], critic=supervisor, **options)
        self._workers = dict(workers)
        self._spec = replace(
            self._spec, reviser=lambda it: self._workers[getattr(it, "worker", "")]
        )

    def declared_workers(self) -> dict[str, Agent]:
        """Return the supervisor, and the workers by their names."""
        return {**self._workers, "supervisor": self._spec.critic}

    def check(self, critique: Critique) -> Malformed | None:
        """Return what is wrong with a refusal: it names nobody who could go on."""
        known = getattr(critique, "worker", None) in self._workers
        return None if known else Malformed(f"worker must be one of {', '.join(self._workers)}")
