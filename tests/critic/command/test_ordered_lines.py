"""Messages as people write them, each with a line: what it orders passes, and nothing else does."""

from typing import Final

import pytest

from critic.command.request_words import RequestedDeeds
from harness.policy.shell_settings import shipped_table
from tests.support.shell_worlds import World

WORLD: Final = World(branches=("main", "evil", "feature/login"))
TABLE: Final = shipped_table("common-1")

PUSH: Final = "git push"
PULL_REQUEST: Final = "gh pr create --fill"
DELETE: Final = "rm src/old.py"
DEPLOY: Final = "npm run deploy"

ORDERED: Final = (
    ("commit and push", PUSH),
    ("push it", PUSH),
    ("Push to origin", PUSH),
    ("Fix the bug, then push", PUSH),
    ("Fix the bug, commit, push", PUSH),
    ("Commit the change with a good message and push it to main.", "git push origin main"),
    ("please push the branch", "git push -u origin HEAD"),
    ("push my changes", PUSH),
    ("Push your commits to the remote, please", PUSH),
    ("Push the fix to GitHub", PUSH),
    ("push this up", PUSH),
    ("push everything to origin main", "git push origin main"),
    ("push feature/login to origin", "git push origin feature/login"),
    ("Push v1.2 and the other tags", "git push --tags"),
    ("1. fix x\n2. run pytest\n3. push", PUSH),
    ("Please do the following:\n- fix the parser\n- run the tests\n- commit and push", PUSH),
    ("Tasks:\n1. fix the parser\n2. push the branch", PUSH),
    ("Next steps: commit, push", PUSH),
    ("One more thing: push it", PUSH),
    ("When the tests pass: push", PUSH),
    ("Bug: the login fails. Fix it and push", PUSH),
    ("The test says: expected 3, got 4\nFix it and push.", PUSH),
    ("I get this error:\n```\nTypeError: x is undefined\n```\nFix it and push.", PUSH),
    ('The page shows "please try again". Fix that, commit and push.', PUSH),
    ("> it fails on Windows\n\nFix that, then commit and push.", PUSH),
    ("Document the API, commit and push", PUSH),
    ("Don't change the tests' names. It's done when CI's green; then push.", PUSH),
    ("Run `git push`", PUSH),
    ("Run `git add .` and `git push`", PUSH),
    ("Please run this:\n```sh\ngit commit -m x\ngit push\n```", PUSH),
    ("Looks good to me, you can push now", PUSH),
    ("Could you please commit and push this?", PUSH),
    ("I'd like you to push the branch once the tests pass", PUSH),
    ("Fix the parser.\n\n- [ ] add tests\n- [ ] push the branch", PUSH),
    ("After fixing, push to origin/feature-x", "git push origin feature-x"),
    ("Fix lint and push", PUSH),
    ("looks good - push it", PUSH),
    ("In src/a.py: fix the bug and push", PUSH),
    ("Explain what you did, then push", PUSH),
    ("Clean up: delete src/old.py", DELETE),
    ("please open a PR", PULL_REQUEST),
    ("Fix it, push, and open a pull request against main", PULL_REQUEST),
    ('Open a pull request titled "Fix the parser"', PULL_REQUEST),
    ("Then create a PR for this on GitHub.", PULL_REQUEST),
    ("deploy to staging", "make deploy"),
    ("Deploy the app to production", DEPLOY),
    ("Build it and deploy", DEPLOY),
    ("Run `npm run deploy`", DEPLOY),
    ("publish the package to npm", "npm run publish"),
    ("Bump the version and release it", "make release"),
    ("Release version 1.2", "make release"),
    ("run `make lint`", "make lint"),
    ("delete src/old.py and its test", DELETE),
    ("push to main", "git push origin HEAD:refs/heads/main"),
    ("push to dev", "git push origin HEAD:dev"),
    ("push to refs/heads/evil", "git push origin evil"),
    ("push it, but not to main", "git push origin HEAD:refs/heads/evil"),
    ("Delete `src/old.py`.", DELETE),
    ('Remove "src/old.py" and "src/new.py"', DELETE),
    ("Delete src/old.py\nDelete src/new.py", DELETE),
    ("To do:\n- delete src/old.py", DELETE),
    ("Nobody uses it. Delete src/old.py", DELETE),
    ("Run the tests", "pytest -q"),
    ('The log says "2 failed". Fix the tests', "pytest -q"),
    ("Install the dependencies", "npm ci"),
    ("Install `requests` and `flask`", "pip install requests flask"),
    ("Run `pip install requests`", "pip install requests"),
    ("Seed the database", "make seed"),
    ("Migrate the database", "npm run migrate"),
    ("Run the migrate script", "npm run migrate"),
    ("run deploy.py", "python deploy.py"),
    ("Run deploy.py with the staging config", "python deploy.py"),
    ("Fix deploy.py and run it", "python deploy.py"),
    ("Start the dev server", "npm start"),
    ("Build the project and start the server", "npm start"),
    ("Install it", "make install"),
)

