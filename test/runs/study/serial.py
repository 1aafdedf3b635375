"""An engine of this process, in an order of one's choice, that can be interrupted."""

from dataclasses import dataclass


@dataclass
class Serial:
    """Attributes: backwards: begin with the last item. interrupt: raise KeyboardInterrupt after so many results."""

    backwards: bool = False
    interrupt: int | None = None
    size: int = 1

    def results(self, work, items):
        order = list(enumerate(items))[:: -1 if self.backwards else 1]
        for done, (index, item) in enumerate(order):
            if done == self.interrupt:
                raise KeyboardInterrupt
            yield index, work(item)
