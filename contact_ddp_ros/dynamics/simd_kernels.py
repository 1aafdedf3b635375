"""Kernels of a robot with limbs alike in vector instructions: a lane for every limb.

The parts of the robot (`limbs`) have the same expression graphs but for constants. C of one of them, with vectors in
the place of numbers and each limb's own constants in the lanes, is run once for all; what it is given and what it gives
is moved between lanes and the arrays of the whole robot by lanes.c. A foot that is not in contact has a lane as well,
with forces of zero: the same code serves every mode.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from contact_ddp_ros.base.compiled.cache import BLOCKS
from contact_ddp_ros.base.compiled.kernel_set import Block, Kernel
from contact_ddp_ros.dynamics.contact import GROUND_SIZE, GROUNDS, PAYLOAD, n_parameters
from contact_ddp_ros.dynamics.leg_decomposition import Limb, trunk_and_limbs
from contact_ddp_ros.dynamics.mechanism import Mechanism
from contact_ddp_ros.dynamics.mrneac import Axes

WIDTH = 4
"""Limbs that fill a vector. Of two limbs nothing would be gained over the moving of numbers to and fro."""

_MOVES = Path(__file__).with_name("simd_kernels.c")

_LANES = """\
typedef double lane __attribute__((vector_size({width} * sizeof(double)), aligned(8), may_alias));
#define casadi_real lane
static inline lane each(double (*of)(double), lane x)
{{
    lane y = (lane){{0.0}} + of(x[0]);
    for (int l = 1; l < {width}; l++)
        if (x[l] != x[0])
            y[l] = of(x[l]);
    return y;
}}
static inline lane lane_sin(lane x) {{ return each(sin, x); }}
static inline lane lane_cos(lane x) {{ return each(cos, x); }}
#define sin lane_sin
#define cos lane_cos
"""
"""Head of the C files: CasADi's code on vectors. Most angles are the trunk's, the same in all lanes."""

_ENTRY = """
int {symbol}_work(long long *arg, long long *res, long long *iw, long long *w)
{{
    *arg = {n_arguments}, *res = {n_results}, *iw = 0, *w = 0;
    return 0;
}}