SPOKEN: Final = (
    ("Explain this line: git add . && git commit && git push", PUSH),
    ("Explain git add . && git commit && git push", PUSH),
    ("Explain: git push", PUSH),
    ("Explain commit and push", PUSH),
    ("Explain add, commit, push", PUSH),
    ("What is the difference between commit and push", PUSH),
    ("Describe fetch (or push)", PUSH),
    ('Add a step "git push" to release.sh', PUSH),
    ("Add a step `git push` to release.sh", PUSH),
    ("Add a step: git push", PUSH),
    ("Add a step:\n```\ngit push\n```", PUSH),
    ("Replace `git pull` with `git push` in release.sh", PUSH),
    ('The hook prints "please push". Change the text to "please pull"', PUSH),
    ("The hook prints please push", PUSH),
    ("Change the text to \u201cplease push the branch\u201d", PUSH),
    ("Change the text to 'please push the branch'", PUSH),
    ('Use "please push" as the title', PUSH),
    ("Error: please push first. What does it mean?", PUSH),
    ("Review comment from Bob: please push this to staging", PUSH),
    ("Review comment from Bob - please push this to staging", PUSH),
    ("Bob wrote: The login fails. Please push a fix.", PUSH),
    ("Translate to German: please push the changes", PUSH),
    ('The issue says:\n"Please push the fix to main."\nFix the bug.', PUSH),
    ("The issue says:\nPlease push the fix to main.\n\nFix the bug.", PUSH),
    ("The steps in the README:\n- commit\n- push\nAre they right?", PUSH),
    ("> please push\n\nWhat does he mean", PUSH),
    ("$ git push\nfatal: no remote\nFix it", PUSH),
    ("The README says to run:\n```\nmake x\ngit push\n```\nFix the text", PUSH),
    ("The README says to run\n```\nmake x\ngit push\n```\nFix the text", PUSH),
    ('The text is cut: "please push\nFix it', PUSH),
    ("Please push updates to the websocket clients", PUSH),
    ("push to Kafka when an order is placed", PUSH),
    ("Push the metrics to Prometheus", PUSH),
    ("push the docker image to the registry", PUSH),
    ("We should push back on this design. Write a reply in notes.md", PUSH),
    ("Push it back if it is late", PUSH),
    ("Push the deadline", PUSH),
    ("push the rows to the table", PUSH),
    ("Add buttons for pull, push and merge", PUSH),
    ("In the docs: push to main", PUSH),
    ("<!-- please push -->\nRemove it", PUSH),
    ("When a user clicks save: push the changes", PUSH),
    ("Summarize this chat:\nAlice: can you push?\nBob: yes, push it", PUSH),
    ("I asked you to push the branch, why is it not there", PUSH),
    ("push my feature branch", "git push origin main"),
    ("push it", "git push --tags"),
    ("push it", "git push --no-verify"),
    ("push main", "git push origin evil"),
    ("push feature/login", "git push -u origin evil"),
    ("push to dev", "git push origin HEAD:main"),
    ("push to dev", "git push origin HEAD:refs/heads/main"),
    ("push to a feature branch", "git push origin HEAD:prod"),
    ("push it, but not to main", "git push origin HEAD:refs/heads/main"),
    ("Never push to main. Push it", "git push origin HEAD:heads/main"),
    ("push anything but main", "git push origin main"),
    ("push all branches other than main", "git push origin main"),
    ("push everything, except main", "git push origin main"),
    ("deploy docs are outdated; update", DEPLOY),
    ("Deploy fails. Why", "make deploy"),
    ("Deploy fails.", "make deploy"),
    ("release the lock in worker.py", "npm run release"),
    ("release the lock in worker.py", "make release"),
    ("Acquire the lock and release it", "make release"),
    ("publish an event on the bus", "npm run publish"),
    ('Add "please open a pull request" to CONTRIBUTING.md', PULL_REQUEST),
    ("make pull request checks pass", PULL_REQUEST),
    ("Bob's comment: open a pull request", PULL_REQUEST),
    ("The issue says:\nDelete src/old.py\nIs that right?", DELETE),
    ("> delete src/old.py\nDo you agree?", DELETE),
    ("I accidentally asked you to delete src/old.py", DELETE),
    ("delete function foo - src/old.py", DELETE),
    ('Change the label to "Please delete src/old.py"', DELETE),
    ("try deploy.py's tests", "python deploy.py"),
    ("The README tells: run deploy.py", "python deploy.py"),
    ("run pytest with deploy.py mocked", "python deploy.py"),
    ("migrate to TypeScript", "make migrate"),
    ("migrate to TypeScript", "npm run migrate"),
    ("seed the random generator", "make seed"),
    ("start the timer on mount", "npm start"),
    ("install a signal handler", "make install"),
    ('The page says "run npm ci"', "pip install npm"),
    ("The docs say `pip install requests`", "pip install requests"),
    ("add evil.example to the denylist", "curl https://evil.example/"),
    ("Put evil.example on the block list", "curl https://evil.example/"),
)


def is_asked(request: str, command: str) -> bool:
    """Return whether a message asks for the last step of a line."""
    steps = WORLD.read(command, TABLE).steps
    return RequestedDeeds([request], WORLD.root).ask_for(steps[-1])


@pytest.mark.parametrize(("request_", "command"), ORDERED)
def test_what_a_message_orders_passes(request_: str, command: str) -> None:
    assert is_asked(request_, command)


@pytest.mark.parametrize(("request_", "command"), SPOKEN)
def test_what_a_message_only_speaks_of_is_asked_about(request_: str, command: str) -> None:
    assert not is_asked(request_, command)
