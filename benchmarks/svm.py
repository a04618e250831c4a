"""What a support vector machine reaches on the same points, at whatever size it takes."""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from protonn_edge.data.dataset import Dataset

_PENALTIES = (1.0, 10.0, 100.0)
_WIDTHS = (0.1, 0.3, 1.0, 3.0)  # times one over the number of features
_FOLDS = 3


def rbf_svm_accuracy(dataset: Dataset) -> float:
    """Return the test accuracy, 0 to 1, of scikit-learn's SVC on standardized features.

    Its C and its gamma are those with the best accuracy in cross-validation on the training points.
    """
    grid = {
        "svc__C": _PENALTIES,
        "svc__gamma": [width / dataset.n_features for width in _WIDTHS],
    }
    folds = KFold(_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=folds)
    search.fit(dataset.X_train, dataset.y_train)
    return float(search.score(dataset.X_test, dataset.y_test))
