"""The processes started by torchrun, one per GPU: rank 0 serves requests, the others follow its commands."""

import os
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

# Followers wait as long as there are no requests.
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
        self._control: Any = dist.new_group(backend="gloo", timeout=FOREVER)

    @property
    def is_leader(self) -> bool:
        return self.rank == 0

    def broadcast(self, message: Any) -> None:
        dist.broadcast_object_list([message], src=0, group=self._control)

    def receive(self) -> Any:
        messages: list[Any] = [None]
        dist.broadcast_object_list(messages, src=0, group=self._control)
        return messages[0]

    def gather(self, value: Any) -> list[Any]:
        """Every rank's value, on rank 0; an empty list elsewhere."""
        values: list[Any] | None = [None] * self.world if self.is_leader else None
        dist.gather_object(value, values, dst=0, group=self._control)
        return values or []

    def all_reduce(self, number: torch.Tensor) -> torch.Tensor:
        dist.all_reduce(number, group=self.mesh.get_group())
        return number

    def close(self) -> None:
        dist.destroy_process_group()


def join_ranks(device: torch.device) -> Ranks | None:
    """None if this is the only process."""
    return Ranks(device) if int(os.environ.get("WORLD_SIZE", "1")) > 1 else None
