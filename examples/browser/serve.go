package main

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"
)

//go:embed page
var files embed.FS

// A config tells the page where the broker is, and which run to join.
type config struct {
	Address string `json:"address"` // ws://host:port or wss://host:port
	Run     string `json:"run"`
}

// pages serves the page at host ("127.0.0.1:8080") and nothing else.
func pages(host string, p *program, c config) (http.Handler, error) {
	page, err := fs.Sub(files, "page")
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(page))
	mux.HandleFunc("GET /config.json", send("application/json", about))
	mux.HandleFunc("GET /wasm_exec.js", send("text/javascript; charset=utf-8", p.script))
	wasm := send("application/wasm", p.wasm)
	mux.HandleFunc("GET /device.wasm", func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			http.Error(w, "the device is sent with gzip only", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		wasm(w, r)
	})
	return guarded(host, c.Address, mux), nil
}

// send answers with the content, unless the browser has it already.
func send(kind string, content []byte) http.HandlerFunc {
	tag := fmt.Sprintf(`"%x"`, sha256.Sum256(content))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", tag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}
}

// guarded answers only requests for its own host, so that another site gains nothing if its name
// resolves to this machine. guarded also tells the browser what the page may do: run its own
// scripts and wasm, and connect to its server and the broker.
func guarded(host, broker string, next http.Handler) http.Handler {
	policy := fmt.Sprintf("default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "+
		"worker-src 'self'; style-src 'self'; connect-src 'self' %s; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'", broker)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != host {
			http.Error(w, "this is "+host, http.StatusMisdirectedRequest)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}
