"""The rules that a policy of the answer may have, one folder each; see `protonn_edge.model.policy`.

A model without rules answers with the class of the highest score. Deleting a folder, with its
templates, tests and page, removes a rule; deleting this package removes all of them. The other
rooms find the modules of a folder by name (`rule_modules`); any of them may be absent:

``rule``      `RULE`, the rule of a float model; its form in integers, and the arithmetic of both
``commands``  `COMMANDS`, the options of commands, with the steps of `train` for which they ask
``train``     `fitted(classifier, points, targets)`, the rule that every training fits; `LABELS`,
              the labels that are no classes
``steps``     `describe(model, dataset, out)` and others, what commands do for a model that has it
``report``    `SECTIONS` of the report, and `ANSWERS`, those about answers that are no classes
``tuning``    `metric_for(dataset, asked)`, what a search maximizes
``onnx``      its nodes in ONNX

and the templates ``templates/c/policy/NAME.j2`` and ``templates/export/policy/NAME.md.j2``.
"""
