//go:build unix && !race

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// TestImage reads the image back, as a registry's client does, and runs what it holds.
func TestImage(t *testing.T) {
	m := released(t)
	dir := t.TempDir()
	says(t, "tar", "-C", dir, "-xf", m.file(t, "_oci.tar"))
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(outer); err != nil {
		t.Fatal(err)
	}
	manifest, err := outer.IndexManifest()
	if err != nil || len(manifest.Manifests) != 1 {
		t.Fatalf("%+v, %v, want one image", manifest, err)
	}
	entry := manifest.Manifests[0]
	if tag := entry.Annotations["org.opencontainers.image.ref.name"]; tag != m.version {
		t.Errorf("tag %q, want %s", tag, m.version)
	}
	index, err := outer.ImageIndex(entry.Digest)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := index.IndexManifest()
	if err != nil || len(inner.Manifests) != 1 {
		t.Fatalf("%+v, %v, want one platform", inner, err)
	}
	want := v1.Platform{OS: runtime.GOOS, Architecture: runtime.GOARCH}
	if p := inner.Manifests[0].Platform; p == nil || !p.Equals(want) {
		t.Errorf("platform %v, want %v", p, want)
	}
	img, err := index.Image(inner.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	contained(t, m, img)
}

// contained unpacks an image and runs it as it says: as its user, who writes a plan where a
// volume would be.
func contained(t *testing.T, m *made, img v1.Image) {
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := config.Config
	if c.User != nobody || c.Labels["org.opencontainers.image.version"] != m.version ||
		!config.Created.Equal(m.at) {
		t.Errorf("configuration %+v of %v", c, config.Created)
	}
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "files.tar")
	files := mutate.Extract(img)
	defer files.Close()
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := out.ReadFrom(files); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	says(t, "tar", "-C", root, "-xf", file)
	asRoot(t)
	cmd := exec.Command(c.Entrypoint[0], "plan", "--dim", "7", "--write", "plan.json", "--json")
	cmd.Dir = c.WorkingDir
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root,
		Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
	said, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(said), `"version":"`+m.version+`"`) {
		t.Errorf("%v, %v\n%s, want version %s", cmd, err, said, m.version)
	}
	if _, err := os.Stat(filepath.Join(root, c.WorkingDir, "plan.json")); err != nil {
		t.Error(err)
	}
}
