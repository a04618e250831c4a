"""The pytest plugins of all extensions: pytest finds this module if the package is installed."""

from __future__ import annotations

import pytest

from protonn_edge.system.errors import InputError
from protonn_edge.system.extensions import extensions


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugins of extensions, which then add their options."""
    del parser
    try:
        plugins = [each.pytest_plugin() for each in extensions()]
    except InputError as error:
        raise pytest.UsageError(str(error)) from error
    for plugin in plugins:
        if plugin is not None and not pluginmanager.is_registered(plugin):
            pluginmanager.register(plugin, plugin.__name__)
