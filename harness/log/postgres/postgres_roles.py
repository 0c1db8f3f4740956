"""Roles for a log in PostgreSQL: who appends cannot change, and who audits cannot append."""

from typing import Final

from harness.errors import UsageError
from harness.log.log_places import is_url, store_at
from harness.log.sql import DEFAULT_TIMEOUT, SqlDecisionLog
from harness.log.tables import FORMATS, JOURNAL, LOG_TABLES

_NAMES: Final = """
SELECT quote_ident(current_schema()), quote_ident(current_database()),
  quote_ident(:writer::text), quote_ident(:auditor::text),
  EXISTS (SELECT FROM pg_roles WHERE rolname = :writer::text),
  EXISTS (SELECT FROM pg_roles WHERE rolname = :auditor::text)
"""


def role_grants(place: str, writer: str, auditor: str) -> str:
    """Return the statements that give two roles their rights on a log, which is made if missing.

    Nothing is granted here: who owns the log carries the statements out.

    Raises:
        UsageError: the log is a file, or both roles are one.
        LogError: the log cannot be opened.
    """
    if not is_url(place):
        raise UsageError("a file has no roles: give the file and its folder the rights instead")
    if writer == auditor:
        raise UsageError("who appends and who audits are two roles: give them two names")
    SqlDecisionLog.open(place).close()
    store = store_at(place, DEFAULT_TIMEOUT)
    with store.errors("read"), store.transaction("ro") as connection:
        given = {"writer": writer, "auditor": auditor}
        ((schema, database, writes, audits, *known),) = connection.execute(_NAMES, given)
    store.close()
    roles = zip((writes, audits), known, strict=True)
    tables = [f"{schema}.{table}" for table in LOG_TABLES]
    appended = [f"{schema}.{table}" for table in LOG_TABLES if table != FORMATS]
    both, every = f"{writes}, {audits}", ", ".join(tables)
    lines = [
        f"-- The log at {store.where}: run this as its owner, who alone can change it.",
        *(f"CREATE ROLE {role} NOLOGIN;" for role, exists in roles if not exists),
        f"REVOKE CREATE ON SCHEMA {schema} FROM PUBLIC, {both};",
        f"REVOKE ALL ON TABLE {every} FROM PUBLIC, {both};",
        f"GRANT CONNECT ON DATABASE {database} TO {both};",
        f"GRANT USAGE ON SCHEMA {schema} TO {both};",
        f"GRANT SELECT ON TABLE {every} TO {both};",
        f"GRANT INSERT ON TABLE {', '.join(appended)} TO {writes};",
        f"GRANT DELETE ON TABLE {schema}.{JOURNAL} TO {writes};",
    ]
    return "\n".join(lines) + "\n"
