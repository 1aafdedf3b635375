"""`contact-ddp`: the package's jobs from the command line, with and without ROS.

Exit codes: 0 when the job was done, 1 when it could not be, 2 for bad options or parameters, 3 when it was done but the
robot fell or never stood, 130 after Ctrl-C, what was recorded until then being saved. Errors are one line.

Whatever is slow to import is imported by the job that needs it, so that `--help` answers at once.
"""

import errno
import logging
import sys
from collections.abc import Sequence
from pkgutil import resolve_name

from contact_ddp_ros.apps.cli.parser import UsageError, build_parser
from contact_ddp_ros.apps.cli.plain_output import spell_out
from contact_ddp_ros.base.errors import ContactDdpError, ParameterError

_FULL = (errno.ENOSPC, errno.EDQUOT)

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one job and return the exit code; `arguments` are those of the process where left out."""
    spell_out()
    _tell_what_is_compiled()
    parser = build_parser()
    try:
        options = parser.parse_args(arguments)
        return int(resolve_name(f"{__name__}.{options.job}")(options))
    except (UsageError, ParameterError) as error:
        return _complain(error, EXIT_USAGE)
    except ContactDdpError as error:
        return _complain(error, EXIT_FAILED)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "contact_ddp_ros":
            raise
        text = f"this job needs the Python package {error.name!r}, which is not installed; see contact-ddp doctor"
        return _complain(text, EXIT_FAILED)
    except OSError as error:
        return _complain(_what_failed(error), EXIT_FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", EXIT_INTERRUPTED)


class _Teller(logging.Handler):
    """Plain lines on what is standard error at the time."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print the message."""
        print(self.format(record), file=sys.stderr)


def _tell_what_is_compiled() -> None:
    """Let what the package logs, above all that it compiles for a while, be seen on standard error."""
    log = logging.getLogger("contact_ddp_ros")
    if not log.handlers:
        log.addHandler(_Teller())
        log.setLevel(logging.INFO)


def _what_failed(error: OSError) -> str:
    """Text of what the system refused, and to which file where it says: a full disk, a lost permission."""
    reason = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {reason}"
    return f"cannot write the output: {reason}" if error.errno in _FULL else reason


def _complain(error: object, code: int) -> int:
    text = " ".join(str(error).split())
    print(f"contact-ddp: {text}", file=sys.stderr)
    return code
