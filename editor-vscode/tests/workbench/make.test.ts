// A program in C, built by make: everything that a developer does, from the lens to the fix.

import { BANK } from "../journeys/bank";
import { travel } from "../support/journey";

travel("make-c", BANK);
