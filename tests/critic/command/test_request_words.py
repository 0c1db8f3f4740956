"""Which words of a user ask for a step of a command, and which nearly do."""

import time

import pytest

from critic.command.request_words import RequestedDeeds
from harness.policy.shell_settings import shipped_table
from tests.support.command_tables import SMALL_TABLE
from tests.support.shell_worlds import World, judge_steps

WORLD = World()
COMMON_TABLE = shipped_table("common-1")


def asked(request: str, command: str) -> bool:
    """Return whether the words ask for the last step of a command that the policy would stop."""
    steps = WORLD.read(command, SMALL_TABLE).steps
    words = RequestedDeeds([request], WORLD.root)
    return words.ask_for(steps[-1])


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((f"remove {name}", True) for name in ("old.py", "src/old.py", "./src/old.py")),
        *((f"Deleting `{name}`.", True) for name in ("old.py", "/w/src/old.py")),
        *((f"remove {name}", False) for name in ("docs/old.py", "./old.py", "/other/src/old.py")),
        *(
            (f"remove {name}", False)
            for name in ("OLD.py", "src/Old.py", "my.old.py", "old", "src")
        ),
        *((f"remove {name}", False) for name in ("old.py.bak", "lib/src/old.py", "src/old.pyc")),
        ("look at old.py", False),
        ("show old.py", False),
    ],
)
def test_a_deletion_is_asked_for_by_the_name_of_what_is_deleted(
    request_: str, is_asked: bool
) -> None:
    assert asked(request_, "rm src/old.py") is is_asked


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        ("Remove the unused import from src/old.py", False),
        ("Remove dead code in the file `old.py`, please", False),
        ("Drop the second line of\nsrc/old.py", False),
        ("Clean up the imports at our module src/old.py", False),
        ("Remove foo (src/old.py)", False),
        ("Remove debug prints throughout src/old.py", False),
        ("Remove the imports from src/new.py and src/old.py", False),
        ("Remove src/old.py imports", False),
        ("Remove src/old.py's imports", False),
        ("Clean up src/old.py", False),
        ("Why did you delete src/old.py?", False),
        ("The bug is in src/old.py. Remove that file", False),
        ("Delete nothing but look at src/old.py", False),
        ("Delete src/old.py, then stop. Sorry, do not touch src/old.py", False),
        ("Remove src/old.py from git", False),
        ("Remove src/old.py from the docs index", False),
        ("Remove src/old.py from coverage", False),
        ("Can you remove src/old.py and b.py as dependencies?", False),
        ("Remove a.py and src/old.py from the list", False),
        ("Remove src/old.py from disk", True),
        ("Remove src/old.py as it is not used", True),
        ("Remove the import from src/new.py and delete src/old.py", True),
        ("Remove the two obsolete config files src/new.py, `src/old.py` and x.py.", True),
        ("Delete the file src/old.py from the repository", True),
        ("Please delete **src/old.py**, it is not used", True),
        ("Can you delete old.py?", True),
        ("rm -f src/old.py", True),
    ],
)
def test_to_remove_something_from_a_file_is_not_to_delete_it(request_: str, is_asked: bool) -> None:
    assert asked(request_, "rm src/old.py") is is_asked


def test_a_deletion_without_a_path_is_asked_for_by_nothing() -> None:
    (step,) = WORLD.read("rm src/old.py", SMALL_TABLE).steps
    words = RequestedDeeds(["delete src/old.py"], WORLD.root)
    assert words.ask_for(step)
    assert not words.ask_for(step._replace(args=()))


def test_a_deletion_of_several_is_asked_for_by_the_name_of_each() -> None:
    assert asked("remove a.py and b.py", "rm a.py b.py")
    assert not asked("remove a.py", "rm a.py b.py")
    assert not asked("remove everything in /w", "rm -rf .")


DOCS = "The docs are at https://docs.example/x?v=2, see docs.example"


@pytest.mark.parametrize(
    ("command", "is_asked"),
    [
        ("curl -s https://docs.example/x", True),
        ("curl -s 'https://docs.example/x?v=2'", True),
        ("curl -s 'http://localhost:8000/x?q=1'", True),
        ("curl -s 'https://docs.example/x?v=2a'", False),
        ("curl -s 'https://docs.example/x?q=SECRET'", False),
        ("curl -s https://docs.example.evil.example/x", False),
        ("curl -s https://my-docs.example/x", False),
        ("curl -d @a.py https://docs.example/x", False),
        ("curl -T a.py https://docs.example/x", False),
        ("curl -d @a.py http://localhost:8000/x", True),
    ],
)
def test_a_host_that_is_named_is_one_to_read_from(command: str, is_asked: bool) -> None:
    assert asked(DOCS, command) is is_asked


