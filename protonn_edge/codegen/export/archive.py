"""Put an export into a ZIP file, which the Arduino IDE adds as a library.

The file contains the folder that an export would have, under the file's name without ``.zip``, list
included. Its members are stored uncompressed and dated 1980, so the same export has the same bytes
with any version of zlib.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

from protonn_edge.codegen.export.folder import MANIFEST, listed
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.files import MODEL_LIMIT_BYTES, check_file, write_atomically

_REGULAR_FILE = 0o100644 << 16  # as Unix reads the attributes of a member


def is_archive(path: Path) -> bool:
    """Whether a path is meant for a ZIP file."""
    return path.suffix.lower() == ".zip"


def check_archive(path: Path) -> None:
    """Raise `InputError` if there is something else than an earlier export."""
    if not path.exists() and not path.is_symlink():
        return
    check_file(path, limit_bytes=MODEL_LIMIT_BYTES)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        names = []
    if not any(name.endswith(f"/{MANIFEST}") for name in names):
        raise InvalidValue(path, "not an export", "choose another file")


def write_archive(path: Path, name: str, files: Mapping[str, str | bytes]) -> None:
    """Write an export's files below the folder `name`; see `write_folder`."""
    check_archive(path)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for member, content in sorted(listed(files).items()):
            entry = zipfile.ZipInfo(f"{name}/{member}")  # dated 1980-01-01
            entry.external_attr = _REGULAR_FILE
            entry.create_system = 3  # Unix, also where it is made on Windows
            archive.writestr(entry, content)
    write_atomically(path, buffer.getvalue())
