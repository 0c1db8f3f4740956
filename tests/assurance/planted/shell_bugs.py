"""Bugs of what asks for a command: words of a request, what a yes is of, code of the folder."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_CURL: Final = "critic/command/curl.py"
_DELETIONS: Final = "critic/command/requested_deletions.py"
_FIND: Final = "critic/command/find.py"
_GIT: Final = "critic/command/git_commands.py"
_HOSTS: Final = "critic/command/requested_hosts.py"
_MOVES: Final = "critic/command/file_moves.py"
_OPERANDS: Final = "critic/command/operand_kinds.py"
_PACKAGES: Final = "critic/command/requested_packages.py"
_OPTIONS: Final = "critic/command/program_options.py"
_PATHS: Final = "critic/command/path_effects.py"
_PARTS: Final = "critic/command/plan_parts.py"
_PROGRAMS: Final = "critic/command/programs.py"
_PROHIBITIONS: Final = "critic/command/prohibitions.py"
_RUNNERS: Final = "critic/command/code_runners.py"
_SED: Final = "critic/command/sed.py"
_STEPS: Final = "critic/command/steps.py"
_WALK: Final = "critic/command/line_walk.py"
_WORDS: Final = "critic/command/request_words.py"
_VERBS: Final = "critic/command/deed_verbs.py"
_RUNS: Final = "critic/command/requested_runs.py"
_WRAPPERS: Final = "critic/command/wrappers.py"

SHELL_BUGS: Final[tuple[Bug, ...]] = (
    # The words of a request.
    slip(
        "file-something-is-in-is-deleted",
        _DELETIONS,
        "a path that says where something is to be removed asks for its own deletion",
        'if (word in _PLACES and word != "that") or is_end:',
        "if is_end:",
    ),
    slip(
        "something-of-a-file-is-the-file",
        _DELETIONS,
        "what stands behind a path is not looked at",
        "return  # `a.py imports`, `a.py from the index`: something of the file",
        "pass",
    ),
    slip(
        "question-about-a-deletion-asks",
        _WORDS,
        "a question why a file was deleted asks for its deletion",
        "words._replace(verbs=words.verbs - RELEASE_VERBS, deletions=frozenset())",
        "words._replace(verbs=words.verbs - RELEASE_VERBS)",
    ),
    slip(
        "untouched-file-is-deleted",
        _WORDS,
        "a deletion that was asked for outlives that the file is not to be touched",
        "deletions, verbs = left.deletions - taken.names, left.verbs - taken.stems",
        "deletions, verbs = left.deletions, left.verbs - taken.stems",
    ),
    slip(
        "forbidden-verb-still-asks",
        _WORDS,
        "a push that was asked for outlives the word that there is to be none",
        "deletions, verbs = left.deletions - taken.names, left.verbs - taken.stems",
        "deletions, verbs = left.deletions - taken.names, left.verbs",
    ),
    slip(
        "question-about-a-push-asks",
        _WORDS,
        "a question why a push failed asks for one",
        "words._replace(verbs=words.verbs - RELEASE_VERBS, deletions=frozenset())",
        "words._replace(deletions=frozenset())",
    ),
    slip(
        "released-script-by-its-word",
        _WORDS,
        "to name a script that deploys asks to run it",
        "stems <= self._said.stems - (RELEASE_VERBS - self._said.verbs)",
        "stems <= self._said.stems",
    ),
    slip(
        "push-after-an-article-asks",
        _VERBS,
        "a push that stands after an article asks for one",
        "        if word in _DETERMINERS:\n",
        "        if word in _DOES:\n",
    ),
    slip(
        "what-was-pushed-asks",
        _VERBS,
        "to say that something was pushed asks for a push",
        "        return not _WISHES.isdisjoint(before)\n",
        "        return True\n",
    ),
    slip(
        "push-by-others-asks",
        _VERBS,
        "to say that something pushes asks for a push",
        'if form == "does" and verb_stem(tokens[at]) in RELEASE_VERBS:',
        'if form == "does" and verb_stem(tokens[at]) in RUN_VERBS:',
    ),
    slip(
        "deploy-script-is-a-verb",
        _VERBS,
        "to name a `deploy script` without an article asks for a deploy",
        "    return not is_thing or not _DOES.isdisjoint(before[:1])",
        "    return True",
    ),
    slip(
        "verb-after-article-does-nothing",
        _VERBS,
        "`do the push` asks for no push",
        "            return not _DOES.isdisjoint(following)",
        "            return False",
    ),
    slip(
        "deletion-of-nothing-named",
        _WORDS,
        "a deletion without a path is asked for by every message",
        "return bool(paths) and all(named)",
        "return all(named)",
    ),
    slip(
        "no-push-asks-for-one",
        _PROHIBITIONS,
        "no and not forbid nothing",
        "cannot|cant|wont|not|no|nobody",
        "cannot|cant|wont|nobody",
    ),
    slip(
        "list-after-do-not-asks",
        _PROHIBITIONS,
        "the points of a list after do not are asked for",
        "self.carried = (means, not rest)",
        "self.carried = None",
    ),
    slip(
        "push-must-not-happen-asks",
        _PROHIBITIONS,
        "what stands before must not is asked for",
        "start = bounds[-1] if bounds else at",
        "start = found.start() if bounds else found.start()",
    ),
    slip(
        "file-name-is-a-host",
        _HOSTS,
        "README.md is a host to read from",
        "if ends and _HOST.fullmatch(name):",
        "if _HOST.fullmatch(name):",
    ),
    slip(
        "user-in-an-address-is-its-host",
        _HOSTS,
        "the host of a mail address is named",
        r"(?<![\w@/:.$%&=\\-])[\w-]+",
        r"(?<![\w/:.$%&=\\-])[\w-]+",
    ),
    slip(
        "any-noun-is-a-package",
        _PACKAGES,
        "a word after an article is a package",
        'needs_sign = needs_sign or words[at] == "the"',
        "needs_sign = False",
    ),
    slip(
        "one-package-is-a-list",
        _PACKAGES,
        "who asks for one package gets what a file lists",
        "text_ends or not {*words[at + 1 : at + 4]}.isdisjoint(_LISTS)",
        "text_ends or words[at + 1 : at + 4]",
    ),
    # What a yes is of.
    slip(
        "yes-to-any-input",
        _STEPS,
        "a yes to a send is of any data",
        "fed = any(_decides(deeds[one]) for one in reached - {number})",
        "fed = any(_decides(deeds[one]) for one in reached - reached)",
    ),
    slip(
        "yes-to-any-variables",
        _WRAPPERS,
        "a yes to a run is of any variables that env sets",
        "deed.assigns = deed.assigns or at > 0",
        "deed.assigns = deed.assigns or at < 0",
    ),
    slip(
        "object-found-in-the-request",
        _PARTS,
        "provenance finds in the request what it forbids",
        'return f"{step.name}: {command}" +',
        "return command +",
    ),
    # Code of the folder.
    slip(
        "module-of-the-folder-is-installed",
        _RUNNERS,
        "python -m runs a module of the folder as if it was installed",
        "    if isolated:",
        "    if isolated or name in _MODULE_KINDS:",
    ),
    slip(
        "version-loads-nothing",
        _RUNNERS,
        "a program that loads plugins does not before it says its version",
        'one.effect == "run" and one.reader != "interpreter"',
        'one.effect == "run" and one.reader == "interpreter"',
    ),
    slip(
        "npx-fetches-nothing",
        _RUNNERS,
        "npx --yes installs nothing",
        '_FETCHES: Final = frozenset(("-y", "--yes"))',
        '_FETCHES: Final = frozenset(("-y",))',
    ),
    slip(
        "target-is-no-path",
        _OPERANDS,
        "bun run ../test runs the script test",
        'if "/" in name or (',
        "if (",
    ),
    # Names that are made otherwise.
    slip(
        "curl-saves-under-one-option",
        _CURL,
        "curl --remote-name saves nothing",
        'frozenset(("-O", "--remote-name"))',
        'frozenset(("-O", "--remote-names"))',
    ),
    slip(
        "gunzip-knows-one-ending",
        _MOVES,
        "gunzip takes away .gz alone",
        r"\.gz$|-gz$|[._-]z$|\.t[ag]z$",
        r"\.gz$",
    ),
    slip(
        "moved-away-is-kept",
        _MOVES,
        "what is moved to where nothing is kept is kept",
        "deed.deletes += sources",
        "deed.reads += sources",
    ),
    slip(
        "pattern-of-git-is-a-name",
        _GIT,
        "a pattern in quotes is the name of a file for git",
        "if text is None or not _SIGNS.search(text):",
        "if text is None or not _SIGNS.search(text[:1]):",
    ),
    slip(
        "text-of-the-line-is-a-name",
        _WRAPPERS,
        "xargs takes a text behind <<< for the name of a file",
        "one.feeds or (one.mixes and one.text != deed.text)",
        "(one.mixes and one.text != deed.text)",
    ),
    slip(
        "variable-that-may-be-set-is",
        _WALK,
        "a variable that another branch sets has its value",
        "if variable in self._set or",
        "if variable in self._assigned or",
    ),
    slip(
        "brackets-of-sed-are-counted",
        _SED,
        "a delimiter in a class of characters ends the pattern of sed",
        'if any("[" in brackets.sub("", part) for brackets in _CLOSED_BRACKETS):',
        'if part.count("[") != part.count("]"):',
    ),
    slip(
        "find-deletes-behind-links",
        _FIND,
        "find -L deletes what a link of a folder leads to",
        '_FOLLOWS: Final = ("-L", "-follow")',
        '_FOLLOWS: Final = ("-follow",)',
    ),
    slip(
        "find-deletes-below-a-pattern",
        _FIND,
        "what find deletes below a pattern of folders is what is made again",
        "by_pattern = any(folder.globs for folder in folders)",
        "by_pattern = False",
    ),
    slip(
        "deletion-through-a-pattern",
        _PATHS,
        "what is below a pattern of folders is made again because the folder above is",
        "if len(parts) > 1 and path.written:",
        "if len(parts) > 9 and path.written:",
    ),
    slip(
        "deploy-behind-a-test-is-a-test",
        _OPERANDS,
        "npm run test:deploy is asked for by who wants the tests run",
        "if not _NEEDS_ITS_NAME.isdisjoint(more):",
        "if not _NEEDS_ITS_NAME.isdisjoint(()):",
    ),
    slip(
        "server-tests-start-it",
        _WORDS,
        "run the server tests asks to start the server",
        r"(?:and|then|to|on|at|in|with|locally|again|first|so|or)\b))",
        r"(?:and|then|to|on|at|in|with|locally|again|first|so|or)?\b))",
    ),
    slip(
        "types-in-any-scope",
        _WORDS,
        "a package in any scope is asked for by its name",
        'one.removeprefix("@types/")',
        'one.rpartition("/")[2]',
    ),
    slip(
        "git-rm-of-a-pattern-is-of-a-name",
        _GIT,
        "git rm of what is no plain path loses nothing",
        'plain = all(_PLAIN_PATH.fullmatch(word.exact or "") for word in given.operands)',
        "plain = True",
    ),
    slip(
        "push-of-another-is-ordered",
        _VERBS,
        "what somebody else is to push asks for a push",
        "    return _is_ordered(tokens, at)",
        "    return at >= 0",
    ),
    slip(
        "push-onto-a-queue-leaves",
        _VERBS,
        "what is pushed onto a queue of the code asks for a push",
        "not _COLLECTIONS.isdisjoint(_until_end(after))",
        "not _COLLECTIONS.isdisjoint(())",
    ),
    slip(
        "script-to-build-and-push-is-an-order",
        _VERBS,
        "what a script is for asks for a push after and",
        "before not in _UNDOES_PUSH and not _says_what_others_do(earlier)",
        "before not in _UNDOES_PUSH",
    ),
    slip(
        "faster-deploy-is-a-deploy",
        _VERBS,
        "make deploy faster asks for a deploy",
        "return not makes or not after",
        "return makes or not after",
    ),
    slip(
        "any-pattern-of-rm-is-a-name",
        _OPTIONS,
        "a file called -rf becomes no option of rm",
        'self._entry.names == "rm" and _ENDS_AS_NO_OPTION.fullmatch(word.shown)',
        'self._entry.names == "rm"',
    ),
    slip(
        "echo-lists-no-folder",
        _PROGRAMS,
        "echo shows the names in a folder elsewhere without a word",
        'if entry.free or {*entry.operands.kinds} == {"text"}:',
        "if not entry.reader and not entry.free:",
    ),
    slip(
        "script-is-given-a-command",
        _RUNNERS,
        "a command behind a semicolon is an argument of a script of npm",
        "any(sign in word.shown for word in words for sign in _SHELL_SIGNS)",
        "any(sign in word.shown for word in words for sign in _SHELL_SIGNS[:4])",
    ),
    slip(
        "script-of-any-run",
        _RUNS,
        "a script that is named after the clause of a run is run",
        "if small[at] in _JOINS and not (is_named and _is_path(follows)):",
        "if small[at] in _JOINS and not _is_path(follows):",
    ),
    slip(
        "script-behind-a-place",
        _RUNS,
        "`run the tests of gen.py` asks to run gen.py",
        "small[at] not in _PLACES | _ENDS:",
        "small[at] not in _ENDS:",
    ),
    slip(
        "that-is-what-comes",
        _WORDS,
        "`run it` is of nothing that an earlier sentence named",
        "words = words._replace(runs=words.runs | wanted.names)",
        "words = words._replace(runs=words.runs | words.names)",
    ),
    slip(
        "forbidden-run-is-kept",
        _WORDS,
        "a script that was to be run is run after the word not to touch it",
        "verbs=verbs, runs=left.runs - taken.names)",
        "verbs=verbs)",
    ),
    slip(
        "class-ends-at-the-first-bracket",
        "critic/command/place_names.py",
        "what a class with a bracket in it gives is not known: `.e[!]x]v`",
        'if "[" in plain or "]" in plain else plain',
        'if "[" in plain else plain',
    ),
    slip(
        "class-of-two-brackets",
        "critic/command/place_names.py",
        "a bracket that is left over ends the pattern before what it may give",
        """return f"{pattern.partition('[')[0]}*" if""",
        """return f"{plain.partition('[')[0]}" if""",
    ),
    slip(
        "backslash-in-a-pattern",
        "critic/command/place_names.py",
        "a secret behind a backslash is none, though git and find drop it",
        'folded_names(pattern.replace("\\\\", ""))',
        "folded_names(pattern)",
    ),
    slip(
        "pathspec-with-a-backslash",
        "critic/command/git_commands.py",
        "a path of git with a backslash is not read as the pattern that it is",
        '|^[^:]*[*?\\[\\\\]")',
        '|^[^:]*[*?\\[]")',
    ),
    slip(
        "revision-is-no-path",
        "critic/command/git_commands.py",
        "an operand with a sign of revisions is no path",
        '    else:\n        apply_kind(walk, "read", _as_pathspec(word), deed)',
        '    elif "^" not in (text or ""):\n'
        '        apply_kind(walk, "read", _as_pathspec(word), deed)',
    ),
    slip(
        "group-is-one-name",
        "critic/command/name_expressions.py",
        "of alternatives in a group the last alone counts",
        "for option in options]",
        "for option in options[-1:]]",
    ),
    slip(
        "braces-are-one-name",
        "critic/command/name_expressions.py",
        "of alternatives in braces the first alone counts",
        'for one in listed[2].split(",")]',
        'for one in listed[2].split(",")[:1]]',
    ),
    slip(
        "any-sign-is-no-folder",
        "critic/command/name_expressions.py",
        "what an expression repeats is a part of one name",
        '_ANY: Final = "*/*"',
        '_ANY: Final = "*"',
    ),
    slip(
        "filter-asks-for-nothing",
        "critic/command/asked_names.py",
        "what `grep` lets through of a list of all files is a general list",
        "[one for one in found if one.pattern in _ALL]",
        "[one for one in found if not one]",
    ),
    slip(
        "filter-of-the-first-expression",
        "critic/command/asked_names.py",
        "of several expressions the first alone asks for names",
        "one.name in _ASKS_FOR and one.value]",
        "one.name in _ASKS_FOR and one.value][:1]",
    ),
    slip(
        "install-that-is-described",
        "critic/command/requested_packages.py",
        "`how to install` asks to install",
        'return before[-2:] != ["how", "to"] and _OTHERS',
        "return _OTHERS",
    ),
    slip(
        "install-by-others",
        "critic/command/requested_packages.py",
        "what users are to install is installed",
        'before[-2:] != ["how", "to"] and _OTHERS.isdisjoint(before)',
        'before[-2:] != ["how", "to"]',
    ),
)
