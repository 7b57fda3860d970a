"""What all tests share."""

from __future__ import annotations

import pytest
from hypothesis import settings

# A slow machine is no fault: no generated case has a time limit.
settings.register_profile("house", deadline=None)
settings.load_profile("house")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
