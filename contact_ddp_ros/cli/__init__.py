"""`contact-ddp`: the package's jobs from the command line, with and without ROS.

Exit codes: 0 when the job was done (a fall of the robot is a result, not an error), 1 when it could not be, 2 for
bad options or parameters, 130 after Ctrl-C, what was recorded until then being saved. Errors are one line.

Whatever is slow to import is imported by the job that needs it, so that `--help` answers at once.
"""

import sys
from collections.abc import Sequence

from contact_ddp_ros.cli.parser import UsageError, build_parser
from contact_ddp_ros.errors import ContactDdpError, ParameterError

EXIT_DONE, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one job and return the exit code; `arguments` are those of the process where left out."""
    parser = build_parser()
    try:
        options = parser.parse_args(arguments)
        return int(options.job(options))
    except (UsageError, ParameterError) as error:
        return _complain(error, EXIT_USAGE)
    except ContactDdpError as error:
        return _complain(error, EXIT_FAILED)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "contact_ddp_ros":
            raise
        return _complain(f"this job needs the Python package {error.name!r}, which is not installed", EXIT_FAILED)
    except KeyboardInterrupt:
        return _complain("interrupted", EXIT_INTERRUPTED)


def _complain(error: object, code: int) -> int:
    text = " ".join(str(error).split())
    print(f"contact-ddp: {text}", file=sys.stderr)
    return code
