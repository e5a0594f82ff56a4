//go:build !race

package main

import (
	"os"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// TestBill: the bill of materials names what the program's go.mod requires, by versions that are
// those of go.mod, and the program by its hash.
func TestBill(t *testing.T) {
	m := released(t)
	f, err := os.Open(m.file(t, "_"+m.target.file()+".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(f, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	has := map[string]string{}
	for _, c := range *bom.Components {
		has[c.Name] = c.Version
	}
	gomod, err := os.ReadFile("../coordinator/zofl/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"github.com/nats-io/nats-server/v2", "github.com/spf13/cobra"} {
		if v := has[path]; v == "" || !strings.Contains(string(gomod), "\t"+path+" "+v+"\n") {
			t.Errorf("%s has version %q, want that of go.mod", path, v)
		}
	}
	if has["github.com/zofl/zofl"] != m.version || has["std"] == "" {
		t.Errorf("Zofl %q, Go %q, want %s and Go's", has["github.com/zofl/zofl"], has["std"],
			m.version)
	}
	dir := t.TempDir()
	says(t, "tar", "-C", dir, "--strip-components=1", "-xf", m.file(t, "_linux_*.tar.gz"))
	sum, err := sumOf(dir + "/zofl")
	if err != nil || (*bom.Metadata.Component.Hashes)[0].Value != sum {
		t.Errorf("hash %v, %v, want %s", bom.Metadata.Component.Hashes, err, sum)
	}
}
