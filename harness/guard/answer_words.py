"""Add texts to answers that stop something. The code for it is loaded with the first one."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from critic import Refused
from harness.guard.course import Answered, Course
from harness.guard.rulings import OpeningRuling, Ruling
from harness.policy import Policy

if TYPE_CHECKING:
    from critic.session import Batch
    from critic.session.waiting_calls import OpenedCall
    from harness.guard.ruling_words import RulingWords


class AnswerWords:
    """Adds texts to the answers of sessions of one policy."""

    def __init__(self, policy: Policy) -> None:
        """Use the names of a policy's tools."""
        self._policy: Final = policy

    def word(self, answered: Answered) -> Answered:
        """Return an answer with its texts. Its record stays unchanged."""
        ruling = answered.answer
        if answered.judged is not None and isinstance(ruling, Ruling | OpeningRuling):
            if ruling.action == "allow" and ruling.verdict:
                return answered
            told = self._words.word_opening(ruling, answered.judged, answered.course)
            return answered._replace(answer=ruling.model_copy(update=told))
        if not isinstance(ruling, Ruling) or not (
            ruling.unknown or isinstance(ruling.verdict, Refused)
        ):
            return answered
        batch = answered.records[-1].batch if answered.records else None
        return answered._replace(answer=self.word_ruling(ruling, batch, answered.course))

    def word_ruling(self, ruling: Ruling, batch: "Batch | None", course: Course) -> Ruling:
        """Return a ruling of a session with its texts."""
        return self._words.word(ruling, batch, course)

    def word_opening(self, ruling: Ruling, opened: "OpenedCall", course: Course) -> Ruling:
        """Return a ruling on an opened call with its texts."""
        return ruling.model_copy(update=self._words.word_opening(ruling, opened, course))

    @cached_property
    def _words(self) -> "RulingWords":
        from harness.guard.ruling_words import RulingWords  # noqa: PLC0415 - for refusals only

        return RulingWords(self._policy)
