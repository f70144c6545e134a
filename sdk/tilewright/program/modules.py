"""Regions of a `torch.nn.Module`: freezing them, turning their parameters into buffers, writing them to files."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tilewright.errors import ToolMissing, UsageError
from tilewright.program.schema import CompileMode, Schema

if TYPE_CHECKING:
    import torch


def schema_of(module: torch.nn.Module, modes: Mapping[str, str] | None = None) -> Schema:
    """The regions of a module in the order of its mapping `regions`; `modes` says how each is shipped."""
    from tilewright.program.schema import schema_from

    names = list(_mapping(module))
    if not names:
        raise UsageError("the module has no regions", fix="give it an attribute 'regions' that maps names to modules")
    given = dict(modes or {})
    schema = schema_from({"regions": {n: ({"compile_mode": given[n]} if n in given else {}) for n in names}})
    for name in given:
        schema.region(name)
    return schema


def materialise(module: torch.nn.Module, schema: Schema, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Carry the modes out: buffers by "region/path", files by region. Nothing happens where a region is missing."""
    try:
        import torch
    except ImportError:
        raise ToolMissing("torch is not installed", why="a module was given", fix="install tilewright[torch]") from None
    parts = {region.name: _part(module, region.name) for region in schema.regions}
    paths = {
        region.name: _export(parts[region.name], region.name, region.family, folder)
        for region in schema.regions
        if region.mode is CompileMode.EXPORT
    }
    buffers: dict[str, Any] = {}
    for region in schema.regions:
        if region.mode is CompileMode.CONSTANT:
            buffers |= _as_buffers(parts[region.name], region.name, torch)
        elif region.mode is not CompileMode.RUNTIME:
            parts[region.name].requires_grad_(False)
    return buffers, paths


def _mapping(module: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """`module.regions`, a dict or a ModuleDict; empty where there is none."""
    regions: Any = getattr(module, "regions", None)
    return dict(regions.items()) if hasattr(regions, "items") else {}


def _part(module: torch.nn.Module, name: str) -> torch.nn.Module:
    """The submodule of a region; UsageError where there is none."""
    import torch

    known = _mapping(module)
    part = known.get(name, getattr(module, name, None) if name.isidentifier() else None)
    if not isinstance(part, torch.nn.Module):
        raise UsageError(
            f"unknown region '{name}'", why=f"the module's regions are {', '.join(known) or 'none'}",
            fix="add it to the module's 'regions'",
        )  # fmt: skip
    return part


def _as_buffers(part: torch.nn.Module, region: str, torch: Any) -> dict[str, Any]:
    """Every parameter replaced by a buffer of its value; all buffers, those that were there too, by full path."""
    for owner in part.modules():
        for name, parameter in list(owner.named_parameters(recurse=False)):
            value = parameter.detach().clone()
            delattr(owner, name)
            owner.register_buffer(name, value)
    return {f"{region}/{path}": value.detach().clone() for path, value in part.named_buffers()}


def _export(part: torch.nn.Module, region: str, family: str, folder: Path) -> str:
    """Write a region's state as safetensors with a manifest beside it, both whole or not at all; the file's path."""
    import json

    from tilewright.output.staged import write_bytes, write_text
    from tilewright.safetensors import TensorFile, dumps

    arrays = {name: value.detach().cpu().contiguous().numpy() for name, value in part.state_dict().items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write '{folder}'", why=str(error), file=str(folder)) from None
    path = folder / f"{quote(region, safe='')}.safetensors"
    write_bytes(path, dumps(TensorFile(arrays, {"region": region, "family": family})))
    manifest = {"region": region, "family": family, "path": path.name, "tensors": sorted(arrays)}
    write_text(path.with_name(path.name + ".json"), json.dumps(manifest, indent=2) + "\n")
    return str(path)


def export_onnx(module: torch.nn.Module, example: tuple[torch.Tensor, ...], file: Path, schema: Schema) -> Schema:
    """Write the module as ONNX and return the schema with the prefixes that its regions' nodes have there.

    A constant region's weights are buffers by now, so on the device it is a frozen one.
    """
    import torch

    paths = {id(part): path for path, part in module.named_modules()}
    regions = []
    for region in schema.regions:
        path = paths.get(id(_part(module, region.name)), "")
        if not path:
            raise UsageError(
                f"region '{region.name}' is no submodule", why="ONNX nodes are named after submodules",
                fix="assign it to an attribute of the module",
            )  # fmt: skip
        mode = CompileMode.FREEZE if region.mode is CompileMode.CONSTANT else region.mode
        regions.append(replace(region, compile_mode=mode, nodes=("/" + path.replace(".", "/") + "/",)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its older exporter, which needs no other package, warns
        torch.onnx.export(module.eval(), example, str(file), dynamo=False)
    return replace(schema, regions=tuple(regions))
