"""What a question about a catalogue asks for: by rules, or by a chat model."""

from catalog.rule_analyzer import RuleAnalyzer

__all__ = ["RuleAnalyzer"]
