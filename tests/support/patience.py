"""Settings of properties that draw much: not in `effort`, which is loaded before the profile is."""

from typing import Final

from hypothesis import HealthCheck, settings

# Slow machines draw slowly, and a whole proposal is a large draw: neither is an error of a test.
PATIENT: Final = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
