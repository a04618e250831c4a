"""The lab: boards under test as pytest fixtures, and power meters in their supply.

See `docs/power.md` and `docs/pytest.md`.
"""
