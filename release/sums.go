package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// sums writes SHA256SUMS, which sha256sum --check reads.
func (b *build) sums() ([]byte, error) {
	entries, err := os.ReadDir(b.in("dist")) // sorted by name
	if err != nil {
		return nil, err
	}
	var lines bytes.Buffer
	for _, e := range entries {
		sum, err := sumOf(b.in("dist", e.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&lines, "%s  %s\n", sum, e.Name())
	}
	return lines.Bytes(), os.WriteFile(b.dist("SHA256SUMS"), lines.Bytes(), 0o644)
}

// sumOf returns the SHA-256 of a file in hexadecimal.
func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
