"""An operator as a function of PyTorch's autograd: its value, cotangents, tangents, and what `vmap` makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from featherweight.extras import needed
from featherweight.interop.operators import Operator

torch = needed("torch", "torch", "featherweight.interop.torch needs")


def applied(operator: Operator, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The operator's results as tensors that know where they come from."""
    return _Applied.apply(operator, *tensors)


class _Applied(torch.autograd.Function):  # type: ignore[name-defined]
    generate_vmap_rule = False

    @staticmethod
    def forward(operator: Operator, *tensors: Any) -> tuple[Any, ...]:
        """Arrays and tensors share memory."""
        return tuple(torch.from_numpy(result) for result in operator(*(t.detach().numpy() for t in tensors)))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.operator, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    @staticmethod
    def backward(ctx: Any, *weights: Any) -> tuple[Any, ...]:
        tensors = ctx.saved_tensors
        which = [k for k, needs in enumerate(ctx.needs_input_grad[1:]) if needs]
        found = applied(ctx.operator.pull(which), [*tensors, *weights])
        cotangents: list[Any] = [None] * len(tensors)
        for k, own in zip(which, found, strict=True):
            cotangents[k] = own.sum_to_size(tensors[k].shape)
        return None, *cotangents

    @staticmethod
    def jvp(ctx: Any, _: Any, *tangents: Any) -> tuple[Any, ...]:
        which = [k for k, t in enumerate(tangents) if t is not None]
        return applied(ctx.operator.push(which), [*ctx.saved_tensors, *(tangents[k] for k in which)])

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], operator: Operator, *tensors: Any) -> tuple[Any, Any]:
        """The mapped axis becomes the first of the batch."""
        axes = in_dims[1:]
        ranks = [
            t.dim() - len(s.shape) - (d is not None) for t, s, d in zip(tensors, operator.inputs, axes, strict=True)
        ]
        most, moved = max(ranks), []
        for tensor, rank, axis in zip(tensors, ranks, axes, strict=True):
            if axis is not None:
                tensor = tensor.movedim(axis, 0)
                tensor = tensor.reshape(tensor.shape[0], *(1,) * (most - rank), *tensor.shape[1:])
            moved.append(tensor)
        results = applied(operator, moved)
        return results, (0,) * len(results)
