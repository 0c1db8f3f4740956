"""Bugs of policies: what one allows longer, or to whom, than it says, and what a diff hides."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_DIFF: Final = "harness/policy/analysis/policy_diff.py"
_DOCUMENTS: Final = "harness/policy/partial_documents.py"
_DRIFT: Final = "harness/policy/analysis/tool_drift.py"
_EFFECTS: Final = "harness/policy/analysis/policy_effects.py"
_ENVELOPES: Final = "harness/policy/envelopes.py"
_EVIDENCE: Final = "harness/policy/analysis/evidence_effects.py"
_FAULTS: Final = "harness/policy/faults.py"
_LABELS: Final = "harness/policy/analysis/label_lint.py"
_MCP: Final = "harness/policy/analysis/derive_mcp.py"
_READING: Final = "harness/policy/policy_reading.py"
_RESULTS: Final = "harness/policy/analysis/result_effects.py"
_ROLES: Final = "harness/policy/analysis/guessing/role_guess.py"
_ROLE_EFFECTS: Final = "harness/policy/analysis/role_effects.py"
_RULES: Final = "harness/policy/policy_rules.py"
_SCHEMAS: Final = "harness/policy/schema_lint.py"
_SETTINGS: Final = "harness/policy/analysis/setting_lint.py"
_SHELL: Final = "harness/policy/shell_settings.py"
_SHELL_RULES: Final = "harness/policy/shell_policy.py"
_SUMMARY: Final = "harness/policy/tool_summary.py"
_WRITING: Final = "harness/policy/analysis/policy_writing.py"

POLICY_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "guess-that-a-write-makes",
        "harness/policy/analysis/guessing/tool_guess.py",
        "what a tool replaces counts as made by the session, by a guess",
        '_MAKING: Final = frozenset({"create"})',
        '_MAKING: Final = frozenset({"create", "write"})',
    ),
    slip(
        "guess-that-sql-reads",
        "harness/policy/analysis/guessing/tier_guess.py",
        "a tool that takes a query in SQL is guessed to read only",
        'any("query" in words_of(one) for one in arguments)',
        'any("query" == one for one in ())',
    ),
    slip(
        "fresh-by-the-longer-limit",
        _ENVELOPES,
        "results are fresh for the longer one of two limits",
        "return {pair: min(each) for pair, each in known.items() if each}",
        "return {pair: max(each) for pair, each in known.items() if each}",
    ),
    slip(
        "digest-without-evidence",
        _ENVELOPES,
        "policies with other evidence have one digest",
        'names = self.model_fields_set - {"guessed", "accept"}',
        'names = self.model_fields_set - {"guessed", "accept", "evidence"}',
    ),
    slip(
        "two-tools-of-one-name",
        _ENVELOPES,
        "of two tools with one name the last one is judged",
        '        _require_unique((tool.called for tool in self.tool), "tools have the name")\n',
        '        _require_unique((tool.name or "/".join(tool.pair) for tool in self.tool), '
        '"tools have the name")\n',
    ),
    slip(
        "always-requested-where-listed",
        _ENVELOPES,
        "a tool that is always requested is not in a scope that lists others",
        "return tuple(dict.fromkeys((*(listed or ()), *always)))",
        "return tuple(dict.fromkeys(listed or always))",
    ),
    slip(
        "derived-in-every-plan",
        _ENVELOPES,
        "what only late plans are judged by changes the entry of a tool for all plans",
        '_OF_LATE_PLANS: Final = {"output_schema", "yields", "expires_after_s"}',
        '_OF_LATE_PLANS: Final = {"output_schema", "yields"}',
    ),
    slip(
        "ordered-without-late",
        _ENVELOPES,
        "a policy is taken whose ordered turns nothing can order",
        "if self.guard.turns is not None and self.spec.late is None:",
        "if self.guard.turns is not None and self.spec.late is not None and self.guard.shadow:",
    ),
    slip(
        "one-limit-lifts-the-others",
        _DOCUMENTS,
        "a document that names one limit has none of the other limits of the policy",
        "    return {**known, **given}",
        "    return {**given}",
    ),
    slip(
        "own-record-fields",
        _DOCUMENTS,
        "a document says by itself which members of records are facts",
        'for name in ("tool_manifest", "classes", "record_fields"):',
        'for name in ("tool_manifest", "classes"):',
    ),
    slip(
        "run-with-its-own-tools",
        _DOCUMENTS,
        "a run brings the context of the policy of somebody else",
        '    if not isinstance(value, dict) or "proposal" not in value:\n        return value\n',
        '    if not isinstance(value, dict) or "spec" in value.get("proposal", {"spec": 0}):\n'
        "        return value\n",
    ),
    slip(
        "guess-is-open",
        _READING,
        "a tier that was guessed counts as one that nobody has decided yet",
        "frozenset(path for path, is_open in marks.items() if is_open)",
        "frozenset(marks)",
    ),
    slip(
        "guesses-of-the-list-alone",
        _READING,
        "a guess that is marked in the text is not counted where the list names another",
        'value["guessed"] = [*known, *(path for path in marks if path not in seen)]',
        'value["guessed"] = known or [*marks]',
    ),
    slip(
        "second-duplicate",
        _FAULTS,
        "a third tool with the same name is told to clash with the second",
        "        first.setdefault(name, path)\n\n\ndef _faults_of_tool",
        "        first[name] = path\n\n\ndef _faults_of_tool",
    ),
    slip(
        "reserved-id-in-the-middle",
        _FAULTS,
        "evidence of a policy has an id that sessions give",
        "if isinstance(reference, str) and reference.startswith(RESERVED_IDS):",
        "if isinstance(reference, str) and reference in RESERVED_IDS:",
    ),
    slip(
        "freshness-of-a-class-forgotten",
        _RULES,
        "results are fresh for ever whose class alone says for how long",
        "            expires_after_s=expiries.get(tool.pair),\n            told",
        "            expires_after_s=tool.expires_after_s,\n            told",
    ),
    slip(
        "sessions-without-the-budget",
        _RULES,
        "a session may spend more than its policy says",
        "        budget=policy.guard.budget,\n",
        "        budget=None,\n",
    ),
    slip(
        "digest-without-its-table",
        _SHELL,
        "a policy has one digest whatever its table of programs says",
        'pair = {"policy": policy_digest, "table": _shipped_digest(self.table)}',
        'pair = {"policy": policy_digest, "table": self.table}',
    ),
    slip(
        "table-without-a-digest",
        _SHELL,
        "commands are derived again by a table of which the record does not say what it held",
        'if source.get("table_digest") != _shipped_digest(settings.table):',
        'if source.get("table_digest") not in (None, _shipped_digest(settings.table)):',
    ),
    slip(
        "tiers-of-effects-forgotten",
        _SHELL_RULES,
        "the tiers that a policy gives to effects of commands count for nothing",
        "    effects = effect_tools(tiers)\n",
        "    effects = effect_tools({})\n",
    ),
    slip(
        "not-proven-is-disjoint",
        _SCHEMAS,
        "schemas of which nothing is proven are told to exclude each other",
        "    if both is None:\n        return True  # nothing is proven",
        "    if both is None:\n        return False  # nothing is proven",
    ),
    slip(
        "summary-of-any-argument",
        _SUMMARY,
        "a summary may name an argument that its tool does not take",
        "unknown = [name for name in named if known and name not in known]",
        "unknown = [name for name in named[:1] if known and name not in known]",
    ),
    slip(
        "binding-that-became-optional",
        _EFFECTS,
        "a binding that may be left out now is as strict as before",
        "        and (second.optional or not first.optional)\n",
        "",
    ),
    slip(
        "demand-about-anything",
        _EFFECTS,
        "a demand that is about nothing now is as strict as one about an argument",
        "return about.items() >= wanted.items() and (",
        "return about.items() <= wanted.items() and (",
    ),
    slip(
        "tier-of-the-spec-alone",
        _EFFECTS,
        "a policy whose safety mode was lowered below its spec is compared by the spec",
        "return min(MODE_RANK[limit], MODE_RANK[policy.guard.safety_mode])",
        "return MODE_RANK[limit]",
    ),
    slip(
        "asked-is-tighter-than-refused",
        _EFFECTS,
        "a guard that asks now where it refused is called tighter",
        '"on_ask": ("ask", "refuse"),',
        '"on_ask": ("refuse", "ask"),',
    ),
    slip(
        "no-expiry-is-the-shortest",
        _EFFECTS,
        "a yes that counts for ever now is called tighter",
        "before, after = (math.inf if seconds is None else seconds for seconds in ends)",
        "before, after = (seconds or 0 for seconds in ends)",
    ),
    slip(
        "confined-item-rewritten",
        _EVIDENCE,
        "an item whose content may not be sent is rewritten, and nothing is looser",
        "if before is not None and change.rewritten and before.classification in use.confined:",
        "if before is not None and after is None and before.classification in use.confined:",
    ),
    slip(
        "member-above-system",
        _RESULTS,
        "what members write is believed more than a system of record",
        '_TRUST: Final = ("public", "member", "system", "operator")',
        '_TRUST: Final = ("public", "system", "member", "operator")',
    ),
    slip(
        "page-that-is-none-now",
        _RESULTS,
        "a tool whose results do not come from the web any more is called tighter",
        'yield _in_order("result.web", web < 0, web > 0)',
        'yield _in_order("result.web", web > 0, web < 0)',
    ),
    slip(
        "first-role-that-changed",
        _ROLE_EFFECTS,
        "of two arguments whose roles changed only the first is compared",
        "return any(_may_tighten(change, spec, sends=sends) for change in changes)",
        "return _may_tighten(changes[0], spec, sends=sends)",
    ),
    slip(
        "tighter-though-undecided",
        _DIFF,
        "changes are called tighter of which one may be looser",
        '    if any("looser" in change.undecided for change in listed):\n',
        '    if all("looser" in change.undecided for change in listed):\n',
    ),
    slip(
        "author-in-code-loosened",
        _DRIFT,
        "a policy believes a tool more than its code says, and nothing has drifted",
        "if labels.author and result and _TRUST[result.author] > _TRUST[labels.author]:",
        "if labels.author and result and _TRUST[result.author] < _TRUST[labels.author]:",
    ),
    slip(
        "second-role-in-code",
        _DRIFT,
        "of two roles in code only the first is compared with the policy",
        "    for name, role in labels.roles:\n        given",
        "    for name, role in labels.roles[:1]:\n        given",
    ),
    slip(
        "listed-twice",
        _MCP,
        "a server lists two tools of one name, and the policy has either",
        "        if names.count(name) > 1:\n",
        "        if names.count(name) > 2:\n",
    ),
    slip(
        "hint-lowers-a-tier",
        _MCP,
        "a server that says nothing of what a tool destroys lowers its tier",
        'if hints.get("destructiveHint") is not False:',
        'if hints.get("destructiveHint") is True:',
    ),
    slip(
        "recorded-results-promise",
        _WRITING,
        "what was recorded is taken for what a tool promises, and its author is believed",
        "    if draft.result is not None and draft.result.is_recorded:\n",
        "    if draft.result is not None and draft.result.is_recorded and not draft.args_schema:\n",
    ),
    slip(
        "unknown-arguments-read",
        _WRITING,
        "a tool whose arguments are not known may have the tier that its name says",
        "    if draft.args_schema is None:\n        tier",
        "    if draft.args_schema is None and guess.tier.is_open:\n        tier",
    ),
    slip(
        "recipient-in-a-record",
        _ROLES,
        "critic init takes whoever gets a mail for a text where the mail is one argument",
        "roles |= _sure_within(traits, (argument,), given)",
        "roles |= _sure_within(traits, (argument,), {})",
    ),
    slip(
        "unknown-argument-is-content",
        _ROLES,
        "an argument that no table knows may be filled by anybody",
        'return RoleGuess(known) if known else RoleGuess("object", is_unknown=True)',
        'return RoleGuess(known) if known else RoleGuess("content", is_unknown=True)',
    ),
    slip(
        "weaker-by-its-demands",
        _LABELS,
        "a tool that does the same as another with fewer demands is not told",
        "        return one.needs < other.needs\n",
        "        return one.needs > other.needs\n",
    ),
    slip(
        "proven-by-roles",
        _SETTINGS,
        "a policy is not linted in which a person is asked about nothing",
        "return bool(one.needed_classes) and not one.tool.arg_roles",
        "return bool(one.needed_classes) or bool(one.tool.arg_roles)",
    ),
    slip(
        "commands-without-a-person",
        "harness/policy/analysis/setting_lint.py",
        "a policy of commands under which nobody is ever asked has no finding",
        "elif spec.approval_required_from is None and facts.policy.shell is not None:",
        "elif spec.approval_required_from is None and facts.tools and facts.policy.shell:",
    ),
    slip(
        "source-without-entries",
        _SHELL,
        "commands are derived again without the entries of the team",
        'return {"table": self.table, "table_digest": _shipped_digest(self.table), **rows}',
        'return {"table": self.table, "table_digest": _shipped_digest(self.table)}',
    ),
    slip(
        "second-name-taken",
        _SHELL,
        "an entry of a team changes a program by its second name",
        "for key in (key for entry in self.command for key in entry.keys):",
        "for key in (entry.keys[0] for entry in self.command):",
    ),
    slip(
        "guard-both-is-looser",
        _DIFF,
        "a guard that is looser in one thing and tighter in another has one direction",
        '    if looser and tighter:\n        return PolicyChange("guard", "both", names)\n',
        "",
    ),
    slip(
        "sessions-only-is-equal",
        _DIFF,
        "policies are called equal that judge later turns otherwise",
        "if not shown and any(getattr(effect, direction) for effect in effects)",
        "if not shown and _may(effects, direction)",
    ),
    slip(
        "about-another-member",
        _EFFECTS,
        "a demand about another member of the record is as strict",
        "about.items() >= wanted.items()",
        "about.keys() >= wanted.keys()",
    ),
    slip(
        "more-places-is-stricter",
        _EFFECTS,
        "a binding that takes values from more places is called tighter",
        "set(first.at) <= set(second.at)",
        "set(first.at) >= set(second.at)",
    ),
    slip(
        "asks-less-is-tighter",
        _EFFECTS,
        "a tool about which nobody is asked any more is called tighter",
        "asked and not asks, asks and not asked)",
        "asks and not asked, asked and not asks)",
    ),
    slip(
        "confined-for-some-senders",
        _EFFECTS,
        "what may be sent now is not told for the tools of the network",
        "if max(ranks) >= _NETWORK:\n        lost",
        "if min(ranks) > _NETWORK:\n        lost",
    ),
    slip(
        "acts-newly",
        _EFFECTS,
        "a tool that acts on this machine newly is no change of the guard",
        "for name in {*carried[0], *carried[1]}",
        "for name in carried[0]",
    ),
    slip(
        "session-budget-of-a-plan",
        _EFFECTS,
        "a session without a budget is compared by that of a plan",
        "budgets = [budget or SESSION_BUDGET for budget in given]",
        "budgets = [budget or RunBudget() for budget in given]",
    ),
    slip(
        "outputs-the-other-way",
        _EFFECTS,
        "a plan that may leave out an output is called tighter",
        "bool(required[0] - required[1]), bool(required[1] - required[0])",
        "bool(required[1] - required[0]), bool(required[0] - required[1])",
    ),
    slip(
        "version-of-the-pack-lost",
        _DOCUMENTS,
        "a document that adds evidence loses the version of its pack",
        'return {**own, **value, "manifests": merged}',
        'return {**value, **own, "manifests": merged}',
    ),
    slip(
        "context-without-scope",
        _ENVELOPES,
        "a plan is judged without the tools that its request is for",
        "            scope=self.scope_names,\n            **limits,",
        "            **limits,",
    ),
    slip(
        "writers-judged-as-readers",
        _RULES,
        "a tool that writes files runs in a mode for reading",
        "tool.capability if tool.shell is None else _carrier_of(tool)",
        "tool.capability if not tool.acting_arguments else _carrier_of(tool)",
    ),
    slip(
        "derived-is-said",
        _RULES,
        "a session takes what a tool made for what a person said",
        "is_derived=tool.result is not None and tool.result.derived is True",
        "is_derived=False",
    ),
    slip(
        "files-without-rules",
        _RULES,
        "tools that write files are judged without the rules of files",
        "if any(tool.acting_arguments for tool in policy.tool):",
        "if any(tool.shell for tool in policy.tool):",
    ),
    slip(
        "stale-in-replies",
        _RULES,
        "a refusal names a result that is stale by its class",
        "expiries.get(tool.pair), tool.summary)",
        "tool.expires_after_s, tool.summary)",
    ),
    slip(
        "commands-by-the-shipped-table",
        _SHELL_RULES,
        "programs of a team are unknown to its sessions",
        "ShellRules(policy.shell.programs,",
        "ShellRules(type(policy.shell)(table=policy.shell.table).programs,",
    ),
    slip(
        "suffix-in-one-case",
        _READING,
        "a file of JSON is read as another syntax by its suffix",
        "return known.get(Path(name).suffix.lower())",
        "return known.get(Path(name).suffix)",
    ),
    slip(
        "file-with-a-time",
        _READING,
        "a policy that expires is read for a guard without a clock",
        "syntax=syntax_of(str(path)), has_time=has_time)",
        "syntax=syntax_of(str(path)))",
    ),
    slip(
        "open-tier-by-id",
        _READING,
        "a tier that nobody decided is open under another name",
        "            tool.called\n            for at, tool in enumerate(self.policy.tool)",
        "            tool.capability_id\n            for at, tool in enumerate(self.policy.tool)",
    ),
    slip(
        "long-file-is-cut",
        _READING,
        "a file above the limit is read without its end",
        "data = file.read(MAX_DOCUMENT_BYTES + 1)",
        "data = file.read(MAX_DOCUMENT_BYTES)",
    ),
    slip(
        "more-of-the-kept",
        _READING,
        "a long list of faults says less than there are",
        'f" (and {len(found) - 1} more)" if len(found) > 1',
        'f" (and {len(self.faults) - 1} more)" if len(found) > 1',
    ),
)
"""Most of them allow more than a policy says, or call a loosening something else."""
