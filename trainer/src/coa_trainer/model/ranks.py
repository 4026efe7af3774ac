"""The processes that torchrun starts, one for each GPU: the first is asked, the others do as they are told."""

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

# The others wait for as long as nobody asks anything.
FOREVER = timedelta(days=3650)


class Ranks:
    def __init__(self, device: torch.device) -> None:
        self.rank = int(os.environ["RANK"])
        self.world = int(os.environ["WORLD_SIZE"])
        local = int(os.environ.get("LOCAL_RANK", self.rank))
        self.device = torch.device("cuda", local) if device.type == "cuda" else device
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        dist.init_process_group("cuda:nccl,cpu:gloo" if self.device.type == "cuda" else "gloo")
        self.mesh: DeviceMesh = init_device_mesh(self.device.type, (self.world,))
        self._words: Any = dist.new_group(backend="gloo", timeout=FOREVER)

    @property
    def leads(self) -> bool:
        return self.rank == 0

    def tell(self, words: Any) -> None:
        dist.broadcast_object_list([words], src=0, group=self._words)

    def hear(self) -> Any:
        words: list[Any] = [None]
        dist.broadcast_object_list(words, src=0, group=self._words)
        return words[0]

    def to_first(self, found: Any) -> list[Any]:
        """What every process found, for the first; for the others nothing."""
        all_found: list[Any] | None = [None] * self.world if self.leads else None
        dist.gather_object(found, all_found, dst=0, group=self._words)
        return all_found or []

    def total(self, number: torch.Tensor) -> torch.Tensor:
        dist.all_reduce(number, group=self.mesh.get_group())
        return number

    def close(self) -> None:
        dist.destroy_process_group()


def join_ranks(device: torch.device) -> Ranks | None:
    """None where this is the only process."""
    return Ranks(device) if int(os.environ.get("WORLD_SIZE", "1")) > 1 else None
