"""Signals end what is interruptible, wherever it was started."""

import os
import signal

import pytest

from contact_ddp_ros.base.process import interruptible


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_interrupt_although_the_shell_had_them_ignored(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt):
            _send(number)
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)


def _send(number: signal.Signals) -> None:
    with interruptible():
        os.kill(os.getpid(), number)
        signal.sigtimedwait([], 1.0)
