"""Check what decides by equality: the exact value is matched, and no near miss of it is.

    from harness.testing.equalities import Equality, check_equality, guard_equalities

    @pytest.mark.parametrize("equality", guard_equalities(MyGuard), ids=str)
    def test_my_guard_takes_no_near_miss(equality: Equality) -> None:
        check_equality(equality)

A near miss is empty, a prefix, in another case, of look-alike letters, a digest of another hash,
`true` for 1. One that counts where the exact value does raises `NearMissTaken`.
"""

from harness.testing._near.equality import Equality, NearMissTaken, check_equality
from harness.testing._near.guard_equalities import guard_equalities

__all__ = ["Equality", "NearMissTaken", "check_equality", "guard_equalities"]
