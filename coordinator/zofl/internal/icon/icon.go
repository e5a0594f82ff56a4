// Package icon has the picture by which people know a page of Zofl among others.
package icon

import (
	_ "embed"
	"encoding/base64"
	"html/template"
)

// SVG is the picture.
//
//go:embed icon.svg
var SVG []byte

// URL is the picture as an address, for pages of one file.
func URL() template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(SVG))
}
