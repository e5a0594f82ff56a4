package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// signer names who signs releases, in the file of allowed signers.
	signer = "zofl"
	// namespace is what the signature is for, so that none made for another purpose is valid here.
	namespace = "zofl-release"
)

// sign signs SHA256SUMS in a directory with an SSH key, as SHA256SUMS.sig, and returns the line
// for the file of allowed signers. The key's file may be the public half, if an agent has the key.
func sign(ctx context.Context, dir, key string) (line string, err error) {
	sums := filepath.Join(dir, "SHA256SUMS")
	cmd := exec.CommandContext(ctx, "ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", namespace,
		sums)
	cmd.Stdin = os.Stdin // for a passphrase
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("-sign %s: %w: %s", key, err, bytes.TrimSpace(out))
	}
	public, err := os.ReadFile(strings.TrimSuffix(key, ".pub") + ".pub")
	if err != nil {
		return "", fmt.Errorf("-sign %s: %w: put the public half beside the key", key, err)
	}
	fields := strings.Fields(string(public))
	if len(fields) < 2 {
		return "", fmt.Errorf("-sign %s: its public half is no SSH key", key)
	}
	return fmt.Sprintf("%s namespaces=%q %s %s\n", signer, namespace, fields[0], fields[1]), nil
}
