package terminal

import "os"

// Colors says whether the person wants colors: unless NO_COLOR has a text, see no-color.org, or the
// terminal is dumb.
func Colors() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