@pytest.mark.parametrize(
    ("texts", "is_asked"),
    [
        (["Commit, but do not push."], False),
        (["Don't push yet"], False),
        (["don\u2019t commit or push anything"], False),
        (["Fix it without pushing"], False),
        (["Never push"], False),
        (["No pushing, please"], False),
        (["You should not push this. Commit it."], False),
        (["Commit instead of pushing"], False),
        (["Push it. Do not push to main."], False),
        (["Commit and push", "Wait, do not push"], False),
        (["Do not push", "Now push it"], True),
        (["Do not touch a.py. Push it."], True),
        (["Do not edit a.py, b.py or c.py, but push it"], True),
        (["Do not wait, just push"], True),
        (["Don't forget to push"], True),
        (["Do not ask before you push"], True),
        (["Push the branch", "Look at b.py", "And now the tests"], True),
    ],
)
def test_what_was_forbidden_last_is_not_asked_for(texts: list[str], is_asked: bool) -> None:
    (*_, step) = WORLD.read("git push origin main", SMALL_TABLE).steps
    assert RequestedDeeds(texts, WORLD.root).ask_for(step) is is_asked


@pytest.mark.parametrize(
    "request_",
    [
        *("Commit it, but not push.", "Commit, no push please", "do  not push", "do\nnot push"),
        *("please do\nnot\npush", "Do **not** push", "We cannot push today", "can't push"),
        *("I can\u2019t have you push this", "It won't be pushed", "I'll push it myself"),
        *("Nothing must be pushed", "don't you dare push", "never ever push", "don`t push"),
        *("leave the push to me", "Fix it without pushing", "Commit rather than pushing"),
        *("Do everything except push", "Do anything but push", "Do not just push", "dont push"),
        *("Do not:\n- push\n- deploy", "Never\n\nPush", "Things to avoid:\n\n1. pushing"),
        *("Pushing is not allowed", "A push must not happen", "push: no", "Pushing cannot happen"),
        *("No commits, pushes or deploys", "We can't commit, push or deploy", "no-push please"),
        *("Do not run e.g. push", "You are not allowed to: push", "Neither commit nor push"),
        *("Push it. Well, no push today.", "Pushing isn't allowed", "Push is off limits"),
        *("Fix it, not push it", "Do not commit and then push", "Do not do the following: push"),
        *("You may push, but not yet", "Push only after I say so", "Push once I approved it"),
        *(
            "Ask me before you push",
            "Ask before pushing",
            "Before you push, ask me",
            "Push nothing",
        ),
        *("Check with us before a push", "Wait with the push", "Hold the push", "do n't push"),
        *("Commit now, push later", "The push can wait", "push neither branch", "Delay the push"),
    ],
)
def test_what_forbids_a_push_asks_for_none(request_: str) -> None:
    (*_, step) = WORLD.read("git push origin main", SMALL_TABLE).steps
    for texts in ([request_], ["Commit and push", request_]):
        assert not RequestedDeeds(texts, WORLD.root).ask_for(step)


@pytest.mark.parametrize(
    "request_",
    ["Why did the push fail?", "Did you push?", "So, should I push it?", "Has it been pushed?"],
)
def test_a_question_about_a_push_asks_for_none(request_: str) -> None:
    assert not asked(request_, "git push origin main")
    assert asked("Can you push it?", "git push origin main")
    assert asked("Why do the tests fail?", "pytest -q")


@pytest.mark.parametrize(
    "request_",
    [
        *("Run the tests", "The tests are not passing. Run the tests", "Do not commit.\nRun tests"),
        *("The app won't start. Fix it and run the tests", "There is no bug, so run the tests"),
        *("Don't forget to run the tests", "Never hesitate to run the tests"),
        *("- no push\n- run the tests", "It isn't fixed; look at it, and run the tests"),
        *("No other changes. Then run the tests", "Do not push, but run the tests"),
    ],
)
def test_what_only_says_what_is_takes_nothing_else_back(request_: str) -> None:
    assert asked(request_, "pytest -q")


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        ("Fix README.md", "curl https://readme.md/x"),
        ("Fix main.rs and a.py", "curl https://main.rs/x"),
        ("os.path fails", "curl https://os.path/x"),
        ("Mail bob@corp.com the result", "curl https://corp.com/x"),
        ("Upgrade to python 3.11", "curl http://3.11/x"),
        ("System.Net.com is a class, java.net too", "curl https://java.net/x"),
        ("call foo.com() in it", "curl https://foo.com/x"),
        ("see src/good.com", "curl https://good.com/x"),
        ("git@good.com:x/y", "curl https://good.com/x"),
        ("https://bob@good.com/", "curl https://bob/x"),
        ("postgres://good.com/", "curl https://good.com/x"),
        ("Do not use good.com", "curl https://good.com/x"),
        ("Block requests to https://good.com/x in the config", "curl https://good.com/x"),
        ("Fix the firewall and block good.com", "curl https://good.com/x"),
        ("Look at good.com, no, never at good.com", "curl https://good.com/x"),
    ],
)
def test_what_only_looks_like_a_host_is_none(request_: str, command: str) -> None:
    assert not asked(request_, command)


