package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// secretLen is the length of a run key in bytes.
const secretLen = 32

// secretFlag adds the flag of a command that needs the run's key.
func secretFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "secret", "",
		"file with the run key, if the run is private (zofl plan --secret)")
}

// readSecret reads a run key from a file. It returns nil if the name is empty.
func readSecret(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	key, err := os.ReadFile(name)
	if err != nil {
		return nil, usageError{fmt.Errorf("--secret: %w", err)}
	}
	return key, checkSecret(name, key)
}

// checkSecret returns an error unless a file holds a run key that only its owner can read.
func checkSecret(name string, key []byte) error {
	if len(key) == secretLen {
		if err := checkMode(name); err != nil {
			return usageError{fmt.Errorf("--secret %s: %w", name, causeOf(err))}
		}
		return nil
	}
	return usageError{fmt.Errorf("%s has %d bytes: a run key is %d random bytes, not a password; "+
		"to make one, give zofl plan --secret the name of a new file", name, len(key), secretLen)}
}
