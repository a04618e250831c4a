"""The stages that only converted networks have."""
