"""What the stages of images share."""
