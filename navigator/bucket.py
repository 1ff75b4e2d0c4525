"""A bucket that speaks S3: how it is reached, and what its answers mean."""

from __future__ import annotations

from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

_SECONDS: Final = 10
ABSENT: Final = frozenset({"NoSuchKey", "404"})
"""What says that there is no such object."""
REMOVED_AT_ONCE: Final = 1_000
"""Objects that one request may delete."""


def open_bucket(attempts: int = 3) -> Any:
    """Return a client, whose keys, region and endpoint the environment and its own files tell."""
    retries: Any = {"mode": "standard", "total_max_attempts": attempts}
    config = Config(connect_timeout=_SECONDS / 2, read_timeout=_SECONDS, retries=retries)
    return boto3.client("s3", config=config)


def code_of(error: ClientError) -> str:
    """Return what the storage calls an error."""
    return str(error.response.get("Error", {}).get("Code", "no reason given"))
