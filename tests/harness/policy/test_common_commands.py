"""The shipped table: every entry is well-formed, and no option is in it that reaches further."""

import re
from collections.abc import Iterator

import pytest

from critic.command.agent_settings import PROTECTED
from critic.command.command_table import CommandTable, ProgramEntry
from harness.policy.shell_settings import shipped_table

TABLE = shipped_table("common-1")


def entries() -> Iterator[ProgramEntry]:
    yield from TABLE.command


def test_the_table_is_large_enough_for_agents() -> None:
    assert len(TABLE.entries) >= 350
    assert len(TABLE.entries["git"]) >= 70


def test_every_program_that_changes_something_says_what() -> None:
    """An entry without an effect, a reader or a kind only reads, or does nothing at all."""
    silent = {"text", "text2", "word", "glob", "script", "read", "list", "plugin", "ref", "layout"}
    for entry in entries():
        kinds = {option.kind for option in entry.options.values()} | {*entry.operands.kinds}
        if entry.free:
            assert entry.effect == "system" or entry.names == "echo", entry.names
        if not entry.effect and not entry.reader:
            changing = kinds - silent - {None, "?"}
            known = {"write", "into", "rw", "delete", "cmd"}
            assert changing <= known, (entry.names, changing)


def test_code_of_the_repository_says_what_it_runs_for() -> None:
    for entry in entries():
        if entry.effect == "run":
            assert entry.run_kinds or "target" in entry.operands.kinds, entry.names
        assert len(set(entry.run_kinds)) == len(entry.run_kinds), entry.names


def test_who_is_asked_is_known() -> None:
    """A step that reaches the network without a host would be of nobody, and so of anybody."""
    for entry in entries():
        if entry.effect in ("fetch", "send") and entry.reader not in ("git", "curl"):
            assert entry.host or "host" in entry.operands.kinds, entry.names
        assert not entry.host or entry.effect in ("fetch", "send"), entry.names


def test_a_safe_program_neither_writes_nor_runs() -> None:
    """Names of files stand where its options may: `cat -- *` and `cat *` are alike."""
    safe = {name for entry in entries() if entry.safe for name in entry.names.split()}
    assert safe == {
        *("cat", "head", "tail", "wc", "ls", "dir", "vdir", "du", "grep", "egrep", "fgrep"),
        *("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"),
    }
    for entry in entries():
        if entry.safe:
            kinds = {option.kind for option in entry.options.values()} - {None, "?"}
            assert kinds <= {"text", "glob", "read", "list"}, entry.names
            assert not entry.effect


FURTHER = {
    "runs a program": """
        sort --compress-program | rg --pre --hostname-bin -z --search-zip | fd -x -X --exec -l
        find -exec | tar --to-command -I --use-compress-program | diff -l --paginate | man -P
        git log --ext-diff --textconv --show-signature | git diff --ext-diff --textconv
        git grep -O --open-files-in-pager | git fetch --upload-pack --exec | git push --receive-pack
        git rebase -x --exec -i | git commit -S --gpg-sign -e --edit | git tag -s -u
        git push --exec
        git archive --exec --remote | git ls-remote --upload-pack | git pull --upload-pack
        go test -exec -toolexec | go build -toolexec -ldflags -gcflags | go vet -vettool
        gcc -wrapper -B -fplugin | zip -T -TT | make -f --eval -E | cmake -E -P --install
        ctest -S -build-and-test | pytest --pdb --pdbcls -c
        mypy --python-executable --install-types
        xargs -a --arg-file -I | env -S | split --filter | ninja -t -f | timeout --exec
        cargo build --config | cargo run --config | gradle -I --init-script | mvn -f -s -Dexec.args
        pip install --python | uv sync --python | npm ci --script-shell | npm test --script-shell
        playwright test --config | jest --config --runner --globalSetup --reporters
        actionlint -shellcheck -pyflakes | terraform plan -chdir | bandit -c | pyright --pythonpath
        gh pr/view -w --web --jq -q | gh run/view --jq | patch -e --ed | sed -f --file -I
        awk -f -i -l -e | jq -f -L --from-file | less -k | ps e E | uvicorn --app-dir
        rspec -r -I --require | rubocop -r --require -c | eslint -c --config --rulesdir --plugin
        phpunit --bootstrap -c | mocha -r --require --config | stylelint --config --custom-syntax
        prettier --plugin --config --parser | isort --settings-path --formatter | nox -f | tox -c
    """,
    "reads or writes what another file or server says": """
        wc --files0-from | du --files0-from -X | sort --files0-from -T | file -f -C -m
        md5sum -c --check | sha256sum -c --check | shellcheck -a -x -P | unzip -x | curl -K -b -c -J
        wget -i -e -P -r --post-file --post-data --config | gunzip -N -r -S --name --suffix
        curl --config --netrc-file --cert --key --cookie --cookie-jar --create-dirs --unix-socket
        curl -x --proxy --resolve --connect-to --next | pytest -o --rootdir --basetemp --pastebin
        pip install -i --index-url --extra-index-url -t --target --root --prefix -f --find-links
        npm ci --prefix -g --registry | pytest --override-ini --tx | uv add --index | docker ps -H
        git diff --output --no-index -O | git log --output -O
        git blame --contents --ignore-revs-file
        git status --git-dir --work-tree | git add --pathspec-from-file | git commit -t --template
        cp -t -T -b -S --target-directory --backup --parents | mv -t -T -b -S | ln -t -T -b -S
        time -o -a -f --output -p
        tail --pid | tee -p | shuf --random-source | sort --random-source | date -s -f --set
        kubectl get/pods --kubeconfig --server --token --raw | kubectl logs --kubeconfig
        ls -T -I -w -D | base64 -i -o | sed -l | column -n | fmt -p
        ruff check --config --cache-dir
        mypy --cache-dir --config-file --junit-xml | tsc --plugins --generateTrace | black --config
        grep --label --devices --directories | git ls-files -s --stage --format --eol --debug -t -v
        chmod -R --recursive --reference | touch -A | cmp --from-file | make -C=x -I -o -W
    """,
}


def further() -> Iterator[tuple[str, str, str]]:
    for reach, lines in FURTHER.items():
        for line in re.split(r"\s*[|\n]\s*", lines.strip()):
            yield reach, *line.partition(" ")[::2]


@pytest.mark.parametrize(("reach", "program", "words"), [*further()])
def test_no_option_reaches_further_than_its_entry_says(
    reach: str, program: str, words: str
) -> None:
    sub, _, rest = words.partition(" ")
    subs = TABLE.entries.get(program, {})
    entry, listed = (subs[sub], rest) if sub in subs and sub else (subs.get(""), words)
    known = set(entry.options) if entry is not None else set[str]()
    assert not known & set(listed.split()), f"{program} {reach}"


def test_the_lists_of_names_agree() -> None:
    places, variables = TABLE.places, TABLE.variables
    for field in ("protected", "secret", "secret_folders", "not_secret", "made_again"):
        words = getattr(places, field).split()
        assert len(words) == len(set(words)), field
        assert field == "secret" or not any("/" in word for word in words), field
    assert all(word.count("/") <= 1 for word in places.secret.split())
    assert not {*places.protected.split()} & {*places.made_again.split()}
    assert not {*places.protected.split()} & {name.rstrip("/") for name in PROTECTED}
    assert not {*variables.plain.split()} & {*variables.never.split()}


def test_the_value_is_read_once() -> None:
    assert shipped_table("common-1") is TABLE
    assert isinstance(TABLE, CommandTable)
