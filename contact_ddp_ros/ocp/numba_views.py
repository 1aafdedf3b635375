"""Arrays without reference counts, for the inner loops of Numba code.

Numba counts references to an array's memory with atomic operations, at every slice and every call. In loops that take
a dozen views per node these cost more than the arithmetic. `borrow` gives the same array without an owner, whose views
and copies count nothing. The original must outlive it, and the borrowed one must not be returned or stored. Arguments
of a function outlive it; an array of its own is freed after its last mention, which `keep_alive` puts off.
"""

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic


@intrinsic
def borrow(typing_context, array):
    """View of an array, or tuple of arrays, that does not count references; for nopython code only."""
    if not isinstance(array, types.Array | types.BaseTuple):
        return None

    def disowned(context, builder, kind, value):
        if isinstance(kind, types.BaseTuple):
            for index, item in enumerate(kind.types):
                entry = disowned(context, builder, item, builder.extract_value(value, index))
                value = builder.insert_value(value, entry, index)
            return value
        if not isinstance(kind, types.Array):
            return value
        view = context.make_array(kind)(context, builder, value)
        view.meminfo = context.get_constant_null(types.MemInfoPointer(types.voidptr))
        return view._getvalue()

    def generate(context, builder, signature, values):
        kind = signature.args[0]
        return impl_ret_borrowed(context, builder, kind, disowned(context, builder, kind, values[0]))

    return array(array), generate


@intrinsic
def keep_alive(typing_context, owners):
    """Keep owners (a tuple of arrays) alive up to this call; for nopython code only."""

    def generate(context, builder, signature, values):
        return context.get_dummy_value()

    return types.void(owners), generate


@intrinsic
def part(typing_context, vector, start, size):
    """Borrowed view (size,) of a contiguous vector from index `start` on; bounds are not checked."""
    if not (isinstance(vector, types.Array) and vector.ndim == 1 and vector.layout == "C"):
        return None
    return vector(vector, types.int64, types.int64), _view_of(1)


@intrinsic
def table(typing_context, vector, start, rows, columns):
    """Borrowed row-major view (rows, columns) of a contiguous vector from index `start` on; bounds are not checked."""
    if not (isinstance(vector, types.Array) and vector.ndim == 1 and vector.layout == "C"):
        return None
    matrix = types.Array(vector.dtype, 2, "C")
    return matrix(vector, types.int64, types.int64, types.int64), _view_of(2)


def _view_of(n_dimensions):
    """Code of `part` and `table`: an array structure on memory owned by another array."""

    def generate(context, builder, signature, values):
        vector = context.make_array(signature.args[0])(context, builder, values[0])
        shape = values[2 : 2 + n_dimensions]
        size = shape[0]
        for length in shape[1:]:
            size = builder.mul(size, length)
        itemsize = vector.itemsize
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(strides[0], length))
        view = context.make_array(signature.return_type)(context, builder)
        view.data = builder.gep(vector.data, [values[1]])
        view.shape = cgutils.pack_array(builder, shape)
        view.strides = cgutils.pack_array(builder, strides)
        view.itemsize = itemsize
        view.nitems = size
        view.meminfo = context.get_constant_null(types.MemInfoPointer(types.voidptr))
        view.parent = context.get_constant_null(types.pyobject)
        return impl_ret_borrowed(context, builder, signature.return_type, view._getvalue())

    return generate


@intrinsic
def address(typing_context, array, index):
    """Address (int64) of entry `index` of a contiguous array, counted over all its axes."""
    if not (isinstance(array, types.Array) and array.layout == "C"):
        return None

    def generate(context, builder, signature, values):
        whole = context.make_array(signature.args[0])(context, builder, values[0])
        entry = builder.gep(whole.data, [values[1]])
        return builder.ptrtoint(entry, context.get_value_type(types.int64))

    return types.int64(array, types.int64), generate
