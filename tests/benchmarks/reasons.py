"""Why a limit is missed, for the rows that miss theirs. A row without its reason here fails.

A reason says what stands in the way, as far as is known, and goes when the limit is met.
"""

from typing import Final

from tests.benchmarks.rows import UNIT

_SHAPE: Final = "reading takes a quarter, the schema and the args a third, the checks the rest"
_VERIFY: Final = "seven passes over the steps, none a quarter of it, and steps fetched from memory"
_SCHEMAS: Final = "a schema is written to see that nobody edited it, and then asked, for every step"
_SCORE: Final = "args are compared as canonical bytes, and eight envelopes are made of the findings"
_LINE: Final = "each line has a context of its own, which is read as envelopes"
_INDEX: Final = "a row of the index is written with each record and read back: a seventh of it"
_SENT: Final = "records are packed and sent, where the processes of a pool read them"
_IMPORTS: Final = "pydantic with one small model takes 58 % of it, and the garbage collector 32 %"
_VIOLATIONS: Final = "the thousand that are listed are validated: that alone is over the limit"
_SEARCH: Final = "every text that is sent is searched for what is confined, from each of its places"
_BUSY: Final = "measured beside other work on both cores, which tells in figures near the limit"
_LONG: Final = "the log takes longer to write than all other rows together"

_BYTES: Final = "plan bytes to verdict bytes"
_START: Final = "python -c pass"
_JOBS: Final = "the same with one job"

REASONS: Final[dict[tuple[str, str], str]] = {
    ("verify, 12 steps, parsed", UNIT): _VERIFY,
    ("verify, 12 steps, parsed, args_schema, bound args", UNIT): _SCHEMAS,
    (f"{_BYTES}, 12 steps", UNIT): _SHAPE,
    (f"{_BYTES}, 12 steps, one fault", UNIT): _BUSY,
    ("score, 12 calls", UNIT): _SCORE,
    ("critic verify --policy, a line", UNIT): _LINE,
    ("critic replay --jobs 2", f"{_JOBS}, by the clock"): _BUSY,
    ("append to SQLite, 1,000 tools", "a bare sqlite3 insert with the same commit"): _INDEX,
    ("critic replay --scheduler, a record", "the same with --jobs 2"): _SENT,
    ("5,000 tiny reason steps, bytes to bytes", UNIT): _BUSY,
    ("import critic and a first verify", _START): _IMPORTS,
    ("memory of replay, 1,000,000 records", "the same with 10,000"): _LONG,
    ("4,000 classes x 4,000 refs that expire, bytes to bytes", UNIT): _BUSY,
    ("4,000 classes unmet x 4,000 refs", UNIT): _VIOLATIONS,
    ("4,000 classes unmet x 4,000 refs, bytes to bytes", UNIT): _VIOLATIONS,
    ("4,000 classes x 4,000 forged refs", UNIT): _VIOLATIONS,
    ("4,000 classes x 4,000 forged refs, bytes to bytes", UNIT): _VIOLATIONS,
    ("4,000 confined texts x 4,000 calls", UNIT): _SEARCH,
    ("4,000 confined texts x 4,000 calls, bytes to bytes", UNIT): _SEARCH,
}
"""The reasons by the name and the unit of the row."""
