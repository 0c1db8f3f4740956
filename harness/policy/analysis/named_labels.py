"""Read labels from the names of tools and arguments: the least tier, the role, the author.

The lint compares them with the labels of a policy, so only clear names count: an ambiguous word
(`name`, `address`, `open`) says nothing.
"""

import re
from collections.abc import Collection, Mapping
from itertools import pairwise
from typing import Final

from critic import ApprovalMode
from evals.capability import Role
from harness.policy.analysis.guessing.guess_tables import (
    GUESSED_TIER_OF,
    RAISING_ARGUMENTS,
    STAYS_A_VERB,
    TIER_OF,
)
from harness.policy.analysis.guessing.tier_guess import words_of


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EITHER_WAY: Final = _words(
    "answer archive block call close link log mark match move open page place post put rank "
    "request restart rotate run set start state store"
)
"""Verbs that suggest a tier to whoever writes a policy, and too little to doubt one by."""
_NOTHING_ELSE: Final = _words(
    "activate amend authorise authorize confiscate deactivate decommission demote deprovision "
    "disburse disconnect donate evacuate expel hire impersonate liquidate migrate offboard onboard "
    "postpone prescribe reassign redeem reimburse reinstate relocate remind remit repay rescind "
    "resend shred suspend telephone transmit unassign undeploy unregister unsubscribe waive"
)
"""Rarer verbs, none of which is a noun as well."""
_RUNS: Final = _words("run execute exec eval")
_FOR_GOOD: Final = _words(
    "delete remove pay refund transfer charge drop purge revoke wipe withdraw destroy erase "
    "truncate wire payout dispense uninstall terminate evict disburse reimburse remit repay shred"
)
"""What money, drugs or data do not come back from, so that acting for somebody says too little."""
_HANDED_OVER: Final = _words(
    "call calls caller case cases chat chats conversation lead leads patient patients pupil pupils "
    "student students ticket tickets"
)
"""What is transferred and can be transferred back: no money."""
_IN_A_NAME: Final = _words(
    "accept approve assign book buy enroll grant invite rebook register reject reserve"
)
"""What is done in somebody's name, so that it is more than a message."""
_FAMILIES: Final = (
    _words("disburse pay payout refund reimburse remit repay settle transfer wire"),
    _words("delete destroy drop erase purge remove wipe"),
    _words("email mail message notify post send write"),
    _words("add assign enroll give grant insert"),
    _words("adjust change edit modify set update"),
    _words("book hold order reserve"),
)
"""Verbs that do the same to the same things."""
_MINOR: Final = _words(
    "label labels tag tags cart basket bookmark bookmarks note notes memo draft drafts todo todos "
    "reminder reminders filter filters reaction wishlist favorite favourite file files task tasks "
    "cache log logs scratch workspace cell cells line lines plan plans goal goals topic topics "
    "patch patches worktree shell shells cron agent agents"
)
"""Things of the agent's own, or that are put back as easily as they are taken away."""
_NOUN_AFTER: Final = _words(
    "window status history policy limit limits list rate rates info details options summary terms "
    "lines quote price prices fee fees schedule calendar request requests reason reasons"
)
"""Words before which a verb is a noun: `refund_window`, `order_history`."""

_WEB: Final = _words(
    "web website webpage webpages websites url urls browse browser crawl scrape internet http "
    "https wikipedia online bing duckduckgo rss serp serpapi serper tavily"
)
_SEARCHED: Final = _words("arxiv brave google reddit twitter youtube")
"""What a search of searches the web."""
_LINKS: Final = _words("url link href urls links page_url")
_OUTSIDE: Final = _words(
    "inbox inboxes mailbox mailboxes postbox voicemail correspondence mail mails email emails "
    "letter letters message messages sms review reviews testimonials comment comments feedback "
    "tweet tweets post posts forum thread threads chat dms"
)
"""What people outside write."""
_SAID: Final = _words(
    "ticket tickets feed conversation conversations reply replies note notes document documents "
    "file files attachment attachments transcript transcripts complaint complaints page pages "
    "help article articles wiki news blog listing listings answers papers issue issues essay "
    "essays petition petitions resume resumes submission submissions"
)
"""What holds sentences of people, if perhaps of one's own."""

