"""The words that labels are guessed by, as `critic explain guesses` prints them.

A word stands here if it suggests a label. What no table knows gets the strictest label, so a word
that is missing costs a decision and lets nothing through.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from evals.capability import Role
from evals.kinds import ApprovalMode


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class _TierRow(NamedTuple):
    """One row of the table of tiers, in the words of a person who chooses one."""

    tier: ApprovalMode
    means: str
    examples: str
    by_itself: str


TIER_ROWS: Final = (
    _TierRow(
        "read_only",
        "changes nothing and sends nothing that matters outside",
        "look up an order; list files; search the web, if the words of the search are no secret",
        "always allowed",
    ),
    _TierRow(
        "local_write",
        "changes the agent's own workspace, which can be undone and nobody else sees",
        "a note, a draft, a scratch file",
        "values judged",
    ),
    _TierRow(
        "network",
        "others see it and it cannot be unsent, but it binds nobody",
        "mail, chat, fetch a URL",
        "values and tool judged",
    ),
    _TierRow(
        "delegated",
        "acts in somebody's name: books, grants, changes a record of others",
        "reserve, invite, change an address",
        "values and tool judged",
    ),
    _TierRow(
        "destructive",
        "money, deletion, running code: hard or impossible to undo",
        "refund, delete, deploy",
        "judged, and a person is asked",
    ),
)
"""What each tier means."""

VERBS: Final[Mapping[ApprovalMode, str]] = MappingProxyType(
    {
        "read_only": (
            "analyse analyze browse calc calculate check compare compute convert count describe "
            "estimate explain fetch filter find get grep has inspect is list look lookup "
            "match peek preview price query quote rank read recommend retrieve search show stat "
            "status suggest summarise summarize track validate verify view whoami"
        ),
        "local_write": (
            "append cache draft edit label log note remember rename save sketch stage store tag "
            "write"
        ),
        "network": (
            "announce answer email forward mail message notify page ping post publish push reply "
            "respond send sms submit tweet upload"
        ),
        "delegated": (
            "accept ack acknowledge add adjust apply approve assign attach book buy change copy "
            "create decline disable enable enlarge enroll escalate extend grant hold import "
            "insert invite issue link mark modify move open order place put rebook register "
            "reject release renew renumber request reschedule reserve resize restock scale "
            "schedule set share sign start subscribe swap unshare update"
        ),
        "destructive": (
            "archive ban block cancel charge close delete deploy destroy discharge dispense drop "
            "erase evict exec execute expire kill merge overwrite pay payout purge refund remove "
            "reset restart retire return_money revoke rollback rotate run shutdown terminate "
            "transfer truncate uninstall unlock void wipe wire withdraw"
        ),
    }
)
"""The verbs of a tool's name, by the tier that they suggest."""

TIER_OF: Final[Mapping[str, ApprovalMode]] = MappingProxyType(
    {verb: tier for tier, verbs in VERBS.items() for verb in verbs.split()}
)

PLAIN_DESTRUCTION: Final = _words(
    "delete destroy erase overwrite purge revoke terminate truncate uninstall wipe"
)
"""Verbs that are nothing else in English: they raise a tier wherever they stand."""

OFTEN_NOUNS: Final = _words(
    "book change close code email hold issue label link log mail match message note open "
    "order page place post price quote request run set start state status store tag"
)
"""Words that a description begins with or joins as nouns more often than as verbs."""

RAISING: Final = _words(
    "access balance bonus cash code command credit credential database fund money passcode "
    "password payment payout permission prod production refund role salary shell sql table "
    "transfer voucher wallet wire"
)
"""What an effect is destructive of, whatever its verb."""

RAISING_ARGUMENTS: Final = _words("cmd command script shell sql statement")
"""Arguments that are run: a tool that takes one reads only what they let it."""

ABOUT: Final = _words(
    "balance contents details history info limit limits lines list options policy rate "
    "rates status summary terms window"
)
"""Nouns that make a noun of the verb before them: `refund_window`."""

STAYS_A_VERB: Final = _words("add cancel change create delete edit remove reset send set update")
"""Verbs that stay verbs before such a noun: `update_status`."""

PARTICLES: Final = _words("away down in off on out over rid up")
"""Words that make another verb of the one before them: `check_out`, `get_rid_of`."""

AMBIGUOUS_READS: Final = _words(
    "check convert count filter match preview price quote rank read search show stat status "
    "track validate verify view"
)
"""Reads that are nouns or other acts as well: `track_event`, `status_update`."""

NOUNS_FIRST: Final = _words("price quote status")
"""Of these, those that are nouns before any verb: `price_change`."""

OPENERS: Final = _words(
    "a all an any collect display every give given how is it obtain produce provide report return "
    "tell the this tool use used useful what when where whether which who why your"
)
"""Words that a description of a read begins with, beside verbs."""

DETERMINERS: Final = _words("a all an every it its my that the their them these this those your")
"""Words that make a verb of a noun before them: `email the customer`."""

DISPLAYS: Final = _words("fetch get preview price quote read show stat status track view")
SENT_TEXTS: Final = _words(
    "body caption comment content contents html markdown message subject text"
)
"""Arguments that such a tool sends or shows to somebody: `show_alert(text)`."""

