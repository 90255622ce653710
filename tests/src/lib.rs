//! End-to-end tests: real programs under the real tool.
