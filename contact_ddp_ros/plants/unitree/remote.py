"""Unitree's handset, as its bytes come with every LowState: sticks and buttons.

References:
    Layout: `wireless_controller.py` and the simulator's bridge in Unitree's public Python packages.
"""

import struct
from dataclasses import dataclass

from contact_ddp_ros.base.errors import LinkError

SIZE = 40
"""Bytes of a handset's message."""

BUTTONS = ("R1", "L1", "start", "select", "R2", "L2", "F1", "F3", "A", "B", "X", "Y", "up", "right", "down", "left")
"""Buttons in the order of their bits, which begin with the third byte."""

_STICKS = struct.Struct("<fff4xf")
"""Left x, right x, right y, and left y behind an unused number, which begin with the fifth byte."""

_DEAD = 0.05
"""Share of a stick's way that counts as the middle."""


@dataclass(frozen=True)
class Handset:
    """State of the handset.

    Attributes:
        buttons: names of those that are down.
        left, right: sticks (x, y), to the right and ahead positive, -1 to 1; zero about their middle.
    """

    buttons: frozenset[str] = frozenset()
    left: tuple[float, float] = (0.0, 0.0)
    right: tuple[float, float] = (0.0, 0.0)

    @property
    def moves(self) -> bool:
        """True if a stick is not in its middle."""
        return any((*self.left, *self.right))

    def encode(self) -> bytes:
        """Bytes of the handset."""
        bits = sum(1 << BUTTONS.index(name) for name in self.buttons)
        sticks = _STICKS.pack(self.left[0], self.right[0], self.right[1], self.left[1])
        return (b"\x00\x00" + bits.to_bytes(2, "little") + sticks).ljust(SIZE, b"\x00")


def read_handset(data: bytes) -> Handset:
    """State of the handset by its bytes.

    Raises:
        LinkError: a stick is beyond its range or not a number.
    """
    bits = int.from_bytes(data[2:4], "little")
    values = _STICKS.unpack_from(data, 4)
    if not all(abs(value) <= 1.01 for value in values):
        raise LinkError(f"sticks of the handset are at {values}; allowed: -1 to 1")
    left_x, right_x, right_y, left_y = (0.0 if abs(value) < _DEAD else value for value in values)
    pressed = frozenset(name for bit, name in enumerate(BUTTONS) if bits >> bit & 1)
    return Handset(pressed, (left_x, left_y), (right_x, right_y))
