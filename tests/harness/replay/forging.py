"""Ways to alter a log: with its hashes left as they were, or with every hash made anew."""

import json
from collections.abc import Callable
from typing import Any

from harness.canonical import canonical_json
from harness.record import record_hash, sha256
from tests.harness.log.decisions import LogPlace, body_of, input_of, meddle, query

Edit = Callable[[dict[str, Any]], object]


def edited(path: LogPlace, seq: int, edit: Edit) -> None:
    """Change a record's body and nothing else."""
    document = json.loads(body_of(path, seq))
    edit(document)
    update = "UPDATE records SET body = ? WHERE seq = ?"
    meddle(path, (update, (canonical_json(document), seq)))


def forged(path: LogPlace, seq: int, edit: Edit) -> None:
    """Change a record's body, then make its hash and the whole chain after it anew."""
    before = None
    for (number,) in query(path, "SELECT seq FROM records WHERE seq >= ? ORDER BY seq", seq):
        document = json.loads(body_of(path, number))
        if number == seq:
            edit(document)
        document["prev_hash"] = before or document["prev_hash"]
        before = document["hash"] = record_hash(document)
        update = "UPDATE records SET hash = ?, body = ? WHERE seq = ?"
        meddle(path, (update, (before, canonical_json(document), number)))


def forged_input(path: LogPlace, seq: int, name: str, edit: Edit) -> None:
    """Change an input of a record, keep it under its new digest, and make the chain anew."""
    digest = json.loads(body_of(path, seq))["inputs"][name]
    document = json.loads(input_of(path, digest))
    edit(document)
    body = canonical_json(document)
    meddle(path, ("INSERT INTO inputs VALUES (?, ?)", (sha256(body), body)))
    forged(path, seq, lambda record: record["inputs"].update({name: sha256(body)}))
