"""Where the links of a text lead whose authority is more than a host: as a browser would say it."""

import re

HOST = r"[\w-]+(?:\.[\w-]+)*"
BRACKETS = r"\[[0-9a-f.:]+(?:%[^\s\]/]+)?\]"
PAGE = r"(?::[0-9]{1,5})?(?:[/\\?#][^\s<>\"'`|^{}()\[\]]*)?"
CLOSING = {
    "(": ")",
    "[": "]",
    "{": "}",
    "<": ">",
    "\u2018": "\u2019",
    "\u201c": "\u201d",
    "\xab": "\xbb",
}
STARTS = r"(?:[a-z][a-z0-9+.-]{0,19}:[/\\]|(?<![a-z])https?:|(?<![:/\\a-z0-9])[/\\](?=[/\\]))[/\\]*"


NAMED = {"period": ".", "sol": "/", "colon": ":", "commat": "@", "tab": "", "newline": ""}


def unescaped(text: str) -> str:
    """Return a text with what references stand for, and without breaks in links of attributes."""
    begins = r"[\x00-\x20]{0,9}(?:[a-z][\w+.\t\r\n-]{0,30}:|[/\\])"
    links = rf"(=\s{{0,9}}(['\"]))({begins}[^'\"<>]{{0,2000}})(?=\2)"
    even = text.replace("\u2025", "!").replace("\u2026", "!")
    joined = re.sub(links, lambda one: one[1] + re.sub(r"[\t\r\n]", "", one[3]), even, flags=re.I)
    return re.sub(r"&(?:#x0*([0-9a-f]{1,6})|#0*(\d{1,7}));?|&([a-z]+);", shown, joined, flags=re.I)


def shown(reference: re.Match[str]) -> str:
    if reference[3]:
        return NAMED.get(reference[3].lower(), reference[0])
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    if code in (9, 10, 13):
        return ""
    return chr(code) if 32 < code < 0xD800 or 0xDFFF < code < 0x110000 else reference[0]


def taken(pattern: str, text: str, at: int) -> str:
    """Return what a pattern, which may match nothing, takes of a text from a place on."""
    found = re.compile(pattern).match(text, at)
    return found[0] if found else ""


def led_to(text: str) -> list[str]:
    """Return the links, without schemes, that a folded text with schemes leads to unseen."""
    found, at = list[str](), 0
    while start := re.compile(STARTS).search(text, at):
        before = text[: start.start()][-1:]
        quote = CLOSING.get(before, before if before in "'\"`*_~|" else "")
        whole = taken(r"[^\s/\\?#<]*", text, start.end())
        if before and before in "'\"":
            inside = taken(rf"[^\s/\\?#{before}]*", text, start.end())
            end = start.end() + len(inside)
            more = taken(r"[^\s/\\?#<]*", text, end) if text.startswith(before, end) else ""
            whole = inside + more
        end = start.end() + len(whole)
        following = text[end : end + 1]
        at = end
        own = re.search(r"[a-z][a-z0-9+.-]{0,19}:$", whole)
        if following and following in "/\\" and own:
            at = start.end() + own.start()
        pages = following != "" and following in "/\\?#"
        if quote and quote in whole:
            inside, behind = whole.split(quote, 1)
            joined = re.match(r"[^\w.@-]*(?:\.+@?|@)[\w-]", behind)
            if not joined and not (pages and "@" in behind):
                whole, end, pages = inside, start.end() + len(inside), False
        named = start[0][0] not in "/\\"
        if not (named or (before and before in "=('\"`") or ("@" in whole and pages)):
            continue
        hosts = [one for one in opened(whole) if named or "." in one or one.startswith("[")]
        if hosts:
            page = taken(PAGE, text, end)
            found += [host + page for host in hosts]
            at = max(at, end + len(page))
    return found


def opened(authority: str) -> list[str]:
    """Return the hosts, with their ports, that programs open, where it is more than one host."""
    parts = authority.split("@")
    hosts = [(parts[-1], len(parts) > 1)] + ([(parts[1], True)] if len(parts) > 2 else [])
    return [one for host, has_user in hosts for one in read(host, has_user=has_user)]


def read(host: str, *, has_user: bool) -> list[str]:
    plain = re.fullmatch(rf"({HOST}|{BRACKETS})\.*((?::[0-9]{{1,5}})?)", host)
    if plain:
        return [plain[1] + plain[2]] if has_user else []
    names = list(re.finditer(rf"\.*{HOST}", host))
    behind = [one for one in names if (one.start() > 0 or one[0][0] == ".") and "." in one[0]]
    if behind:
        return [host[: behind[-1].end()], behind[-1][0].strip(".")]
    return [names[0][0]] if has_user and names else []
