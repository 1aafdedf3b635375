"""Configuration as frozen dataclasses whose fields say what they allow, written once for code, YAML and ROS.

A tunable number is declared where it is used:

    @dataclass(frozen=True)
    class StandConfig:
        height: float = parameter(0.29, low=0.15, high=0.35, unit="m", description="trunk height when standing")

From that one line come the checked change of some values of a configuration, as YAML or a command line gives them
(:func:`replace`), and the ROS parameter with its range and description (:func:`specs`).
Values are bool, int, float, str, a tuple of floats whose length is that of the default, or what a function of the
declaration converts to; a field that is itself a dataclass nests, and its parameters are named with a dotted prefix.
Unknown names are errors. A parameter may say how it is written on the command line (:class:`Option`).
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeVar

from contact_ddp_ros.base.errors import ParameterError, did_you_mean

Value = bool | int | float | str | tuple[float, ...]
Config = TypeVar("Config")

_METADATA_KEY = "contact_ddp_ros.parameter"

APART = {"contact_ddp_ros.apart": True}
"""Metadata of a field of a configuration that holds no parameters."""


@dataclass(frozen=True)
class Option:
    """Form of a parameter on the command line.

    Attributes:
        group: of the options that jobs take together.
        metavar: word for its value in the help.
        flag: with its dashes; empty for that of the parameter's name.
        off: option that turns a truth off, and its help; the truth has no other one then unless `flag` is given.
        repeated: may be given several times; the values together are the parameter's.
        sets: dotted name of the parameter that it is short for; empty where it is none of a node's.
    """

    group: str = ""
    metavar: str = ""
    flag: str = ""
    off: tuple[str, str] = ("", "")
    repeated: bool = False
    sets: str = ""


@dataclass(frozen=True)
class ParameterSpec:
    """What one parameter is and allows.

    Attributes:
        name: dotted from the outermost configuration.
        default: its value there; the type and, of a tuple, the length are those of every later value.
        low, high: inclusive bounds, of each entry where the value is a tuple; None where there is none.
        unit: SI unit, empty for a pure number.
        description: one line for people.
        structural: whether a change needs the object that uses it to be built anew.
        choices: the values allowed; empty where any value within the bounds is.
        optional: whether None, for nothing given, is allowed, too.
        convert: function of a value, or of its text, that gives it checked; None where the default's type decides.
        option: form on the command line; None for `--set` alone.
    """

    name: str
    default: Value
    low: float | None = None
    high: float | None = None
    unit: str = ""
    description: str = ""
    structural: bool = False
    choices: tuple[str, ...] = ()
    optional: bool = False
    convert: Callable[[Any], Any] | None = None
    option: Option | None = None


def parameter(
    default: Any,
    *,
    low: float | None = None,
    high: float | None = None,
    unit: str = "",
    description: str = "",
    structural: bool = False,
    choices: Sequence[str] = (),
    optional: bool = False,
    convert: Callable[[Any], Any] | None = None,
    option: Option | None = None,
) -> Any:
    """A dataclass field that is a parameter; the arguments are those of :class:`ParameterSpec`.

    An optional one is None unless it is given; `default` is then an example of its type.
    """
    spec = ParameterSpec("", default, low, high, unit, description, structural, tuple(choices), optional)
    return field_of(dataclasses.replace(spec, convert=convert, option=option))


def field_of(spec: ParameterSpec) -> Any:
    """The dataclass field of a declaration."""
    return dataclasses.field(default=None if spec.optional else spec.default, metadata={_METADATA_KEY: spec})


def declared(kind: type[Any]) -> dict[str, ParameterSpec]:
    """The declarations of a dataclass's own fields by name, nested ones left out."""
    own = {one.name: one.metadata.get(_METADATA_KEY) for one in dataclasses.fields(kind)}
    return {name: dataclasses.replace(spec, name=name) for name, spec in own.items() if spec is not None}


