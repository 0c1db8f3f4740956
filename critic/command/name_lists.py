"""The lists of names in a table of programs: of variables, of files and of folders."""

from evals.envelope import Envelope
from evals.json_value import Text


class VariableNames(Envelope):
    """Variables that may be set before a command: patterns of names, with `*`.

    `plain` take any plain value, `never` none. Any other takes a number or a truth value. `values`
    are texts `NAME=VALUE` that do no harm, whatever the lists say. `computed`: a number alone.
    """

    plain: Text
    never: Text
    values: Text = ""
    computed: Text = ""


class PlaceNames(Envelope):
    """Files and folders by name: patterns with `*` and `?`, of one name each, in any case.

    `protected`: never written, at any depth. `secret`: not read without a question, and never sent;
    `FOLDER/NAME` is one at any depth of such a folder. `secret_folders`: nor is anything below such
    a folder; `not_secret` are exceptions of `secret`.
    `made_again`: what a build or a tool makes again, so that removing it loses nothing.
    """

    protected: Text
    secret: Text
    secret_folders: Text
    not_secret: Text
    made_again: Text
