// Opens reports in a real browser, from disk, and uses them as a person would.
// Usage: node --test, with the environment variables DIAD (the program), PICTURES (a folder for pictures, may be left out)
// and CHROMIUM (the browser, /usr/bin/chromium by default).

import "./views.mjs";
import "./work.mjs";
import "./look.mjs";
import "./large.mjs";
