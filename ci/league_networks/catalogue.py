"""Who plays: every network with the forms in which it does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from network_files import save_arrays
from tilewright.model import Shape

from league_networks import maps, pictures, signals, tokens
from league_networks.files import PACKAGES, packaged, trained
from league_networks.forms import drawn_inputs, formed

DRAWN: dict[Callable[[], onnx.ModelProto], tuple[str, ...]] = {
    pictures.mobilenet_v2: ("int8", "float", "u8", "int4"),
    pictures.mobilenet_v3: ("int8",),
    pictures.efficientnet: ("int8", "float"),
    pictures.shufflenet: ("int8", "u8"),
    pictures.resnet: ("int8", "int16", "int4"),
    pictures.squeezenet: ("int8",),
    pictures.convnext: ("int8", "float"),
    pictures.keywords: ("int8", "int16"),
    maps.unet_transposed: ("int8", "float"),
    maps.unet_resized: ("int8", "float"),
    maps.autoencoder: ("int8",),
    maps.super_resolution: ("int8",),
    maps.generator: ("int8", "float"),
    maps.pyramid: ("int8",),
    maps.yolo: ("int8", "float"),
    signals.tcn: ("int8", "float", "int16"),
    signals.wavenet: ("int8",),
    signals.wake_word: ("int8",),
    signals.speaker: ("int8",),
    signals.lstm: ("float", "dynamic", "int8"),
    signals.gru: ("float",),
    signals.reading: ("float", "int8"),
    tokens.transformer: ("int8", "float", "dynamic"),
    tokens.vit: ("int8", "u8", "dynamic"),
    tokens.bert: ("float", "dynamic"),
    tokens.decoder: ("float", "int8"),
    tokens.point_cloud: ("int8", "float"),
    tokens.graph_net: ("float", "int8"),
}
"""Our own architectures, and the forms of each; all seeded, none trained."""

TRAINED = (
    "resnet8_int8", "dscnn_int8", "vww_int8", "ad_int8", "resnet8_f32", "dscnn_f32", "ad_f32", "resnet8_int8qop",
    "gtcrn", "stories260k",
)  # fmt: skip


@dataclass(frozen=True)
class Ready:
    """A network that lies in a file: its inputs, if they were drawn here, and what the compiler has to be told."""

    path: Path
    inputs: Path | None = None
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    freeze: Mapping[str, Path] = field(default_factory=dict)
    codes: bool = False


def league() -> tuple[str, ...]:
    """Names of all, the drawn ones as architecture and form."""
    drawn = [f"{make.__name__}_{form}" for make, forms in DRAWN.items() for form in forms]
    return (*drawn, *TRAINED, *PACKAGES)


def ready(name: str, folder: Path) -> Ready | None:
    """Draw or fetch a network into `folder`; None where it is not at hand."""
    for make, forms in DRAWN.items():
        for form in forms:
            if name == f"{make.__name__}_{form}":
                return drawn(make(), form, folder / f"{name}.onnx")
    foreign = trained(name) if name in TRAINED else packaged(name, folder)
    if foreign is None:
        return None
    return Ready(foreign.path, None, foreign.shapes, foreign.freeze, "int8" in name)


def drawn(model: onnx.ModelProto, form: str, path: Path) -> Ready:
    """One of our own in its form, with an input; statically quantised ones exchange codes with the application."""
    onnx.save(formed(model, form), path)
    inputs = path.with_suffix(".npz")
    save_arrays(inputs, drawn_inputs(model, 1)[0])
    return Ready(path, inputs, codes=form not in ("float", "dynamic"))
