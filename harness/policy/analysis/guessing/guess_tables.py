"""The words for guessing labels, as `critic explain guesses` prints them.

A word is here if it suggests a label. Unknown words get the strictest label, so a missing word
costs a decision and lets nothing through.
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

WEAKER_VERBS: Final[Mapping[ApprovalMode, str]] = MappingProxyType(
    {
        "read_only": (
            "crawl diff discover enumerate examine forecast identify locate parse plot predict "
            "research scrape simulate transcribe translate"
        ),
        "network": (
            "advertise alert ask congratulate contact dial dm download greet nudge phone remind "
            "resend ring telephone text thank transmit warn whisper"
        ),
        "delegated": (
            "admit allocate amend annotate appoint award backup click comment commit complete "
            "configure connect correct defer delegate demote deny dim dispatch duplicate endorse "
            "enrich enter excuse exempt expand export fill finalise finalize flag follow fulfil "
            "fulfill grade hide join lower map match mute nominate pack pair park pause "
            "pick pin play postpone prioritise prioritize propose push raise reassign receive "
            "reclassify record redact redirect refer reinstate relocate reopen reorder repair "
            "replace report reroute resolve resume route serve ship silence snooze star submit "
            "switch sync synchronise synchronize toggle triage turn unassign unfollow unhide "
            "unmute unpin unsubscribe vote water"
        ),
        "destructive": (
            "activate administer allowlist arm authorise authorize backfill bill bind blacklist "
            "blocklist bounce broadcast burn buy capture claim clear collect confiscate deactivate "
            "debit decommission denylist deprovision disable disarm disburse discard disconnect "
            "dismiss donate evacuate exchange expel fine fire flash flush forfeit forget freeze "
            "give halt hire impersonate inject install invoke kick launch license liquidate lock "
            "migrate mint moderate nuke offboard onboard override patch prescribe promote "
            "provision purchase quarantine rebalance reboot recall recharge reconcile redeem "
            "reimburse release remit repay rescind restore retract reverse revert sell settle "
            "shred shut spend stake stop suspend tip topup trade trash trigger undeploy unfreeze "
            "unpair unregister unstake upgrade vacuum waive whitelist"
        ),
    }
)
"""Verbs that are nouns, or milder acts, as often: they guess a tier where a name begins with one,
and where a text has one before a thing. No policy is doubted by them."""

TIER_OF: Final[Mapping[str, ApprovalMode]] = MappingProxyType(
    {verb: tier for tier, verbs in VERBS.items() for verb in verbs.split()}
)
GUESSED_TIER_OF: Final[Mapping[str, ApprovalMode]] = MappingProxyType(
    {**TIER_OF, **{verb: tier for tier, verbs in WEAKER_VERBS.items() for verb in verbs.split()}}
)
WEAKER: Final = GUESSED_TIER_OF.keys() - TIER_OF.keys()

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
    "access admin allowlist apikey balance bank beneficiary bitcoin bonus broker brokerage btc "
    "cancel cash certificate charge chargeback cheque code coin command config configuration "
    "credential credit crypto database debit deletion deploy deployment deposit dosage dose "
    "emergency escrow eth firewall firmware fund helm iam iban infusion insulin key kubectl ledger "
    "limit manifest medication mfa migration money owner passcode password payee payment payout "
    "permission pipeline prescription privilege prod production pump reboot refund removal restart "
    "reversal role rollback root salary schema script secret shell shutdown sql sudo table "
    "terraform token transfer unlock vault ventilator voucher wallet whitelist wire withdraw "
    "withdrawal"
)
"""What an effect is destructive of, whatever its verb."""

RAISING_BY_VERB: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("accept", "approve", "authorise", "authorize", "sign"),
            _words("bill claim contract expense invoice loan mortgage order purchase trade"),
        ),
        "open": _words("door garage gate lock safe trunk valve"),
        "place": _words("bet bid stake trade"),
        "attach": _words("policy role"),
        "post": _words("charge entry invoice journal transaction"),
    }
)
"""What one of these acts moves money, or lets somebody in, by."""

BINDING: Final = _words(
    "application bid branch claim code commit contract image invoice job offer order package "
    "proposal quote receipt repo repository tender timesheet vote"
)
"""What binds whoever sends it, so that it is more than a message."""

MONEY_ARGUMENTS: Final = re.compile(
    r"(?:\w+_)?(?:amount|sum|eur|usd|inr|cents|quantity)(?:_(?:eur|usd|inr|cents))?"
)
ACCOUNT_ARGUMENTS: Final = re.compile(
    r"(?:\w+_)?(?:iban|accounts?|account_(?:no|number|id)|wallet|wallet_id|ledger|card|payee|"
    r"beneficiary|assets?|chain|coin|debit)|(?:to|wallet|recipient)_address"
)
"""An amount beside an account is money that moves."""

RAISING_ARGUMENTS: Final = _words("cmd command script shell sql statement")
"""Arguments that are run: a tool that takes one reads only what they let it."""

QUERY_LANGUAGES: Final = _words("cypher graphql psql sparql sql")
"""In these a query may change what it asks."""

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

CLEAR_READS: Final = _words("describe fetch find get list lookup retrieve search")
"""Reads that are nothing else, wherever they stand."""

OPENERS: Final = _words(
    "a all an any are available can collect current did display do does every full give given "
    "has have how is it its last latest most obtain one produce provide recent report return "
    "should tell the this tool use used useful was were what when where whether which who why your"
)
"""Words that a description of a read begins with, beside verbs."""

DETERMINERS: Final = _words("a all an every it its my that the their them these this those your")
"""Words that make a verb of a noun before them: `email the customer`."""

FUNCTION_WORDS: Final = _words(
    "a about after all also among an and any as at based before below between both but by during "
    "each either every excluding for from how if in including into is it its like listing more "
    "most near not of on only optionally or other over per plus sorted starting than that the "
    "their them then there these this those through to under until up using via what when where "
    "whether which who why with within without your"
)
"""Words that are not verbs, however a description joins them."""

OPENS_TO_READ: Final = re.compile(
    r"\bopens? (?:an?|the) (?:[\w']+ ){0,2}?"
    r"(?:article|chart|document|email|file|folder|link|page|record|site|url|website)\b"
)
"""Words by which a read says that it looks into something."""

PRONOUNS: Final = _words("her him it them")

AFTER_NOUNS: Final = _words(
    "about at between by for from in of on per that they we which who whose with within"
)
"""Words before which a noun of the name stays a noun: `Stock of one article`."""

ADDS_UP: Final = _words("count list track")
"""Reads that enter what they are given an amount or a text of: `track_expense`."""

ENTERED: Final = re.compile(
    r"(?:\w+_)?(?:amount|price|cost|note|text|body|comment|description|reason|value)"
)

CONVERTED: Final = _words(
    "c currencies currency date f from markdown pdf temperature text time timezone timezones to "
    "unit units zone"
)
"""What is converted without a change to anything: `convert_lead` changes a lead."""

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

TRADE_ARGUMENTS: Final = re.compile(r"limit_price|stop_loss|take_profit|leverage|slippage")
"""What only an order at a market has."""

OTHERS_THINGS: Final = _words(
    "account appointment branch calendar case catalog channel client column comment contact "
    "customer deal email employee event incident invoice issue item lead mail member message order "
    "page patient payment post product pull record repo repository review row sheet shared "
    "spreadsheet student table team thread ticket user wiki"
)
"""What is somebody else's, or shared: to write to it is not work on one's own."""

ALWAYS_OWN: Final = _words("cache draft note remember sketch")
"""Verbs of one's own work, whatever it is about: `draft_email`."""

