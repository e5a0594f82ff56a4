package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestYAML: what forges, compose and Kubernetes read is whole.
func TestYAML(t *testing.T) {
	read := map[string]map[string]any{}
	for _, dir := range []string{"../.github", "../deploy", "../CITATION.cff"} {
		err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !slices.Contains([]string{".yml", ".yaml", ".cff"}, filepath.Ext(name)) {
				return err
			}
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			for d := yaml.NewDecoder(f); ; {
				var content map[string]any
				if err := d.Decode(&content); errors.Is(err, io.EOF) {
					return nil
				} else if err != nil || len(content) == 0 {
					t.Errorf("%s: %v, %v", name, content, err)
					return nil
				}
				read[strings.TrimPrefix(name, "../")] = content
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(read) < 9 {
		t.Errorf("%d files, want those of forges, compose and Kubernetes", len(read))
	}
	check, err := os.ReadFile("../.github/workflows/check.yml")
	if err != nil || !strings.Contains(string(check), "run: ./check.sh\n") {
		t.Errorf("check.yml does not run ./check.sh: %v", err)
	}
	listed, _ := read["deploy/kustomization.yaml"]["resources"].([]any)
	for _, name := range listed {
		if read["deploy/"+name.(string)] == nil {
			t.Errorf("kustomization.yaml names %v, which is no file", name)
		}
	}
	if len(listed) != 3 {
		t.Errorf("kustomization.yaml has %v", listed)
	}
}
