"""Guessed labels: what no text loosens, what stays open, and what nobody can write into."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from critic import MODE_RANK
from harness.policy.analysis.guessing.guess_tables import OWN_THINGS, TIER_OF, VERBS
from harness.policy.analysis.guessing.tool_guess import ToolDescription, ToolGuess, guess_labels
from tests.support.patience import PATIENT


def guess(name: str, description: str = "", **given: Any) -> ToolGuess:
    return guess_labels(ToolDescription(name, description, **given))


def roles(found: ToolGuess) -> dict[str, str]:
    return {name: one.role for name, one in found.roles.items()}


NOUNS = st.sampled_from(["parcel", "invoice_x", "Garden", "window", "status", "note", "file"])
WORDS = st.lists(
    st.sampled_from([*TIER_OF, "and", "then", "reads", "safe", "only", "it", ",", ".", "the web"]),
    max_size=8,
).map(" ".join)
TEXTS = WORDS | st.text(max_size=60)
ARGUMENTS = st.dictionaries(
    st.text(min_size=1, max_size=12) | st.sampled_from(["url", "sql", "to", "flag", "note"]),
    st.sampled_from([{}, True, {"type": "boolean"}, {"type": "integer"}, {"type": "string"}]),
    max_size=4,
)


@PATIENT
@given(st.sampled_from(sorted(TIER_OF)), NOUNS, TEXTS, ARGUMENTS, st.booleans())
def test_nothing_beside_the_verb_of_a_name_lowers_its_tier(
    verb: str, noun: str, text: str, arguments: dict[str, Any], hinted: bool
) -> None:
    found = guess(f"{verb}_{noun}", text, args=arguments, hints_at_destruction=hinted).tier
    lowest = TIER_OF[verb]
    if noun.lower() in OWN_THINGS and lowest == "delegated":
        lowest = "local_write"  # the agent's own things
    assert MODE_RANK[found.tier] >= MODE_RANK[lowest]
    if hinted and lowest != "read_only":
        assert found.tier == "destructive"


@PATIENT
@given(st.text(max_size=20), TEXTS, ARGUMENTS)
def test_a_text_alone_never_says_what_lies_between(
    name: str, text: str, arguments: dict[str, Any]
) -> None:
    found = guess(name, text, args=arguments)
    alone = guess(name, args=arguments).tier
    if alone.is_open and not found.tier.is_open:
        assert found.tier.tier != "local_write"
        assert found.tier.tier != "network" or "url" in arguments  # it reads what is there
    if found.tier.is_open:
        assert found.tier.tier == "destructive"
        assert found.tier.why


@PATIENT
@given(st.sampled_from(sorted(set(TIER_OF) - set(VERBS["read_only"].split()))), ARGUMENTS)
def test_every_argument_of_an_effect_has_a_role_but_a_flag(
    verb: str, arguments: dict[str, Any]
) -> None:
    found = guess(verb, args=arguments)
    flags = {name for name, schema in arguments.items() if schema == {"type": "boolean"}}
    assert set(found.roles) == set(arguments) - flags
    assert all(one.role == "object" for one in found.roles.values() if one.is_unknown)


@pytest.mark.parametrize(
    ("name", "description", "tier"),
    [
        ("get_mail", "Reads and then deletes the mail.", "destructive"),
        ("peek", "Shows a file. Irrevocably erases it afterwards.", "destructive"),
        ("list_orders", "Lists the orders, cancels the oldest.", "destructive"),
        ("read_and_purge", "", "destructive"),
        ("read_then_pay", "", "destructive"),
        ("inspect_box", "Opens the box and runs its script.", "destructive"),
        ("list_people", "Lists names and email addresses.", "read_only"),
        ("get_cart", "Returns the price and order status.", "read_only"),
        ("get_cart", "Shows the cart and emails it.", "network"),
        ("show_state", "Emails the customer.", "network"),
        ("track_visit", "Returns the visits.", "read_only"),
        ("search_messages", "", "read_only"),
        ("issue_credit", "", "destructive"),
        ("send_payments", "", "destructive"),
        ("get_balance", "Gets the balance after charging the account.", "destructive"),
        ("get_state", "Gets the state by paying for it.", "destructive"),
        ("get_terms_and_conditions", "", "read_only"),
        ("return_money_now", "Lists what was returned.", "destructive"),
        ("patient_order_lookup", "", "read_only"),
        ("patient_order_form", "", "delegated"),
        ("deleteorder", "Gets an order.", "destructive"),
        ("removes_file", "Gets a file.", "destructive"),
        ("getOrder", "", "read_only"),
        ("get_bank_details", "Returns what the bank knows.", "read_only"),
        ("fetch_page", "", "read_only"),
        ("createNote", "", "local_write"),
        ("share_note", "", "delegated"),
        ("update_password", "", "destructive"),
        ("send_message", "Sends a message.", "network"),
        ("send_payment", "", "destructive"),
    ],
)
def test_a_tier_follows_from_the_verbs(name: str, description: str, tier: str) -> None:
    found = guess(name, description).tier
    assert (found.tier, found.is_open) == (tier, False)


@pytest.mark.parametrize(
    ("name", "description", "arguments"),
    [
        ("x", "", {}),
        ("", "", {}),
        ("l\u00f6schen", "Best\u00e4tigt.", {}),
        ("plumber", "Sends a plumber.", {}),
        ("refund_window", "Returns the window.", {}),
        ("refund_policy", "", {}),
        ("transfer_limit", "", {}),
        ("check_out", "Checks a guest out.", {}),
        ("get_rid_of", "", {}),
        ("recommend_person", "Sends a profile to somebody.", {}),
        ("get_signature", "Asks a person to sign.", {}),
        ("explain_it", "Writes to a person.", {}),
        ("price_update", "", {}),
        ("price_change", "", {}),
        ("search_archive", "Rebuilds the archive.", {}),
        ("track_visit", "Records a visit.", {}),
        ("show_alert", "Shows an alert.", {"text": {"type": "string"}}),
        ("find_and_replace", "", {}),
        ("find_replace", "", {}),
        ("load_into_db", "", {}),
        ("check_or_activate", "", {}),
        ("query_orders", "Queries the orders.", {"sql": {"type": "string"}}),
        ("sql", "Query the database.", {"query": {"type": "string"}}),
        ("graphql_query", "Query the API.", {"query": {"type": "string"}}),
        ("consume_message", "Consume a message.", {}),
        ("swallow_order", "", {}),
    ],
)
def test_what_no_verb_decides_is_open(name: str, description: str, arguments: Any) -> None:
    found = guess(name, description, args=arguments).tier
    assert (found.tier, found.is_open) == ("destructive", True)


@pytest.mark.parametrize(
    ("name", "description", "arguments", "tier"),
    [
        # what an effect acts on raises it, also where the verb is not in its name
        ("blocklist_bypass", "Add a bank to the exceptions.", "", "destructive"),
        ("guest_pass", "Creates a key for a visitor.", "", "destructive"),
        ("newcomer", "Enrolls somebody and sets their credentials.", "", "destructive"),
        ("change_details", "Change the bank of a tenant.", "", "destructive"),
        ("open_garage", "", "", "destructive"),
        ("open_window_seat", "", "", "delegated"),
        ("approve_invoice", "", "", "destructive"),
        ("approve_holiday", "", "", "delegated"),
        ("countersign_sign", "Signs a paper.", "mfa_code", "destructive"),
        ("share_album", "", "passphrase", "destructive"),
        # an amount beside an account is money
        ("reserve_sum", "", "source_account amount_usd", "destructive"),
        ("post_entry", "", "ledger amount", "destructive"),
        ("reserve_sum", "", "amount_usd", "delegated"),
        # what binds is more than a message
        ("send_offer", "", "", "delegated"),
        ("push_commits", "", "", "delegated"),
        ("push_greeting", "", "", "delegated"),
        ("submit_survey", "", "", "delegated"),
        ("submit_to_journal", "", "", "delegated"),
        ("push_config", "", "", "destructive"),
        ("place_thing", "", "stop_loss", "destructive"),
        ("adjust_flow", "Adjust the flow of an infusion.", "", "destructive"),
        ("move_value", "", "asset amount", "destructive"),
        ("apply_all", "Apply a manifest.", "", "destructive"),
        ("create_file", "", "branch path", "delegated"),
        ("create_file", "", "path comment", "local_write"),
        ("post_entries", "", "debit sum", "destructive"),
        ("post_invoice", "", "", "destructive"),
        ("scrape_listing", "", "link", "network"),
        # the name of a service stands before the verb
        ("acme_drop_view", "", "", "destructive"),
        ("acme_get_issue", "", "", "read_only"),
        ("acme_get_issue", "", "link", "network"),
        ("todo_list_remove", "", "", "destructive"),
        ("mailing_list_email", "", "", "network"),
        ("acme_v2_drop_view", "", "", "destructive"),
        ("apply_all", "", "query", "destructive"),
        ("attach_role", "", "", "destructive"),
        ("team_mail_evict_all", "", "", "destructive"),
        ("schedule_rollback", "", "", "destructive"),
        # what is of others is nobody's own work
        ("edit_product", "", "", "delegated"),
        ("label_rows", "", "", "delegated"),
        ("rename_it", "", "", "delegated"),
        ("rename_it", "", "file_path", "local_write"),
        ("write_review", "", "", "delegated"),
        ("write_outline", "", "", "local_write"),
        ("write_outline", "Writes an outline that the team sees.", "", "delegated"),
        ("add_note", "", "client_id", "delegated"),
        ("add_note", "", "note_id", "local_write"),
        ("draft_email", "", "", "local_write"),
        ("save_draft", "", "article_id", "local_write"),
        # what is logged by measure is entered; what is kept from a link is fetched
        ("log_time", "Log hours on a job.", "job hours", "delegated"),
        ("log_thought", "Log a thought.", "text level", "local_write"),
        ("fetch_and_store", "Fetch a page and store it.", "url", "network"),
        ("save_copy", "Save a copy.", "link", "network"),
        ("save_bookmark", "Save a bookmark.", "url", "local_write"),
        # a noun or a question of the description is no other act
        ("getParcels", "Parcels of one depot.", "", "read_only"),
        ("listTrains", "Trains by line.", "", "read_only"),
        ("tenant_check", "Is the tenant known?", "", "read_only"),
        ("fetch_dossier", "Opens a tenant's dossier file.", "", "read_only"),
        ("tenant_check", "Are they known?", "", "read_only"),
        ("find_roofers", "Roofers we have a contract with.", "", "read_only"),
        ("list_guests", "Guests who have not paid.", "", "read_only"),
        (
            "get_day",
            "Returns the day. Returns a list of hours, and most of the rest.",
            "",
            "read_only",
        ),
    ],
)
def test_what_a_tool_acts_on_raises_its_tier(
    name: str, description: str, arguments: str, tier: str
) -> None:
    args = {one: {"type": "string"} for one in arguments.split()}
    found = guess(name, description, args=args).tier
    assert (found.tier, found.is_open) == (tier, False)


@pytest.mark.parametrize(
    ("name", "description", "arguments"),
    [
        ("neighbour", "Whistle at somebody and read a poem.", ""),
        ("get_owner", "Look the owner up and telegraph them.", ""),
        ("show_lamp", "Shows a lamp, then dismantles it.", ""),
        ("get_stock", "Rebuild stock.", ""),
        ("list_guests", "Herd guests we know.", ""),
        ("complement", "Looks up a firm and jots in the card.", ""),
        ("track_expense", "", "amount"),
        ("list_flat", "", "asking_price"),
        ("convert_prospect", "", ""),
        ("acme_convert_prospect", "", ""),
        ("daily_report", "", ""),
    ],
)
def test_a_read_with_another_act_beside_it_is_open(
    name: str, description: str, arguments: str
) -> None:
    args = {one: {"type": "string"} for one in arguments.split()}
    found = guess(name, description, args=args).tier
    assert (found.tier, found.is_open) == ("destructive", True)


def test_what_a_description_joins_that_is_no_verb_leaves_a_read_alone() -> None:
    for text in (
        "Gets the street and the city.",
        "Lists flights to and from a city.",
        "Returns the price, including the tax, and whether it ships.",
        "Converts euros to dollars and prints.",
    ):
        assert guess("get_x", text).tier.tier == "read_only"
    assert guess("convert_currency", "Converts euros.").tier.tier == "read_only"


def test_a_read_that_leads_out_is_no_longer_read_only() -> None:
    found = guess("fetch_page", args={"page_url": {"type": "string"}, "limit": {"type": "integer"}})
    assert (found.tier.tier, roles(found), found.kinds) == (
        "network",
        {"page_url": "locator"},
        {"page_url": "url"},
    )
    assert found.result.web
    assert found.is_read


def test_a_hint_raises_and_an_approval_decides() -> None:
    assert guess("get_x", hints_at_destruction=True).tier.tier == "read_only"
    assert guess("send_x", hints_at_destruction=True).tier.tier == "destructive"
    assert guess("get_x", needs_approval=True).tier.tier == "destructive"


def test_roles_follow_from_names_formats_and_types() -> None:
    text, number = {"type": "string"}, {"type": "number"}
    found = guess(
        "sendParcel",
        args={
            "sendTo": text,
            "contact": {"type": "string", "format": "email"},
            "parcel_id": {"type": "integer"},
            "weight": number,
            "size": {"enum": ["s", "m"]},
            "due_at": text,
            "note": text,
            "apiKey": text,
            "webhook": text,
            "fragile": {"type": "boolean"},
            "zzz": text,
        },
    )
    assert roles(found) == {
        "sendTo": "recipient",
        "contact": "recipient",
        "parcel_id": "object",
        "weight": "attribute",
        "size": "attribute",
        "due_at": "time",
        "note": "content",
        "apiKey": "secret",
        "webhook": "recipient",
        "zzz": "object",
    }
    assert [name for name, one in found.roles.items() if one.is_unknown] == ["zzz"]
    assert roles(guess("invite_all", args={"user_id": text})) == {"user_id": "recipient"}
    assert roles(guess("update_all", args={"user_id": text})) == {"user_id": "object"}


def test_an_integer_numbers_a_thing_unless_it_measures() -> None:
    number = {"type": "integer"}
    names = (
        "pid",
        "seat",
        "max_tries",
        "door_width",
        "wait_timeout_ms",
        "replicas",
        "chat",
        "to_dept",
        "phone",
    )
    assert roles(guess("reassign_it", args=dict.fromkeys(names, number))) == {
        "pid": "object",
        "seat": "object",
        "max_tries": "attribute",
        "door_width": "attribute",
        "wait_timeout_ms": "attribute",
        "replicas": "attribute",
        "chat": "object",
        "to_dept": "recipient",
        "phone": "recipient",
    }
    assert roles(guess("reassign_it", args={"weight_x": {"type": "number"}})) == {
        "weight_x": "attribute"
    }


def test_the_last_word_of_an_argument_says_what_it_is() -> None:
    text = {"type": "string"}
    args = dict.fromkeys(
        ("farewellNote", "sms_text", "tutor_phone", "backupPassword", "spend_limit", "dependsOn"),
        text,
    )
    assert roles(guess("adjust_it", args=args)) == {
        "farewellNote": "content",
        "sms_text": "content",
        "tutor_phone": "recipient",
        "backupPassword": "secret",
        "spend_limit": "attribute",
        "dependsOn": "object",
    }
    for name in ("acme_delete_memo", "memo_delete", "memoWipe"):
        assert roles(guess(name, args={"memo": text})) == {"memo": "object"}
    assert roles(guess("acme_grant_tag", args={"member": text})) == {"member": "recipient"}
    assert roles(guess("wipe_note", args={"old_note": text})) == {"old_note": "object"}


def test_a_synonym_has_the_role_of_the_word_it_stands_for() -> None:
    text = {"type": "string"}
    pairs = {
        "recipients": "receivers",
        "recipient": "addressee",
        "user_email": "user_mail",
        "start_time": "start_hour",
        "last_name": "family_name",
        "street": "road",
        "city": "town",
        "title": "heading",
        "location": "venue",
        "file_id": "file_identifier",
        "file": "document",
    }
    for tool in ("create_event", "deliver_parcel", "delete_note"):
        known = roles(guess(tool, args=dict.fromkeys(pairs, text)))
        other = roles(guess(tool, args=dict.fromkeys(pairs.values(), text)))
        assert [*other.values()] == [*known.values()], tool
    reads = {"channel": "room", "user": "member", "sender": "author", "file_id": "file_identifier"}
    for name in (*reads, *reads.values()):
        assert roles(guess("list_mails", args={name: text})) == {name: "locator"}
    returns = {"type": "object", "properties": {"order_identifier": text}}
    assert dict(guess("get_order", returns=returns).result.fields) == {"order_identifier": "system"}
    assert guess("transmit_report").tier.tier == "network"
    assert guess("transmit_payment").tier.tier == "destructive"


def test_a_span_of_the_calendar_measures_and_a_prompt_is_a_text() -> None:
    text = {"type": "string"}
    args = dict.fromkeys(("month", "fiscal_year", "quarter", "prompt"), text)
    assert roles(guess("generate_it", args=args)) == {
        "month": "attribute",
        "fiscal_year": "attribute",
        "quarter": "attribute",
        "prompt": "content",
    }
    assert roles(guess("create_calendar", args={"years": text})) == {"years": "object"}
    assert roles(guess("get_rota", args=args)) == {}


def test_a_place_that_something_is_brought_to_is_a_recipient() -> None:
    text = {"type": "string"}
    args = dict.fromkeys(("street", "start", "location"), text)
    assert set(roles(guess("book_ride", args=args)).values()) == {"recipient"}
    assert roles(guess("create_meeting", args=args)) == {
        "street": "attribute",
        "start": "time",
        "location": "content",
    }


def test_an_element_and_what_may_be_null_have_the_role_of_their_form() -> None:
    null = {"type": "null"}
    args: dict[str, Any] = {
        "whom": {"type": "array", "items": {"type": "string", "format": "email"}},
        "born": {"anyOf": [{"type": "string", "format": "date"}, null]},
        "weights": {"type": "array", "items": {"type": "number"}},
        "zone": {"anyOf": [{"enum": ["a", "b"]}, null]},
        "channel": {"enum": ["a", "b"]},
        "mixed": {"anyOf": [{"type": "number"}, {"type": "string"}]},
    }
    assert roles(guess("adjust_it", args=args)) == {
        "whom": "recipient",
        "born": "time",
        "weights": "attribute",
        "zone": "attribute",
        "channel": "recipient",
        "mixed": "object",
    }


def test_who_gets_a_record_is_a_recipient_in_whatever_holds_it() -> None:
    """A mail in one argument, as some services take it, says in it who gets it."""
    text: dict[str, Any] = {"type": "string"}
    address = {"type": "object", "properties": {"address": text, "name": text}}
    people = {"type": "array", "items": {"type": "object", "properties": {"emailAddress": address}}}
    mail = {
        "type": "object",
        "properties": {
            "subject": text,
            "body": {"type": "object", "properties": {"content": text}},
            "toRecipients": people,
            "auth": {"anyOf": [{"properties": {"password": text}}, {"type": "null"}]},
        },
    }
    found = roles(guess("send_mail", args={"message": mail}))
    assert found == {
        "message": "content",
        "/message/subject": "content",
        "/message/body": "content",
        "/message/auth": "content",
        "/message/toRecipients": "recipient",
        "/message/auth/password": "secret",
    }
    mails = {"type": "array", "items": {"type": "object", "properties": {"to": text}}}
    found = roles(guess("send_messages", args={"messages": mails}))
    assert found["/messages/*/to"] == "recipient"


def test_a_read_that_sends_has_the_roles_of_an_effect() -> None:
    args = {"email": {"type": "string"}, "account": {"type": "string"}}
    found = guess("verify_email", "Looks it up, sends a mail.", args=args)
    assert (found.tier.tier, found.is_read) == ("network", False)
    assert roles(found) == dict.fromkeys(args, "recipient")
    assert roles(guess("verify_email", args=args)) == dict.fromkeys(args, "locator")


def test_what_is_destroyed_is_an_object_whatever_it_is_called() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    args = {"note": text, "title": text, "reason": text}
    assert roles(guess("delete_note", args=args)) == {
        "note": "object",
        "title": "object",
        "reason": "content",
    }
    assert roles(guess("delete_rows", args={"row": number})) == {"row": "object"}
    assert roles(guess("cancel_all", args={"order": number})) == {"order": "object"}
    assert roles(guess("update_note", args=args)) == dict.fromkeys(args, "content")
    measures = {"amount": number, "weight": number}
    assert roles(guess("refund_amount", args=measures)) == dict.fromkeys(measures, "attribute")


def test_the_words_of_a_search_of_the_web_locate_nothing() -> None:
    text = {"type": "string"}
    args = {"query": text}
    assert roles(guess("get_rates", args=dict.fromkeys(("from_unit", "to_date"), text))) == {}
    assert roles(guess("search_orders", args=args)) == {"query": "locator"}
    assert roles(guess("search_orders", "Search the web.", args=args)) == {}
    about = dict.fromkeys(("news_query", "company_name", "symbol"), text)
    assert roles(guess("search_orders", "Search the web.", args=about)) == {}


def test_an_own_file_is_made_only_where_it_is_created_here() -> None:
    args = {"path": {"type": "string"}, "text": {"type": "string"}}
    assert guess("create_note", args=args).makes == {"path": "path"}
    for replacing in ("append_note", "save_note", "write_note"):
        assert guess(replacing, args=args).makes == {}
    assert guess("create_order", args=args).makes == {}


# --- results ----------------------------------------------------------------------------------

RECORD = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "email": {"type": "string"},
        "note": {"type": "string"},
        "eur": {"type": "number"},
        "state": {"type": "object"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
    },
    "$defs": {"Line": {"type": "object", "properties": {"kind": {}, "qty": {"type": "integer"}}}},
}


def test_fields_are_filled_by_whom_their_names_and_types_say() -> None:
    fields = {"order_id": "system", "email": "party", "eur": "system"}
    found = guess("get_order", returns=RECORD).result
    assert found.fields == {**fields, "/lines/*/qty": "system"}
    assert found.free == ("note", "state", "/lines/*/kind")
    assert (found.author, found.web, found.is_record) == ("public", False, True)
    many = guess("get_orders", returns={"type": "array", "items": RECORD, "$defs": RECORD["$defs"]})
    assert many.result.fields == {**fields, "/*/lines/*/qty": "system"}


NUMBERED = {
    "system": ("sku", "isbn", "trackingNumber", "policy_no", "po_number"),
    "party": (
        *("mobile", "payout_iban", "customer_phone", "phone_number", "account_no", "card_number"),
        *("ship_to_address", "bank_account", "reporter", "vat_number", "emergency_number"),
    ),
    "": (
        *("name", "reference", "statement", "title", "noted", "mobile_notes", "addressed"),
        *("meeting_minutes", "opening_hours", "depends_on"),
    ),
}


@pytest.mark.parametrize("owner", NUMBERED)
def test_a_number_of_a_thing_is_the_systems_and_one_of_a_person_is_theirs(owner: str) -> None:
    text = {"type": "string"}
    properties = dict.fromkeys(NUMBERED[owner], text)
    found = guess("get_it", returns={"type": "object", "properties": properties}).result.fields
    assert found == (dict.fromkeys(NUMBERED[owner], owner) if owner else {})


def nested(schema: Any) -> Any:
    """Return the schema below more levels than are looked through."""
    for _ in range(9):
        schema = {"anyOf": [{"type": "number"}, schema]}
    return schema


@pytest.mark.parametrize(
    ("returns", "author"),
    [
        ({"type": "integer"}, "system"),
        ({"enum": ["a"]}, "system"),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "system"),
        ({"type": ["number", "null"]}, "system"),
        ({"type": ["number", "string"]}, "public"),
        ({"anyOf": [{"type": "number"}, True]}, "public"),
        ({"anyOf": [{"type": "number"}, {"$ref": "#/elsewhere"}]}, "public"),
        (nested({"anyOf": [{"type": "number"}, {"type": "string"}]}), "public"),
        ({"anyOf": [{"type": "number"}, {"type": "string"}]}, "public"),
        ({"type": "string"}, "public"),
        ({}, "public"),
        (None, "public"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, "public"),
        ({"type": "object", "properties": {"eur": {"type": "number"}}}, "public"),
    ],
    ids=str,
)
def test_a_result_is_the_systems_only_where_no_sentence_fits(returns: Any, author: str) -> None:
    assert guess("get_x", returns=returns).result.author == author


def test_a_number_of_what_people_write_is_nobodys() -> None:
    """A policy does not say that it is a number, and its lint reads the name."""
    number = {"type": "integer"}
    assert guess("count_reviews", returns=number).result.author == "public"
    assert guess("count_shelves", returns=number).result.author == "system"


@pytest.mark.parametrize(
    ("name", "description", "is_web"),
    [
        ("duckduckgo_search", "", True),
        ("google_search", "", True),
        ("find_answers", "A search engine for trusted results.", True),
        ("lookup", "Search Reddit for a topic.", True),
        ("google_calendar_list_events", "List events of Google Calendar.", False),
        ("search_orders", "Search the orders of a customer.", False),
        ("search_files", "Search Google Drive.", False),
        ("search_files", "Search online docs.", True),
    ],
)
def test_a_search_engine_reads_the_web(name: str, description: str, is_web: bool) -> None:
    assert guess(name, description, args={"query": {"type": "string"}}).result.web is is_web


def test_what_the_web_returns_has_no_fields() -> None:
    found = guess("search_web", "Search the web.", returns=RECORD).result
    assert found == ("public", True, True, {}, ())
    assert not guess("send_page", "Send a page to the web.", returns=RECORD).result.web


def test_a_schema_that_refers_to_itself_has_an_end() -> None:
    tree = {
        "$ref": "#/$defs/T",
        "$defs": {"T": {"properties": {"id": {"type": "string"}, "t": {"$ref": "#/$defs/T"}}}},
    }
    assert guess("get_tree", returns=tree).result.fields["id"] == "system"


def test_what_a_server_describes_without_end_is_guessed_at_once() -> None:
    names = [f"n{count}" for count in range(60)]
    again = {name: {"$ref": "#/$defs/T"} for name in names}
    endless = {"$ref": "#/$defs/T", "$defs": {"T": {"type": "object", "properties": again}}}
    numbers = {"anyOf": [{"type": "integer"}, {"anyOf": [{"$ref": "#/$defs/N"}] * 60}]}
    deep = {"$ref": "#/$defs/N", "$defs": {"N": numbers}}
    for returns in (endless, deep):
        found = guess("get_x", "\n" * 100_000 + " " * 100_000, returns=returns)
        assert found.result.author == "public"
    assert guess("get_" + "a_" * 10_000, "Gets " + ", and " * 10_000).tier.tier == "read_only"
    for long in ("a_" * 50_000, "amount" * 30_000 + "!", "amount" * 30_000 + "_url"):
        assert guess("send", args={long: {"type": "string"}}).roles
    assert guess("get_x", args={"x" * 300 + "_url": {}}).tier.tier == "network"


PERSON = {"type": "object", "properties": {"email": {"type": "string"}, "a/b": {}, "*": {}}}
RECORDS = [
    ({"type": "array", "items": PERSON}, "/to/*"),
    ({"anyOf": [{"type": "array", "items": PERSON}, {"type": "null"}]}, "/to/*"),
    ({"type": "array", "items": {"anyOf": [PERSON, {"type": "null"}]}}, "/to/*"),
    (PERSON, "/to"),
]


@pytest.mark.parametrize(("schema", "place"), RECORDS)
def test_members_of_records_have_the_role_of_their_argument_by_name(
    schema: dict[str, Any], place: str
) -> None:
    found = roles(guess("send_mail", args={"to": schema, "body": {"type": "string"}}))
    members = dict.fromkeys((f"{place}/email", f"{place}/a~1b"), "recipient")
    assert found == {"to": "recipient", **members, "body": "content"}


def test_a_record_of_a_text_or_of_any_members_has_no_further_roles() -> None:
    for schema in ({"type": "string"}, {"type": "object"}, {"items": True}, {"properties": True}):
        assert [*roles(guess("send_mail", args={"to": schema}))] == ["to"]