NEEDS_OWN_THING: Final = _words("append edit label rename tag")
"""Verbs that are of one's own work only where they name a thing of one's own."""

KEPT_LINKS: Final = _words("bookmark bookmarks favorite favorites favourite link links url urls")
"""What names a link that is kept, and not fetched."""

NEVER_SHARED: Final = _words("bookmark cache draft memory scratch scratchpad workspace")

SHARED: Final = re.compile(
    r"\b(?:shared|everyone|everybody|colleagues?|others|public(?:ly)?|visible|team)\b",
    re.IGNORECASE,
)
"""Words by which a description says that others see what is written."""

OWN_PLACES: Final = re.compile(r"(?:\w+_)?path|file_?name|file|directory|folder")

KEEPS: Final = _words(
    "add change copy create insert mark modify move open place put set start update"
)
"""Verbs that are of one's own work where they name a thing of one's own."""

_OUTSIDE: Final = "url|uri|link|href|webhook|endpoint|page_url"
OUTSIDE: Final = re.compile(rf"(?:\w+_)?(?:{_OUTSIDE})")
"""Arguments that lead out of here."""

WEB: Final = re.compile(
    r"\b(?:web|website|webpage|internet|online|browser?|https?|www|news|"
    r"wikipedia|url|crawl|crawled|crawler|scrap(?:e|ed|er|ing)|blog|forum|search engine|"
    r"duckduckgo|tavily|serp(?:api|er)?|rss|"
    r"(?:arxiv|bing|brave|google|reddit|twitter|youtube) (?:search|result)|"
    r"search(?:es)? (?:on |using |via |with )?(?:arxiv|bing|brave|reddit|twitter|youtube|"
    r"google(?! (?:calendar|chat|contacts|docs|drive|mail|sheets|tasks))))s?\b",
    re.IGNORECASE,
)
"""Words that say that results come from the web."""

