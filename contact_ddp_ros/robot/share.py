"""Where the files are that come with the package beside its code: robot description, parameter files."""

import sys
from pathlib import Path

PACKAGE_NAME = "contact_ddp_ros"


def share_places(relative: str) -> list[Path]:
    """Where a file such as `urdf/NAME` may be: in the source checkout, else in the installed package's share folder."""
    roots = [Path(__file__).resolve().parents[2]]
    try:
        from ament_index_python.packages import get_package_share_directory

        roots.append(Path(get_package_share_directory(PACKAGE_NAME)))
    except (ImportError, LookupError, OSError):
        pass
    return [root / relative for root in (*roots, Path(sys.prefix) / "share" / PACKAGE_NAME)]
