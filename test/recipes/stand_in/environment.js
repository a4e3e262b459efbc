// environment.js - hands ODD_CLOCK from node to the getenv of emscripten.
// SPDX-License-Identifier: MIT
Module['preRun'] = function () {
    if (process.env.ODD_CLOCK)
        ENV.ODD_CLOCK = process.env.ODD_CLOCK;
};