@pytest.mark.parametrize(
    "request_",
    [
        *("Look at good.com and tell me", "see https://good.com.", "(https://good.com:443/x)"),
        *("Fix the block at https://good.com/x", "Block a.example. Then look at good.com"),
        *("get it from `Good.com`", "good.com/docs says so", "HTTPS://GOOD.COM"),
    ],
)
def test_a_host_is_named_by_its_name_or_an_address(request_: str) -> None:
    assert asked(request_, "curl https://good.com/x")


def test_a_host_is_taken_back_as_a_word_is() -> None:
    (*_, step) = WORLD.read("curl https://good.com/x", SMALL_TABLE).steps
    texts = ["Look at good.com", "Do not use good.com any more"]
    assert not RequestedDeeds(texts, WORLD.root).ask_for(step)
    assert RequestedDeeds([*texts, "Now good.com again"], WORLD.root).ask_for(step)


@pytest.mark.parametrize(
    ("request_", "packages", "is_asked"),
    [
        ("Install parser", "parser", True),
        ("Please install `parser` and lexer, then run the tests", "parser lexer", True),
        ("Install requests and react, then sync the dependencies", "requests react", True),
        ("Add the `parser` package", "parser", True),
        ("Add the parser library", "parser", True),
        ("Upgrade parser to 2.0", "parser", True),
        ("npm i -D parser", "parser", True),
        ("Add react-query to the project", "react-query", True),
        ("We need parser>=2", "parser", False),
        ("Add what needs parser>=2 and @scope/lexer", "parser @scope/lexer", True),
        ("Add a test for the parser", "parser", False),
        ("Add a test for the parser", "test", False),
        ("Add tests and logging", "tests", False),
        ("Add tests and logging", "logging", False),
        ("Update the readme", "readme", False),
        ("Add dark mode", "dark", False),
        ("Add verbose output", "verbose", False),
        ("Use parser instead of lexer", "parser", True),
        ("Use parser instead of lexer", "lexer", False),
        ('use "parser" as its name', "parser", False),
        ("Install what is needed", "what", False),
        ("Use `parser` for it, and add lexer to the project", "parser lexer", True),
        ("Install requests and run the linter", "linter", False),
        ("Install requests and run the linter", "run", False),
        ("Install requests and run the linter", "the", False),
        ("Install the dependencies", "dependencies", False),
        ("Install the parser", "parser", False),
        ("Mail bob@corp.com and add tests", "bob", False),
        ("Do not install parser", "parser", False),
        ("Fix the page about how to install parser", "parser", False),
        ("Document that users should install parser first", "parser", False),
        ("The README tells users to install parser; is that true?", "parser", False),
        ("Find out how, then install parser", "parser", True),
        ("Fix the page about how to use parser", "parser", False),
        ("The README tells users to use parser", "parser", False),
        ("Rewrite it to use parser", "parser", True),
        ("Install lexer. Never use parser", "parser", False),
    ],
)
def test_a_package_is_named_beside_the_word(request_: str, packages: str, is_asked: bool) -> None:
    assert asked(request_, f"pip install {packages}") is is_asked


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((one, True) for one in ("Install the dependencies", "pip install", "sync everything")),
        *((one, False) for one in ("Install parser", "Install the parser", "Fix it")),
    ],
)
def test_a_whole_list_is_asked_for_by_its_own_words(request_: str, is_asked: bool) -> None:
    assert asked(request_, "pip install -r requirements.txt") is is_asked
    if "parser" in request_:
        assert not asked(request_, "pip install parser -r requirements.txt")


def test_a_script_is_run_by_its_name_and_the_word() -> None:
    for request in (
        "Run src/gen.py",
        "Try ./src/gen.py and look",
        "I'm running gen.py, and it fails",
    ):
        assert asked(request, "python src/gen.py")
    for request in ("Look at src/gen.py", "Run the tests of src/other.py", "Fix gen.py"):
        assert not asked(request, "python src/gen.py")


