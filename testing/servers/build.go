package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// Program builds nats-server, unless an earlier call built it, and returns the path of the binary.
// The working directory must be in a module that requires nats-server.
var Program = sync.OnceValues(func() (string, error) {
	return build("nats-server", func(string) ([]string, error) { return nil, nil })
})

// build builds a kind of nats-server, with the flags that a function returns, unless an earlier
// call built it. The function may write files to a directory.
func build(kind string, flags func(dir string) ([]string, error)) (path string, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	dir := filepath.Join(cache, "zofl", kind+"-"+server.VERSION+"-"+runtime.Version())
	path = filepath.Join(dir, "nats-server")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	// Tests of other packages may build nats-server at the same time: the rename makes the finished
	// file appear at once.
	fresh, err := os.MkdirTemp(dir, "building-")
	if err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	defer os.RemoveAll(fresh)
	more, err := flags(fresh)
	if err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	file := filepath.Join(fresh, "nats-server")
	args := append([]string{"build", "-o", file}, more...)
	cmd := exec.Command("go", append(args, module)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("servers: go build nats-server: %w\n%s", err, out)
	}
	if err := os.Rename(file, path); err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	return path, nil
}
