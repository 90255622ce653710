// A test in C++ that its project builds only when it is asked to.

import { DOOR } from "../journeys/door";
import { travel } from "../support/journey";

travel("cmake-option", DOOR);