@pytest.mark.parametrize(
    "request_",
    [
        *("The push is my job", "Fix the push notifications", "CI deploys on each push"),
        *("I pushed a fix, look at it", "Look at what was pushed", "Fix the last push of a.py"),
        *("Add a pre-push hook", "Rename push_all to send_all", "Fix push events"),
        *("It pushes twice, fix that", "Fix our push", "Undo that failed push"),
    ],
)
def test_a_push_that_is_only_named_is_not_asked_for(request_: str) -> None:
    assert not asked(request_, "git push origin main")
    assert asked(f"{request_}. Then push it", "git push origin main")
    assert not asked(f"Push it. {request_}, and no push.", "git push origin main")


@pytest.mark.parametrize(
    "request_",
    [
        *("Fix the bug and push", "Fix the bug, then do the push", "Commit the change, push it"),
        *("run `git push`", "Try a push", "The branch should be pushed", "Get it pushed, please"),
        *("We need it pushed", "Start pushing it", "Fix the hook; push", "PUSH IT", "Re-push it"),
        *("push notifications.py to origin", "Make the first push"),
    ],
)
def test_a_push_is_asked_for_by_its_verb(request_: str) -> None:
    assert asked(request_, "git push origin main")


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *(
            (one, False)
            for one in ("Fix the deploy script", "Fix deploy scripts", "Read a release")
        ),
        *((one, False) for one in ("It was deployed", "Why does the deploy fail?")),
        *((one, True) for one in ("Run the deploy script", "Deploy it", "npm run deploy")),
    ],
)
def test_a_script_that_leaves_the_machine_is_run_by_its_verb(request_: str, is_asked: bool) -> None:
    assert asked(request_, "npm run deploy") is is_asked


def test_a_script_that_must_not_be_touched_any_more_is_not_run() -> None:
    (*_, step) = WORLD.read("python src/gen.py", SMALL_TABLE).steps
    assert RequestedDeeds(["Run src/gen.py"], WORLD.root).ask_for(step)
    assert not RequestedDeeds(["Run src/gen.py", "Avoid src/gen.py"], WORLD.root).ask_for(step)


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((one, False) for one in ("Fix the run function in gen.py", "Add a run method to gen.py")),
        *((one, False) for one in ("Fix run() in gen.py, the call is wrong", "See runs of gen.py")),
        *((one, True) for one in ("Fix gen.py, then run it", "Make sure that gen.py runs")),
        *((one, True) for one in ("Run gen.py and fix the run function", "Re-run gen.py")),
        *((one, False) for one in ("Fix src/gen.py and run the tests", "Run the tests of gen.py")),
        *((one, False) for one in ("Run the tests, gen.py is broken", "Run a.py. Fix gen.py")),
        *(
            (one, False)
            for one in ("Try to fix gen.py", "Start with gen.py", "Run a.py in src/gen.py")
        ),
        *((one, True) for one in ("Run a.py, b.py and src/gen.py", "Run `python src/gen.py`")),
        *((one, True) for one in ("Fix gen.py. Then run it", "Fix a.py, then run it and gen.py")),
        *((one, True) for one in ("Run the script src/gen.py", "Please execute gen.py again.")),
        *(
            (one, True)
            for one in ("Fix gen.py and run that script", "I get an error when running gen.py")
        ),
        *((one, False) for one in ("Run it. Fix gen.py", "Fix gen.py. Do not run it")),
        *((one, False) for one in ("Rename src/gen.py and call it x.py", "Call it src/gen.py")),
    ],
)
def test_a_script_is_run_by_a_verb(request_: str, is_asked: bool) -> None:
    assert asked(request_, "python src/gen.py") is is_asked


@pytest.mark.parametrize(
    "unit",
    [
        "-",
        "./",
        "a.",
        "do not ",
        "not a, ",
        "run it ",
        "no a, b ",
        "https://",
        "@a/",
        "add a==",
        ": ",
        "the push ",
        "run ",
        "`",
    ],
)
def test_a_long_message_is_read_in_a_moment(unit: str) -> None:
    started = time.process_time()
    asked(unit * 10_000, "git push origin main")
    assert time.process_time() - started < 5


def test_what_must_not_be_touched_is_not_named() -> None:
    texts = ["Remove what nobody uses. Do not delete src/old.py."]
    (*_, step) = WORLD.read("rm src/old.py", SMALL_TABLE).steps
    assert not RequestedDeeds(texts, WORLD.root).ask_for(step)


def test_a_push_is_asked_for_by_its_word() -> None:
    assert asked("commit and push it", "git push origin main")
    assert not asked("commit it to git.example", "git push origin main")


