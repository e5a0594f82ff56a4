package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
)

// SecretLen is the length of a run key in bytes.
const SecretLen = 32

// SecretFlag adds the flag of a command that needs the run's key.
func SecretFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "secret", "",
		"file with the run key, if the run is private (zofl plan --secret)")
}

// ReadSecret reads a run key from a file. ReadSecret returns nil if name is empty.
func ReadSecret(ctx context.Context, name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	key, err := ReadPrivate(ctx, name)
	if err != nil {
		return nil, FileFault("--secret", name, err)
	}
	return key, CheckSecret(name, key)
}

// CheckSecret returns an error unless a file holds a run key.
func CheckSecret(name string, key []byte) error {
	if len(key) == SecretLen {
		return nil
	}
	return Usage(fmt.Errorf("%s has %d bytes: a run key is %d random bytes, not a password; "+
		"to make one, give zofl plan --secret the name of a new file", name, len(key), SecretLen))
}
