package dashboard

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// command carries out an operator's command, as package operate does for commands over the broker.
func (s *Server) command(w http.ResponseWriter, r *http.Request, b *Board) {
	verb := r.PathValue("verb")
	if !slices.Contains(operate.Verbs(), verb) {
		fail(w, http.StatusNotFound, "no such command: give one of "+
			strings.Join(operate.Verbs(), ", "))
		return
	}
	// A form on a page of another site cannot send this content type.
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, "send JSON, with Content-Type: application/json")
		return
	}
	var request operate.Request
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, operate.MaxRequest))
	d.DisallowUnknownFields()
	err := d.Decode(&request)
	if err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("more than one value")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		code := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) {
			code = http.StatusRequestEntityTooLarge
		}
		fail(w, code, "the request: "+err.Error())
		return
	}
	status, err := b.leader().Do(verb, request)
	if err != nil {
		fail(w, http.StatusConflict, err.Error())
		return
	}
	s.cfg.Logger.Info("dashboard: command", "verb", verb, "from", r.RemoteAddr)
	reply(w, http.StatusOK, status)
}
