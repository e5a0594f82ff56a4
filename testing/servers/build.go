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
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	dir := filepath.Join(cache, "zofl", "nats-server-"+server.VERSION+"-"+runtime.Version())
	path := filepath.Join(dir, "nats-server")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	// Tests of other packages may build nats-server at the same time: the rename makes the finished
	// file appear at once.
	fresh := filepath.Join(dir, fmt.Sprint("building-", os.Getpid()))
	defer os.Remove(fresh)
	cmd := exec.Command("go", "build", "-o", fresh, "github.com/nats-io/nats-server/v2")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("servers: go build nats-server: %w\n%s", err, out)
	}
	if err := os.Rename(fresh, path); err != nil {
		return "", fmt.Errorf("servers: %w", err)
	}
	return path, nil
})
