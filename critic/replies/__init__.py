"""Texts about a refusal: `say` for the model that made the call, `ask` for the person who decides.

The reason of a violation is for the operator of a policy. These two are for readers who have never
seen the policy: they name the tool and the argument, and say what would help, and who can do it.

Rule 1: a text is derived from the violation and the facts behind it, and from nothing else. It is
        never hashed, recorded or compared, so that it may be written anew at any time.
Rule 2: of what anybody else wrote, a text holds the value in question alone: quoted, escaped, cut.
Rule 3: it has 240 characters at most. Values are cut further before words are.
"""
