"""Cycles of the accelerator's kernels, as their cost models have them on layers of usual size."""

from tilewright.platform import Rate
from tilewright.platforms.pulp.platform import PLATFORM as CLUSTER

RATES = {
    **CLUSTER.rates,
    "NeurekaConvI8": Rate(0.012, ("dense",)),
    "NeurekaDepthwiseI8": Rate(0.15, ("depthwise",)),
    "NeurekaDenseI8": Rate(0.03, ("weights",)),
}