@pytest.mark.parametrize(
    ("request_", "command", "is_asked"),
    [
        ("Run the linter and fix what it reports", "npm run lint", True),
        ("Do not run the linter", "npm run lint", False),
        ("Type check it", "npm run typecheck", True),
        ("Run the typecheck", "npm run type-check", True),
        ("Run the server and check /health", "npm start", True),
        ("Please run our dev server.", "npm start", True),
        ("Restart the server", "npm start", True),
        ("Don't run the server", "npm start", False),
        ("Run the server tests", "npm start", False),
        ("Run the app's tests", "npm start", False),
        ("Fix the server and run the tests", "npm start", False),
    ],
)
def test_words_that_mean_a_deed_ask_for_it(request_: str, command: str, is_asked: bool) -> None:
    assert asked(request_, command) is is_asked


@pytest.mark.parametrize(
    ("request_", "package", "is_asked"),
    [
        ("Add lodash to the project", "@types/lodash", True),
        ("Install @types/node", "@types/node", True),
        ("Install @types/node", "node", False),
        ("Add lodash to the project", "@types/evil", False),
        ("Add lodash to the project", "@evil/lodash", False),
    ],
)
def test_who_asks_for_a_package_asks_for_its_types(
    request_: str, package: str, is_asked: bool
) -> None:
    assert asked(request_, f"npm install {package}") is is_asked


def test_a_script_is_run_in_each_folder_in_which_the_line_may_be_by_then() -> None:
    for folder in ("src", "./src"):
        assert asked("Run src/gen.py", f"cd {folder} && python gen.py")
        assert not asked("Run src/gen.py", f"cd {folder}; python gen.py")
        assert asked("Run src/gen.py and ./gen.py", f"cd {folder}; python gen.py")


@pytest.mark.parametrize("mark", [".", "!", "?", ";", ":"])
def test_the_packages_end_with_the_sentence_that_names_them(mark: str) -> None:
    for word in ("and", "And"):
        text = f"Install parser{mark} {word} requests is broken"
        assert not asked(text, "pip install requests")
    assert asked("Install parser, and requests", "pip install requests")


def test_the_project_may_be_what_is_installed_for_editing() -> None:
    for command in ("pip install -e .", "pip install -q -e ."):
        assert asked("Install the dependencies", command), command
        assert not asked("Fix the bug in a.py", command), command


@pytest.mark.parametrize(
    ("command", "action"),
    [
        ("git rm src/old.py", "allow"),
        ("git rm -q -f src/old.py && git commit -m x", "allow"),
        ("git rm src/old.py a.py", "ask"),
        ("git rm -r src", "ask"),
        ("git rm 'src/old*.py'", "ask"),
        ("git rm src/a@2.py", "ask"),
        ("git rm --cached src/old.py", "ask"),
    ],
)
def test_git_removes_a_file_that_is_to_be_deleted(command: str, action: str) -> None:
    assert judge_steps(WORLD.read(command, SMALL_TABLE).steps, "Delete src/old.py")[0] == action


@pytest.mark.parametrize(
    "request_",
    [
        *("Fix array push in a.py", "Use push instead of append", "Implement pop and push"),
        *("The function should push items onto the queue", "Bob will push it", "Let CI push it"),
        *("Make the parser push each token to the list", "The button should save and push"),
        *("Explain git push", "Document how to push a tag", "Write docs on how to build and push"),
        *("Fix a.py before I push", "Make it ready to push", "Prepare a commit I can push"),
        *('Add "push" to the menu', "Rename `push` to `append`", "Fix git push in README.md"),
        *('Fix the error "failed to push"', "fatal: could not push", "The docs say to push often"),
        *("Add a target to build and push the image", "Push each item onto the stack"),
        *("Push notifications are broken", "Push is slow", "Push fails, find out why"),
    ],
)
def test_what_others_push_is_not_asked_for(request_: str) -> None:
    assert not asked(request_, "git push origin main")
    assert asked(f"{request_}. Then push it", "git push origin main")


@pytest.mark.parametrize(
    "request_",
    [
        *("1. fix a.py\n2. push", "- fix a.py\n- push to main", "git push please", "LGTM, push!"),
        *("If the tests pass, commit and push", "Make the tests pass then push", "ok push it"),
        *("Fix the bug that breaks login and push", "Go ahead and push", "We should push it"),
        *("You can push when done", "You need to push it", "commit & push", "run git push"),
        *("Fix it.\n\nCommit, then also push", "Finally, git push", "push again"),
    ],
)
def test_a_push_is_ordered_where_an_order_stands(request_: str) -> None:
    assert asked(request_, "git push origin main")


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((f"{one} deploy", False) for one in ("Debug", "Speed up", "Users", "Write a script to")),
        *((f"Make deploy {one}", False) for one in ("faster", "work again")),
        *((f"{one} deploy", True) for one in ("Build, test and", "make", "Use npm run", "Start a")),
    ],
)
def test_a_deploy_is_ordered_where_an_order_stands(request_: str, is_asked: bool) -> None:
    assert asked(request_, "npm run deploy") is is_asked


