"""`tilewright memory`: strategies beside each other, each with the network's live set and bound and its own gap."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from conftest import NetworkFiles
from tilewright.cli import main


def test_strategies_stand_side_by_side_with_bound_and_gap(
    network: Callable[[str], NetworkFiles], capsys: pytest.CaptureFixture[str]
) -> None:
    model = str(network("digits_int8").model)
    assert main(["memory", model, "-t", "host", "--strategies", "auto,greedy,naive"]) == 0
    heads, _, *rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert heads[-6:] == ["live", "set", "lower", "bound", "gap", "verdict"]
    found = {row[1]: row[2:] for row in rows}
    auto, naive = found["auto"], found["naive"]
    assert auto[-2:] == ["optimal", "fits"]
    assert auto[-4] == naive[-4]  # the live set is the network's, the gap is the strategy's
    assert int(auto[-3].replace(",", "")) >= int(
        naive[-3].replace(",", "")
    )  # a search may prove more than the sizes do
    peak, bound, gap = (int(naive[at].replace(",", "")) for at in (0, -3, -2))
    assert gap == peak - bound > 0