_TEXTS: Final = _words(
    "body text content contents subject message note notes comment comments description title "
    "summary remark remarks words html markdown instructions feedback reason bio memo review "
    "caption question answer transcript story narrative explanation justification rationale wishes "
    "complaint testimony"
)
_LEFT_BY_OTHERS: Final = _words(
    "body message note notes comment comments remark remarks feedback memo review subject "
    "instructions question answer transcript story narrative explanation justification rationale "
    "wishes complaint testimony"
)

_RECIPIENT: Final = re.compile(
    r"(to|cc|bcc|recipients?|e_?mails?|ibans?|payees?|beneficiary|destination|phone|phone_number|attendees?"
    r"|participants?|invitees?|webhook|account|account_number|channel|mobile|\w+_(email|e_mail|iban|mobile|phone)"
    r"|\w*email_address|\w+_account|(to|ship|shipping|delivery|target|wallet)_address|wallet|ship_to"
    r"|(\w+_)?(account|fax|mobile|phone|telephone)_no|(fax|mobile|telephone)_number)$"
)
_OBJECT: Final = re.compile(
    r"(login|user_?name|user|group|principal|ids?|\w+_ids?|path|file_?path|file_?name|sku|isbn|service|host|host_?name|repo|repository|branch|database|\w+_(path|sku|number|no|ref))$"
)
_CODES: Final = re.compile(
    r"(drug|product|item|order|booking|account|employee|patient|customer|part|article|ticket|stock"
    r"|room|course|asset|device|record|invoice|policy|claim)_code$"
)
_SECRET: Final = re.compile(r"(password|passphrase|secret|api_?key|private_key|credentials?)$")
_NO_OBJECT: Final = re.compile(r"(phone|page|line|version|serial|row|seat|house|flat)_(number|no)$")

_STEERS: Final = _words(
    "prompt query question instructions reason purpose description server command selector format "
    "cwd dir folder path mode lang language encoding method limit offset"
)
"""What a fetch is given that it does not send to where it fetches from."""


def least_tier(words: tuple[str, ...], arguments: Collection[str]) -> ApprovalMode | None:
    """Return the least tier that the words of a tool's name suggest; None without one.

    Args:
        arguments: their names.
    """
    if not words:
        return None
    tiers = [_tier_of(verb, words) for verb in _verbs_in(words)]
    if words[0] in _RUNS and not RAISING_ARGUMENTS.isdisjoint({*words, *arguments}):
        return "destructive"
    if words[1:2] == ("to",) and words[0] in TIER_OF:
        tiers.append(TIER_OF[words[0]])
    if not tiers:
        return None
    found = max(tiers, key=_TIERS.index)
    if found == "read_only" and _takes_link(arguments):
        return "network"
    return found


def _verbs_in(words: tuple[str, ...]) -> list[str]:
    """Return the verb of a name, and the verbs after `and`."""
    joined = [
        word
        for before, word in pairwise(words)
        if before in ("and", "or", "then") and word in _TIER_OF
    ]
    if not words:
        return joined
    first, last = words[0], words[-1]
    if first in _TIER_OF and not (len(words) > 1 and last in _NOUN_AFTER and first in _NOUNS):
        return [first, *joined]
    if first not in _TIER_OF and len(words) > 1 and last in _TIER_OF and last not in _NOUNS_LAST:
        return [last, *joined]
    return joined


def _tier_of(verb: str, words: tuple[str, ...]) -> ApprovalMode:
    tier = _TIER_OF[verb]
    minor = not _MINOR.isdisjoint(words)
    if minor and tier == "delegated":
        return "local_write"
    if minor and tier == "destructive" and not _FILES.isdisjoint(words):
        return (
            "destructive"
            if verb in ("delete", "wipe", "erase", "purge", "destroy")
            else "local_write"
        )
    return "local_write" if minor and tier == "destructive" else tier


