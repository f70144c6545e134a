"""The stages as one object with a life cycle, for those who deploy step by step and look at every step.

    deployer = TilerDeployerWrapper(NetworkDeployer(Path("model.onnx"), load_target("host")))
    deployer.prepare()                      # front_end, mid_end, back_end
    print(deployer.worst_case_buffer_size)
    source = deployer.generate_function()

`NetworkDeployer` holds what each stage returned; a method called before what it needs raises `OrderError`.
`TilerDeployerWrapper` adds tiling to any deployer: whatever it does not know itself, it asks of the inner one.
"""

from tilewright.deployer.code import OrderError
from tilewright.deployer.network import NetworkDeployer
from tilewright.deployer.verbosity import CodeGenVerbosity
from tilewright.deployer.wrapper import TilerDeployerWrapper

__all__ = ["CodeGenVerbosity", "NetworkDeployer", "OrderError", "TilerDeployerWrapper"]
