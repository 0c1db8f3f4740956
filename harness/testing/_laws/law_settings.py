"""How Hypothesis runs a law: it finds the smallest input, and `LawBroken` shows that input."""

from hypothesis import Phase, Verbosity
from hypothesis import settings as hypothesis_settings


def quiet_settings(settings: hypothesis_settings | None) -> hypothesis_settings:
    """Return the settings without what Hypothesis adds to a failure.

    The input is in the message of `LawBroken` as JSON, so its repr is not printed again, nor is
    a blob for `@reproduce_failure`: a law has no function in the user's code to decorate with it.

    Args:
        settings: the current profile without a deadline, unless given.
    """
    settings = settings or hypothesis_settings(deadline=None)
    phases = tuple(phase for phase in settings.phases if phase is not Phase.explain)
    verbosity = settings.verbosity
    if verbosity == Verbosity.normal:
        verbosity = Verbosity.quiet
    return hypothesis_settings(settings, phases=phases, verbosity=verbosity, print_blob=False)