_TIERS: Final[tuple[ApprovalMode, ...]] = (
    *("read_only", "local_write", "network", "delegated", "destructive"),
)
_TIER_OF: Final[Mapping[str, ApprovalMode]] = {
    verb: tier
    for verb, tier in GUESSED_TIER_OF.items()
    if (verb in TIER_OF and verb not in _EITHER_WAY) or verb in _NOTHING_ELSE
}
_FILES: Final = _words("file files")
_NOUNS: Final = _TIER_OF.keys() - STAYS_A_VERB
_NOUNS_LAST: Final = _words(
    "mail email sms order issue draft store hold book status list count run test change place sign "
    "release schedule charge transfer refund void wire reset close drop check search"
)
"""Verbs that end a name as nouns."""


def says_more(floor: ApprovalMode, mode: ApprovalMode, words: tuple[str, ...]) -> bool:
    """Return whether a name clearly suggests more than the tier of the policy."""
    if _TIERS.index(floor) <= _TIERS.index(mode):
        return False
    if mode == "network":
        return floor == "destructive" or not _IN_A_NAME.isdisjoint(_verbs_in(words))
    if mode == "delegated":
        handed = {"transfer"} if not _HANDED_OVER.isdisjoint(words) else set[str]()
        return not (_FOR_GOOD - handed).isdisjoint(_verbs_in(words))
    return True


def _takes_link(arguments: Collection[str]) -> bool:
    return any(name.lower() in _LINKS for name in arguments)


def reads_web(words: tuple[str, ...], arguments: Collection[str]) -> bool:
    """Return whether a reading tool reads pages that anybody may write."""
    is_searched = "search" in words and not _SEARCHED.isdisjoint(words)
    return is_searched or not _WEB.isdisjoint(words) or _takes_link(arguments)


def written_outside(words: tuple[str, ...]) -> bool:
    """Return whether outsiders write what a tool reads, by its name: an inbox, reviews."""
    return not _OUTSIDE.isdisjoint(_nouns_of(words))


def holds_sentences(words: tuple[str, ...]) -> bool:
    """Return whether people write what a tool reads, by its name: mails, tickets, files."""
    return not (_OUTSIDE | _SAID).isdisjoint(_nouns_of(words))


def _nouns_of(words: tuple[str, ...]) -> set[str]:
    """Return what a name is about: its last word, and that of `chat_history`, `comments_by_id`."""
    ends = (at for at, word in enumerate(words) if at > 1 and word in _BEFORE_OTHERS)
    rest = words[: next(ends, len(words))]
    while len(rest) > 1 and rest[-1] in _WAYS_TO_READ:
        rest = rest[:-1]
    return {*words[-1:], *rest[-1:]}


_BEFORE_OTHERS: Final = _words("by for from in on since to with")
_WAYS_TO_READ: Final = _words("archive body content contents feed history search stream text")


def is_text_field(name: str, *, of_others: bool = False) -> bool:
    """Return whether a field of this name holds sentences.

    Args:
        of_others: only fields that the other party of a record writes, such as a note.
    """
    words = tuple(words_of(name.rpartition("/")[2]))
    return bool(words) and words[-1] in (_LEFT_BY_OTHERS if of_others else _TEXTS)


def carries_out(name: str) -> bool:
    """Return whether an argument of a fetch carries content out: a body, not a prompt."""
    return _STEERS.isdisjoint(words_of(name)[-1:])


def plain_role(name: str) -> Role | None:
    """Return the role that the name of an argument clearly suggests; targets and secrets only."""
    snake = "_".join(words_of(name))
    if _SECRET.match(snake):
        return "secret"
    if _RECIPIENT.match(snake):
        return "recipient"
    if _NO_OBJECT.match(snake):
        return None
    return "object" if _OBJECT.match(snake) or _CODES.match(snake) else None


def verb_of(words: tuple[str, ...]) -> str:
    """Return the verb that a name begins or ends with, else its first word."""
    return next(
        (word for word in (*words[:1], *words[-1:]) if word in _TIER_OF), *words[:1] or ("",)
    )


def mean_the_same(words: tuple[str, ...], others: tuple[str, ...]) -> bool:
    """Return whether two names mean the same: pay_claim and settle_claim."""
    ends, other_ends = {*words[:1], *words[-1:]}, {*others[:1], *others[-1:]}
    for family in _FAMILIES:
        if not family.isdisjoint(ends) and not family.isdisjoint(other_ends):
            things, other_things = {*words} - family, {*others} - family
            return not things or not other_things or not things.isdisjoint(other_things)
    return False
