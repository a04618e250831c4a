"""Templates that Jinja compiled once for all processes of the tests.

To compile the templates of C and of the report takes half a second in each process. A compiled
template is kept by its text, so a change in a template is another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemBytecodeCache
from jinja2.bccache import Bucket


class _KeptTemplates(FileSystemBytecodeCache):
    def get_bucket(
        self,
        environment: Environment,
        name: str,
        filename: str | None,  # noqa: ARG002
        source: str,
    ) -> Bucket:
        digest = hashlib.sha256(source.encode()).hexdigest()
        own = f"{name} {digest} {environment.autoescape}"
        return super().get_bucket(environment, own, None, source)


def with_kept_templates(kept: Path, make: Callable[..., Environment]) -> Callable[..., Environment]:
    """Return what makes the same environments, whose compiled templates are in a folder."""
    kept.mkdir(exist_ok=True)

    def made(*arguments: Any, **named: Any) -> Environment:
        environment = make(*arguments, **named)
        environment.bytecode_cache = _KeptTemplates(str(kept))
        return environment

    return made
