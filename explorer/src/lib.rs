//! The product's verbs: explore, replay, report.
