package cli

import (
	"fmt"
	"os"
	"runtime"
)

// CheckMode returns an error if users other than the owner can use a file that holds a secret.
func CheckMode(name string) error {
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS == "windows" { // file modes on Windows do not say who may read
		return err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others can use this secret (mode %04o): chmod 600 %s", mode, name)
	}
	return nil
}

// CheckDir returns an error if users other than the owner can replace files in a directory.
func CheckDir(name string) error { return checkDir(name, 0o022) }

// CheckLog returns an error if everybody can replace files in the directory of a log. A group may.
func CheckLog(name string) error { return checkDir(name, 0o002) }

func checkDir(name string, writable os.FileMode) error {
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	if mode := info.Mode().Perm(); mode&writable != 0 {
		return fmt.Errorf("others can replace what is in this directory (mode %04o): chmod 700 %s", mode,
			name)
	}
	return nil
}
