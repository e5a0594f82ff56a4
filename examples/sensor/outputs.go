package main

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/zofl/zofl/examples/sensor/internal/config"
	"github.com/zofl/zofl/examples/sensor/internal/lines"
	"github.com/zofl/zofl/examples/sensor/internal/mqtt"
	"github.com/zofl/zofl/examples/sensor/internal/notice"
	"github.com/zofl/zofl/examples/sensor/internal/page"
)

// Outputs are the receivers of forecasts other than the journal.
type outputs struct {
	sinks notice.Sinks
	close []func() error
}

// openOutputs opens all outputs of the configuration. The household's broker also has the topics
// that the source reads.
func openOutputs(cfg *config.Config, log *slog.Logger,
	topics map[string]func([]byte)) (*outputs, error) {
	o := &outputs{}
	for _, out := range cfg.Outputs {
		if err := o.open(cfg, log, out); err != nil {
			return nil, errors.Join(err, o.end())
		}
	}
	if cfg.MQTT.URL != "" {
		if err := o.household(cfg, log, topics); err != nil {
			return nil, errors.Join(err, o.end())
		}
	}
	return o, nil
}

func (o *outputs) open(cfg *config.Config, log *slog.Logger, out config.Output) error {
	var names []string
	for _, c := range cfg.Channels {
		names = append(names, c.Name)
	}
	var sink interface {
		notice.Sink
		io.Closer
	}
	var err error
	switch {
	case out.Kind == "page":
		var p *page.Page
		if p, err = page.Open(out.To, cfg.ID, names, log); err == nil {
			log.Info("a page shows the forecasts", "url", "http://"+p.Address())
		}
		sink = p
	case out.To == "-":
		sink = lines.To(os.Stdout, cfg.ID, log)
	default:
		sink, err = lines.Open(out.To, cfg.ID, log)
	}
	if err != nil {
		return &config.FieldError{Field: "output", Value: out.Kind + " " + out.To,
			Remedy: "give another: " + err.Error()}
	}
	o.sinks, o.close = append(o.sinks, sink), append(o.close, sink.Close)
	return nil
}

// household connects to the household's broker.
func (o *outputs) household(cfg *config.Config, log *slog.Logger,
	topics map[string]func([]byte)) error {
	to, err := cfg.Household()
	if err != nil {
		return err
	}
	to.Topics, to.Log = topics, log
	home := &mqtt.Home{Link: mqtt.Open(to), Prefix: cfg.MQTT.Prefix, ID: cfg.ID,
		Discovery: cfg.MQTT.Discovery, Period: cfg.Period, Version: version()}
	o.sinks = append(o.sinks, home)
	o.close = append(o.close, func() error { home.Link.Close(); return nil })
	var channels []mqtt.Channel
	for _, c := range cfg.Channels {
		channels = append(channels, mqtt.Channel{Name: c.Name, Unit: c.Unit})
	}
	home.Announce(channels)
	return nil
}

// stamp is the version that the package's build sets.
var stamp string

// version returns the version of the program, "" if it has none.
func version() string {
	if stamp != "" {
		return stamp
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return ""
}

// end closes all.
func (o *outputs) end() (err error) {
	for _, end := range o.close {
		err = errors.Join(err, end())
	}
	return err
}
