"""The tables of a log in PostgreSQL: what this version makes, and how a database differs from it.

Rule 1: the whole definition counts, not the names: columns, keys, triggers, functions, rules,
        policies and inheritance. Each may hide, change or refuse what is appended.
Rule 2: the schema belongs to the log. What is in it and is not the log's is a difference, except
        what an extension has put there.
Rule 3: the triggers fire always, also where a session calls itself a replica.
"""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name
from harness.log.search.query import COLUMN_TYPES
from harness.log.store import Connection
from harness.log.tables import APPEND_ONLY, INDEX, JOURNAL, LOG_TABLES

_TEXT: Final = 'text COLLATE "C" NOT NULL'  # in the order of its bytes, as the log reads it
_INDEXED: Final[Mapping[str, str]] = {
    "INTEGER NOT NULL": "bigint NOT NULL",
    "BIGINT": "bigint",
    "DOUBLE PRECISION": "double precision",
    "TEXT": 'text COLLATE "C"',
}
"""The types of the columns of the index, as PostgreSQL itself writes them."""

_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "log_format": ("format bigint NOT NULL",),
    "inputs": (f"digest {_TEXT}", "body bytea NOT NULL"),
    "records": ("seq bigint NOT NULL", f"hash {_TEXT}", "body bytea NOT NULL"),
    "claims": (f"claim {_TEXT}", "seq bigint NOT NULL"),
    INDEX: tuple(f"{name} {_INDEXED[kind]}" for name, kind in COLUMN_TYPES.items()),
    JOURNAL: (
        f"session {_TEXT}",
        "number bigint NOT NULL",
        "seq bigint",
        'begun text COLLATE "C"',
        "body bytea NOT NULL",
    ),
}
_KEYS: Final[Mapping[str, tuple[str, str]]] = {
    "log_format_key": ("log_format", "PRIMARY KEY (format)"),
    "inputs_key": ("inputs", "PRIMARY KEY (digest)"),
    "records_key": ("records", "PRIMARY KEY (seq)"),
    "records_hash_once": ("records", "UNIQUE (hash)"),
    "claims_key": ("claims", "PRIMARY KEY (claim)"),
    f"{INDEX}_key": (INDEX, "PRIMARY KEY (seq)"),
    f"{JOURNAL}_key": (JOURNAL, "PRIMARY KEY (session, number)"),
}

_REFUSAL: Final = (
    "RAISE EXCEPTION 'the decision log is append-only' USING ERRCODE = 'restrict_violation';"
)
_IN_ORDER: Final[Mapping[str, str]] = {"records": "keep_order", INDEX: "keep_index_order"}
"""The tables whose rows are numbered without a gap, and the function that sees to it."""

_FUNCTIONS: Final[Mapping[str, str]] = {
    "refuse_change": f"BEGIN {_REFUSAL} END",
    **{
        function: (
            f"BEGIN IF NEW.seq IS DISTINCT FROM (SELECT coalesce(max(seq), 0) + 1 FROM {table}) "  # noqa: S608 - our own words
            f"THEN {_REFUSAL} END IF; RETURN NEW; END"
        )
        for table, function in _IN_ORDER.items()
    },
}
# As PostgreSQL itself writes them, so that they can be compared.
_TRIGGERS: Final[Mapping[str, tuple[str, str]]] = {
    **{
        f"{table}_append_only": (
            table,
            f"BEFORE DELETE OR UPDATE OR TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
        )
        for table in APPEND_ONLY
    },
    **{
        f"{table}_in_order": (
            table,
            f"BEFORE INSERT ON {table} FOR EACH ROW EXECUTE FUNCTION {function}()",
        )
        for table, function in _IN_ORDER.items()
    },
}