@pytest.mark.parametrize(
    ("request_", "command", "is_asked"),
    [
        ("push the button code into src/x.py", "git push", False),
        ("Fix the bug and push it into production", "git push", False),
        ("Fix the bug and push", "git push", True),
        ("Sync the docs with the code", "uv sync", False),
        ("Sync the dependencies", "uv sync", True),
        ("Run uv sync", "uv sync", True),
        ("sync everything", "uv sync", True),
        ("Fix the CI", "npm ci", False),
        ("Run npm ci and the tests", "npm ci", True),
        ("start by reading the docs", "npm start", False),
        ("start with the tests in tests/", "npm start", False),
        ("Read the docs, then start the dev server", "npm start", True),
        ("Start the app on port 80", "npm start", True),
        ("Format the date properly in a.py", "npx prettier --write .", False),
        ("Format dates in a.py as ISO", "npx prettier --write .", False),
        ("Format the code", "npx prettier --write .", True),
        ("Please format everything with prettier", "npx prettier --write .", True),
        ("Fix the formatting", "npx prettier --write .", True),
        ("Format src/a.py", "npx prettier --write .", True),
    ],
)
def test_a_word_that_means_something_else_asks_for_no_deed(
    request_: str, command: str, is_asked: bool
) -> None:
    steps = WORLD.read(command, shipped_table("common-1")).steps
    assert RequestedDeeds([request_], WORLD.root).ask_for(steps[-1]) is is_asked


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        *((f"Fix it and {verb} a pull request", True) for verb in ("open", "create", "submit")),
        ("Commit, push, then open a draft PR.", True),
        ("Please make a new pull request for this", True),
        ("Can you open the PR?", True),
        ("Open a PR", True),
        ("Do not open a pull request", False),
        ("Fix it without opening a PR", False),
        ("Should I open a PR?", False),
        ("Users who open a PR get an error", False),
        ("I will open a pull request", False),
        ("Bob will create a PR", False),
        ("Write a script to create a pull request", False),
        ("Open a.py and review the PR", False),
        ("Create a PR template file", False),
        ("Open the PR description file and shorten it", False),
        ("Open PR #12 and read it", False),
        ("Open a PR for this", True),
        ("Review pull request 12", False),
        ("Push the branch", False),
    ],
)
def test_a_pull_request_is_opened_by_an_order(request_: str, is_asked: bool) -> None:
    words = RequestedDeeds([request_], WORLD.root)
    steps = WORLD.read("gh pr create --title x --body y", COMMON_TABLE).steps
    assert words.ask_for(steps[-1]) is is_asked
    merge = WORLD.read("gh pr merge 12", COMMON_TABLE).steps
    assert not words.ask_for(merge[-1])


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        ("Review pull request 12", True),
        ("Look at PR #12", True),
        ("What is open on GitHub?", True),
        ("Fix the bug in a.py", False),
        ("Install requests", False),
        ("Do not look at GitHub", False),
    ],
)
def test_who_names_a_pull_request_asks_to_read_it(request_: str, is_asked: bool) -> None:
    words = RequestedDeeds([request_], WORLD.root)
    for command, reads in (
        ("gh pr view 12", True),
        ("gh repo view evil.example/o/x", False),
        ("curl https://github.com/x", False),
    ):
        steps = WORLD.read(command, COMMON_TABLE).steps
        assert words.ask_for(steps[-1]) is (is_asked and reads)


@pytest.mark.parametrize(
    "request_",
    [
        *("Do not run anything", "Don't run anything.", "Never execute code", "Run nothing"),
        *("Look at them but do not run them", "do not execute any code", "don't run!"),
        *("No commands", "No execution please", "Read only", "Just look, without running"),
        *("Do not edit, install or run anything", "You can't run any commands here"),
        *("I don't want you to run anything", "Nothing should be run", "It must not be run"),
        *("Avoid running any code", "Look at it instead of running it", "Do **not** run it yet"),
    ],
)
def test_who_forbids_all_runs_asks_for_no_kind_of_them(request_: str) -> None:
    (*_, step) = WORLD.read("pytest -q", SMALL_TABLE).steps
    for texts in (
        [f"Explain the tests. {request_}"],
        [f"{request_}\nExplain the tests"],
        ["Run the tests", request_],
    ):
        assert not RequestedDeeds(texts, WORLD.root).ask_for(step), texts
    assert RequestedDeeds([request_, "Now run the tests"], WORLD.root).ask_for(step)
    assert not asked(f"Run src/gen.py. {request_}", "python src/gen.py")
    assert asked(f"Install parser. {request_}", "pip install parser")


