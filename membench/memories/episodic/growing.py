"""Arrays that grow at their end."""

from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

Number = TypeVar("Number", bound=np.generic)

_FIRST_ROOM = 64


class Growing(Generic[Number]):
    """An array of numbers, or of rows of ``width``. Its room doubles, so that it may grow by one at a time."""

    def __init__(self, dtype: type[Number], width: int | None = None) -> None:
        self._room: npt.NDArray[Number] = np.empty((_FIRST_ROOM,) if width is None else (_FIRST_ROOM, width), dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    @property
    def values(self) -> npt.NDArray[Number]:
        """All of it, in the order in which it came: a view, to be taken anew after every change."""
        return self._room[: self._length]

    def append(self, value: Any) -> None:
        """Adds one number, or one row."""
        if self._length == len(self._room):
            self._make_room(self._length + 1)
        self._room[self._length] = value
        self._length += 1

    def extend(self, values: npt.NDArray[Number]) -> None:
        """Adds several."""
        length = self._length + len(values)
        if length > len(self._room):
            self._make_room(length)
        self._room[self._length : length] = values
        self._length = length

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Leaves only those where ``kept`` is true."""
        self._room = self.values[kept]
        self._length = len(self._room)

    def _make_room(self, length: int) -> None:
        room = np.empty((max(2 * len(self._room), length), *self._room.shape[1:]), self._room.dtype)
        room[: self._length] = self.values
        self._room = room
