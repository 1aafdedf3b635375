"""Data files that come with the package beside its code: robot description, parameter files."""

from pathlib import Path

PACKAGE_NAME = "contact_ddp_ros"


def share_places(relative: str) -> list[Path]:
    """Candidate paths of a file such as `urdf/NAME`: in the source checkout, else in a share folder above the code.

    An installation has its code in PREFIX/lib/.../site-packages and its files in PREFIX/share, whoever made it: pip for
    an environment, for a user or into a folder, colcon for a workspace, Debian for the system.
    """
    above = Path(__file__).resolve().parents
    return [above[2] / relative, *(prefix / "share" / PACKAGE_NAME / relative for prefix in above[2:])]