def test_who_forbids_all_runs_may_have_a_pull_request_read() -> None:
    steps = WORLD.read("gh pr view 12", COMMON_TABLE).steps
    words = RequestedDeeds(["Review PR 12. Do not run anything"], WORLD.root)
    assert words.ask_for(steps[-1])


@pytest.mark.parametrize(
    "request_",
    [
        *("Run the tests, and do not run anything else", "Run nothing but the tests"),
        *("The tests don't run. Fix them", "The tests hang and don't run. Fix them"),
        *("Fix the tests, CI doesn't run them", "Don't wait, just run the tests"),
        *("Run the tests. Don't run them in parallel", "Don't run any migrations. Fix the tests"),
        *("The hook does not run any code; run the tests", "No code is run on save. Fix the tests"),
        *("Fix the read-only flag and run the tests", "Run the tests without running the linter"),
    ],
)
def test_what_does_not_run_forbids_no_run(request_: str) -> None:
    assert asked(request_, "pytest -q")


@pytest.mark.parametrize(
    "request_",
    [
        *("Can we delete src/old.py?", "Would it be safe to delete src/old.py?"),
        *("Tell me whether it is safe to remove src/old.py", "See if we can delete src/old.py"),
        *(
            "Find out what breaks if we remove src/old.py",
            "Tell me whether we should rm src/old.py",
        ),
        *("Write a script that deletes src/old.py", "Write a function to remove src/old.py"),
        *("Write a function that removes src/old.py", "The script should delete src/old.py"),
        *(
            "Users delete src/old.py",
            "The README says to delete src/old.py",
            "CI removes src/old.py",
        ),
        "Add a note to the README: delete src/old.py",
    ],
)
def test_a_deletion_that_is_only_spoken_of_is_not_asked_for(request_: str) -> None:
    assert not asked(request_, "rm src/old.py")
    assert asked(f"{request_}. Then delete src/old.py", "rm src/old.py")


@pytest.mark.parametrize(
    "request_",
    [
        *("First delete src/old.py, then run the tests", "Could you please remove src/old.py?"),
        *(
            "We should delete src/old.py",
            "Let's delete src/old.py",
            "You need to delete src/old.py",
            "- delete src/old.py",
        ),
        *("Move it to a.py and delete src/old.py", "Run `rm src/old.py`", "use git rm src/old.py"),
    ],
)
def test_a_deletion_is_ordered_where_an_order_stands(request_: str) -> None:
    assert asked(request_, "rm src/old.py")


@pytest.mark.parametrize(
    ("request_", "is_asked"),
    [
        ("The docs say 'pip install parser'; is that outdated?", False),
        ("Add a line to the README: run `pip install parser`", False),
        ("Does the page say to install parser?", False),
        ("Run pip install parser", True),
        ("Run `pip install parser`", True),
        ("We need to install parser", True),
        ("1. Install parser", True),
        ("Fix it and then add parser to the project", True),
    ],
)
def test_a_package_is_installed_by_an_order(request_: str, is_asked: bool) -> None:
    assert asked(request_, "pip install parser") is is_asked


@pytest.mark.parametrize(
    "request_",
    [
        *("Explain migrate", "Review the migrate script", "Where is migrate used?"),
        *("Rename the migrate target", "The README mentions a.py and npm run migrate. Sum it up."),
        *("Users run migrate by hand", "Does CI run migrate?", "The page says to run migrate"),
        *("Run the migrate tests", "Add a note: run migrate first", "Don't run migrate"),
        *("Users start it with npm run migrate; fix the docs", "It migrates old rows; speed it up"),
        *("Run migrate. Never run migrate", "Tell me whether we should run migrate"),
    ],
)
def test_a_name_that_is_no_usual_one_is_not_run_for_its_mention(request_: str) -> None:
    assert not asked(request_, "npm run migrate")
    assert asked("Run migrate", "npm run migrate")


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        *((f"{one} migrate", "npm run migrate") for one in ("Run", "run npm run", "Please start")),
        *(
            (f"Fix it, then run {one}", "npm run migrate")
            for one in ("migrate.", "`migrate` again")
        ),
        *((f"Can you run the {one}?", "npm run drop-db") for one in ("drop-db script", "drop db")),
        *((f"{one} reset", "make reset") for one in ("make", "use make", "Fix a.py and make")),
        ("Run make reset, then build it", "make reset"),
        ("Run db:migrate and look", "npm run db:migrate"),
        ("Build the docs", "npm run docs"),
        ("Generate the client", "npm run generate"),
        ("Fix the schema and migrate the database", "npm run migrate"),
        ("Seed the database with npm run seed-dev", "npm run seed-dev"),
        ("Fix what the checks report", "npm run check"),
        ("Raise the coverage", "npm run coverage"),
        ("When I run gen.py it fails, fix that", "python gen.py"),
    ],
)
def test_a_name_is_run_by_an_order_and_a_usual_one_by_its_mention(
    request_: str, command: str
) -> None:
    steps = WORLD.read(command, COMMON_TABLE).steps
    assert RequestedDeeds([request_], WORLD.root).ask_for(steps[-1])