def specs(config: Any) -> dict[str, ParameterSpec]:
    """The parameters of a configuration (an instance) by dotted name, with its values as the defaults."""
    found: dict[str, ParameterSpec] = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        if field.metadata.keys() & APART.keys():
            continue
        if dataclasses.is_dataclass(value):
            for inner in specs(value).values():
                name = f"{field.name}.{inner.name}"
                found[name] = dataclasses.replace(inner, name=name)
        elif _METADATA_KEY in field.metadata:
            spec: ParameterSpec = field.metadata[_METADATA_KEY]
            found[field.name] = dataclasses.replace(spec, name=field.name, default=value)
        else:
            found[field.name] = ParameterSpec(field.name, value)
    return found


def flatten(config: Any) -> dict[str, Value]:
    """The values of a configuration by dotted name."""
    return {name: spec.default for name, spec in specs(config).items()}


def validate(config: Any) -> None:
    """Check every value of a configuration against its field.

    Raises:
        ParameterError: a value is of the wrong type or size, not finite, or out of its range.
    """
    for name, spec in specs(config).items():
        declared = _declared_default(config, name)
        check(dataclasses.replace(spec, default=declared), spec.default)


def check(spec: ParameterSpec, value: Any) -> Value:
    """The value as the type of `spec.default` (an int serves as a float, a list of numbers as a tuple), or converted.

    Raises:
        ParameterError: it is of the wrong type or size, not finite, or out of its range.
    """
    if value is None and spec.optional:
        return None  # type: ignore[return-value]
    if spec.convert is not None:
        return spec.convert(value)  # type: ignore[no-any-return]
    checked = _coerce(spec, value)
    if spec.choices and checked not in spec.choices:
        raise ParameterError(f"parameter {spec.name} is {checked!r}; allowed: {', '.join(spec.choices)}")
    if isinstance(checked, bool | str):
        return checked
    for number in checked if isinstance(checked, tuple) else (checked,):
        low = -math.inf if spec.low is None else spec.low
        high = math.inf if spec.high is None else spec.high
        if not (low <= number <= high) or not math.isfinite(number):
            unit = f" {spec.unit}" if spec.unit else ""
            raise ParameterError(f"parameter {spec.name} is {value}; allowed: {low:g} to {high:g}{unit}")
    return checked


def replace(config: Config, values: Mapping[str, Any]) -> Config:
    """A copy of `config` with some values, given by dotted name or nested as YAML gives them, changed.

    Raises:
        ParameterError: a name is unknown, or a value is not allowed; `config` stays as it was in either case.
    """
    known, values = specs(config), dotted(values)
    unknown = sorted(set(values) - set(known))
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise ParameterError(f"unknown parameter {', '.join(unknown)}; {meant}")
    checked = {}
    for name, value in values.items():
        spec = dataclasses.replace(known[name], default=_declared_default(config, name))
        checked[name] = check(spec, value)
    return _rebuild(config, checked)


def scaled(config: Config, factors: Mapping[str, float]) -> Config:
    """A configuration of the same kind whose parameters of these dotted names have so many times the value and bounds.

    Its class is a subclass with other declarations, made anew: two calls give two classes.
    """
    fields: list[tuple[str, Any, Any]] = []
    values = {field.name: getattr(config, field.name) for field in dataclasses.fields(config)}  # type: ignore[arg-type]
    for field in dataclasses.fields(config):  # type: ignore[arg-type]
        inside = {name.partition(".")[2]: one for name, one in factors.items() if name.startswith(f"{field.name}.")}
        if inside:
            values[field.name] = inner = scaled(values[field.name], inside)
            fields.append((field.name, type(inner), dataclasses.field(default=inner)))
        elif field.name in factors:
            factor, spec = factors[field.name], field.metadata[_METADATA_KEY]
            low, high = (None if bound is None else factor * bound for bound in (spec.low, spec.high))
            new = dataclasses.replace(spec, default=_times(spec.default, factor), low=low, high=high)
            values[field.name] = _times(values[field.name], factor)
            fields.append(
                (field.name, field.type, dataclasses.field(default=new.default, metadata={_METADATA_KEY: new}))
            )
    kind = dataclasses.make_dataclass(type(config).__name__, fields, bases=(type(config),), frozen=True)
    return kind(**values)  # type: ignore[return-value]


