"""Shell commands as plans: a command line is read into steps, one for each thing that it does.

Rule 1: only what bash, dash and zsh read alike is understood. All else is one destructive step for
        the whole line, which names the construct; no part of such a line is judged alone.
Rule 2: a table says what a program does with its arguments. A program, a subcommand or an option
        that is not in the table is not understood.
Rule 3: steps say at least what happens: each program that may run, each path that may be read,
        written or removed, each host that may be asked. Where a line may go two ways, both count.
Rule 4: nothing here asks the world. What depends on it is a fact. A line that needs a fact which
        nobody gave is not understood, and says what it needs.
"""
