"""Run-ahead limit: how far free-running simulated time may get ahead of the commands that answer its states.

A server that runs freely does not care whether anybody keeps up with it: where the machine is busy, efforts are held
that were meant for states of long ago, and the robot falls over. So time is let run to an instant (`run_to_sim_time` of
gz.msgs.WorldControl), which moves on with the states that commands have answered. Where these come in time the world
never reaches it; where they do not, it waits, and so does one whose bridge has been killed.
"""

import math

_PATIENCE = 0.2
"""Wall-clock time for which commands that stay away are waited for: a busy machine keeps the controller so long [s]."""

_LOOSE = 200_000_000
"""Length of the leash while there are no commands that could be waited for [ns]."""

_SHARE = 2
"""The part of its length by which the leash is moved at once is one over this."""

_ASK_AGAIN = 0.1
"""Wall-clock time without a state after which a world that ought to run is asked to again [s]."""


class Leash:
    """Computes the limits `run_to_sim_time` to request, and when; instants are of Gazebo's clock [ns]."""

    def __init__(self, length: float) -> None:
        """`length`: largest run-ahead [s]; 0 for no limit."""
        self._length = round(1e9 * length)
        self._granted, self._asked = 0, -math.inf
        self._answered, self._answered_at = 0, -math.inf

    def answered(self, stamp: int, now: float) -> None:
        """Record that a command for the state of the instant `stamp` arrived at `now` on the wall clock [s]."""
        self._answered, self._answered_at = stamp, now

    def granted(self, until: int, now: float) -> None:
        """Record that the world was asked at `now` on the wall clock [s] to run to the instant `until`."""
        self._granted, self._asked = until, now

    def begin(self, newest: int | None) -> int:
        """Limit for a world that starts to run at the instant `newest`; 0 for no limit."""
        return 0 if newest is None or not self._length else newest + self._length

    def goal(self, newest: int, heard: float, silent: bool, now: float) -> int | None:
        """Limit to request now; None where the present one still serves.

        Args:
            newest: instant of the newest state.
            heard: arrival of that state, on the wall clock [s].
            silent: whether the command timeout has passed, so that no command is waited for.
            now: wall-clock time [s].
        """
        if not self._length:
            return None
        waiting = not silent and now - self._answered_at < _PATIENCE
        length = self._length if waiting else _LOOSE
        until = (min(newest, self._answered) if waiting else newest) + length
        moved = until - self._granted >= length // _SHARE or self._granted > until + length
        resting = now - max(heard, self._asked) > _ASK_AGAIN
        return until if until > newest and (moved or resting) else None
