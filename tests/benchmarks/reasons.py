"""Why a limit is missed, for the rows that miss theirs. A row without its reason here fails.

A reason says what stands in the way, as far as is known, and goes when the limit is met.
"""

from typing import Final

from tests.benchmarks.rows import UNIT

_SHAPE: Final = "reading takes a quarter, the schema and the args a third, the checks the rest"
_VERIFY: Final = "seven passes over the steps, none a quarter of it, and steps fetched from memory"
_SCHEMAS: Final = "a schema is written to see that nobody edited it, and then asked, for every step"
_CONFINED: Final = "score reads all evidence to find confined items, even if no class is confined"
_CLASS: Final = "all unexpired evidence of a class is listed, though five candidates are enough"
_SCORE: Final = "args are compared as canonical bytes, and eight envelopes are made of the findings"
_RECORD: Final = "score takes 54 % of it, the record as envelopes 11 %, verify 7 %"
_CHECKED: Final = "the record as envelopes takes 33 % of it, and what no record names 22 %"
_LINE: Final = "the plan as envelopes takes 44 % of a line, verify 35 to 39 %, the command the rest"
_IMPORTS: Final = "pydantic with one small model takes 58 % of it, and the garbage collector 32 %"
_VIOLATIONS: Final = "the thousand that are listed are validated: that alone is over the limit"
_TINY: Final = "a step of 17 bytes is as much of an envelope as a long one"
_SEARCH: Final = "every text that is sent is searched for what is confined, from each of its places"
_BUSY: Final = "measured beside other work on both cores, which tells in figures near the limit"
_LONG: Final = "the log takes longer to write than all other rows together"

_BYTES: Final = "plan bytes to verdict bytes"
_START: Final = "python -c pass"
_JOBS: Final = "the same with one job"
_READ: Final = "orjson.loads of the record and its plan"
_DOCUMENT: Final = "orjson.loads of the document"

REASONS: Final[dict[tuple[str, str], str]] = {
    ("verify, 12 steps, parsed", UNIT): _VERIFY,
    ("verify, 12 steps, parsed, args_schema, bound args", UNIT): _SCHEMAS,
    (f"{_BYTES}, 12 steps", UNIT): _SHAPE,
    (f"{_BYTES}, 12 steps, spaced", UNIT): _BUSY,
    (f"{_BYTES}, 12 steps, one fault", UNIT): _BUSY,
    (f"{_BYTES}, 100 steps", UNIT): _SHAPE,
    ("canonical loop, one turn, 100,000 tools", "the same with 10"): _CONFINED,
    ("score, 100,000 tools", "the same with 12"): _CONFINED,
    ("advise, 100,000 tools", "the same with 12"): _CLASS,
    ("score, 12 calls", UNIT): _SCORE,
    ("replay of a record", _READ): _RECORD,
    ("critic log verify, a record", _READ): _CHECKED,
    ("critic verify --policy, a line", UNIT): _LINE,
    ("critic verify --policy --context, a line", UNIT): _LINE,
    ("critic verify --against, a line", UNIT): _LINE,
    ("critic replay --jobs 2", _JOBS): _BUSY,
    ("critic replay --jobs 2", f"{_JOBS}, by the clock"): _BUSY,
    ("critic --help", _START): _BUSY,
    ("import critic and a first verify", _START): _IMPORTS,
    ("memory of replay, 1,000,000 records", "the same with 10,000"): _LONG,
    ("5,000 tiny reason steps, bytes to bytes", UNIT): _TINY,
    ("5,000 tiny steps, each with 5 violations", UNIT): _VIOLATIONS,
    ("5,000 tiny steps, each with 5 violations, bytes to bytes", UNIT): _VIOLATIONS,
    ("4,000 classes x 4,000 refs that expire, bytes to bytes", UNIT): _BUSY,
    ("4,000 classes unmet x 4,000 refs", UNIT): _VIOLATIONS,
    ("4,000 classes unmet x 4,000 refs, bytes to bytes", UNIT): _VIOLATIONS,
    ("4,000 classes x 4,000 forged refs", UNIT): _VIOLATIONS,
    ("4,000 classes x 4,000 forged refs, bytes to bytes", UNIT): _VIOLATIONS,
    ("4,000 confined texts x 4,000 calls", UNIT): _SEARCH,
    ("4,000 confined texts x 4,000 calls, bytes to bytes", UNIT): _SEARCH,
}
"""The reasons by the name and the unit of the row."""
