"""The solver of contact_ddp_ros by itself, for optimal control problems without a robot: `pip install ./hybrid_ddp`.

The wheel holds copies of the package's problems and solvers, and of what these import, under the name hybrid_ddp.
"""

import re
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SOURCES = ROOT / "contact_ddp_ros"
VERSION, RULES = {}, {}
exec((SOURCES / "__init__.py").read_text(encoding="utf-8"), VERSION)
exec((SOURCES / "base" / "requirements.py").read_text(encoding="utf-8"), RULES)

NEEDED = ("numpy", "scipy", "casadi", "numba", "PyYAML")
FILES = ("__init__.py", "choices.py", "config.py", "errors.py", "numba_cache.py", "compiled/*.py", "compiled/*.h")
"""Files of the room `base` that the solver imports or compiles."""


class CopySources(build_py):
    """Build step that copies the sources with the package's name replaced."""

    def run(self):
        """Build step: copies after everything else."""
        super().run()
        files = [*SOURCES.glob("ocp/*.py"), *SOURCES.glob("ocp/*.c")]
        files += [one for pattern in FILES for one in SOURCES.glob(f"base/{pattern}")]
        for source in files:
            target = Path(self.build_lib) / "hybrid_ddp" / source.relative_to(SOURCES)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8")
            target.write_text(text.replace("contact_ddp_ros", "hybrid_ddp"), encoding="utf-8")


def requirements():
    """Requirements of the solver: some of the package's."""
    found = RULES["ranges"]((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    return [one for one in found if re.match(r"[\w-]+", one).group() in NEEDED]


setup(
    name="hybrid-ddp",
    version=VERSION["__version__"],
    packages=["hybrid_ddp"],
    cmdclass={"build_py": CopySources},
    python_requires=">=3.10",
    install_requires=requirements(),
    zip_safe=False,
    author="The contact_ddp_ros maintainers",
    description="Second-order DDP and interior-point solver for optimal control problems with hard constraints",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
)
