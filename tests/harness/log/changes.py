"""Changes to the tables of a log, in both kinds of database, and how a log names them."""

from collections.abc import Mapping
from typing import Final

_DELETING: Final = (
    "DROP TRIGGER records_no_delete",
    "DROP TRIGGER inputs_once",
    "CREATE TRIGGER records_no_delete BEFORE DELETE ON records BEGIN SELECT 1; END",
    "CREATE TRIGGER inputs_once AFTER INSERT ON records "
    "BEGIN DELETE FROM records WHERE seq = NEW.seq; END",
)
"""Triggers of the expected names that delete what is appended."""

_Changes = Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]

CHANGES_IN_SQLITE: Final[_Changes] = {
    "table": (("CREATE TABLE extra (a)",), ("table extra is unexpected",)),
    "view": (("CREATE VIEW extra AS SELECT 1",), ("view extra is unexpected",)),
    "index": (("CREATE INDEX extra ON records (body)",), ("index extra is unexpected",)),
    "trigger": (
        ("CREATE TRIGGER extra AFTER INSERT ON inputs BEGIN SELECT 1; END",),
        ("trigger extra is unexpected",),
    ),
    "no trigger": (("DROP TRIGGER records_in_order",), ("trigger records_in_order is missing",)),
    "column": (("ALTER TABLE records ADD COLUMN note TEXT",), ("table records was changed",)),
    "generated column": (
        ("ALTER TABLE inputs ADD COLUMN long AS (zeroblob(1000000000))",),
        ("table inputs was changed",),
    ),
    "mark": (
        ("PRAGMA application_id = 0",),
        ("the mark of a decision log in the header of the file was changed",),
    ),
    "deleting triggers": (
        _DELETING,
        ("trigger inputs_once was changed", "trigger records_no_delete was changed"),
    ),
    "hostile name": (
        ('CREATE TABLE "\x1b[31m<b>" (a)',),
        ("table \\u001b[31m\\u003cb\\u003e is unexpected",),
    ),
}

_NOTHING: Final = (
    "CREATE OR REPLACE FUNCTION {0}() RETURNS trigger LANGUAGE plpgsql "
    "SET search_path FROM CURRENT AS $$BEGIN RETURN NEW; END$$"
)
_LATER: Final = (
    "CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN {0} RETURN NEW; END$$"
)
_AFTER: Final = "CREATE TRIGGER extra AFTER INSERT ON {0} FOR EACH ROW EXECUTE FUNCTION later()"
CHANGES_IN_POSTGRES: Final[_Changes] = {
    "table": (("CREATE TABLE extra (a int)",), ("table extra is unexpected",)),
    "view": (("CREATE VIEW extra AS SELECT 1",), ("view extra is unexpected",)),
    "sequence": (("CREATE SEQUENCE extra",), ("sequence extra is unexpected",)),
    "index": (("CREATE INDEX extra ON records (body)",), ("index extra is unexpected",)),
    "trigger": (
        (_AFTER.format("inputs").replace("later", "refuse_change"),),
        ("trigger extra is unexpected",),
    ),
    "no trigger": (
        ("DROP TRIGGER records_in_order ON records",),
        ("trigger records_in_order is missing",),
    ),
    "disabled": (
        ("ALTER TABLE inputs DISABLE TRIGGER USER",),
        ("trigger inputs_append_only was changed",),
    ),
    "not of replicas": (
        ("ALTER TABLE inputs ENABLE TRIGGER inputs_append_only",),
        ("trigger inputs_append_only was changed",),
    ),
    "function": ((_NOTHING.format("keep_order"),), ("function keep_order() was changed",)),
    "function of another schema": (
        ("ALTER FUNCTION keep_order() SET search_path = public",),
        ("function keep_order() was changed",),
    ),
    "overloaded function": (
        ("CREATE FUNCTION max(x bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 7'",),
        ("function max(x bigint) is unexpected",),
    ),
    "rule": (
        ("CREATE RULE extra AS ON INSERT TO records DO INSTEAD NOTHING",),
        ("rule extra of records is unexpected",),
    ),
    "policy": (
        ("CREATE POLICY extra ON records USING (seq > 1)",),
        ("policy extra of records is unexpected",),
    ),
    "rows hidden": (
        ("ALTER TABLE records ENABLE ROW LEVEL SECURITY",),
        ("table records was changed",),
    ),
    "unlogged": (("ALTER TABLE claims SET UNLOGGED",), ("table claims was changed",)),
    "inherited": (
        (
            "CREATE SCHEMA IF NOT EXISTS elsewhere",
            "DROP TABLE IF EXISTS elsewhere.more",
            "CREATE TABLE elsewhere.more () INHERITS (records)",
        ),
        ("table records was changed",),
    ),
    "constraint": (
        ("ALTER TABLE records ADD CONSTRAINT extra CHECK (seq < 99)",),
        ("constraint extra is unexpected",),
    ),
    "column": (("ALTER TABLE records ADD COLUMN note text",), ("table records was changed",)),
    "default": (
        ("ALTER TABLE records ALTER COLUMN body SET DEFAULT ''",),
        ("table records was changed",),
    ),
    "null": (
        ("ALTER TABLE records ALTER COLUMN body DROP NOT NULL",),
        ("table records was changed",),
    ),
    "another order": (
        ('ALTER TABLE inputs ALTER COLUMN digest TYPE text COLLATE "POSIX"',),
        ("table inputs was changed",),
    ),
    "hostile name": (
        ('CREATE TABLE "\x1b[31m<b>" (a int)',),
        ("table \\u001b[31m\\u003cb\\u003e is unexpected",),
    ),
}

