// Two Rust tests in one binary, one of them with a bug.

import { VIEWS } from "../journeys/views";
import { travel } from "../support/journey";

travel("cargo-tests", VIEWS);
