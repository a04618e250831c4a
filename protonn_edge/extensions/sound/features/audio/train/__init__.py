"""What training needs of sounds: the request of their features, and how these move."""