@pytest.mark.parametrize(
    "request_",
    [
        *("What does running src/gen.py do?", "Users run src/gen.py by hand. Document that."),
        *("cron runs src/gen.py each night; fix its log", "Should I run src/gen.py?"),
        *("The README says to run src/gen.py. Is that still right?", "We run src/gen.py daily"),
        *("Users get an error when running src/gen.py", "Add a line to the docs: run src/gen.py"),
        "Tell me whether we should run src/gen.py",
    ],
)
def test_a_script_that_others_run_is_not_run(request_: str) -> None:
    assert not asked(request_, "python src/gen.py")
    assert asked(f"{request_}\nThen run src/gen.py", "python src/gen.py")


@pytest.mark.parametrize(
    ("texts", "branch", "is_asked"),
    [
        (["Push main, never other"], "other", False),
        (["Push main, never other"], "main", True),
        (["Push main, not main:other"], "main:other", False),
        (["Push, but not other"], "other", False),
        (["Push main, never other", "Now push other"], "other", True),
        (["Never other", "Push main"], "other", False),
        *((["Push main, never other. Not third."], one, False) for one in ("other", "third")),
        (["Fix it, not a.py. Push"], "other", True),
    ],
)
def test_a_branch_that_is_spared_is_not_pushed(
    texts: list[str], branch: str, is_asked: bool
) -> None:
    (*_, step) = WORLD.read(f"git push origin {branch}", SMALL_TABLE).steps
    assert RequestedDeeds(texts, WORLD.root).ask_for(step) is is_asked


def test_all_that_a_step_names_is_asked_for_or_it_is_not() -> None:
    """One of its hosts, refs or scripts is not enough, whichever of them it is."""
    one, other = "https://docs.example.com/x", "https://evil.example/x"
    words = f"Read {one}"
    assert asked(words, f"curl {one}")
    assert not asked(words, f"curl {one} {other}")
    assert not asked(words, f"curl {other} {one}")
    for hosts in ("http://localhost/ http://h.example/", "http://h.example/ http://localhost/"):
        assert not asked("Post it", f"curl -d x {hosts}")
    for ref, is_asked in (("work", True), ("main", False), ("HEAD:main", False)):
        assert asked("Push it, never main", f"git push origin {ref}") is is_asked
        assert asked("Push it, never main", f"git push origin work {ref}") is is_asked


def test_what_is_run_from_elsewhere_is_not_asked_for_by_its_kind() -> None:
    assert asked("Run the tests", "pytest -q tests")
    for folder in ("/opt/t", "~/t", "tests /opt/t", "/opt/t tests", "/wx/tests"):
        assert not asked("Run the tests", f"pytest -q {folder}")
        assert not asked("Run the tests", f"npm test -- {folder}")


def test_a_plain_word_before_it_names_no_script_that_is_to_be_run() -> None:
    for word, is_asked in (("gen", False), ("tools/gen", True)):
        for text in (f"Fix {word}, then run it", f"Fix {word}. Then run it now"):
            assert asked(text, "./tools/gen") is is_asked


@pytest.mark.parametrize(
    ("request_", "command"),
    [
        ("keep b.py and delete src/old.py", "rm src/old.py"),
        ("fix it and open a pull request", "gh pr create --title x --body y"),
    ],
)
def test_a_question_about_two_things_asks_for_none_of_them(request_: str, command: str) -> None:
    (*_, step) = WORLD.read(command, COMMON_TABLE).steps
    for text, is_asked in (
        (f"Please {request_}.", True),
        (f"Should we {request_}?", False),
        (f"Did you {request_}?", False),
    ):
        assert RequestedDeeds([text], WORLD.root).ask_for(step) is is_asked
