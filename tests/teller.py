"""What a board tells of the classes of its windows, as templates/device/windows.j2 has it in C."""

from __future__ import annotations

from dataclasses import dataclass, field

from protonn_edge.device.sensor_board import UNDECIDED


@dataclass
class Teller:
    """What a board tells of the classes of windows that come one after the other.

    Attributes
    ----------
    votes : int
        Of how many of the last windows most must have a class.
    refractory : int
        Samples for which a class that was told stays.
    told : int
        The class that was told last; `UNDECIDED` before there is one.
    """

    votes: int = 1
    refractory: int = 0
    told: int = UNDECIDED
    _recent: list[int] = field(default_factory=list)
    _told_at: int = 0

    def tell(self, label: int, end: int) -> bool:
        """Count the class of a window that ends before a sample's number; return if it is news."""
        self._recent = [*self._recent, label][-self.votes :]
        most = max(set(self._recent), key=self._recent.count)
        if 2 * self._recent.count(most) <= self.votes or most == self.told:
            return False
        if self.told != UNDECIDED and end - self._told_at < self.refractory:
            return False
        self.told, self._told_at = most, end
        return True

    def forget(self) -> None:
        """Forget the windows behind a gap; what was told stays."""
        self._recent = []
