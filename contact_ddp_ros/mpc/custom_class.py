"""Classes of a user's own, loaded by name: cost terms, constraints, references."""

import importlib
import importlib.util
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from contact_ddp_ros.base.errors import ParameterError

Kind = TypeVar("Kind")


def load_class(word: str, kind: type[Kind], what: str) -> Kind:
    """An object of the class that "module:Class" or "file.py:Class" names.

    Args:
        word: the name.
        kind: from which the class must be derived.
        what: it is, for messages.

    Raises:
        ParameterError: it cannot be imported, is of another kind, or cannot be made; the text says why.
    """
    place, colon, name = word.rpartition(":")
    if not colon or not place or not name:
        raise ParameterError(f"{what} {word!r}; write module:Class or file.py:Class")
    try:
        module = _module_of_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
        found: Any = reduce(getattr, name.split("."), module)
    except Exception as error:
        raise ParameterError(f"{what} {word!r} cannot be loaded: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, kind)):
        given = f"{what} {word!r} is {type(found).__name__} {name}"
        raise ParameterError(f"{given}; needed: a class derived from {kind.__name__}")
    try:
        return found()
    except TypeError as error:
        raise ParameterError(f"{what} {word!r} cannot be made: {error}") from error


def _module_of_file(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(path.stem, path)
    if specification is None or specification.loader is None:
        raise ImportError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
