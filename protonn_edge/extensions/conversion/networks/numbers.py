"""Networks of other programs whose only output is a number."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.neural_network import MLPRegressor

from protonn_edge.extensions.conversion import reading
from protonn_edge.extensions.conversion.affine import Float64
from protonn_edge.extensions.conversion.networks.int8_network import Int8Network
from protonn_edge.extensions.conversion.networks.networks import FloatNetwork
from protonn_edge.extensions.conversion.networks.perceptron import perceptron
from protonn_edge.extensions.conversion.numbers import NumberRule, as_numbers, scale_of
from protonn_edge.extensions.conversion.search import Candidate, ModelSearch, Readers, number_of
from protonn_edge.kinds.dense.learner import DenseNetwork
from protonn_edge.kinds.linear.head import LinearHead
from protonn_edge.model.policy import FloatPolicy
from protonn_edge.policy.value.rule import Value
from protonn_edge.policy.value.train import squared_error
from protonn_edge.system.arrays import Array


@dataclass(frozen=True, eq=False)
class NumberNetwork(NumberRule, FloatNetwork):
    """A network in floats, whose output is a number."""

    def dense(self) -> DenseNetwork:
        """Return its matrices, to be trained."""
        weights, biases = [*self.weights], [*self.biases]
        return DenseNetwork(weights, biases, squared_error, alone=True)

    def answers(self, Z: Array) -> Float64:
        """Return the number for each point Z (n, D)."""
        return self.scores(Z)[:, 0].astype(np.float64)

    def best(self, search: ModelSearch) -> Candidate:
        """Return the network, its layers on images in integers."""
        value, (*weights, W), (*biases, b) = scale_of(search), self.weights, self.biases
        W = (W / value.scale).astype(np.float32)
        b = ((b - value.offset) / value.scale).astype(np.float32)
        scaled = replace(self, weights=(*weights, W), biases=(*biases, b))
        return FloatNetwork.best(scaled, search)


@dataclass(frozen=True, eq=False)
class NumberInt8Network(NumberRule, Int8Network):
    """A network of int8 layers, whose output is a number in steps."""

    def answers(self, Z: Array) -> Float64:
        """Return the number for each point Z (n, D)."""
        steps = self.outputs(Z)[:, 0].astype(np.float64) - self.output_zero
        return steps * self.output_step

    def ending(self, policy: FloatPolicy) -> tuple[LinearHead, FloatPolicy]:
        """Return the head and the policy: a score is the number of steps from the mean."""
        value = policy.find(Value)
        assert value is not None
        mean = round(value.offset / self.output_step)
        bias = np.array([-float(self.output_zero + mean)])
        of_steps = replace(value, scale=self.output_step, offset=mean * self.output_step)
        head = LinearHead(np.eye(1, dtype=np.float32), bias, alone=True)
        return head, FloatPolicy((of_steps,))


@number_of.register(FloatNetwork)
@number_of.register(Int8Network)
def number_network(network: FloatNetwork | Int8Network) -> NumberRule:
    """Return a network with one output as the rule of a number."""
    int8 = isinstance(network, Int8Network)
    rule: NumberRule = as_numbers(network, NumberInt8Network if int8 else NumberNetwork)
    return rule


def _perceptron(regressor: object, k: int, n_labels: int) -> NumberRule:
    if reading.attribute(regressor, "n_outputs_") != 1:
        raise reading.several_outputs(regressor)
    reading.check_text(regressor, "out_activation_", "identity")
    return number_network(perceptron(regressor, k, n_labels))


READERS: Readers = {MLPRegressor: _perceptron}
