"""The bill of materials of a build, in CycloneDX's JSON: its ingredients, with hashes."""

from __future__ import annotations

import json
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6

from protonn_edge import __version__
from protonn_edge.certificate.claims import FIRMWARE, MODEL, TRAINING_DATA, Certificate

_TYPES = {
    MODEL: ComponentType.MACHINE_LEARNING_MODEL,
    TRAINING_DATA: ComponentType.DATA,
    FIRMWARE: ComponentType.FIRMWARE,
}


def bill_of_materials(certificate: Certificate) -> str:
    """Return the bill of everything that a certificate has hashes of.

    It contains no time, and its serial number is derived from the firmware's hash: the same hashes
    give the same text.
    """
    parts = {name: _part(name, digest) for name, digest in certificate.hashes.items()}
    firmware = parts.pop(FIRMWARE)
    tools = [_tool(f"protonn-edge {__version__}"), *map(_tool, certificate.compilers)]
    bom = Bom(
        components=[*parts.values(), *tools],
        serial_number=uuid5(NAMESPACE_URL, certificate.hashes[FIRMWARE]),
        metadata=BomMetaData(component=firmware),
    )
    bom.register_dependency(firmware, [*parts.values(), *tools])
    record = json.loads(JsonV1Dot6(bom).output_as_string())
    del record["metadata"]["timestamp"]  # the library always writes one, the standard needs none
    return json.dumps(record, indent=2) + "\n"


def _tool(name: str) -> Component:
    return Component(name=name, bom_ref=name, type=ComponentType.APPLICATION)


def _part(name: str, digest: str) -> Component:
    return Component(
        name=name,
        bom_ref=name,
        type=_TYPES.get(name, ComponentType.FILE),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest)],
    )
