"""Kernels as operators of torch: under torch.compile, autograd and CUDA graphs.

    add = tile.torch.register("mylib::add", kernel)
    y = add(a, b)                       # also torch.ops.mylib.add(a, b)

A registered kernel is a custom op of torch, so it is one node of a traced graph. Its
outputs' shapes are known without running it (fake tensors), and it takes part in
autograd where a backward function is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .errors import TileError
from .kernel import Kernel, Parameter


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise TileError("tile.torch needs the package torch") from None
    return torch


def _schema(kernel: Kernel) -> str:
    """The signature of the operator, in torch's language."""
    arguments = []
    for i in kernel._inputs:
        parameter = kernel.parameters[i]
        if parameter.is_scalar:
            arguments.append(
                f"{'float' if parameter.dtype.startswith(('float', 'bfloat')) else 'int'} {parameter.name}"
            )
        elif parameter.is_written:
            arguments.append(f"Tensor(a{i}!) {parameter.name}")
        else:
            arguments.append(f"Tensor {parameter.name}")
    count = len(kernel.outputs)
    result = "()" if count == 0 else "Tensor" if count == 1 else f"({', '.join(['Tensor'] * count)})"
    return f"({', '.join(arguments)}) -> {result}"


def _fake(parameter: Parameter, kernel: Kernel, arguments: Sequence[Any]) -> Any:
    """An output without contents."""
    torch = _torch()
    values = kernel._symbols(arguments)
    shape = kernel._extents(parameter, values)
    like = next((item for item in arguments if hasattr(item, "device")), None)
    device = like.device if like is not None else ("cuda" if kernel.target == "cuda" else "cpu")
    from .arrays import packed

    stored = {"int4": "int8", "uint4": "uint8"}.get(parameter.dtype, parameter.dtype)
    return torch.empty(packed(shape, parameter.dtype), dtype=getattr(torch, stored), device=device)


def register(
    name: str,
    kernel: Kernel | Callable[..., Kernel],
    backward: Callable[..., Any] | None = None,
    setup_context: Callable[..., Any] | None = None,
    example: Kernel | None = None,
) -> Any:
    """Registers a kernel as the operator `name` ("library::operator"); gives the operator.

    `kernel` is a kernel, or a function of the operator's arguments that gives one for
    their shapes (a function under @tile.jit's cache makes that cheap); `example` is
    then a kernel of the same parameters, for the signature. `backward(ctx, *grads)`
    gives the gradients of the arguments, None for those without;
    `setup_context(ctx, inputs, output)` saves what it needs, by default the inputs
    and outputs as `ctx.saved_tensors`, numbers as `ctx.scalars`.
    """
    torch = _torch()
    if "::" not in name:
        raise TileError(f"an operator's name is library::operator, not {name!r}")
    described = kernel if isinstance(kernel, Kernel) else example
    if described is None:
        raise TileError("give example= where kernel is a function: its parameters make the signature")
    mutated = [p.name for i, p in enumerate(described.parameters) if p.is_written and i not in described.outputs]
    scalars = [described.parameters[i].is_scalar for i in described._inputs]

    def choose(arguments: Sequence[Any]) -> Kernel:
        return kernel if isinstance(kernel, Kernel) else kernel(*arguments)

    def run(*arguments: Any) -> Any:
        dense = [
            item.contiguous() if torch.is_tensor(item) and item.dim() and not item.is_contiguous() else item
            for item in arguments
        ]
        chosen = choose(dense)
        for given, taken, i in zip(arguments, dense, chosen._inputs):
            if given is not taken and chosen.parameters[i].is_written:
                raise TileError(f"{chosen.parameters[i].name} is written and must be contiguous")
        return chosen(*dense)

    def fake(*arguments: Any) -> Any:
        chosen = choose(arguments)
        made = [_fake(chosen.parameters[i], chosen, arguments) for i in chosen.out_idx]
        return made[0] if len(made) == 1 else tuple(made) if made else None

    operator = torch.library.custom_op(name, run, mutates_args=mutated, schema=_schema(described))
    operator.register_fake(fake)
    if backward is not None:

        def save(ctx: Any, inputs: Sequence[Any], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            tensors = [item for item, scalar in zip(inputs, scalars) if not scalar]
            ctx.save_for_backward(*tensors, *(item for item in outputs if torch.is_tensor(item)))
            ctx.scalars = [item for item, scalar in zip(inputs, scalars) if scalar]

        operator.register_autograd(backward, setup_context=setup_context or save)
    elif setup_context is not None:
        raise TileError("setup_context belongs to a backward function")
    return operator
