"""What type checkers know of each estimator: `make lint` checks this program."""

from typing import assert_type

import numpy as np

from protonn_edge import (
    BasisImagesClassifier,
    BonsaiClassifier,
    DenseClassifier,
    DenseRegressor,
    ForestClassifier,
    ForestRegressor,
    LinearClassifier,
    LinearRegressor,
    LocalDeepKernelClassifier,
    Model,
    OneClassProtoNNClassifier,
    PaperProtoNNClassifier,
    ProtoNNClassifier,
    ProtoNNRegressor,
    TeachableProtoNNClassifier,
    WindowFeatures,
)

X, y = np.zeros((4, 2)), [0, 1, 0, 1]
assert_type(WindowFeatures(channels=1).fit(X), WindowFeatures)

assert_type(ProtoNNClassifier(random_state=0).fit(X, y), ProtoNNClassifier)
assert_type(ProtoNNClassifier().score(X, y), float)
assert_type(ProtoNNClassifier().fit(X, y).to_model(), Model)
ProtoNNClassifier(no_such_parameter=4)  # type: ignore[call-arg]
ProtoNNClassifier(random_state="x")  # type: ignore[arg-type]
ProtoNNClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(LinearClassifier(random_state=0).fit(X, y), LinearClassifier)
assert_type(LinearClassifier().score(X, y), float)
assert_type(LinearClassifier().fit(X, y).to_model(), Model)
LinearClassifier(no_such_parameter=4)  # type: ignore[call-arg]
LinearClassifier(random_state="x")  # type: ignore[arg-type]
LinearClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(DenseClassifier(random_state=0).fit(X, y), DenseClassifier)
assert_type(DenseClassifier().score(X, y), float)
assert_type(DenseClassifier().fit(X, y).to_model(), Model)
DenseClassifier(no_such_parameter=4)  # type: ignore[call-arg]
DenseClassifier(random_state="x")  # type: ignore[arg-type]
DenseClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(ForestClassifier(random_state=0).fit(X, y), ForestClassifier)
assert_type(ForestClassifier().score(X, y), float)
assert_type(ForestClassifier().fit(X, y).to_model(), Model)
ForestClassifier(no_such_parameter=4)  # type: ignore[call-arg]
ForestClassifier(random_state="x")  # type: ignore[arg-type]
ForestClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(BonsaiClassifier(random_state=0).fit(X, y), BonsaiClassifier)
assert_type(BonsaiClassifier().score(X, y), float)
assert_type(BonsaiClassifier().fit(X, y).to_model(), Model)
BonsaiClassifier(no_such_parameter=4)  # type: ignore[call-arg]
BonsaiClassifier(random_state="x")  # type: ignore[arg-type]
BonsaiClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(LocalDeepKernelClassifier(random_state=0).fit(X, y), LocalDeepKernelClassifier)
assert_type(LocalDeepKernelClassifier().score(X, y), float)
assert_type(LocalDeepKernelClassifier().fit(X, y).to_model(), Model)
LocalDeepKernelClassifier(no_such_parameter=4)  # type: ignore[call-arg]
LocalDeepKernelClassifier(random_state="x")  # type: ignore[arg-type]
LocalDeepKernelClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(BasisImagesClassifier(random_state=0).fit(X, y), BasisImagesClassifier)
assert_type(BasisImagesClassifier().score(X, y), float)
assert_type(BasisImagesClassifier().fit(X, y).to_model(), Model)
BasisImagesClassifier(no_such_parameter=4)  # type: ignore[call-arg]
BasisImagesClassifier(random_state="x")  # type: ignore[arg-type]
BasisImagesClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(OneClassProtoNNClassifier(random_state=0).fit(X, y), OneClassProtoNNClassifier)
assert_type(OneClassProtoNNClassifier().score(X, y), float)
assert_type(OneClassProtoNNClassifier().fit(X, y).to_model(), Model)
OneClassProtoNNClassifier(no_such_parameter=4)  # type: ignore[call-arg]
OneClassProtoNNClassifier(random_state="x")  # type: ignore[arg-type]
OneClassProtoNNClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(PaperProtoNNClassifier(random_state=0).fit(X, y), PaperProtoNNClassifier)
assert_type(PaperProtoNNClassifier().score(X, y), float)
assert_type(PaperProtoNNClassifier().fit(X, y).to_model(), Model)
PaperProtoNNClassifier(no_such_parameter=4)  # type: ignore[call-arg]
PaperProtoNNClassifier(random_state="x")  # type: ignore[arg-type]
PaperProtoNNClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(TeachableProtoNNClassifier(random_state=0).fit(X, y), TeachableProtoNNClassifier)
assert_type(TeachableProtoNNClassifier().score(X, y), float)
assert_type(TeachableProtoNNClassifier().fit(X, y).to_model(), Model)
TeachableProtoNNClassifier(no_such_parameter=4)  # type: ignore[call-arg]
TeachableProtoNNClassifier(random_state="x")  # type: ignore[arg-type]
TeachableProtoNNClassifier().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(ProtoNNRegressor(random_state=0).fit(X, y), ProtoNNRegressor)
assert_type(ProtoNNRegressor().score(X, y), float)
assert_type(ProtoNNRegressor().fit(X, y).to_model(), Model)
ProtoNNRegressor(no_such_parameter=4)  # type: ignore[call-arg]
ProtoNNRegressor(random_state="x")  # type: ignore[arg-type]
ProtoNNRegressor().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(LinearRegressor(random_state=0).fit(X, y), LinearRegressor)
assert_type(LinearRegressor().score(X, y), float)
assert_type(LinearRegressor().fit(X, y).to_model(), Model)
LinearRegressor(no_such_parameter=4)  # type: ignore[call-arg]
LinearRegressor(random_state="x")  # type: ignore[arg-type]
LinearRegressor().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(DenseRegressor(random_state=0).fit(X, y), DenseRegressor)
assert_type(DenseRegressor().score(X, y), float)
assert_type(DenseRegressor().fit(X, y).to_model(), Model)
DenseRegressor(no_such_parameter=4)  # type: ignore[call-arg]
DenseRegressor(random_state="x")  # type: ignore[arg-type]
DenseRegressor().fit(X, y, n_epochs=4)  # type: ignore[call-arg]

assert_type(ForestRegressor(random_state=0).fit(X, y), ForestRegressor)
assert_type(ForestRegressor().score(X, y), float)
assert_type(ForestRegressor().fit(X, y).to_model(), Model)
ForestRegressor(no_such_parameter=4)  # type: ignore[call-arg]
ForestRegressor(random_state="x")  # type: ignore[arg-type]
ForestRegressor().fit(X, y, n_epochs=4)  # type: ignore[call-arg]
