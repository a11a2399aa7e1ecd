"""What a question about a catalogue asks for: by rules, or by a chat model."""

from catalog.model_analyzer import ModelAnalyzer
from catalog.rule_analyzer import RuleAnalyzer

__all__ = ["ModelAnalyzer", "RuleAnalyzer"]
