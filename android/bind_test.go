package android

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bind runs bind.sh with an SDK. It returns the exit code and the output.
func bind(t *testing.T, sdk string) (int, string) {
	t.Helper()
	cmd := exec.Command("./bind.sh", filepath.Join(t.TempDir(), "zofl.aar"))
	cmd.Env = append(os.Environ(), "ANDROID_HOME="+sdk, "ANDROID_NDK_HOME=")
	out, err := cmd.CombinedOutput()
	exit := new(exec.ExitError)
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// write creates a file, and the folders above it.
func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestBindSays checks that bind.sh names each missing part of Google's SDK and says how to get it.
func TestBindSays(t *testing.T) {
	platform := map[string]string{"platforms/android-36/android.jar": ""}
	with := func(revision string) map[string]string {
		return map[string]string{
			"platforms/android-36/android.jar": "",
			"ndk/" + revision +
				"/source.properties": "Pkg.Desc = Android NDK\nPkg.Revision = " + revision + "\n",
		}
	}
	for name, c := range map[string]struct {
		files map[string]string // of the SDK; nil: ANDROID_HOME is not set
		says  []string
	}{
		"no SDK": {nil, []string{"ANDROID_HOME is not set", "sdkmanager"}},
		"no platform": {map[string]string{"x": ""},
			[]string{"no platform", `sdkmanager "platforms;android-36"`}},
		"no NDK":      {platform, []string{"no NDK", `sdkmanager "ndk;28.`}},
		"an old NDK":  {with("27.3.13750724"), []string{"27.3.13750724", "r28 or newer", "16 KiB"}},
		"half an NDK": {with("28.2.13676358"), []string{"llvm-readelf"}},
	} {
		t.Run(name, func(t *testing.T) {
			sdk := ""
			if c.files != nil {
				sdk = t.TempDir()
			}
			for path, text := range c.files {
				write(t, filepath.Join(sdk, path), text)
			}
			code, text := bind(t, sdk)
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			for _, part := range c.says {
				if !strings.Contains(text, part) {
					t.Errorf("says %q, want %q in it", text, part)
				}
			}
		})
	}
}
