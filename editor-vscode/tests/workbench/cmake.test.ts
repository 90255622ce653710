// A GoogleTest test, built by CMake.

import { QUEUE } from "../journeys/queue";
import { travel } from "../support/journey";

travel("cmake-gtest", QUEUE);
