"""The pytest plugins of all extensions: pytest finds this module if the package is installed."""

from __future__ import annotations

import pytest

from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import modules_in_packages


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugins of extensions, which then add their options."""
    try:
        plugins = list(modules_in_packages("pytest_plugin"))
    except InputError as error:
        raise pytest.UsageError(str(error)) from error
    for plugin in plugins:
        if not pluginmanager.is_registered(plugin):
            pluginmanager.register(plugin, plugin.__name__)
