"""What a session sent itself: a system that shows it later says nothing new by it.

Rule 1: a value was sent wherever a text of a system would grant it, and wherever one mentions it.
"""

from typing import Final

from critic.provenance.folding import write_scalar
from critic.provenance.holders import ItemText, Shown
from critic.provenance.place import Place
from critic.provenance.value_kinds import Sought
from critic.provenance.written_lists import leaves
from evals.context import SentValues
from evals.manifest import EvidenceItem

_SENT: Final = "sent/"


class SentIndex:
    """What was sent, in its order: an index that only grows."""

    def __init__(self) -> None:
        self._place: Final = Place()
        self._seqs: Final[list[int]] = []

    def __len__(self) -> int:
        return len(self._seqs)

    def add(self, sent: SentValues) -> None:
        """Add what one call sent, after all that was sent before it."""
        texts = [write_scalar(one) for value in sent.values for one in leaves(value, every=True)]
        item = EvidenceItem(id=f"{_SENT}{len(self._seqs)}", classification="sent")
        # As fields too, of which short numbers are values.
        self._place.add(ItemText(item, texts, texts))
        self._seqs.append(sent.seq)

    def first_seq(self, value: Sought, count: int | None = None) -> int | None:
        """Return when a value was sent first, alone or in a text; None where it never was.

        Args:
            count: how many of the first ones count.
        """
        if not self._seqs:
            return None
        limit = len(self._seqs) if count is None else count
        shown = None if limit == len(self._seqs) else _first_ones(limit)
        place = self._place
        looks = (place.mentions, place.says, place.leaf, place.field)
        found = filter(None, (look(value, shown) for look in looks))
        return min((self._seqs[_position(one)] for one in found), default=None)


def _first_ones(count: int) -> Shown:
    return Shown(expired=False, among=lambda entry: _position(entry) < count)


def _position(entry: ItemText) -> int:
    return int(entry.item.id[len(_SENT) :])
