"""The kinds of classifiers and features: what their folders bring, imported on first use.

A kind of classifier is a folder of `protonn_edge.kinds`, or of ``kinds`` in an extension, and a
kind of feature one of ``features`` there. Nothing else lists them: the registry finds the folders
that exist, and reads in the ``__init__.py`` of each

``KINDS``     the kinds of classifiers, as `Kind`
``VARIANTS``  variants of other folders' kinds, with more parameters, as `Variant`
``REQUESTS``  the requests for features in training, as `Requested`
``STAGES``    the folder of each of its integer stages, below its own; "" if that is the same
``TITLES``    names in text of kinds, and of stages whose scores a classifier only passes on
``FUNCTIONS`` by stage, functions, without the prefix, that only models with it have in C
``SMALLER``   by stage, what to try in training if it takes most of the flash, SRAM and time
``EXPORTS``   names that `protonn_edge` offers, with their modules; classifiers are among them

By convention, the folder of a kind of classifier has in

``head``      ``<Prefix>Head``, its float form; absent in kinds that train another kind's model
``quantize``  ``quantize(model)``, which returns its `IntegerChain`, and, if this has more than two
              steps, ``scores_by_step(model, integers, X)``, as `scores_in_two_steps`
``parameters``  ``<Prefix>Parameters``, its parameters, declared without heavy imports
``train``     ``<Prefix>Classifier``, the estimator for Python, of which they are a base
``learner``   ``<Prefix>Learner``, beside it, if the kind has one: a base of the estimator
``value``     the same for numbers, if the kind predicts any: ``<Prefix>Regressor`` in ``train``,
              and perhaps ``<Prefix>ValueLearner`` in ``learner``

and the folder of a stage in

``kernels``   ``kernels(stage, core)``, the ways to compute it

The C of a stage is ``STAGE.j2`` in its folder, or ``STAGE/STAGE.j2`` in ``templates/c``.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Collection, Iterable, Iterator, Mapping, MutableMapping
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from protonn_edge.model.entries import Kind, Variant
from protonn_edge.system.errors import InvalidValue
from protonn_edge.system.extensions import broken, folders_in_packages
from protonn_edge.system.lazy import folders_of, optional

_ROOMS = ("features", "kinds")


def imported(place: str) -> Any:
    """Return what is at "module:name"."""
    module, name = place.split(":")
    return getattr(import_module(module), name)


class Imported(UserDict[str, Any]):
    """Names, as "module:name", each imported when it is asked for."""

    def __getitem__(self, key: str) -> Any:
        entry = super().__getitem__(key)
        if isinstance(entry, str):
            self.data[key] = entry = imported(entry)
        return entry


def _rooms() -> Iterator[tuple[str, Path]]:
    """Yield the packages that have folders of kinds and features, and their paths."""
    for room in _ROOMS:
        yield f"protonn_edge.{room}", Path(__file__).parents[1] / room
    for room in _ROOMS:
        yield from folders_in_packages(room)


ROOMS = dict(_rooms())
"""The paths of the packages that have folders of kinds and features, by their names."""


def _folders() -> Iterator[tuple[str, ModuleType]]:
    """Yield the folders of kinds and features that exist: their names, and what they bring."""
    for room in ROOMS:
        try:
            for name in folders_of(room):
                yield name, import_module(name)
        except (ImportError, SyntaxError) as error:
            if (package := room.rpartition(".")[0]) == "protonn_edge":
                raise
            raise broken(package, error) from error


_FOLDERS = dict(_folders())
_IN_ORDER = sorted(
    ((kind, name) for name, each in _FOLDERS.items() for kind in getattr(each, "KINDS", ())),
    key=lambda kind_and_folder: kind_and_folder[0].place,
)
_FOLDER_OF = {kind.name: folder for kind, folder in _IN_ORDER}

KINDS: Mapping[str, Kind] = {kind.name: kind for kind, _ in _IN_ORDER}
"""By their names in files and on the command line; the first one is the default."""


def _place(kind: str, module: str, name: str) -> str:
    """Return the place of a class of a kind with this name, for `Imported`."""
    return f"{_FOLDER_OF[kind]}.{module}:{KINDS[kind].prefix}{name}"


HEADS: MutableMapping[str, Any] = Imported(
    {name: _place(name, "head", "Head") for name, kind in KINDS.items() if kind.has_models}
)
"""The float forms of the kinds of classifiers; `model.head` has their type."""

_REQUESTS = sorted(
    (each.place, f"{folder}.{each.request}")
    for folder, brought in _FOLDERS.items()
    for each in getattr(brought, "REQUESTS", ())
)
FEATURE_REQUESTS = Imported({request: request for _, request in _REQUESTS})
"""The requests for features; `learn.requests` has them with their type."""

ESTIMATORS = Imported(
    {
        name: _place(name, kind.training, "Classifier")
        for name, kind in KINDS.items()
        if kind.training
    }
)
"""The estimators; `learn.base` has them with their type."""

REGRESSORS = Imported(
    {
        name: _place(name, "value.train", "Regressor")
        for name, folder in _FOLDER_OF.items()
        if f"{folder}.value" in folders_of(folder)
    }
)
"""The estimators that predict a number, of the kinds that can."""


def _learner(kind: str, estimator: str) -> str:
    """Return the place of what trains for an estimator of a kind."""
    if not KINDS[kind].has_learner:
        return estimator
    module, name = estimator.split(":")
    name = name.removesuffix("Classifier").replace("Regressor", "Value")
    return f"{module.rpartition('.')[0]}.learner:{name}Learner"


LEARNERS = Imported({name: _learner(name, each) for name, each in ESTIMATORS.data.items()})
VALUE_LEARNERS = Imported({name: _learner(name, each) for name, each in REGRESSORS.data.items()})
"""What trains both; `learn.learner` has them with their type."""

PARAMETERS = Imported({name: _place(name, "parameters", "Parameters") for name in ESTIMATORS})
"""The parameters of the estimators, which are imported at once."""

_TRAINING = "train.classifier"  # the module of a variant's estimator, in its folder
ESTIMATOR = f"{_TRAINING}:{{}}Classifier"
_VARIANTS: list[tuple[str, Variant]] = [
    (folder, each) for folder, found in _FOLDERS.items() for each in getattr(found, "VARIANTS", ())
]

_STAGE_FOLDERS = {
    stage: f"{folder}.{below}".rstrip(".")
    for folder, each in _FOLDERS.items()
    for stage, below in getattr(each, "STAGES", {}).items()
}

STAGES = Imported(
    {"decision": "protonn_edge.codegen.kernels.decision:kernels"}
    | {stage: f"{folder}.kernels:kernels" for stage, folder in _STAGE_FOLDERS.items()}
)
"""What finds the kernels of an integer stage; `codegen.kernels.kernel` has it with its type."""


def _of_stages(name: str) -> dict[str, Any]:
    """Return what the folders of stages say of these, by kind of stage."""
    each = (getattr(folder, name, {}) for folder in _FOLDERS.values())
    return {stage: value for brought in each for stage, value in brought.items()}


TITLES: Mapping[str, str] = _of_stages("TITLES")
SMALLER: Mapping[str, tuple[str, ...]] = _of_stages("SMALLER")
FUNCTIONS: Mapping[str, tuple[str, ...]] = _of_stages("FUNCTIONS")

EXPORTS: Mapping[str, str] = (
    {
        name: f"{folder}.{module}"
        for folder, each in _FOLDERS.items()
        for name, module in getattr(each, "EXPORTS", {}).items()
    }
    | {
        f"{kind.prefix}Classifier": f"{folder}.{kind.training}"
        for kind, folder in _IN_ORDER
        if kind.training
    }
    | {f"{each.prefix}Classifier": f"{folder}.{_TRAINING}" for folder, each in _VARIANTS}
    | {f"{KINDS[name].prefix}Regressor": f"{_FOLDER_OF[name]}.value.train" for name in REGRESSORS}
)
"""The modules of what `protonn_edge` offers of them, by name."""


def variants(kind: str, of: str = "parameters:{}Parameters") -> Iterator[Any]:
    """Yield the parameters of a kind's variants, importing each when it is asked for.

    `of` may be the place of another class of theirs, such as `ESTIMATOR`.
    """
    yield from map(imported, _places_of_variants(kind, of))


def _places_of_variants(kind: str, of: str) -> Iterator[str]:
    return (f"{folder}.{of.format(each.prefix)}" for folder, each in _VARIANTS if each.kind == kind)


def parameters_with(kind: str, names: Collection[str]) -> Any:
    """Return the parameters of a kind or of its first variant that has these; None if none has.

    A variant is imported only if the kind lacks one of them.
    """
    return _with(names, chain([PARAMETERS[kind]], variants(kind)))


def learner_with(kind: str, names: Collection[str]) -> Any:
    """Return the learner that `parameters_with` belongs to."""
    own = (imported(_learner(kind, each)) for each in _places_of_variants(kind, ESTIMATOR))
    return _with(names, chain([LEARNERS[kind]], own))


def _with(names: Collection[str], classes: Iterable[Any]) -> Any:
    return next((each for each in classes if each.parameters.keys() >= set(names)), None)


def quantizer_of(kind: str) -> ModuleType:
    """Return the module that quantizes models of a kind."""
    return import_module(f"{_FOLDER_OF[kind]}.quantize")


def modules_named(name: str) -> Iterator[Any]:
    """Yield the modules of this name of the folders that have one."""
    for folder in _FOLDERS:
        if module := optional(f"{folder}.{name}"):
            yield module


def stage_class(kind: str) -> Any:
    """Return the class of an integer stage: of its kind, in the module `integers` of its folder."""
    module = module_of_stage(kind, "integers")
    members = () if module is None else vars(module).values()
    found = [each for each in members if getattr(each, "kind", "") == kind]
    if not found:
        remedy = "install a newer version, or the extension that brings it"
        raise InvalidValue(f"stage {kind[:40]!r}", "unknown", remedy)
    return found[0]


def module_of_stage(stage: str, name: str) -> ModuleType | None:
    """Return a module of the folder of an integer stage; None if there is none of this name."""
    folder = _STAGE_FOLDERS.get(stage)
    return optional(f"{folder}.{name}") if folder else None
