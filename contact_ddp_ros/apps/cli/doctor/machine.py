"""Checks of the machine: C compiler, processor, real-time rights, disk, ROS 2, videos."""

import ctypes
import os
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

from contact_ddp_ros.apps.cli.doctor.interpreter import MISSING, OK, PACKAGE, WARNING, Row, ask, shortened, to_install
from contact_ddp_ros.base.errors import CompilerError
from contact_ddp_ros.base.versions import machine, versions

_PROGRAM = "#include <math.h>\ndouble doctor(const double* x) { return sqrt(x[0]) + fabs(x[1]); }\n"
"""C with a header and a function of the mathematical library, as generated kernels have them."""

_VECTORS = ("avx", "avx2", "fma", "avx512f", "asimd", "sve")
"""Flags of vector extensions in /proc/cpuinfo."""

_GOVERNOR = "/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor"
"""Not there in most virtual machines and containers."""

_SETTLE = """
import mmap
from contact_ddp_ros.base.process import SchedulingOptions, settle
space = mmap.mmap(-1, 1 << 30)  # as large as a node
print(settle(SchedulingOptions(priority=30), live=True))
"""
"""Asks for what live nodes ask for, at their highest priority by default."""

_CACHES = """
from contact_ddp_ros.base.compiled.cache import cache_folder
from contact_ddp_ros.base.numba_cache import use
print(cache_folder(), use(), sep="\\n")
"""

_MIDDLEWARE = "from rclpy.utilities import get_rmw_implementation_identifier as name; print(name())"

_LEAST_SPACE, _LAST_DOMAIN = 2.0, 232
"""Free space that packages, compiled code and runs may need [GB]; largest ROS_DOMAIN_ID whose ports exist."""

_FILM = """
import mujoco, imageio_ffmpeg
mujoco.GLContext(8, 8).make_current()
print(imageio_ffmpeg.get_ffmpeg_version())
"""


def compiler() -> Row:
    """C compiler and its version; it compiles a few lines with the flags of the package."""
    tools = runpy.run_path(str(PACKAGE / "base" / "compiled" / "compiler.py"))  # its room would import Numba
    try:
        words = tools["find_compiler"]()
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "doctor.so"
            tools["compile_library"](words, {"doctor": _PROGRAM}, library)
            ctypes.CDLL(str(library))
    except (CompilerError, OSError) as error:
        found = f"{shortened(str(error).partition('; install')[0])}; without one, dynamics are many times slower"
        return Row(MISSING, found, "sudo apt-get install build-essential, or name another compiler in CC")
    done = subprocess.run([*words.command, "--version"], capture_output=True, text=True)
    return Row(OK, f"{' '.join(words.command)}: {done.stdout.partition(chr(10))[0]}; {' '.join(tools['flags']())}")


def processor() -> Row:
    """Name of the processor, cores that this process may use, vector extensions, frequency governor."""
    about, flags = machine(), Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    vectors = " ".join(one for one in _VECTORS if one in flags)
    found = f"{about['processor'] or about['architecture']}, {about['cores']} cores, {vectors}, {about['system']}"
    told = Path(_GOVERNOR.format(0))
    governor = told.read_text(encoding="utf-8").strip() if told.exists() else ""
    remedies = []
    if int(about["cores"]) < 2:
        remedies.append("allow two cores (taskset, docker run --cpuset-cpus): planner and controller share one")
    if governor not in ("", "performance"):
        remedies.append(f"before a run on the robot: echo performance | sudo tee {_GOVERNOR.format('*')}")
    return Row(WARNING if remedies else OK, found + (governor and f", {governor}"), "; ".join(remedies))


def real_time() -> Row:
    """Rights of live nodes to a real-time priority and to locked memory."""
    user, limits = os.environ.get("USER", "USER"), ("rtprio 80", "memlock unlimited", "nice -20")
    lines = ", ".join(f'"{user} - {limit}"' for limit in limits)
    remedy = f"put into /etc/security/limits.d/contact_ddp.conf: {lines}; log in again"
    if os.geteuid() == 0:
        remedy = "docker run --cap-add SYS_NICE --cap-add IPC_LOCK --ulimit rtprio=80 --ulimit memlock=-1"
    answer = ask(_SETTLE, remedy=remedy)
    return Row(WARNING, answer.found, remedy) if "limits.conf" in answer.found else answer


def disk() -> Row:
    """Folders of compiled code and of runs: writable, with free space, and whether this version is compiled."""
    answer = ask(_CACHES, remedy="mend the packages first")
    if answer.state != OK:
        return answer
    kernels, numba = map(Path, answer.found.splitlines())
    ready = any((numba / PACKAGE.name / "mpc").rglob("*.nbi")) and any(kernels.rglob("*.so"))
    found, remedies = ["this version is compiled" if ready else "the first run compiles for one to three minutes"], []
    places = {kernels: "CONTACT_DDP_CACHE", numba.parent: "NUMBA_CACHE_DIR", Path.cwd(): "--out"}
    for folder, other in places.items():
        existing = next(one for one in (folder, *folder.parents) if os.path.exists(one))
        writable, free = existing.is_dir() and os.access(existing, os.W_OK), shutil.disk_usage(existing).free / 1e9
        found.append(f"{free:.1f} GB free in {folder}{'' if writable else ', which cannot be written'}")
        if not writable or free < _LEAST_SPACE:
            remedies.append(f"make {folder} writable, with {_LEAST_SPACE:g} GB free, or name another in {other}")
    return Row(WARNING if remedies else OK, "; ".join(found), "; ".join(remedies))


def ros() -> Row:
    """ROS 2: sourced or from wheels, its middleware, its domain, its command."""
    distribution, middleware = os.environ.get("ROS_DISTRO"), os.environ.get("RMW_IMPLEMENTATION")
    remedy = f"source /opt/ros/DISTRO/setup.bash, or {to_install('ros', 'demo')}"
    if distribution:
        remedy = f"./run demo makes an environment of the Python of {distribution}"
    if middleware:
        remedy += f"; unset RMW_IMPLEMENTATION if {middleware} is not installed"
    answer = ask(_MIDDLEWARE, remedy=remedy)
    if answer.state != OK:
        return answer
    source = f"{distribution} is sourced" if distribution else "from wheels"
    domain = os.environ.get("ROS_DOMAIN_ID") or "0"
    command = shutil.which("ros2") or "no command ros2, which wheels lack"
    words = (source, f"rclpy {versions().get('rclpy', '')}", answer.found.splitlines()[-1], f"domain {domain}", command)
    if domain.isdecimal() and int(domain) <= _LAST_DOMAIN:
        return Row(OK, ", ".join(words))
    return Row(WARNING, ", ".join(words), f"export ROS_DOMAIN_ID=N with N from 0 to {_LAST_DOMAIN}")


def video() -> Row:
    """Rendering without a screen, by EGL or OSMesa, and the encoder of videos."""
    wished = os.environ.get("MUJOCO_GL", "").strip().lower()
    errors: list[str] = []
    for kind in sorted(("egl", "osmesa"), key=lambda one: one != wished):
        answer = ask(_FILM, MUJOCO_GL=kind, PYOPENGL_PLATFORM=kind)
        if answer.state == OK:
            found = f"MUJOCO_GL={kind} renders, ffmpeg {answer.found.splitlines()[-1]}"
            return Row(WARNING, "; ".join([found, *errors]), f"export MUJOCO_GL={kind}") if errors else Row(OK, found)
        errors.append(f"{kind}: {answer.found}")
    return Row(MISSING, "; ".join(errors), "with all packages there: sudo apt-get install libosmesa6 ffmpeg")
