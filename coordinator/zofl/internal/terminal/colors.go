package terminal

import "os"

// Colors says whether to print colors. Colors returns false if the variable NO_COLOR is not empty
// (see no-color.org), or if TERM is dumb.
func Colors() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