ROLE_WORDS: Final[Mapping[Role, str]] = MappingProxyType(
    {
        "secret": (
            r"(?:\w+_)?(?:password|passphrase|secret)|token|(?:access|auth|card)_token|api_?key|"
            r"private_key|credentials?|pin"
        ),
        "code": "otp|one_time_(?:code|password)|verification_code|mfa_code",
        "recipient": (
            r"to|cc|bcc|(?:\w+_)?(?:recipients?|receivers?|addressees?|emails?|e_?mail|iban|payee|"
            r"phone(?:_number)?|mobile|channel)|\w+_mail|beneficiary|participants?|attendees?|invitees?|webhook|destination|"
            r"reviewers?|assignees?|(?:\w+_)?accounts?(?:_number|_no)?|to_\w+|\w+_to|"
            r"\w*email(?:_address)?|\w*_?address|notify|share_with|shared_with|audience|host|group|"
            r"team|mailing_list"
        ),
        "time": (
            r"date|day|when|due|deadline|start|end|until|"
            r"(?!(?:acts?|applied|based|builds?|built|depends?|relies|runs?)_on)"
            r"(?:\w+_)?(?:time|hour|date|day|at|on|deadline|due)"
        ),
        "attribute": (
            r"amount|price|quantity|qty|count|n|(?:\w+_)?(?:limit|total)|currency|status|priority|"
            r"severity|first_name|last_name|given_name|family_name|surname|street|road|city|town|zip|"
            r"country|\w*amount\w*|\w*quantity|"
            r"(?:\w+_)?(?:count|price|hours|minutes|days|nights|seats|pct|percent|cents|eur|usd|inr|"
            r"level|rating|size|color|colour|month|quarter|week|year)"
        ),
        "content": (
            r"subject|contents?|title|heading|description|html|location|venue|details?|instructions|question|"
            r"answer|headline|entry|prose|prompt|slogan|greeting|explanation|justification|narrative|rationale|"
            r"(?:\w+_)?(?:body|caption|comments?|feedback|markdown|memo|message|notes?|reason|"
            r"remarks?|summary|text)"
        ),
        "object": (
            r"ids?|\w+_ids?|ids?_\w+|(?:\w+_)?identifiers?|path|files?|(?:\w+_)?documents?|file_?name|file_path|folder|directory|"
            r"attachments?|sku|key|branch|repo|repository|ticket|issue|invoice|order|name|"
            r"\w+_(?:name|no|number|code|key|ref|path|file)|from_\w+|table|database|service|"
            r"host_?name|record|slug|code|barcode|isbn"
        ),
    }
)
"""The names of arguments of a tool with effects, by role; the first that fits counts."""

