package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/icon"
)

//go:embed page
var page embed.FS

// types are the content types of the page's files, because the operating system might name others.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", "": "text/plain; charset=utf-8",
}

// assets serves the page's files. These files need no token, because they say nothing about a run.
func (s *Server) assets() {
	err := fs.WalkDir(page, "page", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := page.ReadFile(name)
		if err != nil {
			return err
		}
		at := strings.TrimPrefix(name, "page")
		if at == "/index.html" {
			at = "/{$}"
		}
		s.mux.Handle("GET "+at, asset(content, types[path.Ext(name)]))
		return nil
	})
	if err != nil {
		panic("dashboard: internal error: " + err.Error()) // the files are in the program
	}
	s.mux.Handle("GET /icon.svg", asset(icon.SVG, types[".svg"]))
}

// asset serves a file. A browser may cache the file, and asks each time whether the file has
// changed.
func asset(content []byte, kind string) http.Handler {
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	if _, _, err := mime.ParseMediaType(kind); err != nil {
		panic("dashboard: internal error: a file without a type")
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Etag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}
