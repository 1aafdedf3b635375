"""`contact-ddp play`: the live page of a robot that is simulated here, or that runs behind ROS 2 nodes."""

import argparse
import dataclasses
import socket
import sys
from typing import TYPE_CHECKING

from contact_ddp_ros.apps.cli.options import run_options
from contact_ddp_ros.apps.play.process import LoopProcess
from contact_ddp_ros.base import numba_cache
from contact_ddp_ros.base.errors import ParameterError
from contact_ddp_ros.base.process import end_with_parent, give_way, interruptible
from contact_ddp_ros.runs.live.commands import Slow

if TYPE_CHECKING:
    from contact_ddp_ros.runs.live.snapshot import Link


def play(arguments: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C or SIGTERM."""
    end_with_parent()
    if not arguments.ros:
        numba_cache.interpret()  # the loop's process compiles; what draws is as fast without, and there at once
    from contact_ddp_ros.apps.play.page import serve
    from contact_ddp_ros.runs.scenario import check_run

    options = run_options(arguments, video=False)
    check_run(options)
    _check_host(arguments.host)
    link: Link
    if arguments.ros:
        from contact_ddp_ros.ros.play_link import NodesLink

        link = NodesLink(dataclasses.replace(options, speed=((0.0, 0.0),)))
    else:
        link = LoopProcess(options)
    give_way()  # the loop, which has begun, comes first
    link.send(Slow(arguments.pace))
    with interruptible():
        try:
            serve(link, options, arguments.host, arguments.port, say, arguments.rate, not arguments.no_shadows)
        except KeyboardInterrupt:
            return 0
        finally:
            link.close()
    return 0


def _check_host(host: str) -> None:
    try:
        socket.create_server((host, 0)).close()
    except OSError as error:
        raise ParameterError(
            f"--host is {host!r}, where nothing can be served ({error.strerror or error}); allowed: 127.0.0.1, 0.0.0.0 "
            "or another address of this machine"
        ) from error


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)
    sys.stdout.flush()
