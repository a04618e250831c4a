"""Trained classifiers on devices: save, export, build and measure them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from protonn_edge.learn.points import Float32, Indices
from protonn_edge.model.file import save_model
from protonn_edge.model.model import Model

if TYPE_CHECKING:
    from protonn_edge.chips.boards import Board
    from protonn_edge.codegen.export import Export, Kind
    from protonn_edge.codegen.projects.project import Build
    from protonn_edge.learn.evaluation.measurement import Measurement

# Most processes that train need none of this.


class Deployable:
    """Base of objects with a trained model, which can be exported, built and measured."""

    def to_model(self) -> Model:
        """Return the trained model."""
        raise NotImplementedError

    def _labelled(self, X: ArrayLike, y: ArrayLike) -> tuple[Float32, Indices]:
        """Return raw features X (n, D), as the model expects them, and indices of labels y."""
        raise NotImplementedError

    def save(self, path: Path | str) -> None:
        """Write the trained model to a file (.npz) for the command line; see `to_model`."""
        save_model(self.to_model(), Path(path))

    def export(
        self, folder: Path | str, kind: Kind = "arduino", board: Board | str = "uno", **options: Any
    ) -> Export:
        """Write the model as a library or as plain C; see `protonn_edge.codegen.export.export`.

        Parameters
        ----------
        folder : Path or str
            The library's folder: new, empty, or an earlier export.
        kind : {"arduino", "platformio", "c"}, default="arduino"
            The kind of export.
        board : Board or str, default="uno"
            The board to plan for.
        **options
            Other options of `protonn_edge.codegen.export.export`.

        Raises
        ------
        InputError
            If the model has no integers, or the folder cannot be used.
        """
        from protonn_edge.codegen.export import export

        written: Export = export(self.to_model(), kind, folder, board, **options)
        return written

    def build(self, folder: Path | str, board: Board | str = "uno", *, tries: bool = True) -> Build:
        """Write a PlatformIO project with the model's firmware into a folder.

        Parameters
        ----------
        folder : Path or str
            The project's folder; existing firmware is kept.
        board : Board or str, default="uno"
            The board with the flash and SRAM that it must fit.
        tries : bool, default=True
            Whether the firmware first answers a few points on the emulated board.

        Returns
        -------
        Build
            The plan, and the flash and SRAM of the linked firmware.

        Raises
        ------
        CheckFailed
            If it does not fit the board, or a score on the emulated board is not NumPy's.
        InputError
            If the folder has other files in place of the project's.
        """
        from protonn_edge.codegen.projects.project import BuildOptions, build

        built: Build = build(self.to_model(), board, folder, BuildOptions(tries=tries))
        return built

    def measure(
        self, X: ArrayLike, y: ArrayLike, board: Board | str = "uno", *, port: str | None = None
    ) -> Measurement:
        """Run points on the emulated board or a real one, and summarize the results.

        Parameters
        ----------
        X : array of shape (n, D)
            Raw features.
        y : array of shape (n,)
            Their labels.
        board : Board or str, default="uno"
            Its clock and power convert cycles into time and energy.
        port : str, optional
            Port of a board with this model's firmware; by default the emulated board runs it.

        Returns
        -------
        Measurement
            Accuracy, cycles, latency, energy, and whether every score equals the reference's.

        Raises
        ------
        CheckFailed
            If the firmware does not fit, or a device does not answer or has another model.
        InputError
            If a label is not among the classes.
        ValueError
            If there are no points.
        """
        from protonn_edge.chips.boards import board_of
        from protonn_edge.codegen.projects.project import trial_build
        from protonn_edge.learn.evaluation.measurement import measure

        points, labels = self._labelled(X, y)
        chosen = board_of(board)
        with trial_build(self.to_model(), chosen) as trial:
            ports = () if port is None else (port,)
            measured: Measurement = measure(trial.project, (points, labels), chosen, ports=ports)
            return measured
