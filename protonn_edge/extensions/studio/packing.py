"""A project as a ZIP: what a folder has, but no firmware, which is built where it is opened."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

from protonn_edge.extensions.studio.dropped import HIDDEN
from protonn_edge.extensions.studio.folder import listing
from protonn_edge.extensions.studio.incoming import MANIFEST, MOST_FILES, MOST_UNPACKED_BYTES
from protonn_edge.extensions.studio.sheet import plain_name
from protonn_edge.system.errors import InputError, cannot_write
from protonn_edge.system.folders import scratch_folder

_KINDS = ("recording", "takes", "table", "images", "points", "model", "samples", "sensor", "sound")


def pack(folder: Path) -> Path:
    """Write the data and the models of a folder into a ZIP in it, and return that.

    Raises `InputError` if it could not be opened again.
    """
    roots = [folder / one["name"] for one in listing(folder) if one["kind"] in _KINDS]
    every = [each for root in roots for each in (root, *sorted(root.rglob("*")))]
    names = {each.relative_to(folder).as_posix(): each for each in every}
    files = {name: path for name, path in names.items() if _is_packed(name, path)}
    size = sum(path.stat().st_size for path in files.values())
    if not files or len(files) >= MOST_FILES or size > MOST_UNPACKED_BYTES:
        raise InputError(
            f"the folder has {len(files):,} files of {size:,} bytes to pack, expected 1 to "
            f"{MOST_FILES - 1:,} of {MOST_UNPACKED_BYTES:,}; copy the folder itself"
        )
    target = folder / f"{plain_name(folder.name)}-project.zip"
    try:
        with scratch_folder(folder) as scratch:
            packed = scratch / target.name
            form = zipfile.ZIP_DEFLATED
            with zipfile.ZipFile(packed, "w", form, strict_timestamps=False) as archive:
                archive.writestr(MANIFEST, json.dumps({"project": folder.name}))
                for name, path in files.items():
                    archive.write(path, name)
            packed.replace(target)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


def _is_packed(name: str, path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and not HIDDEN.search(name)
