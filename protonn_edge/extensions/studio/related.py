"""Which files belong together: data, a model of them, its points, firmware, results and report.

All follows from the hashes that files state, see `facts`; of several, it is the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from protonn_edge.system.schema import JsonObject

OF_SAMPLES = ("recording", "takes")
_OF_POINTS = ("table", "images", "points")
_USUAL = "recording.csv"
_NAMED = {"images": "picture", "table": "row"}  # a point of such data


class RelatedFiles:
    """The files in use, by their names; empty for those that are not there.

    - `files`: what `listing` and `facts_of` say of each file.
    - `digest`: returns the SHA-256 of a file of a name.
    - `reads`: whether a model can read some data, given both names.
    - `data`, `model`: those that the page looks at, if they are chosen.
    """

    def __init__(
        self,
        files: Mapping[str, JsonObject],
        digest: Callable[[str], str],
        reads: Callable[[str, str], bool],
        data: str = "",
        model: str = "",
    ) -> None:
        self.files, self._digest, self._reads = files, digest, reads
        # windows of a recording that is here are no other data
        data_files = self._of(*OF_SAMPLES, *_OF_POINTS)
        self.offered = [name for name in data_files if not self._is_here(name)]
        known = (name for name in self._of("model") if not files[name].get("reading"))
        self._models = [name for name in known if not files[name].get("error")]
        self.data = data if data in self.offered else self._default_data(self.offered)
        self.data_facts = files.get(self.data, {})
        self.model = model if model in self._models else self._newest_model()
        self.model_facts = files.get(self.model, {})
        # whether windows of samples are classified, which a sensor on the board can take
        of_samples = self.data_facts.get("kind") in OF_SAMPLES
        self.is_of_samples = of_samples or bool(self.model_facts.get("window"))
        kind = self.data_facts.get("kind", "")
        self.point = "window" if of_samples else _NAMED.get(kind, "point")
        # those that training held out, if they are here
        trained_on = self.model_facts.get("points_sha256")
        self.own_points = next(iter(self._with(trained_on, *_OF_POINTS, "takes")), "")
        self.points = self._points()
        self.logger = next(iter(self._of("logger")), "")
        self.project = self._built()
        self.other_builds = [
            name
            for name in self._of("live", "project")
            if name != self.project and self.is_of_model(files[name])
        ]
        self.results = self._measured()
        self.report = self._reported()

    def origins(self, model: str) -> list[str]:
        """Return the names of the data that a model was trained on; none if these bytes are gone.

        Windows have a recording, which is their data as long as a file of its name is here.
        """
        facts = self.files[model]
        found = self._with(facts.get("source_sha256"), *OF_SAMPLES)
        found += self._with(facts.get("points_sha256"), *_OF_POINTS, "takes")
        return [name for name in found if not self._is_here(name)]

    def is_current(self, model: str) -> bool | None:
        """Whether a model is of the bytes of the data that are here; None if nothing is known."""
        facts = self.files[model]
        known = facts.get("source_sha256") or facts.get("points_sha256")
        if not known or (self.data and not self._digest(self.data)):
            return None
        return self.data in self.origins(model)

    def _of(self, *kinds: str) -> list[str]:
        """Return the names of the files of some kinds, the newest first."""
        names = [name for name, facts in self.files.items() if facts["kind"] in kinds]
        return sorted(names, key=lambda name: -self.files[name]["at"])

    def _with(self, sha256: str | None, *kinds: str) -> list[str]:
        return [name for name in self._of(*kinds) if sha256 and self._digest(name) == sha256]

    def _is_here(self, points: str) -> bool:
        """Whether the recording of some windows is here, perhaps with other bytes."""
        source = self.files[points].get("source") or {}
        found = source.get("name") in self.files or self._with(source.get("sha256"), *OF_SAMPLES)
        return bool(found)

    def _default_data(self, offered: list[str]) -> str:
        """Return the usual recording, else the data of the newest model, else the newest data."""
        every = (name for model in self._models for name in self.origins(model))
        trained_on = [name for name in every if name in offered]
        return next(iter([name for name in offered if name == _USUAL] + trained_on + offered), "")

    def _newest_model(self) -> str:
        """Return the newest model of the data, if possible one in firmware; none of other data."""
        every = ((name, self.origins(name)) for name in self._models)
        models = [
            name
            for name, origins in every
            if self.data in origins or (not origins and self._can_be_of_data(name))
        ]
        built = [self.files[name].get("model_sha256") for name in self._of("live", "project")]

        def rank(name: str) -> tuple[bool, bool]:
            return not self.is_current(name), self.files[name].get("sha256") not in built

        return next(iter(sorted(models, key=rank)), "")

    def _can_be_of_data(self, model: str) -> bool:
        """Whether the data may be those of a model as they are now, if these bytes are gone."""
        if self.data_facts.get("kind") in OF_SAMPLES:
            return bool(self.files[model].get("window"))
        return not self.data or self._reads(model, self.data)

    def _points(self) -> str:
        """Return the file that a model is tested with: its own points, else those of the data."""
        if self.own_points:
            return self.own_points
        if not self.is_of_samples:
            return self.data if self.model and self._can_be_of_data(self.model) else ""
        for name in self._of("points"):
            source = self.files[name].get("source") or {}
            if source.get("name") == self.data or source.get("sha256") == self._digest(self.data):
                return name
        return ""

    def _built(self) -> str:
        """Return the project of the model, else the newest one; firmware for a sensor first."""
        kinds = ("live", "project") if self.is_of_samples else ("project", "live")
        every = [name for kind in kinds for name in self._of(kind)]
        mine = [name for name in every if self.is_of_model(self.files[name])]
        return next(iter(mine or every), "")

    def is_of_model(self, facts: JsonObject) -> bool:
        """Whether firmware with these facts is of the model in use."""
        sha256 = self.model_facts.get("sha256")
        return bool(sha256) and facts.get("model_sha256") == sha256

    def _measured(self) -> str:
        every, sha256 = self._of("results"), self.model_facts.get("sha256") or "?"
        mine = [name for name in every if are_of_model(self.files[name], sha256)]
        return next(iter(mine or every), "")

    def _reported(self) -> str:
        """Return the report of the results, else the newest one."""
        every = [name for name in self._of("page") if self.files[name].get("run")]
        run = self.files.get(self.results, {}).get("run")
        return next(iter([name for name in every if self.files[name]["run"] == run] or every), "")


def are_of_model(results: JsonObject, sha256: str) -> bool:
    """Whether results with these facts are of the model with this hash."""
    model16 = results.get("model16") or ""
    return bool(model16) and sha256.startswith(model16)
