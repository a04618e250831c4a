"""Templates that Jinja compiled, kept in the user's cache: compiling takes 0.3 s a command."""

from __future__ import annotations

import marshal
import sys
from contextlib import suppress
from types import CodeType

import jinja2
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket

from protonn_edge.system.folders import digest
from protonn_edge.system.kept_results import KeptResults

_MOST = 2000  # of some 10 kB; a prefix of one's own has templates of its own


class CompiledTemplates(BytecodeCache):
    """Compiled templates by their text, the settings, and the versions that compiled them."""

    def __init__(self) -> None:
        self._kept = KeptResults("templates", _MOST)

    def get_bucket(
        self,
        environment: Environment,
        name: str,
        _filename: str | None,
        source: str,
    ) -> Bucket:
        """Return the template's place in the cache, with its code if it is kept."""
        finalizes = environment.finalize is not None
        layout = environment.trim_blocks, environment.optimized, finalizes
        settings = (name, environment.autoescape, *layout)
        versions = (jinja2.__version__, sys.implementation.cache_tag)
        key = digest([repr((*settings, *versions)).encode(), source.encode()])
        bucket = Bucket(environment, key, "")
        self.load_bytecode(bucket)
        return bucket

    def load_bytecode(self, bucket: Bucket) -> None:
        """Set a template's code if it is kept."""
        with suppress(EOFError, ValueError, TypeError):
            code = marshal.loads(self._kept.get(bucket.key) or b"")  # noqa: S302 (of this user)
            bucket.code = code if isinstance(code, CodeType) else None

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template's code."""
        self._kept.put(bucket.key, marshal.dumps(bucket.code))
