"""First-fit allocator for slots of the workspace."""

from __future__ import annotations

from bisect import bisect_right


class Slots:
    """First fit: the lowest free range that is large enough, which keeps the workspace small."""

    def __init__(self, top: int) -> None:
        self.top = top
        self.free: list[tuple[int, int]] = []  # begin and end, in order

    def take(self, size: int) -> int:
        for k, (begin, end) in enumerate(self.free):
            if end - begin >= size:
                self.free[k : k + 1] = [(begin + size, end)] if end - begin > size else []
                return begin
        begin = self.top
        if self.free and self.free[-1][1] == self.top:
            begin = self.free.pop()[0]
        self.top = begin + size
        return begin

    def give(self, begin: int, size: int) -> None:
        end = begin + size
        k = bisect_right(self.free, (begin, end))
        if k < len(self.free) and self.free[k][0] == end:
            end = self.free.pop(k)[1]
        if k > 0 and self.free[k - 1][1] == begin:
            k -= 1
            begin = self.free.pop(k)[0]
        self.free.insert(k, (begin, end))
