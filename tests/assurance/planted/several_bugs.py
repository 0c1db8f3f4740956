"""Bugs that show only in the second of several things, or in its second way of being written."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

SEVERAL_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "failed-frees-turn",
        "critic/session/ledger.py",
        "a failed call frees all destructive calls of its turn",
        "lambda one: one[:2] == at",
        "lambda one: one[0] == at[0]",
    ),
    slip(
        "other-command-read",
        "critic/session/ledger.py",
        "a command in the place of another one sends nothing",
        "of_batch = allowed if is_of_batch and not rules.has_commands([call.tool]) else None",
        "of_batch = allowed if is_of_batch else None",
    ),
    slip(
        "scope-by-any-call",
        "critic/session/session_rules.py",
        "what a command outside the scope does is in scope beside one inside it",
        "if scope is None or called[at] in scope:",
        "if scope is None or not {*called}.isdisjoint(scope):",
    ),
    slip(
        "command-sends-confined",
        "critic/checks/surface_check.py",
        "a shell command may send confined content",
        "if tool.rank >= _NETWORK or index in commands",
        "if tool.rank >= _NETWORK",
    ),
    slip(
        "encoded-ending",
        "critic/provenance/host_names.py",
        "a bare host with an encoded ending is words",
        "if has_page or ending in _TLDS or ending.startswith(_ENCODED):",
        "if has_page or ending in _TLDS:",
    ),
    slip(
        "return-in-link",
        "critic/provenance/link_signs.py",
        "a carriage return in a link parts it",
        '_IGNORED: Final = frozenset(map(ord, "\\t\\n\\r"))',
        '_IGNORED: Final = frozenset(map(ord, "\\t\\n"))',
    ),
    slip(
        "waiver-other-adapter",
        "critic/provenance/origin_judge.py",
        "a waiver is one for the tool of another adapter",
        "(one.tool.adapter_id, one.tool.capability_id) == pair and _covers",
        "one.tool.capability_id == pair[1] and _covers",
    ),
    slip(
        "git-after-copy-into",
        "critic/command/git_commands.py",
        "git runs in a folder that was copied into",
        "if into_folder or names & _REPOSITORY_FILES:",
        "if names & _REPOSITORY_FILES:",
    ),
    slip(
        "second-sed-script",
        "critic/command/sed.py",
        "the second script of sed is not read",
        "for script in scripts or given.operands[:1]:",
        "for script in scripts[:1] or given.operands[:1]:",
    ),
    slip(
        "guarded-by-link",
        "critic/command/guarded_places.py",
        "a link to the guard's own files is not guarded",
        "spelled = [folded_names(one) for one in path.spellings]",
        "spelled = [folded_names(one) for one in [*path.spellings][:1]]",
    ),
    slip(
        "no-forgets-no",
        "harness/guard/call_openings.py",
        "a no to an opened call forgets the ones before",
        "denied = replace(course, denied=course.denied | {course.denial_key(asked.call)})",
        "denied = replace(course, denied=frozenset({course.denial_key(asked.call)}))",
    ),
    slip(
        "yes-until-first",
        "harness/guard/call_openings.py",
        "a yes to an opening outlives the question",
        "expires_at=min(known, default=None), opening=waits",
        "expires_at=next(iter(known), None), opening=waits",
    ),
    slip(
        "unruled-drops-question",
        "harness/guard/course.py",
        "a question that an unruled call ends is not recorded",
        "            *self._end_of_question(),\n            ToRecord(batch, verdict, "
        '"refuse", note=_UNRULED),',
        '            ToRecord(batch, verdict, "refuse", note=_UNRULED),',
    ),
    slip(
        "halt-elsewhere",
        "harness/guard/open_sessions.py",
        "permits outlive a halt in another process",
        "if course.has_halted or call not in course.session.open_calls:",
        "if call not in course.session.open_calls:",
    ),
    slip(
        "settled-drops-known",
        "harness/guard/recording.py",
        "an end with one unknown call is not recorded once settled",
        "{call.status for call in one.ended.running.ended} <= _UNKNOWN",
        "{call.status for call in one.ended.running.ended} & _UNKNOWN",
    ),
    slip(
        "edited-is-plain-yes",
        "harness/integrations/seam/guarded.py",
        "a yes to changed arguments is one to those asked about",
        "given[name] == CallReply(yes=True) for name in calls",
        "given[name].yes for name in calls",
    ),
    slip(
        "last-page-is-all",
        "harness/integrations/mcp/mcp_filter.py",
        "a last page alone counts as the whole list",
        'if "cursor" not in asked.params and "nextCursor" not in result:',
        'if "nextCursor" not in result:',
    ),
    slip(
        "block-with-more",
        "harness/integrations/mcp/mcp_results.py",
        "what stands beside the text of a block is not kept",
        'text if type(text) is str and not block.keys() - {"type", "text", '
        '"annotations"} else None',
        "text if type(text) is str else None",
    ),
    slip(
        "told-never-expires",
        "harness/policy/policy_rules.py",
        "what late plans are told never expires",
        "told=policy.told_entry(tool, expiries),",
        "told=policy.told_entry(tool, {}),",
    ),
)
