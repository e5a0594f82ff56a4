//go:build !race

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unit is the one of the package, as a file of this tree.
const unit = "debian/zofl@.service"

// TestPackage: dpkg reads the packages, and they hold what they should, owned by root.
func TestPackage(t *testing.T) {
	m := released(t)
	need(t, "dpkg-deb")
	for name, c := range map[string]struct {
		files []string
		conf  string
	}{
		"zofl": {[]string{"usr/bin/zofl", "usr/lib/systemd/system/zofl@.service", "etc/zofl/",
			"usr/share/doc/zofl/copyright", "usr/share/man/man1/zofl-serve.1.gz",
			"usr/share/bash-completion/completions/zofl", "usr/share/zsh/vendor-completions/_zofl",
			"usr/share/fish/vendor_completions.d/zofl.fish"}, ""},
		"zofl-sensor": {[]string{"usr/bin/zofl-sensor", "etc/zofl-sensor/sensor.conf",
			"usr/lib/systemd/system/zofl-sensor.service", "usr/share/doc/zofl-sensor/copyright"},
			"/etc/zofl-sensor/sensor.conf"},
	} {
		pack := m.pack(t, name)
		version := strings.Replace(m.version, "-", "~", 1)
		for field, want := range map[string]string{"Package": name, "Version": version,
			"Architecture": m.target.deb, "Depends": ""} {
			if got := strings.Join(says(t, "dpkg-deb", "--field", pack, field), " "); got != want {
				t.Errorf("%s: %q, want %q", field, got, want)
			}
		}
		// Debian's order: the release follows what was built before it.
		if strings.Contains(version, "~") {
			says(t, "dpkg", "--compare-versions", version, "lt",
				m.version[:strings.Index(m.version, "-")])
		}
		listed := strings.Join(says(t, "dpkg-deb", "--contents", pack), " ")
		for _, want := range c.files {
			if !strings.Contains(listed+" ", " ./"+want+" ") {
				t.Errorf("no %s in %s", want, listed)
			}
		}
		if owners := strings.Count(listed, " root/root "); owners != strings.Count(listed, " ./") {
			t.Errorf("%d files are root's, want all of %s", owners, listed)
		}
		if c.conf != "" { // dpkg asks before it replaces what a person wrote
			if got := says(t, "dpkg-deb", "--info", pack, "conffiles"); len(got) != 1 || got[0] != c.conf {
				t.Errorf("%s: files of configuration: %q", name, got)
			}
		}
	}
}

// TestManual: the page of a command is what the command's help says, and bash takes completions.
func TestManual(t *testing.T) {
	m := released(t)
	need(t, "dpkg-deb")
	share := filepath.Join(t.TempDir(), "usr/share")
	says(t, "dpkg-deb", "-x", m.pack(t, "zofl"), filepath.Join(share, "../.."))
	for page, want := range map[string]string{"zofl": m.version + `"`, "zofl-serve": `\fB--store\fP`,
		"zofl-device": "zofl-device-add(1)"} {
		text := says(t, "gunzip", "-c", filepath.Join(share, "man/man1", page+".1.gz"))
		if !strings.Contains(strings.Join(text, " "), want) {
			t.Errorf("the page %s lacks %s", page, want)
		}
	}
	got := says(t, "bash", "-c", "source "+filepath.Join(share,
		"bash-completion/completions/zofl")+" && complete -p zofl")
	if got[len(got)-1] != "zofl" {
		t.Errorf("bash completes %v", got)
	}
}

// TestInstall installs the packages for another system, whose root is a directory, and removes
// them. A coordinator's logs stay; a sensor's readings do not.
func TestInstall(t *testing.T) {
	m := released(t)
	need(t, "dpkg")
	need(t, "systemd-sysusers")
	asRoot(t)
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/updates", "var/lib/dpkg/info", "var/lib/zofl/kitchen",
		"var/lib/private/zofl-sensor/readings", "etc"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"var/lib/dpkg/status", "var/lib/dpkg/available"} {
		if err := os.WriteFile(filepath.Join(root, file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dpkg := func(args ...string) {
		t.Helper()
		// Its scripts run as this system's programs, and know the directory.
		says(t, "dpkg", append([]string{"--root=" + root, "--force-script-chrootless"}, args...)...)
	}
	dpkg("--install", m.pack(t, "zofl"), m.pack(t, "zofl-sensor"))
	if users := read(t, root, "etc/passwd"); !strings.Contains(users, "zofl:x:") ||
		!strings.Contains(users, ":/var/lib/zofl:/usr/sbin/nologin\n") {
		t.Errorf("users %q, want zofl among them", users)
	}
	if got := says(t, "chroot", root, "/usr/bin/zofl", "--version"); got[len(got)-1] != m.version {
		t.Errorf("installed: %v, want %s", got, m.version)
	}
	got := says(t, "chroot", root, "/usr/bin/zofl-sensor", "version")
	if got[len(got)-1] != m.version {
		t.Errorf("installed: %v, want %s", got, m.version)
	}
	dpkg("--purge", "zofl", "zofl-sensor")
	for _, gone := range []string{"usr/bin/zofl-sensor", "etc/zofl-sensor",
		"var/lib/private/zofl-sensor"} {
		if _, err := os.Lstat(filepath.Join(root, gone)); !os.IsNotExist(err) {
			t.Errorf("%s after a purge: %v", gone, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(root, "usr/bin/zofl")); !os.IsNotExist(err) {
		t.Errorf("the program after a purge: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(root, "var/lib/zofl/kitchen")); err != nil {
		t.Errorf("the log after a purge: %v", err)
	}
}

// TestUnit: systemd rates what the units leave to whom they run.
func TestUnit(t *testing.T) {
	need(t, "systemd-analyze")
	for instance, from := range map[string]string{"zofl@kitchen.service": unit,
		"zofl-sensor.service": "../examples/sensor/zofl-sensor.service"} {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		instance = filepath.Join(t.TempDir(), instance)
		if err := os.WriteFile(instance, content, 0o644); err != nil {
			t.Fatal(err)
		}
		// Tenths of 10: 13, as docs/release.md says, if it may reach the network.
		says(t, "systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=13",
			instance)
	}
}

func read(t *testing.T, names ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(names...))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
