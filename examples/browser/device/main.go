//go:build js && wasm

// Command device is a device of a run in a browser. The program runs in a worker of the page, and
// exchanges messages with the page; see page/page.js. Compile the program with GOOS=js
// GOARCH=wasm.
package main

import (
	"encoding/json"
	"syscall/js"

	"github.com/zofl/zofl/examples/browser/queue"
)

// tell sends a message to the page.
func tell(message map[string]any) {
	text, err := json.Marshal(message)
	if err != nil {
		text, _ = json.Marshal(map[string]any{"kind": "failed", "error": err.Error()})
	}
	js.Global().Call("postMessage", string(text))
}

// failed tells the page of an error.
func failed(err error) { tell(map[string]any{"kind": "failed", "error": err.Error()}) }

// A message is a request of the page.
type message struct {
	kind           string
	address        string // start: of the broker, ws://host:port or wss://host:port
	run, id, place string // start: place is the name of the database
	ink            []uint8
	side, label    int // draw, guess
}

func read(v js.Value) message {
	m := message{kind: v.Get("kind").String()}
	switch m.kind {
	case "start":
		m.address, m.run = v.Get("address").String(), v.Get("run").String()
		m.id, m.place = v.Get("id").String(), v.Get("place").String()
	case "draw", "guess":
		m.ink, m.side = bytesOf(v.Get("ink")), v.Get("side").Int()
		if m.kind == "draw" {
			m.label = v.Get("label").Int()
		}
	}
	return m
}

func main() {
	messages := queue.New[message]()
	js.Global().Set("onmessage", js.FuncOf(func(_ js.Value, args []js.Value) any {
		messages.Push(read(args[0].Get("data")))
		return nil
	}))
	tell(map[string]any{"kind": "ready"})
	var d *device
	for {
		m, _ := messages.Pull()
		switch {
		case m.kind == "start" && d == nil:
			var err error
			if d, err = start(m); err != nil {
				failed(err)
			}
		case d != nil:
			d.do(m)
		}
	}
}
