"""The section `[shell]` of a policy: the table of programs that is shipped, and a team's entries.

Rule 1: a policy without the section loads neither this module nor the table.
Rule 2: a program, or a subcommand of one, has one entry. A team adds entries and changes none: a
        table of a name means the same in every policy.
Rule 3: the digest of the table is in that of the policy, so a record pins what was known.
"""

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from critic.command.command_table import CommandTable, ProgramEntry
from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Array, Envelope
from evals.escaping import escape_name
from evals.kinds import ApprovalMode
from harness.canonical import canonical_json, digest

ShippedTable = Literal["common-1"]
"""The tables that are shipped, by name."""

EffectName = Literal[
    "read",
    "list",
    "read_outside",
    "read_secret",
    "write",
    "write_outside",
    "commit",
    "delete",
    "delete_made",
    "discard",
    "fetch",
    "send",
    "run.test",
    "run.build",
    "run.lint",
    "run.format",
    "run.start",
    "run.script",
    "install",
    "system",
    "unknown",
]
"""The effects that a policy gives tiers to."""

_FILES: Final[dict[ShippedTable, str]] = {"common-1": "commands.toml"}


@cache
def shipped_table(name: ShippedTable) -> CommandTable:
    """Return a table that is shipped."""
    text = Path(__file__).with_name(_FILES[name]).read_text("utf-8")
    return CommandTable.model_validate(tomllib.loads(text))


@cache
def _shipped_digest(name: ShippedTable) -> str:
    return digest(shipped_table(name))


class ShellSettings(Envelope):
    """What is known of shell commands: a shipped table by its name, and entries of the team.

    `tiers` changes the tier of effects; `write_protected` has none, and stays refused.
    """

    table: ShippedTable
    tiers: Annotated[dict[EffectName, ApprovalMode] | None, OPTIONAL, MEMBERS] = None
    command: Annotated[tuple[ProgramEntry, ...], ARRAY] = ()

    if TYPE_CHECKING:  # what the constructor takes: see rule 4 of `evals.envelope`

        def __init__(
            self,
            *,
            table: ShippedTable,
            tiers: Mapping[EffectName, ApprovalMode] | None = None,
            command: Array[ProgramEntry] = ...,
        ) -> None: ...

    @cached_property
    def programs(self) -> CommandTable:
        """Return the whole table: the shipped entries, then those of the team."""
        shipped = shipped_table(self.table)
        if not self.command:
            return shipped
        return CommandTable(
            command=(*shipped.command, *self.command),
            variables=shipped.variables,
            places=shipped.places,
        )

    @cached_property
    def source(self) -> dict[str, Any]:
        """Return what tells the whole table from others, as JSON: see `table_from`."""
        rows = {"command": [row.wire() for row in self.command]} if self.command else {}
        return {"table": self.table, "table_digest": _shipped_digest(self.table), **rows}

    def with_table(self, policy_digest: str) -> str:
        """Return the digest of a policy with the content of the table that it names."""
        pair = {"policy": policy_digest, "table": _shipped_digest(self.table)}
        return sha256(canonical_json(pair)).hexdigest()

    @classmethod
    def table_from(cls, source: Mapping[str, Any]) -> CommandTable | None:
        """Return the table that a source tells; None where it is not here any more.

        Raises:
            pydantic.ValidationError: it does not tell a table.
        """
        names = {name: source[name] for name in ("table", "command") if name in source}
        settings = cls.model_validate(names)
        if source.get("table_digest") != _shipped_digest(settings.table):
            return None
        return settings.programs

    @model_validator(mode="after")
    def _require_one_entry(self) -> Self:
        known = {key for entry in shipped_table(self.table).command for key in entry.keys}
        seen = set[tuple[str, str]]()
        for key in (key for entry in self.command for key in entry.keys):
            if key in known or key in seen:
                where = f"in the table {self.table}" if key in known else "here twice"
                raise PydanticCustomError(
                    "duplicate_entry",
                    "command: {name} is {where}: keep one",
                    {"name": escape_name(" ".join(key).strip()), "where": where},
                )
            seen.add(key)
        return self