# Every object that can hide, change or refuse a row: (kind, name, table, definition).
_DEFINITIONS: Final = """
WITH here AS (SELECT oid FROM pg_namespace WHERE nspname = current_schema()),
  ours AS (
    SELECT c.oid, c.relname::text AS name FROM pg_class c
    WHERE c.relnamespace = (SELECT oid FROM here) AND c.relname = ANY(:tables)
  )
SELECT CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'view'
    WHEN 'S' THEN 'sequence' WHEN 'c' THEN 'type' ELSE 'relation' END,
  c.relname::text, '',
  coalesce((
    SELECT string_agg(
      a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || CASE WHEN a.attcollation = 0 THEN '' ELSE ' COLLATE "'
        || (SELECT l.collname FROM pg_collation l WHERE l.oid = a.attcollation) || '"' END
      || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
      || CASE WHEN a.atthasdef OR a.attgenerated <> '' OR a.attidentity <> ''
        THEN ' computed' ELSE '' END,
      ', ' ORDER BY a.attnum)
    FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), '')
  || CASE WHEN c.relpersistence = 'p' THEN '' ELSE ' unlogged' END
  || CASE WHEN c.relrowsecurity OR c.relforcerowsecurity THEN ' by row' ELSE '' END
  || CASE WHEN EXISTS (SELECT FROM pg_inherits h WHERE h.inhrelid = c.oid OR h.inhparent = c.oid)
    THEN ' inherited' ELSE '' END
FROM pg_class c
WHERE c.relnamespace = (SELECT oid FROM here) AND c.relkind NOT IN ('i', 'I', 't')
  AND (c.relname = ANY(:tables)
    OR NOT EXISTS (SELECT FROM pg_depend d
      WHERE d.objid = c.oid AND d.classid = c.tableoid AND d.deptype = 'e'))
UNION ALL
SELECT 'index', i.relname::text, o.name, pg_get_indexdef(i.oid, 0, true)
  || CASE WHEN x.indisvalid AND x.indisready THEN '' ELSE ' invalid' END
FROM pg_index x JOIN ours o ON o.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
UNION ALL
-- NOT NULL is a constraint from PostgreSQL 18 on. It is said of its column.
SELECT 'constraint', k.conname::text, o.name, pg_get_constraintdef(k.oid, true)
FROM pg_constraint k JOIN ours o ON o.oid = k.conrelid WHERE k.contype <> 'n'
UNION ALL
SELECT 'trigger', t.tgname::text, o.name, pg_get_triggerdef(t.oid, true)
  || CASE WHEN t.tgenabled = 'A' THEN '' ELSE ' not always' END
FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid
UNION ALL
SELECT 'rule', r.rulename::text, o.name, '' FROM pg_rewrite r JOIN ours o ON o.oid = r.ev_class
UNION ALL
SELECT 'policy', p.polname::text, o.name, '' FROM pg_policy p JOIN ours o ON o.oid = p.polrelid
UNION ALL
SELECT 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', '',
  l.lanname || CASE WHEN p.prosecdef THEN ' definer' ELSE '' END
  || CASE WHEN p.proconfig = ARRAY['search_path=' || current_setting('search_path')]
    THEN '' ELSE ' elsewhere' END
  || ' ' || p.prosrc
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = (SELECT oid FROM here)
  AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.objid = p.oid AND d.classid = p.tableoid AND d.deptype = 'e')
"""
_NAMES: Final = """
SELECT c.relname::text FROM pg_class c
WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
  AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT EXISTS (SELECT FROM pg_depend d
    WHERE d.objid = c.oid AND d.classid = c.tableoid AND d.deptype = 'e')
"""
_PRIMARY_KEYS: Final = """
SELECT c.relname::text, pg_get_constraintdef(k.oid, true)
FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
  AND k.contype = 'p'
"""


class _Defined(NamedTuple):
    """A table, key, trigger or the like. `table` is that which it belongs to, if any."""

    kind: str
    name: str
    table: str = ""

    def __str__(self) -> str:
        of = f" of {escape_name(self.table)}" if self.kind in ("rule", "policy") else ""
        return f"{self.kind} {escape_name(self.name)}{of}"


def create_tables(connection: Connection) -> None:
    """Make the tables, and forbid to change or remove their rows."""
    for table in LOG_TABLES:
        connection.execute(f"CREATE TABLE {table} ({', '.join(_COLUMNS[table])})")
    for name, (table, key) in _KEYS.items():
        connection.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {key}")
    for name, body in _FUNCTIONS.items():
        connection.execute(
            f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path FROM CURRENT AS $body${body}$body$"
        )
    for name, (table, rest) in _TRIGGERS.items():
        connection.execute(f"CREATE TRIGGER {name} {rest}")
        connection.execute(f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")


def names_of_tables(connection: Connection) -> frozenset[str]:
    """Return the names of the tables and views of the schema."""
    return frozenset(str(name) for (name,) in connection.execute(_NAMES))


def primary_keys(connection: Connection) -> dict[str, bool]:
    """Return of each table whether it has its key."""
    stored = {(table, key) for table, key in connection.execute(_PRIMARY_KEYS)}
    return {table: (table, _key_of(table)) in stored for table in LOG_TABLES}


def stored_definitions(connection: Connection) -> Hashable:
    """Return all that can be a problem, as it is stored."""
    return frozenset(map(tuple, _definitions(connection)))


def definition_problems(connection: Connection) -> tuple[str, ...]:
    """Return how the tables differ from those that this version makes, a phrase each."""
    stored = {
        _Defined(str(kind), str(name), str(table)): str(text)
        for kind, name, table, text in _definitions(connection)
    }
    expected = _expected_schema()
    problems = [f"{defined} is unexpected" for defined in sorted(stored.keys() - expected.keys())]
    problems += [f"{defined} is missing" for defined in sorted(expected.keys() - stored.keys())]
    return tuple(
        problems
        + [
            f"{defined} was changed"
            for defined in sorted(expected.keys() & stored.keys())
            if stored[defined] != expected[defined]
        ]
    )


def _definitions(connection: Connection) -> Iterable[Any]:
    return connection.execute(_DEFINITIONS, {"tables": [*_COLUMNS]})


def _expected_schema() -> dict[_Defined, str]:
    found = {_Defined("table", table): ", ".join(_COLUMNS[table]) for table in LOG_TABLES}
    for name, (table, key) in _KEYS.items():
        columns = key[key.index("(") :]
        index = f"CREATE UNIQUE INDEX {name} ON {table} USING btree {columns}"
        found |= {_Defined("constraint", name, table): key, _Defined("index", name, table): index}
    for name, (table, rest) in _TRIGGERS.items():
        found[_Defined("trigger", name, table)] = f"CREATE TRIGGER {name} {rest}"
    return found | {_Defined("function", f"{f}()"): f"plpgsql {b}" for f, b in _FUNCTIONS.items()}


def _key_of(table: str) -> str:
    return next(key for owner, key in _KEYS.values() if owner == table)