LOSSES_IN_SQLITE: Final[dict[str, tuple[str, ...]]] = {
    "a record that is deleted": _DELETING,
    "a record that is altered": (
        "DROP TRIGGER records_no_update",
        "CREATE TRIGGER extra AFTER INSERT ON records "
        "BEGIN UPDATE records SET body = x'00' WHERE seq = NEW.seq; END",
    ),
    "a hash that is altered": (
        "DROP TRIGGER records_no_update",
        "CREATE TRIGGER extra AFTER INSERT ON records "
        "BEGIN UPDATE records SET hash = 'x' WHERE seq = NEW.seq; END",
    ),
    "a record that is added": (
        "DROP TRIGGER records_in_order",
        "CREATE TRIGGER extra AFTER INSERT ON records "
        "BEGIN INSERT INTO records VALUES (NEW.seq + 1, 'x', x'00'); END",
    ),
    "an input that is deleted": (
        "DROP TRIGGER inputs_no_delete",
        "CREATE TRIGGER extra AFTER INSERT ON records BEGIN DELETE FROM inputs; END",
    ),
    "an input that is altered": (
        "DROP TRIGGER inputs_no_update",
        "CREATE TRIGGER extra AFTER INSERT ON inputs "
        "BEGIN UPDATE inputs SET body = x'00' WHERE digest = NEW.digest; END",
    ),
}


_OFF: Final = "ALTER TABLE {0} DISABLE TRIGGER USER"
LOSSES_IN_POSTGRES: Final[dict[str, tuple[str, ...]]] = {
    name: (
        _OFF.format("records"),
        _OFF.format("inputs"),
        _LATER.format(does),
        _AFTER.format("inputs" if name == "an input that is altered" else "records"),
    )
    for name, does in {
        "a record that is deleted": "DELETE FROM records WHERE seq = NEW.seq;",
        "a record that is altered": "UPDATE records SET body = '' WHERE seq = NEW.seq;",
        "a hash that is altered": "UPDATE records SET hash = 'x' WHERE seq = NEW.seq;",
        "a record that is added": (
            "IF NEW.hash <> 'x' THEN INSERT INTO records VALUES (NEW.seq + 1, 'x', ''); END IF;"
        ),
        "an input that is deleted": "DELETE FROM inputs;",
        "an input that is altered": "UPDATE inputs SET body = '' WHERE digest = NEW.digest;",
    }.items()
}
