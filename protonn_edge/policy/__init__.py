"""The rules that a policy of the answer may have, one folder each; see `protonn_edge.model.policy`.

A model without rules answers with the class of the highest score. Deleting a folder, with its
templates, tests and page, removes a rule; deleting this package removes all of them. The
``__init__`` of a folder has `KIND`, which lists what the rule brings to the other rooms
(`protonn_edge.model.rule_kinds`); its templates are ``templates/c/policy/NAME.j2`` and
``templates/export/policy/NAME.md.j2``.
"""
