package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// device is the package that runs in browsers.
const device = "github.com/zofl/zofl/examples/browser/device"

// A program holds what a browser runs: the compiled device, and the script of the Go release that
// compiled the device.
type program struct {
	wasm   []byte // compressed by gzip
	script []byte // wasm_exec.js
	size   int    // of the device, not compressed
}

// build compiles the device, in the directory of this module.
func build(ctx context.Context) (*program, error) {
	dir, err := os.MkdirTemp("", "zofl-browser-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "device.wasm")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file, device)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build %s: %w: %s", device, err, out)
	}
	return load(ctx, file)
}

// load reads a compiled device.
func load(ctx context.Context, file string) (*program, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	p := &program{size: len(wasm)}
	p.script, err = os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm",
		"wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	p.wasm, err = compressed(wasm)
	return p, err
}

func compressed(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(b); err == nil {
		err = w.Close()
	}
	return out.Bytes(), err
}