MEASURES: Final = re.compile(
    r"(?:\w+_)?(?:age|angle|brightness|celsius|cost|degrees|delay|depth|discount|distance|dose|"
    r"duration|fahrenheit|guests|height|interval|kg|km|length|mg|ml|months?|nights|pages|people|"
    r"percentage|persons|points|rate|replicas|retries|score|seconds|speed|stars|stock|tax|"
    r"temperature|timeout|ttl|units|volume|weeks?|weight|width|years?)(?:_(?:s|ms|sec|min|h))?|gb|mb|(?:max|min|num|n)_\w+"
)
"""Integers that measure; every other may number a thing: `kill(pid)`."""

IN_AN_EVENT: Final = _words("appointment calendar event meeting")
"""Things whose location is a text: everywhere else it is where somebody goes, or something."""

IS_TAKEN: Final = _words(
    "cab car deliver delivery dispatch drive driver forward redirect reroute ride ship shipment "
    "shipping taxi transport trip truck"
)
"""Words of a tool that brings something somewhere, so that a street or an end is a place."""
PLACES: Final = re.compile(r"street|road|city|town|zip|country|start|end")

ROLE_PATTERNS: Final[Mapping[Role, re.Pattern[str]]] = MappingProxyType(
    {role: re.compile(names) for role, names in ROLE_WORDS.items()}
)

CONTENT: Final = ROLE_PATTERNS["content"]

SAID_IN_LOGS: Final = re.compile(
    rf"{ROLE_WORDS['content']}|level|severity|log_level|tags?|data|extra|context|thought|topic|at|time|timestamp"
)
"""Arguments of a log of one's own. Hours, amounts and people are entered into one of others."""

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
    r"keyword|search|topic|symbol|day|date|name|account|iban|room|member|author|\w+_(?:email|url|query|date|day)"
)
"""Arguments of a read that say what is read."""

NO_LOCATOR: Final = re.compile(
    r"from_\w+|to_\w+|limit|n|page|offset|count|size|sort|order_by|format|lang|language|max_\w+|top_k|include_\w+|"
    r"with_\w+|verbose|units?"
)
SEARCH_WORDS: Final = re.compile(
    r"(?:\w+_)?(?:query|q|term|keyword|search|topic)s?(?:_\w+)?|symbol|day|date|name|\w+_(?:name|date|day)"
)
"""Of a search of the web: what it finds was named by nobody."""

SYSTEM_FIELD: Final = re.compile(
    r"ids?|\w*_ids?|(?:\w+_)?identifier|\w*amount\w*|price|total|balance|currency|status|state|date|day|"
    r"(?!(?:acts?|applied|based|builds?|built|depends?|relies|runs?)_on)\w*_(?:date|at|time|on)|timestamp|created|updated|due|quantity|qty|count|size|score|rating|"
    r"version|\w+_(?:eur|usd|cents|inr|count)|(?:\w+_)?(?:number|no)|"
    r"sku|isbn|ean|gtin|upc|asin|barcode|uuid|guid|iid"
)
PARTY_FIELD: Final = re.compile(
    r"from_?|sender|recipients?|to|cc|bcc|owner|author|participants?|\w*email|payee|"
    r"member|user|shared_with|assignee|reporter|"
    r"(?:\w+_)?(?:account|address|fax|iban|mobile|phone|telephone|whatsapp)|"
    r"(?:\w+_)?(?:account|bank|card|cell|contact|emergency|fax|home|house|office|id_card|license|licence|mobile|"
    r"passport|phone|routing|security|street|tax|telephone|vat|whatsapp)_(?:number|no)"
)
"""Fields that the party of a record fills: they go before those of a system."""

KEYS_TO_DOORS: Final = re.compile(rf"{ROLE_WORDS['secret']}|{ROLE_WORDS['code']}")
"""Arguments that an act is allowed by, so that it is none to be taken lightly."""

KIND_WORDS: Final[Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "path": re.compile(r"(?:\w+_)?path|file_?name|directory"),
        "url": re.compile(rf"(?:\w+_)?(?:{_OUTSIDE})"),
        "address": re.compile(r"(?:\w+_)?e_?mails?|\w+_mail|(?:\w+_)?email_address(?:es)?|cc|bcc"),
        "account": re.compile(r"(?:\w+_)?(?:iban|account(?:_number)?)"),
    }
)
"""The names of arguments that say how values are compared."""
