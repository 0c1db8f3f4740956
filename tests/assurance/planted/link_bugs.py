"""Bugs that hide where a link leads, or what names a number."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_AUTHORITIES: Final = "critic/provenance/authorities.py"
_LINKS: Final = "critic/provenance/links.py"

LINK_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "empty-user-part",
        _AUTHORITIES,
        "a link with an empty user part leads nowhere: https://@evil.example",
        '_, at, host = authority.rpartition("@")\n    yield from _read_host(host, is_odd=at != "")',
        'at, _, host = authority.rpartition("@")\n    yield from _read_host(host, is_odd=at != "")',
    ),
    slip(
        "sign-ends-a-host",
        _AUTHORITIES,
        "the name behind a sign in a host is not looked for",
        '        yield last[0].strip("."), ""\n',
        "",
    ),
    slip(
        "bracket-ends-a-host",
        _AUTHORITIES,
        "a bracket around a link ends it, although a dot and a name go on behind",
        'and ("@" in behind[0] or "." in behind[0]):',
        'and "@" in behind[0]:',
    ),
    slip(
        "quote-ends-a-user-part",
        _AUTHORITIES,
        "a quote around a link ends it, although a user part with a page goes on behind",
        'return not has_page or "@" not in authority[close:]',
        "return True",
    ),
    slip(
        "scheme-behind-an-authority",
        _AUTHORITIES,
        "a link whose scheme ends the authority of another is not read",
        "at = start + scheme.start()",
        "at = end",
    ),
    slip(
        "references-as-written",
        "critic/provenance/folding.py",
        "the letters of a host in character references are not seen",
        "unescape_markup(unescape_breaks(text))",
        "unescape_breaks(text)",
    ),
    slip(
        "break-in-an-attribute",
        "critic/provenance/link_signs.py",
        "a line break in an attribute parts its link",
        "text = _ATTRIBUTE.sub(_as_link, text)",
        "pass",
    ),
    slip(
        "www-begins-no-link",
        _AUTHORITIES,
        "a link that begins with www. leads to the host that it begins with",
        "(?=www\\.)",
        "(?=wwww\\.)",
    ),
    slip(
        "blank-in-a-user-part",
        "critic/provenance/link_signs.py",
        "a blank in the user part of an attribute ends its link",
        "read = _CONTROLS.sub(_UNREADABLE, user) + at",
        "read = user + at",
    ),
    slip(
        "tag-ends-a-user-part",
        _AUTHORITIES,
        "a tag in a user part ends the link",
        "{{0,400}}@",
        "{{0,1}}@",
    ),
    slip(
        "query-of-a-bare-host",
        _LINKS,
        "a query behind a bare host is nothing behind it",
        'link.path != "" or link.has_query or',
        'link.path != "" or',
    ),
    slip(
        "part-known-as-a-link",
        _LINKS,
        "a link that was a part of one first is never read as a whole",
        "        if is_whole:\n            whole.add",
        "        if not is_whole:\n            whole.add",
    ),
    slip(
        "noun-of-the-agent",
        "critic/provenance/roles.py",
        "a member that the agent names makes a short number one of its noun",
        "return not path or any(name in tree.inner for tree in trees)",
        'return name != ""',
    ),
    slip(
        "member-in-other-letters",
        "critic/provenance/roles.py",
        "a recipient is not judged whose argument the call writes in other letters",
        "return self.alike.get(plain_name(str(key)), ())",
        "return self.alike.get(str(key), ())[:0]",
    ),
    slip(
        "number-from-a-whole-group",
        "critic/provenance/wide_accounts.py",
        "a number that is sought is found only where its first group is short",
        "if group[:_SHORTEST] in begins:",
        "if group in begins:",
    ),
)
