package main

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// wheel makes the wheel of the Python package for a target, with the program in it, by the
// package's own script.
func (b *build) wheel(ctx context.Context, p *program) error {
	if b.noWheels {
		return nil
	}
	script := b.in("src", "python", "wheels.sh")
	if _, err := os.Stat(script); os.IsNotExist(err) {
		fmt.Fprintln(b.log, "no python/wheels.sh: no wheel")
		return nil
	}
	env := append(b.env, "ZOFL_PROGRAM="+p.file, "ZOFL_VERSION="+b.version,
		"PYTHONDONTWRITEBYTECODE=1")
	platform := strings.ReplaceAll(p.target.String(), "/", "-")
	_, err := command(ctx, b.in("src", "python"), env, "bash", script, b.in("dist"), platform)
	if err != nil {
		return fmt.Errorf("%w: -wheels=false leaves wheels out", err)
	}
	return nil
}
