"""The problems of one record, by the status that they lead to."""

from dataclasses import dataclass, field

from harness.replay.result import Difference, ReplayStatus


@dataclass
class Problems:
    """The problems of a record so far."""

    tampered: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    redacted: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    unended: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    is_ended: bool = False
    differences: tuple[Difference, ...] = ()

    def contradiction(self, reason: str) -> None:
        """Note a contradiction: drift in a record of other versions, else tampering."""
        (self.drift if self.drift else self.tampered).append(reason)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Return all reasons, the worst first."""
        return (*self.tampered, *self.incomplete, *self.redacted, *self.drift, *self.unended)

    @property
    def status(self) -> ReplayStatus:
        """Return the status that the worst of them leads to."""
        if self.tampered:
            return "tampered"
        if self.incomplete:
            return "incomplete"
        if self.redacted:
            return "redacted"
        if self.drift:
            return "drift"
        return "open" if self.unended else "same"
