//go:build linux

package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// dim is the number of parameters of all runs.
const dim = 1000

// A device is a program to start, and the files that an app carries for it.
type device struct {
	args  func(url, run, id string) []string
	env   []string
	files []string
}

// A door is a way into a run.
type door struct {
	name string
	make func(*workshop) (*device, error)
}

var doors = []door{
	{"go", (*workshop).inGo}, {"mobile", (*workshop).mobile}, {"exec", (*workshop).exec},
	{"python", (*workshop).python}, {"core", (*workshop).core}, {"libzofl", (*workshop).libzofl},
}

// A workshop builds devices.
type workshop struct{ dir, root string }

func (w *workshop) repository() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/zofl/zofl").Output()
	return strings.TrimSpace(string(out)), err
}

// run runs a command that builds something, in a folder of the repository.
func (w *workshop) run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = filepath.Join(w.root, dir), append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// goBuild builds a program as releases do.
func (w *workshop) goBuild(dir, of, name string) (string, error) {
	path := filepath.Join(w.dir, name)
	return path, w.run(dir, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, of)
}

// cc compiles a device in C.
func (w *workshop) cc(name string, args ...string) (string, error) {
	path := filepath.Join(w.dir, name)
	return path, w.run("", "gcc", append([]string{"-std=c99", "-O2", "-s",
		"-o", path}, args...)...)
}

func (w *workshop) inGo() (*device, error) {
	path, err := w.goBuild("testing", "./cmd/device", "device")
	return &device{files: []string{path}, args: func(url, run, id string) []string {
		return []string{path, "-url", url, "-run", run, "-id", id, "-dim", fmt.Sprint(dim)}
	}}, err
}

// mobile is client/mobile as gobind's bindings call it, without the JVM around it. What an app
// carries, android/hostjvm.sh shows.
func (w *workshop) mobile() (*device, error) {
	path, err := w.goBuild("testing", "./cmd/doors", "doors")
	return &device{args: func(url, run, id string) []string {
		return []string{path, "device", url, run, id}
	}}, err
}

func (w *workshop) exec() (*device, error) {
	program, err := w.goBuild("coordinator/zofl", ".", "zofl")
	loss, err2 := w.cc("loss", "-w", "-D_GNU_SOURCE", "examples/exec/loss.c")
	return &device{files: []string{program, loss}, args: func(url, run, id string) []string {
		return []string{program, "exec", "--url", url, "--run", run, "--id", id, "--", loss}
	}}, errors.Join(err, err2)
}

const inPython = `
import sys, zofl
zofl.Device(*sys.argv[1:4], loss=lambda x: (float(x[0]) - 1) ** 2).run()
`

func (w *workshop) python() (*device, error) {
	program, err := w.goBuild("coordinator/zofl", ".", "zofl")
	if err != nil {
		return nil, err
	}
	interpreter := cmp.Or(os.Getenv("PYTHON"), "python3")
	return &device{files: []string{program},
		env: []string{"ZOFL=" + program, "PYTHONPATH=" + w.root + "/python/src"},
		args: func(url, run, id string) []string {
			return []string{interpreter, "-c", inPython, url, run, id}
		}}, w.run("", interpreter, "-c", "import numpy")
}

// core is the core in C with the example's network.
func (w *workshop) core() (*device, error) {
	text, err := exec.Command(w.root + "/c/amalgamate.sh").Output()
	if err != nil {
		return nil, err
	}
	source := filepath.Join(w.dir, "zofl.c")
	if err := os.WriteFile(source, text, 0o600); err != nil {
		return nil, err
	}
	const posix = "c/examples/posix/"
	path, err := w.cc("core", "-Ic", "-Ic/examples", source, posix+"device.c", posix+"bowl.c", "-lm")
	return &device{files: []string{path}, args: func(url, run, id string) []string {
		host, port, _ := strings.Cut(strings.TrimPrefix(url, "nats://"), ":")
		return []string{path, host, port, run, id}
	}}, err
}

func (w *workshop) libzofl() (*device, error) {
	if err := w.run("", "libzofl/build.sh", w.dir); err != nil {
		return nil, err
	}
	lib := filepath.Join(w.dir, "libzofl.so")
	path, err := w.cc("with-libzofl", "-I", w.dir, "libzofl/examples/device.c", lib,
		"-Wl,-rpath,"+w.dir)
	return &device{files: []string{lib, path}, args: func(url, run, id string) []string {
		return []string{path, url, run, id, fmt.Sprint(dim)}
	}}, err
}
