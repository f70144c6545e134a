"""A float network with products of codes, in standard operators: what tilewright computes and ONNX Runtime runs.

Every product of activations with constant weights becomes one of integers. Activations are coded row by row as they
come: codes = round(x * 127 / max|x|). Tables that a Gather reads rows of become codes too, shared with a product where
both had the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tilewright.errors import ModelError, UnsupportedError
from tilewright.frontend.names import unique
from tilewright.frontend.read import read
from tilewright.quantiser.caches import coded_caches
from tilewright.quantiser.codes import HIGHEST, Coded, Floats, Scheme, coded

if TYPE_CHECKING:
    import onnx

OPSET = 21
"""The first with blocks of weights and codes of four bits."""
LEAST = 1e-30
"""Stands for the largest element of a row of zeros."""
FEWEST = 1024
"""Weights from which on a product or a table is worth codes."""


def rewritten(model: onnx.ModelProto, scheme: Scheme, *, rows: bool = True) -> onnx.ModelProto:
    """The network in codes; activations stay floats without `rows`.

    UnsupportedError where it has no product that can be in codes, or an opset before 21.
    """
    versions = {entry.domain: entry.version for entry in model.opset_import}
    if versions.get("", 0) < OPSET:
        raise UnsupportedError(
            f"--weights needs opset {OPSET}", why=f"the file has {versions.get('', 0)}, without codes of four bits",
            fix="export it again, or convert it with onnx.version_converter",
        )  # fmt: skip
    work = _Rewriting(model, scheme, rows)
    work.go()
    if not work.products:
        raise UnsupportedError(
            "--weights finds no product with constant weights", why="it takes MatMul of rows with a constant matrix",
            fix="leave it out",
        )  # fmt: skip
    return work.result()


@dataclass
class _Table:
    """Coded rows of weights: names of codes and factors, and their step."""

    codes: str
    factors: str
    step: np.float32
    coded: Coded


@dataclass
class _Rewriting:
    model: onnx.ModelProto
    scheme: Scheme
    in_rows: bool
    products: int = 0
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    tables: dict[tuple[bytes, tuple[int, ...]], _Table] = field(default_factory=dict)
    rows: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the constants that are floats and the names that are taken."""
        from onnx import numpy_helper

        graph = self.model.graph
        if any(one.data_location for one in graph.initializer):
            raise UnsupportedError(
                "--weights", why="the weights lie in files of their own", fix="save them in the model"
            )
        try:
            self.values = {one.name: numpy_helper.to_array(one) for one in graph.initializer if one.data_type == 1}
        except ValueError as error:
            raise ModelError("an initialiser is damaged", why=str(error)[:160], fix="export the model again") from None
        self.turned = {
            node.output[0]: node.input[0] for node in graph.node
            if node.op_type == "Transpose" and node.input[0] in self.values and self.values[node.input[0]].ndim == 2
        }  # fmt: skip
        self.taken = {name for node in graph.node for name in (*node.input, *node.output)}
        self.taken |= {one.name for one in (*graph.input, *graph.output, *graph.initializer)}

    def go(self) -> None:
        """Every node, products and tables as codes."""
        for node in self.model.graph.node:
            if node.domain not in ("", "ai.onnx"):
                self.nodes.append(node)
            elif node.op_type == "MatMul" and (weights := self._weights(node.input[1])) is not None:
                self._product(node, weights)
            elif node.op_type == "Gather" and self._is_table(node):
                self._gather(node)
            else:
                self.nodes.append(node)

    def result(self) -> onnx.ModelProto:
        """The network with its new nodes; what nothing reads any more is left out."""
        import onnx

        made = onnx.ModelProto()
        made.CopyFrom(self.model)
        graph = made.graph
        wanted = {one.name for one in graph.output}
        needed_nodes = []
        for node in reversed(self.nodes):
            if wanted.intersection(node.output):
                wanted.update(node.input)
                needed_nodes.append(node)
        constants = [one for one in (*graph.initializer, *self.constants) if one.name in wanted]
        for field_, values in ((graph.node, needed_nodes[::-1]), (graph.initializer, constants)):
            del field_[:]
            field_.extend(values)
        del graph.value_info[:]
        return made

    def _weights(self, name: str) -> Floats | None:
        """Rows of weights, one an output, of the second operand of a product."""
        weights = self.values.get(name)
        weights = self.values[self.turned[name]] if weights is None and name in self.turned else (
            None if weights is None or weights.ndim != 2 else weights.T
        )  # fmt: skip
        usable = weights is not None and weights.size >= FEWEST and bool(np.isfinite(weights).all())
        return np.ascontiguousarray(weights, np.float32) if weights is not None and usable else None

    def _is_table(self, node: onnx.NodeProto) -> bool:
        weights = self.values.get(node.input[0])
        axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), 0)
        return weights is not None and weights.ndim == 2 and axis == 0 and self._is_product(weights)

    def _is_product(self, table: Floats) -> bool:
        """True where a product has the same weights: a table by itself, of angles for instance, stays as it is."""
        others = (self._weights(node.input[1]) for node in self.model.graph.node if node.op_type == "MatMul")
        return any(one is not None and np.array_equal(one, table) for one in others)

    def _constant(self, hint: str, given: np.ndarray[Any, Any] | np.float32, kind: int | None = None) -> str:
        from onnx import helper, numpy_helper

        name, values = unique(hint, self.taken), np.asarray(given)
        if kind is None:
            self.constants.append(numpy_helper.from_array(values, name))
        else:
            self.constants.append(helper.make_tensor(name, kind, values.shape, values.reshape(-1).tolist()))
        return name

    def _op(self, kind: str, inputs: list[str], hint: str = "", into: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = into or unique(hint, self.taken)
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def _table(self, weights: Floats, hint: str) -> _Table:
        from onnx import TensorProto

        key = (weights.tobytes(), weights.shape)
        if key not in self.tables:
            in_codes = coded(weights, self.scheme)
            four = TensorProto.INT4 if self.scheme.bits == 4 else None
            factors = in_codes.factors.astype(np.float32) if self.scheme.bits == 4 else in_codes.factors[:, :1]
            self.tables[key] = _Table(
                self._constant(f"{hint}_codes", in_codes.codes, four), self._constant(f"{hint}_factors", factors),
                in_codes.step, in_codes,
            )  # fmt: skip
        return self.tables[key]

    def _dequantised(self, table: _Table) -> str:
        """Codes of four bits times their factors, whole numbers in float32."""
        return self._op(
            "DequantizeLinear",
            [table.codes, table.factors],
            f"{table.codes}_whole",
            axis=1,
            block_size=self.scheme.block,
        )

    def _row_codes(self, x: str) -> tuple[str, str]:
        """Codes of the rows of a tensor, and each row's largest element."""
        from onnx import TensorProto

        if x not in self.rows:
            last = self._constant(f"{x}_last", np.array([-1], np.int64))
            most = self._op("ReduceMax", [self._op("Abs", [x], f"{x}_size"), last], f"{x}_most", keepdims=1)
            most = self._op("Max", [most, self._constant(f"{x}_least", np.float32(LEAST))], f"{x}_largest")
            factor = self._op("Div", [self._constant(f"{x}_highest", np.float32(HIGHEST)), most], f"{x}_factor")
            whole = self._op("Round", [self._op("Mul", [x, factor], f"{x}_scaled")], f"{x}_whole")
            self.rows[x] = self._op("Cast", [whole], f"{x}_codes", to=TensorProto.INT8), most
        return self.rows[x]

    def _product(self, node: onnx.NodeProto, weights: Floats) -> None:
        from onnx import TensorProto

        self.products += 1
        y, table = node.output[0], self._table(weights, node.name or node.output[0])
        if not self.in_rows:
            self._float_product(node, table)
            return
        codes, most = self._row_codes(node.input[0])
        if self.scheme.bits == 4:
            turned = self._op("Transpose", [self._dequantised(table)], f"{y}_turned", perm=[1, 0])
            sums = self._op(
                "MatMul", [self._op("Cast", [codes], f"{y}_real", to=TensorProto.FLOAT), turned], f"{y}_sums"
            )
        else:
            turned = self._op("Transpose", [table.codes], f"{y}_turned", perm=[1, 0])
            factors = self._constant(f"{y}_factors", table.coded.factors[:, 0].astype(np.int32))
            whole = self._op("MatMulInteger", [codes, turned], f"{y}_sums")
            whole = self._op("Mul", [whole, factors], f"{y}_weighted")
            sums = self._op("Cast", [whole], f"{y}_real", to=TensorProto.FLOAT)
        unit = self._constant(f"{y}_step", np.float32(table.step / np.float32(HIGHEST)))
        self._op("Mul", [sums, self._op("Mul", [most, unit], f"{y}_unit")], into=y)

    def _float_product(self, node: onnx.NodeProto, table: _Table) -> None:
        y, block = node.output[0], self.scheme.block or table.coded.codes.shape[1]
        scales = self._constant(f"{y}_scales", table.coded.factors.astype(np.float32) * table.step)
        whole = self._op("DequantizeLinear", [table.codes, scales], f"{y}_weights", axis=1, block_size=block)
        turned = self._op("Transpose", [whole], f"{y}_turned", perm=[1, 0])
        self._op("MatMul", [node.input[0], turned], into=y)

    def _gather(self, node: onnx.NodeProto) -> None:
        from onnx import TensorProto

        table = self._table(self.values[node.input[0]], node.input[0])
        y, index = node.output[0], node.input[1]
        step = self._constant(f"{y}_step", np.float32(table.step))
        if self.scheme.bits == 4:
            rows = self._op("Gather", [self._dequantised(table), index], f"{y}_rows", axis=0)
            self._op("Mul", [rows, step], into=y)
            return
        taken = self._op("Gather", [table.codes, index], f"{y}_rows", axis=0)
        rows = self._op("Cast", [taken], f"{y}_real", to=TensorProto.FLOAT)
        factor = self._op("Gather", [table.factors, index], f"{y}_factor", axis=0)
        factor = self._op("Cast", [factor], f"{y}_factor_real", to=TensorProto.FLOAT)
        self._op("Mul", [rows, self._op("Mul", [factor, step], f"{y}_unit")], into=y)


def rewrite_file(source: Path, to: Path, scheme: Scheme | None, *, rows: bool = True, cache_bits: int = 0) -> None:
    """Write the network of a file with weights, caches or both in codes; errors as those of `read`."""
    import onnx

    model = read(source).proto
    if scheme is not None:
        model = rewritten(model, scheme, rows=rows)
    if cache_bits:
        model = coded_caches(model, cache_bits)
    onnx.save(model, str(to))