int {symbol}(const double **arg, double **res, long long *iw, double *w, int mem)
{{
    {contact}
    {before}
    const lane *given[] = {{{given}}};
    lane *taken[] = {{{taken}}};
    casadi_f0(given, taken, iw, (lane *)w, mem);
    {after}
    return 0;
}}
"""

_CONSTANT = re.compile(r"^(?P<to>  (?:a\d+|res\[\d+\]\[\d+\])=)(?P<value>-?[\d.]+(?:e[+-]\d+)?);$", re.MULTILINE)
_CALL = re.compile(r"^  (?:a\d+|res\[\d+\]\[\d+\])=.*?\b([a-z]\w*)\(", re.MULTILINE)
_VECTORISED = {"sin", "cos", "casadi_sq"}


class Lanes:
    """C of a mechanism's kernels for contacts along some axes; see :func:`of`."""

    def __init__(self, mechanism: Mechanism, trunk: int, limbs: tuple[Limb, ...], axes: Axes) -> None:
        """Build lanes from the parts of :func:`contact_ddp_ros.dynamics.leg_decomposition.trunk_and_limbs`."""
        self._mechanism = mechanism
        self._trunk = trunk
        self._limbs = limbs
        self._axes = axes

    @classmethod
    def of(cls, mechanism: Mechanism, axes: Axes) -> "Lanes | None":
        """Those of a mechanism; None where it does not have as many limbs alike as a vector has lanes."""
        trunk, limbs = trunk_and_limbs(mechanism)
        return cls(mechanism, trunk, limbs, axes) if len(limbs) == WIDTH else None

    def parts(self) -> list[tuple[Mechanism, tuple[str, ...], Axes]]:
        """Mechanism, contact and axes of every limb, which systems are made of."""
        return [(limb.mechanism, (limb.mechanism.feet[0].name,), self._axes) for limb in self._limbs]

    def unit(
        self, texts: list[str], kernel: Kernel, modes: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, dict[str, Kernel]] | None:
        """A translation unit with the kernel of every mode; None where the limbs' graphs differ.

        Args:
            texts: C of the kernel of each part.
            kernel: that of a part.
            modes: contacts by the kernel's symbol.

        Returns:
            C, and the kernels by symbol.
        """
        # What CasADi exports is about the part alone, and not made for vectors.
        code = _merged([text[: text.index(f"CASADI_SYMBOL_EXPORT int {kernel.symbol}(")] for text in texts])
        if code is None:
            return None
        lanes, moves = _LANES.format(width=WIDTH), _MOVES.read_text(encoding="utf-8")
        parts = [BLOCKS.read_text(encoding="utf-8"), lanes, code, self._tables(), moves]
        kernels = {}
        for symbol, contacts in modes.items():
            kernels[symbol] = self._of_whole(symbol, kernel, len(contacts) * len(self._axes))
            parts.append(self._entry(kernel, kernels[symbol], contacts))
        return "\n".join(parts), kernels

    def _tables(self) -> str:
        """C of what lanes.c needs to know of the parts."""
        sizes = {
            "LIMBS": len(self._limbs),
            "TRUNK": self._trunk,
            "LIMB": len(self._limbs[0].joints) - self._trunk,
            "AXES": len(self._axes),
            "N_P": GROUNDS,
            "GROUND": GROUND_SIZE,
            "PAYLOAD": PAYLOAD,
        }
        macros = "".join(f"#define {name} {value}\n" for name, value in sizes.items())
        joints = [limb.joints[self._trunk] for limb in self._limbs]
        grounds = [GROUNDS + GROUND_SIZE * limb.foot for limb in self._limbs]
        return macros + _table("joint", joints) + _table("ground", grounds)

    def _of_whole(self, symbol: str, part: Kernel, n_c: int) -> Kernel:
        """Shapes of the kernel of the whole robot with n_c contact rows."""
        n = self._mechanism.n
        of_part = len(self._limbs[0].joints)
        sizes = {1: 1, of_part: n, of_part + len(self._axes): n + n_c}

        def whole(block: Block) -> Block:
            if block.name == "p":
                return replace(block, rows=n_parameters(len(self._mechanism.feet)))
            if block.name == "shared":
                return replace(block, rows=block.rows * len(self._limbs))
            return replace(block, rows=sizes[block.rows], columns=sizes[block.columns])

        arguments, results = (tuple(map(whole, blocks)) for blocks in (part.arguments, part.results))
        return replace(part, symbol=symbol, arguments=arguments, results=results)

    def _entry(self, part: Kernel, whole: Kernel, contacts: tuple[str, ...]) -> str:
        """C of the function of a mode."""
        names = [self._mechanism.feet[limb.foot].name for limb in self._limbs]
        n, n_axes = self._mechanism.n, len(self._axes)
        rows = [n + n_axes * contacts.index(name) if name in contacts else -1 for name in names]
        before, given, taken, after = [], [], [], []
        for i, block in enumerate(part.arguments):
            if block.name == "shared":
                given.append(f"(const lane *)arg[{i}]")
                continue
            given.append(block.name)
            before.append(f"lane {block.name}[{block.rows}];")
            of_p = f"gather_parameters(arg[{i}], p);"
            before.append(of_p if block.name == "p" else f"gather(arg[{i}], {block.rows}, contact, {block.name});")
        for i, (block, full) in enumerate(zip(part.results, whole.results, strict=True)):
            if block.name == "shared":
                taken.append(f"(lane *)res[{i}]")
                continue
            taken.append(block.name)
            before.append(f"lane {block.name}[{block.rows * block.columns}];")
            sizes = f"{block.rows}, {block.columns}, contact, res[{i}], {full.rows}, {full.rows * full.columns}"
            after.append(f"scatter({block.name}, {sizes});")
        return _ENTRY.format(
            symbol=whole.symbol,
            n_arguments=len(given),
            n_results=len(taken),
            contact=_table("contact", rows).strip(),
            before="\n    ".join(before),
            given=", ".join(given),
            taken=", ".join(taken),
            after="\n    ".join(after),
        )


def _table(name: str, numbers: list[int]) -> str:
    return f"static const int {name}[] = {{{', '.join(map(str, numbers))}}};\n"


def _merged(texts: list[str]) -> str | None:
    """C of all limbs at once, of which each constant has every limb's; None where the texts differ in more."""
    if len({_CONSTANT.sub(r"\g<to>", text) for text in texts}) > 1:
        return None
    if not set(_CALL.findall(texts[0])) <= _VECTORISED:
        return None
    constants = zip(*([found["value"] for found in _CONSTANT.finditer(text)] for text in texts), strict=True)
    return _CONSTANT.sub(lambda line: f"{line['to']}(lane){{{', '.join(next(constants))}}};", texts[0])
