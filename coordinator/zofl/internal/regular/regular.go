// Package regular opens regular files, which programs can read at any position and several times.
// Models and images must be such files. A FIFO is no regular file: opening one would wait for a
// writer, and an interrupt would not end that wait.
package regular

import (
	"fmt"
	"io/fs"
	"os"
)

// Open opens a file for reading. If the file is not a regular one, it returns an error and opens
// nothing.
func Open(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is %s", name, instead(info.Mode()))
	}
	return os.Open(name) // the error names the file
}

// instead says which kind of file a mode belongs to, and which file to give instead.
func instead(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory: give a file in it"
	case mode&fs.ModeNamedPipe != 0:
		return "a FIFO, and read more than once: write what it says to a file, and give that"
	}
	return "no regular file: give one"
}
