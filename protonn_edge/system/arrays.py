"""The type of arrays where a function takes, or returns, any dtype.

Where the dtype is known, an annotation names it: `NDArray[np.float32]`.
"""

from typing import Any, TypeAlias

from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
