"""From the integer model to C: the plan, the render context and the renderer."""