UNLISTED_EFFECTS: Final = _words(
    "activate bind call compile deactivate fix install into launch load onto patch replace trigger"
)
"""Words behind a verb that reads, after which it may do more: `find_replace`, `read_into_db`."""

OWN_THINGS: Final = _words(
    "bookmark cache document draft file journal log memory note notes outline scratch "
    "scratchpad todo workspace"
)
"""What is an agent's own: to create or update it is `local_write`."""

GIVES_TO_OTHERS: Final = _words("assign grant invite share")

_OUTSIDE: Final = "url|uri|link|href|webhook|endpoint|page_url"
OUTSIDE: Final = re.compile(rf"(?:\w+_)?(?:{_OUTSIDE})")
"""Arguments that lead out of here."""

WEB: Final = re.compile(
    r"\b(?:web|website|webpage|internet|online|browser?|http|news|wikipedia|url|crawl|scrape)s?\b",
    re.IGNORECASE,
)
"""Words that say that results come from the web."""

ROLE_WORDS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        "secret": "password|passphrase|secret|token|api_?key|private_key|credentials?|pin",
        "code": "otp|one_time_(?:code|password)|verification_code|mfa_code",
        "recipient": (
            r"to|cc|bcc|recipients?|emails?|e_?mail|iban|payee|beneficiary|phone(?:_number)?|"
            r"mobile|channel|participants?|attendees?|invitees?|webhook|destination|reviewers?|"
            r"assignees?|(?:\w+_)?accounts?(?:_number|_no)?|to_\w+|\w+_to|\w*email(?:_address)?|\w*_?address|notify|share_with|"
            r"shared_with|audience|host|group|team|mailing_list"
        ),
        "time": (
            r"date|day|when|due|deadline|start|end|until|"
            r"(?:\w+_)?(?:time|date|day|at|on|deadline|due)"
        ),
        "attribute": (
            r"amount|price|quantity|qty|count|n|limit|total|currency|status|priority|severity|"
            r"first_name|last_name|street|city|zip|country|\w*amount\w*|\w*quantity|"
            r"(?:\w+_)?(?:count|price|hours|minutes|days|nights|seats|pct|percent|cents|eur|usd|inr|"
            r"level|rating|size|color|colour)"
        ),
        "content": (
            r"subject|body|text|message|contents?|notes?|title|description|comment|reason|summary|"
            r"html|markdown|caption|location|memo|details?|instructions|question|answer|feedback|"
            r"headline|entry|prose|greeting"
        ),
        "object": (
            r"ids?|\w+_ids?|ids?_\w+|path|files?|file_?name|file_path|folder|directory|"
            r"attachments?|sku|key|branch|repo|repository|ticket|issue|invoice|order|name|"
            r"\w+_(?:name|no|number|code|key|ref|path|file)|from_\w+|table|database|service|"
            r"host_?name|record|slug|code|barcode|isbn"
        ),
    }
)
"""The names of arguments of a tool with effects, by role; the first that fits counts."""

ROLE_PATTERNS: Final[Mapping[Role, re.Pattern[str]]] = MappingProxyType(
    {role: re.compile(names) for role, names in ROLE_WORDS.items()}
)

PEOPLE: Final = re.compile(
    r"(?:user|username|member|person|contact|employee|colleague|customer|patient|guest|tenant|"
    r"student)s?"
)
TO_PEOPLE: Final = _words(
    "add assign email enroll grant invite mail message notify pay refund reply send share transfer"
)
"""Verbs whose `user` is the one who gets it."""

LOCATOR: Final = re.compile(
    rf"{ROLE_WORDS['object']}|url|uri|link|href|channel|user|username|email|sender|query|q|term|"
    r"keyword|search|topic|symbol|day|date|name|account|iban|\w+_(?:email|url|query|date|day)"
)
"""Arguments of a read that say what is read."""

NO_LOCATOR: Final = re.compile(
    r"limit|n|page|offset|count|size|sort|order_by|format|lang|language|max_\w+|top_k|include_\w+|"
    r"with_\w+|verbose|units?"
)
SEARCH_WORDS: Final = re.compile(r"(?:query|q|term|keyword|search|topic).*")
"""Of a search of the web: what it finds was named by nobody."""

SYSTEM_FIELD: Final = re.compile(
    r"ids?|\w*_ids?|\w*amount\w*|price|total|balance|currency|status|state|date|day|"
    r"\w*_(?:date|at|time|on)|timestamp|created|updated|due|quantity|qty|count|size|score|rating|"
    r"version|\w+_(?:eur|usd|cents|inr|count|hours|minutes)"
)
PARTY_FIELD: Final = re.compile(
    r"from_?|sender|recipients?|to|cc|bcc|owner|author|participants?|\w*email|iban|phone|payee|"
    r"member|user|account|shared_with|assignee|reporter"
)

KIND_WORDS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "path": re.compile(r"(?:\w+_)?path|file_?name|directory"),
        "url": re.compile(rf"(?:\w+_)?(?:{_OUTSIDE})"),
        "address": re.compile(r"(?:\w+_)?e_?mails?|(?:\w+_)?email_address(?:es)?|cc|bcc"),
        "account": re.compile(r"(?:\w+_)?(?:iban|account(?:_number)?)"),
    }
)
"""The names of arguments that say how values are compared."""