def _times(value: Any, factor: float) -> Any:
    return tuple(factor * one for one in value) if isinstance(value, tuple) else factor * value


def parse_setting(text: str) -> tuple[str, Any]:
    """`"planner.rate=50"` → ("planner.rate", 50); values are read as YAML, numbers in any notation.

    Raises:
        ParameterError: there is no name or no sign of equality, or the value cannot be read.
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise ParameterError(f"{text!r} is not NAME=VALUE")
    for kind in (int, float):
        try:
            return name.strip(), kind(value)
        except ValueError:
            continue
    import yaml  # the command line's help must do without

    try:
        return name.strip(), yaml.safe_load(value)
    except yaml.YAMLError:
        raise ParameterError(f"the value in {text!r} cannot be read") from None


def number(text: str, what: str = "a number") -> float:
    """The finite number that a text is: `"1e-3"` → 0.001.

    Raises:
        ParameterError: the text is none, or not finite; `what` says what it should be.
    """
    try:
        value = float(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not {what}, like 0.5 or 1e-3") from None
    if not math.isfinite(value):
        raise ParameterError(f"{text!r} is not finite; give {what}, like 0.5 or 1e-3")
    return value


def whole_number(text: str) -> int:
    """The whole number that a text is.

    Raises:
        ParameterError: the text is none.
    """
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{text!r} is not a whole number") from None


_KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _coerce(spec: ParameterSpec, value: Any) -> Value:
    default = spec.default
    kind = _KINDS.get(type(default), type(default).__name__)
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
    elif isinstance(default, int):
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    elif isinstance(default, float):
        if _is_number(value):
            return float(value)
    elif isinstance(default, str):
        if isinstance(value, str):
            return value
    elif isinstance(default, tuple):
        kind = f"{len(default)} numbers"
        if not isinstance(value, str) and hasattr(value, "__len__") and len(value) == len(default):
            if all(_is_number(entry) for entry in value):
                return tuple(float(entry) for entry in value)
    else:
        raise ParameterError(f"parameter {spec.name} is declared as {kind}; allowed: bool, int, float, str, tuple")
    raise ParameterError(f"parameter {spec.name} is {value!r}; allowed: {kind}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _declared_default(config: Any, name: str) -> Value:
    """The default of the field's declaration where there is one, else the present value."""
    head, _, rest = name.partition(".")
    if rest:
        return _declared_default(getattr(config, head), rest)
    for field in dataclasses.fields(config):
        if field.name == head and field.default is not dataclasses.MISSING:
            spec: ParameterSpec | None = field.metadata.get(_METADATA_KEY)
            return field.default if spec is None else spec.default  # type: ignore[no-any-return]
    return getattr(config, head)  # type: ignore[no-any-return]


def dotted(mapping: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A nested mapping flat, with dotted names."""
    flat: dict[str, Any] = {}
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            flat.update(dotted(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat


def _rebuild(config: Config, values: Mapping[str, Value]) -> Config:
    direct: dict[str, Any] = {}
    nested: dict[str, dict[str, Value]] = {}
    for name, value in values.items():
        head, _, rest = name.partition(".")
        if rest:
            nested.setdefault(head, {})[rest] = value
        else:
            direct[head] = value
    for head, inner in nested.items():
        direct[head] = _rebuild(getattr(config, head), inner)
    return dataclasses.replace(config, **direct)  # type: ignore[type-var]


def require_finite(name: str, *values: float) -> None:
    """Raise ParameterError where a value is no finite number; the error names `name`."""
    numbers = all(isinstance(value, Real) for value in values)
    require(numbers, f"{name} holds {values}; allowed: finite numbers")
    require(all(math.isfinite(value) for value in values), f"{name} holds a number that is not finite: {values}")


def require(condition: bool, message: str) -> None:
    """Raise ParameterError with a message where a condition does not hold."""
    if not condition:
        raise ParameterError(message)
