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
STARTS = (
    r"(?:[a-z][a-z0-9+.-]{0,19}:[/\\]|(?<![a-z])https?:|(?<![:/\\a-z0-9])[/\\](?=[/\\]))[/\\]*"
    r"|(?<![\w./\\@-])(?=www\.)"
)


NAMED = {"period": ".", "sol": "/", "colon": ":", "commat": "@", "tab": "", "newline": ""}


def unescaped(text: str) -> str:
    """Return a text with what references stand for, and with links of attributes as they are."""
    even = text.replace("\u2025", "!").replace("\u2026", "!")
    quoted = r"=[ \t\r\n]*(?:\"[^\"]*\"|'[^']*')"
    return plain_references(re.sub(quoted, lambda one: as_opened(one[0]), even))


def plain_references(text: str) -> str:
    return re.sub(r"&(?:#x([0-9a-f]+)|#(\d+));?|&([a-z]+);", shown, text, flags=re.I)


def as_opened(attribute: str) -> str:
    """Return an attribute without breaks, and with a sign for each blank of a user part."""
    quote, value = attribute[-1], attribute.partition(attribute[-1])[2][:-1]
    value = re.sub(r"[\t\r\n]", "", plain_references(value)).lstrip("".join(map(chr, range(33))))
    link = re.match(r"(?:[a-z][a-z0-9+.-]*:[/\\]*|[/\\]{2,})[^/\\?#]*", value, re.I)
    if not link:
        return attribute
    user, at, host = link[0].rpartition("@")
    read = re.sub(r"[\x00-\x20]", "\ufffd", user) + at + host + value[link.end() :]
    return f"={quote}{read}{quote}"


def shown(reference: re.Match[str]) -> str:
    if reference[3]:
        return NAMED.get(reference[3].lower(), reference[0])
    code = int(reference[1], 16) if reference[1] else int(reference[2])
    if code in (9, 10, 13):
        return ""
    return chr(code) if 32 <= code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"


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
        whole = taken(r"(?:[^\s/\\?#]*@)?[^\s/\\?#<]*", text, start.end())
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
        if "<" in whole and "@" in whole and not pages:
            whole = whole.split("<")[0]
            at = end = start.end() + len(whole)
        if quote and quote in whole:
            inside, behind = whole.split(quote, 1)
            joined = re.match(r"[^\w.@-]*(?:\.+@?|@)[\w-]", behind)
            if not joined and not (pages and "@" in behind):
                whole, end, pages = inside, start.end() + len(inside), False
        named = start[0][:1] not in ("/", "\\")
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
