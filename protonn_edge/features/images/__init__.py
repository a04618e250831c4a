"""Parts shared by the stages that process images."""
