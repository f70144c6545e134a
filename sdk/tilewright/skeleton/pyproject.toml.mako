[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "${name.replace("_", "-")}"
version = "0.1"
description = "The platform ${name} for tilewright"
requires-python = ">=3.11"
dependencies = ["tilewright"]

[project.entry-points."tilewright.platforms"]
${name} = "${name}.platform:PLATFORM"

[tool.setuptools]
packages = ["${name}", "${name}.kernels"]

[tool.setuptools.package-data]
${name} = ["kernels/*.mako", "kernels/*.h", "kernels/*.c"]

[tool.pytest.ini_options]
testpaths = ["tests"]
