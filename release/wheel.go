package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// wheel makes the wheel of the Python package for a target, with the program in it.
func (b *build) wheel(ctx context.Context, p *program) error {
	notices := b.in("bin", p.target.file(), "NOTICES")
	if err := os.WriteFile(notices, p.notices, 0o644); err != nil {
		return err
	}
	return b.hatch(ctx, strings.ReplaceAll(p.target.String(), "/", "-"),
		"ZOFL_PROGRAM="+p.file, "ZOFL_VERSION="+b.version, "ZOFL_NOTICES="+notices,
		"ZOFL_SBOM="+b.dist("%s_%s_%s.cdx.json", p.name, b.version, p.target.file()))
}

// hatch makes a wheel or the sdist of the Python package, by the package's own script.
func (b *build) hatch(ctx context.Context, what string, env ...string) error {
	if b.noWheels {
		return nil
	}
	script := b.in("src", "python", "wheels.sh")
	if _, err := os.Stat(script); os.IsNotExist(err) {
		fmt.Fprintln(b.log, "no python/wheels.sh: no wheel")
		return nil
	}
	env = append(append(env, b.env...), "PYTHONDONTWRITEBYTECODE=1", "PYTHON="+b.python(ctx))
	_, err := command(ctx, b.in("src", "python"), env, "bash", script, b.in("dist"), what)
	if err != nil {
		return fmt.Errorf("%w: -wheels=false leaves wheels out", err)
	}
	return nil
}

// python returns the interpreter of $PYTHON, or one that has hatchling; .ci/setup makes one.
func (s *source) python(ctx context.Context) string {
	if named := os.Getenv("PYTHON"); named != "" {
		return named
	}
	own, err := filepath.Abs(filepath.Join(s.dir, "python/_venv/bin/python"))
	if err == nil && exec.CommandContext(ctx, own, "-c", "import hatchling").Run() == nil {
		return own
	}
	return "python3"
}
