"""What a user may ask for, and what is refused before any stage runs."""

import pytest
from tilewright.errors import UsageError
from tilewright.options import CompileOptions, RunOptions, size_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("4096", 4096),
        ("12B", 12),
        ("64K", 65536),
        ("64k", 65536),
        ("64KB", 65536),
        ("64KiB", 65536),
        ("1M", 1 << 20),
        (" 2 MiB ", 2 << 20),
        ("1G", 1 << 30),
    ],
)
def test_sizes_as_users_write_them(text: str, size: int) -> None:
    assert size_bytes(text) == size


@pytest.mark.parametrize("text", ["", "K", "-1", "1.5K", "64Q", "64KiBs", "64iB", "0x40", "٣"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        size_bytes(text)
    assert str(caught.value) == (
        f"'{text}' is not a size: it is not a whole number with B, K, M or G; write 4096, 64K or 1M"
    )


def test_options_refuse_what_has_no_meaning() -> None:
    with pytest.raises(UsageError, match="--set l1=-1: a size is negative; use bytes >= 0"):
        CompileOptions(level_sizes={"l1": -1})
    with pytest.raises(UsageError, match="--budget flash=-2"):
        CompileOptions(budgets={"flash": -2})
    with pytest.raises(
        UsageError, match="--shape x=1,-2,4: an extent is below 0; use a number of elements, 0 for none"
    ):
        CompileOptions(shapes={"x": (1, -2, 4)})
    with pytest.raises(UsageError, match="--io heap: there is no such choice; choose arena or caller"):
        CompileOptions(io="heap")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="--optimize fast: there is no such choice; choose speed or size or balanced"):
        CompileOptions(optimize="fast")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="solver_seconds is 0"):
        CompileOptions(solver_seconds=0)
    with pytest.raises(UsageError, match="--atol nan: a tolerance is negative or not a number; use 0 or more"):
        RunOptions(atol=float("nan"))
    with pytest.raises(UsageError, match="--rtol -1"):
        RunOptions(rtol=-1)
