"""The embedded default model: no LLM, but fixed rules that answer questions about tables, in English and Chinese.

A question becomes tokens, tokens become items by the lexicons and the table's own words (`segments`), items are reduced
to clauses and one known core (`grammar`), which is a `Query`; `codegen` writes that as pandas. Every word must be
accounted for; what is not understood is refused.
"""

from roles_runtime.llm.providers.rules.model import RulesModel

__all__ = ["RulesModel"]
