package icon

import (
	"bytes"
	"os"
	"testing"
)

// The documentation's pages, which are a module of their own, have the same picture.
func TestSameInTheDocumentation(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/site/theme/icon.svg")
	if err != nil || !bytes.Equal(b, SVG) {
		t.Errorf("docs/site/theme/icon.svg differs from icon.svg, %v: copy one over the other", err)
	}
}
